# How src/learn/ is compiled, here and by itself (src/learn/CMakeLists.txt), and its optional parts. SEXTANT_LEARN is its
# folder; SEXTANT_FEATURES gets a line for each part that is found.
option(SEXTANT_WITH_OPENBLAS "offer OpenBLAS as a matrix product" ON)
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH SEXTANT_LEARN)
set(SEXTANT_LEARN ${SEXTANT_LEARN}/src/learn)

# No errno, so that square roots are one instruction; kernels are compiled for what they ask the processor for.
file(GLOB sources ${SEXTANT_LEARN}/*.c ${SEXTANT_LEARN}/layers/*.c)
set_source_files_properties(${sources} PROPERTIES COMPILE_OPTIONS -fno-math-errno)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|amd64")
  set_source_files_properties(${SEXTANT_LEARN}/kernel_avx2.c PROPERTIES COMPILE_OPTIONS "-mavx2;-mfma")
  set_source_files_properties(${SEXTANT_LEARN}/kernel_avx512.c PROPERTIES COMPILE_OPTIONS "-mavx512f;-mfma")
endif()

# Loaded when a command asks for it: programs start without it.
if(SEXTANT_WITH_OPENBLAS)
  find_library(SEXTANT_OPENBLAS openblas)
endif()
if(SEXTANT_OPENBLAS)
  string(APPEND SEXTANT_FEATURES "OpenBLAS: a matrix product\\n")
  set_source_files_properties(${SEXTANT_LEARN}/openblas.c PROPERTIES COMPILE_DEFINITIONS SX_OPENBLAS="libopenblas.so.0")
endif()
