/* For analysers alone, which follow no variadic functions: an error is never NULL. Included before every file. */
#include "base/status.h"
extern struct sx_error sx_some_error;
#define sx_error_memory() (&sx_some_error)
#define sx_error_new(...) (&sx_some_error)
#define sx_error_at(...) (&sx_some_error)
#define sx_error_hint(...) (&sx_some_error)
#define sx_error_system(...) (&sx_some_error)
