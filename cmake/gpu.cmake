# How the kernels that score mappings are compiled, here and by themselves (src/scale/cuda/CMakeLists.txt): no fused
# multiply-adds, so that scores have the CPU's bits.
if(NOT CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 80-real 90)
endif()
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH SEXTANT_GPU)
file(GLOB SEXTANT_GPU_SOURCES CONFIGURE_DEPENDS ${SEXTANT_GPU}/src/scale/cuda/*.cu)

function(sextant_gpu_options target)
  target_include_directories(${target} PRIVATE ${SEXTANT_GPU}/src)
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:--fmad=false -Xcompiler=-ffp-contract=off>)
  set_target_properties(${target} PROPERTIES CUDA_STANDARD 17 CXX_VISIBILITY_PRESET hidden CUDA_VISIBILITY_PRESET hidden)
endfunction()
