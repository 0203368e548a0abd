/* Cases of fused mappings as tests/golden/fusion has them. */
#ifndef SX_TESTS_FUSION_CASE_H
#define SX_TESTS_FUSION_CASE_H

#include "looptree/fused_mapping.h"

#include <jansson.h>

typedef struct sx_fusion_case {
    const char *id;
    sx_arch arch;      /* words of one bit; a cycle is the time of one operation */
    double throughput; /* operations per unit of the case's time */
    sx_cascade cascade;
    sx_fused_mapping mapping; /* without paths where the case has none */
} sx_fusion_case;

/* Reads a case; fails the test where it is none. */
void sx_fusion_case_init(sx_fusion_case *c, const json_t *json);
void sx_fusion_case_fini(sx_fusion_case *c);

#endif
