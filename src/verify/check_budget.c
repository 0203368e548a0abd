#include "verify/check_budget.h"

void sx_check_budget_spend(sx_check_budget *budget, uint64_t n) {
    uint64_t steps = atomic_fetch_add(&budget->steps, n) + n;
    if (sx_is_cancelled(budget->cancel) || (budget->most && steps > budget->most))
        atomic_store(&budget->over, true);
}

bool sx_check_budget_over(void *budget) {
    sx_check_budget_spend(budget, 0);
    return atomic_load(&((sx_check_budget *)budget)->over);
}
