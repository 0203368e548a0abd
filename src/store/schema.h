/* The tables, and how a file comes from one version of them to the next. */
#ifndef SX_STORE_SCHEMA_H
#define SX_STORE_SCHEMA_H

#include "store/database.h"

/* Marks our files (in the header of SQLite's format): "Sxtn". */
#define SX_SCHEMA_APPLICATION 0x5378746e

/* The newest version. */
int sx_schema_newest(void);

/* Refuses a file that is another program's or newer, or that holds anything but the tables and indexes of its
 * version: a trigger, a view, a table that was altered. Several questions, to be asked in one transaction. */
SX_MUST_USE sx_status sx_schema_check(sx_database *database, int64_t *version);

/* Brings an open file to the newest version, in one transaction. */
SX_MUST_USE sx_status sx_schema_update(sx_database *database);

#endif
