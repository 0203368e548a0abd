/* The texts of `sextant new`, which the build makes of the files of share/sextant/new. */
#ifndef SX_CLI_STARTS_H
#define SX_CLI_STARTS_H

extern const char sx_start_arch[], sx_start_problem[], sx_start_graph[], sx_start_constraints[];

#endif
