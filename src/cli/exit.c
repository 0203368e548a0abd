#include "cli/exit.h"

#include "sextant/error.h"

const char *sx_exit_text(const char *const *own, sx_exit exit) {
    static const char *const texts[SX_N_EXITS] = {
        [SX_EXIT_FOUND] = "success, or the best so far after Ctrl-C",
        [SX_EXIT_NONE] = "no legal answer, or none yet after Ctrl-C",
        [SX_EXIT_BAD] = "bad usage or input",
        [SX_EXIT_FAILED] = "internal or resource failure",
        [SX_EXIT_OPEN] = "what was asked stays undecided (verify)",
    };
    if (own && exit == SX_EXIT_OPEN) return own[exit];
    return own && own[exit] ? own[exit] : texts[exit];
}

sx_exit sx_exit_of_error(const struct sx_error *error) {
    static const sx_exit exits[] = {
        [SX_ERR_INPUT] = SX_EXIT_BAD,       [SX_ERR_USAGE] = SX_EXIT_BAD,
        [SX_ERR_FILE] = SX_EXIT_BAD,        [SX_ERR_LIMIT] = SX_EXIT_BAD,
        [SX_ERR_WRITE] = SX_EXIT_FAILED,    [SX_ERR_MEMORY] = SX_EXIT_FAILED,
        [SX_ERR_INTERNAL] = SX_EXIT_FAILED, [SX_ERR_PROGRAM] = SX_EXIT_FAILED,
    };
    return exits[error->code];
}

sx_exit sx_exit_join(sx_exit a, sx_exit b) {
    static const int weight[SX_N_EXITS] = {
        [SX_EXIT_OPEN] = 1, [SX_EXIT_NONE] = 2, [SX_EXIT_BAD] = 3, [SX_EXIT_FAILED] = 4};
    return weight[b] > weight[a] ? b : a;
}
