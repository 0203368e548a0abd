/* The texts of the built-in architectures, which the build makes of their files. */
#ifndef SX_FRONTEND_CATALOG_ARCHS_H
#define SX_FRONTEND_CATALOG_ARCHS_H

#define ARCH(word, name, about) extern const char sx_arch_text_##word[];
#include "frontend/catalog/archs.def"
#undef ARCH

#endif
