/* The files of a folder that Timeloop would be given: what each holds, and which are taken. */
#ifndef SX_INPUT_FOLDER_H
#define SX_INPUT_FOLDER_H

#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

/* What the sections at a file's left margin are. */
enum {
    SX_HOLDS_ARCH = 1 << 0,
    SX_HOLDS_PROBLEM = 1 << 1,
    SX_HOLDS_MAPPING = 1 << 2,
    SX_HOLDS_CONSTRAINTS = 1 << 3, /* of an architecture */
    SX_HOLDS_MAPSPACE = 1 << 8,    /* constraints of a map space */
    SX_HOLDS_MAPPER = 1 << 4,
    SX_HOLDS_ERT = 1 << 5,
    SX_HOLDS_PARTS = 1 << 6,  /* variables, components and other sections that add to the rest */
    SX_HOLDS_RESULT = 1 << 7, /* the file is what Timeloop's front end made of others */
};

typedef struct sx_folder_file {
    char *path;
    unsigned holds;
    bool result; /* written by Timeloop or Accelergy */
    bool taken;
} sx_folder_file;

typedef struct sx_folder {
    const char *path;
    sx_folder_file *file;
    size_t n, room;
    bool whole; /* the one file that is taken holds or includes everything */
} sx_folder;

/* Whether a path is that of a folder. */
bool sx_is_folder(const char *path);

/* Lists the YAML files, templates and loop nests of a folder and those below it, in the order of their names,
 * with what they hold. *out is freed with sx_folder_fini, also after an error. */
SX_MUST_USE sx_status sx_folder_scan(const char *path, sx_folder *out);
void sx_folder_fini(sx_folder *folder);

/* Marks the files to be taken: those of the only architecture, problem, mapping, mapper and constraints, and
 * what goes with them; or top.yaml, which holds or includes all, alone. What is in `given` comes from
 * elsewhere, and what is in `present` from files that are read together with these. What several files hold
 * is not taken. */
void sx_folder_choose(sx_folder *folder, unsigned given, unsigned present);

/* File number `index` of those that may be taken for what `holds` says: those that a person wrote or, without
 * any, those that Timeloop did. NULL past the last. */
const sx_folder_file *sx_folder_candidate(const sx_folder *folder, unsigned holds, size_t index);

/* The only file that Timeloop's front end made of others, NULL where there is none or more than one. */
const sx_folder_file *sx_folder_processed(const sx_folder *folder);

/* Whether a file of that kind is taken. */
bool sx_folder_takes(const sx_folder *folder, unsigned holds);

/* The error for a folder that holds none or several of what `holds` says; `option` is the one that chooses,
 * and `what` the plural of its name. */
SX_ERROR sx_status sx_folder_unclear(const sx_folder *folder, unsigned holds, const char *option,
                                     const char *what);

/* The error for a folder that is the value of an option for a file, with the files in it that would do. */
SX_ERROR sx_status sx_folder_refuse(const char *path, unsigned holds, const char *option);

#endif
