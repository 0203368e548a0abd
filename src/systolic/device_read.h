/* The keys of files of devices. */
#ifndef SX_SYSTOLIC_DEVICE_READ_H
#define SX_SYSTOLIC_DEVICE_READ_H

#include "frontend/keys.h"

extern const sx_keys sx_keys_device, sx_keys_device_type;

#endif
