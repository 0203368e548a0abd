#include "base/module.h"

#include <dlfcn.h>
#include <string.h>

sx_status sx_module_load(const char *file, const char *what, const char *symbol, bool global, void *out) {
    void *library = dlopen(file, RTLD_NOW | (global ? RTLD_GLOBAL : RTLD_LOCAL));
    if (!library) return sx_error_new(SX_ERR_FILE, "cannot load the %s module: %s", what, dlerror());
    void *found = dlsym(library, symbol);
    memcpy(out, &found, sizeof found);
    return found ? SX_OK : sx_module_other_version(file);
}

sx_status sx_module_other_version(const char *file) {
    return sx_error_new(SX_ERR_FILE, "%s is of another version of this program", file);
}
