#include "support/all_groups.h"

#include "support/expect.h"

void sx_expect_groups(const sx_exchange *exchange, sx_inner *inner, unsigned windows, bool nested,
                      sx_vector *out) {
    for (size_t s = 0; s < exchange->n_steps; s++)
        sx_expect_ok(sx_groups_list(exchange, inner, s, windows, nested, out));
}
