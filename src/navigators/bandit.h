/* Credit of parts that take turns: a sliding-window bandit with area-under-the-curve credit. */
#ifndef SX_NAVIGATORS_BANDIT_H
#define SX_NAVIGATORS_BANDIT_H

#include <stddef.h>
#include <stdint.h>

enum { SX_BANDIT_WINDOW = 1000 };

/* The last turns. One is written as twice the part's number, and one more where it was a success. */
typedef struct sx_bandit {
    uint64_t turns; /* all that there were */
    uint16_t turn[SX_BANDIT_WINDOW];
} sx_bandit;

/* Notes a turn; the window is of at most SX_BANDIT_WINDOW turns. */
void sx_bandit_note(sx_bandit *bandit, size_t window, size_t part, int success);

/* The value of giving a part the next turn: its credit and what its rarity is worth; INFINITY where it has had none
 * in the window. */
double sx_bandit_value(const sx_bandit *bandit, size_t window, double exploration, size_t part);

#endif
