# The core compiled for common numbers of levels and tensors, with one tensor whose tiles overlap in part or none:
# a file for each, which core/engines.h declares.
foreach(levels 3 4 5 6)
  foreach(tensors 3 4)
    foreach(window "" "_window")
      set(name sx_core_engine_${levels}_${tensors}${window})
      set(number 0)
      if(window)
        set(number 1)
      endif()
      file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/core/${name}.c CONTENT
"#define SX_CORE_FIXED_LEVELS ${levels}
#define SX_CORE_FIXED_TENSORS ${tensors}
#define SX_CORE_FIXED_WINDOW ${number}
#define SX_CORE_ENGINE ${name}
#include \"core/engines.h\"

#include \"core/engine_body.inc\"
")
      list(APPEND SEXTANT_SOURCES ${PROJECT_BINARY_DIR}/core/${name}.c)
    endforeach()
  endforeach()
endforeach()
