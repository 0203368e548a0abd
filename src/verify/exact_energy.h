/* The energy of a mapping without rounding. */
#ifndef SX_VERIFY_EXACT_ENERGY_H
#define SX_VERIFY_EXACT_ENERGY_H

#include "sextant/certificate.h"

/* The sum of a mapping's counts times the decimals of the architecture's energies, in pJ, as a number or as two with
 * a slash between them. "" where the counts do not say it (zeros, remainders, networks that cost energy) or it
 * exceeds 128 bits. An error where the mapping cannot be evaluated. */
SX_MUST_USE sx_status sx_mapping_exact_energy(const sx_model *model, const sx_mapping *mapping,
                                              char text[SX_FRACTION_SIZE]);

#endif
