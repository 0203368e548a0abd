/* Time that only runs forward. */
#ifndef SX_BASE_CLOCK_H
#define SX_BASE_CLOCK_H

/* Seconds since some moment before the program began. */
double sx_clock_seconds(void);

#endif
