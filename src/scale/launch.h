/* How this process was started, as the environment of the launcher has it. */
#ifndef SX_SCALE_LAUNCH_H
#define SX_SCALE_LAUNCH_H

/* How many processes were started together; 1 where there is no launcher. */
unsigned sx_launch_count(void);
/* The number of this one; and how many of them are on this machine, at least 1. */
unsigned sx_launch_number(void);
unsigned sx_launch_neighbours(void);

#endif
