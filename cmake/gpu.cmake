# How the kernels that score mappings are compiled, here and by themselves (src/gpu/CMakeLists.txt): no fused
# multiply-adds, so that scores have the CPU's bits. Where CUDA's compiler is found (learn.cmake), a module of its own that is
# loaded when it is asked for. SEXTANT_FEATURES gets a line.
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH SEXTANT_GPU)
file(GLOB SEXTANT_GPU_SOURCES CONFIGURE_DEPENDS ${SEXTANT_GPU}/src/gpu/*.cu)

function(sextant_gpu_options target)
  target_include_directories(${target} PRIVATE ${SEXTANT_GPU}/src)
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:--fmad=false -Xcompiler=-ffp-contract=off>)
  set_target_properties(${target} PROPERTIES CUDA_STANDARD 17 CXX_VISIBILITY_PRESET hidden CUDA_VISIBILITY_PRESET hidden
    CUDA_ARCHITECTURES "80-virtual;90-real" POSITION_INDEPENDENT_CODE ON)
endfunction()

if(PROJECT_NAME STREQUAL sextant AND CMAKE_CUDA_COMPILER)
  enable_language(CUDA)
  add_library(sextant-gpu MODULE ${SEXTANT_GPU_SOURCES})
  sextant_gpu_options(sextant-gpu)
  set_target_properties(sextant-gpu PROPERTIES CUDA_COMPILER_LAUNCHER "${CMAKE_C_COMPILER_LAUNCHER}")
  set_source_files_properties(src/gpu/device.c PROPERTIES COMPILE_DEFINITIONS SX_GPU_FILE="libsextant-gpu.so")
  set(CMAKE_BUILD_RPATH ${PROJECT_BINARY_DIR})
  string(APPEND SEXTANT_FEATURES "CUDA ${CUDAToolkit_VERSION}: all mappings of a space on a GPU\\n")
endif()
