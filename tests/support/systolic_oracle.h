/* The published model of systolic designs once more, slow and plain: term by term as the rules are told, with
 * whole numbers of trips. It shares nothing with src/systolic. */
#ifndef SX_TESTS_SYSTOLIC_ORACLE_H
#define SX_TESTS_SYSTOLIC_ORACLE_H

#include "sextant/systolic.h"

/* What a point costs on a device with numbers of type `element`, energy left at 0; *out is filled where there
 * is a cost. The space of tiles has no say. */
sx_systolic_fault sx_systolic_oracle(const sx_systolic_kernel *kernel, const sx_device *device,
                                     const sx_element *element, bool thin, const sx_systolic_point *point,
                                     sx_systolic_cost *out);

#endif
