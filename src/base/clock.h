/* Time that only runs forward. */
#ifndef SX_BASE_CLOCK_H
#define SX_BASE_CLOCK_H

/* Seconds since some moment before the program began. */
double sx_clock_seconds(void);

/* Seconds for which a search goes on at most that has found nothing when its time is over: every layer of a network
 * has an answer, however short its share of the time is. */
#define SX_GRACE_SECONDS 1

#endif
