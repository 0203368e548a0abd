# How programs are linked for `tools/mutants --make`: the library and the command line are one shared library that shows every
# function, libwhole.so. libmutant.so comes before it and is empty: a changed object takes the place of the original where
# a library of that name is found first. SEXTANT_MUTANTS_FLAGS are the options of a build that records what tests reach.
set(SEXTANT_MUTANTS_FLAGS "" CACHE STRING "more options for the library, of a build for tools/mutants")
target_compile_options(sextant_objects PRIVATE ${SEXTANT_MUTANTS_FLAGS})
set(CMAKE_SKIP_BUILD_RPATH ON)
set(CMAKE_LINK_DEPENDS_NO_SHARED ON)
set(SEXTANT_WHOLE sextant_mutant sextant_whole)
file(WRITE ${PROJECT_BINARY_DIR}/nothing.c "")
add_library(sextant_mutant SHARED ${PROJECT_BINARY_DIR}/nothing.c)
target_link_options(sextant_mutant INTERFACE -Wl,--no-as-needed)
add_library(sextant_whole SHARED ${SEXTANT_CLI})
target_include_directories(sextant_whole PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_compile_options(sextant_whole PRIVATE ${SEXTANT_MUTANTS_FLAGS})
target_link_libraries(sextant_whole PUBLIC sextant_objects)
set_target_properties(sextant_mutant PROPERTIES OUTPUT_NAME mutant)
set_target_properties(sextant_whole PROPERTIES OUTPUT_NAME whole)
add_executable(sextant ${PROJECT_BINARY_DIR}/nothing.c)
target_link_libraries(sextant PRIVATE ${SEXTANT_WHOLE})
