/* Files of one section, such as a device, a chip or a family of problems. */
#ifndef SX_FRONTEND_SECTION_FILE_H
#define SX_FRONTEND_SECTION_FILE_H

#include "text/document/document.h"

typedef struct sx_section_file {
    const char *key;     /* of the section, which is also what it describes */
    const char *example; /* the hint of errors that have none */
    sx_status (*read)(const sx_node *value, void *out);
} sx_section_file;

/* Reads the section of a file with its includes. */
SX_MUST_USE sx_status sx_section_file_read(const sx_section_file *kind, const char *path, void *out);

/* Reads the section of a text as if it were the file `name`. */
SX_MUST_USE sx_status sx_section_file_parse(const sx_section_file *kind, const char *name, const char *text,
                                            size_t size, void *out);

#endif
