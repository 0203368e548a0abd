/* A clock that a test drives, in the place of the machine's. */
#ifndef SX_TESTS_DRIVEN_CLOCK_H
#define SX_TESTS_DRIVEN_CLOCK_H

/* Makes every reading of the clock move it on by a number of seconds; 0: it is the machine's again. */
void sx_clock_drive(double step);

/* Makes readings move a driven clock on 1,000 times as far from now on. */
void sx_clock_hasten(void);

#endif
