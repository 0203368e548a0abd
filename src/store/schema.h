/* The tables, and how a file comes from one version of them to the next. */
#ifndef SX_STORE_SCHEMA_H
#define SX_STORE_SCHEMA_H

#include "store/database.h"

/* Marks our files (in the header of SQLite's format): "Sxtn". */
#define SX_SCHEMA_APPLICATION 0x5378746e

/* The newest version. */
int sx_schema_newest(void);

/* The statements that bring a file from `version` (0: an empty one) to the next. */
const char *sx_schema_step(int version);

/* Brings an open file to the newest version, in one transaction; one that is there already is only read. */
SX_MUST_USE sx_status sx_schema_update(sx_database *database);

#endif
