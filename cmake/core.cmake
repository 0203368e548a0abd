# The core compiled for common numbers of levels and tensors, with one tensor whose tiles overlap in part or none: a file
# for each, which core/engines.h declares. Other numbers go by core/engine_any.c.
set(sizes 3_3_0 3_3_1 3_4_0 4_3_0 4_3_1 5_3_0 5_3_1 6_3_0 6_3_1)
if(SEXTANT_SANITIZE) # what is specialised for speed takes long to compile: a minute in all
  set(sizes 3_3_0 4_3_1)
  set_source_files_properties(src/core/engine.c src/systolic/measure.c PROPERTIES COMPILE_DEFINITIONS SX_SMALL_CODE)
endif()
foreach(size IN LISTS sizes)
  string(REPLACE "_" ";" numbers ${size})
  list(GET numbers 0 levels)
  list(GET numbers 1 tensors)
  list(GET numbers 2 windows)
  set(name sx_core_engine_${size})
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/core/${name}.c CONTENT
"#define SX_CORE_FIXED_LEVELS ${levels}
#define SX_CORE_FIXED_TENSORS ${tensors}
#define SX_CORE_FIXED_WINDOW ${windows}
#define SX_CORE_ENGINE ${name}
#include \"core/engines.h\"

#include \"core/engine_body.inc\"
")
  list(APPEND SEXTANT_SOURCES ${PROJECT_BINARY_DIR}/core/${name}.c)
endforeach()
