# What is installed, in the components that become Debian packages, and how these are described. `make package` builds them
# and a tarball, in a build folder of its own.
find_program(SEXTANT_GZIP gzip)
if(SEXTANT_GZIP AND NOT SEXTANT_SANITIZE)
  set(SEXTANT_PAGES ${PROJECT_BINARY_DIR}/pages)
  add_custom_command(OUTPUT ${SEXTANT_PAGES}/man1/sextant.1.gz
    COMMAND ${PROJECT_SOURCE_DIR}/tools/pages $<TARGET_FILE:sextant> ${SEXTANT_PAGES}
    DEPENDS sextant ${PROJECT_SOURCE_DIR}/tools/pages VERBATIM)
  add_custom_target(pages ALL DEPENDS ${SEXTANT_PAGES}/man1/sextant.1.gz)
  install(DIRECTORY ${SEXTANT_PAGES}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT sextant)
  install(DIRECTORY ${SEXTANT_PAGES}/bash/ DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT sextant)
  install(DIRECTORY ${SEXTANT_PAGES}/zsh/ DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT sextant)
  install(DIRECTORY ${SEXTANT_PAGES}/fish/ DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT sextant)
endif()

install(TARGETS sextant RUNTIME COMPONENT sextant)
install(TARGETS libsextant LIBRARY COMPONENT libsextant1 NAMELINK_COMPONENT libsextant-dev)
foreach(module sextant-cuda sextant-gpu sextant-mpi)
  if(TARGET ${module})
    install(TARGETS ${module} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/sextant COMPONENT sextant)
  endif()
endforeach()
install(DIRECTORY share/sextant DESTINATION ${CMAKE_INSTALL_DATADIR} COMPONENT sextant)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/sextant COMPONENT sextant FILES_MATCHING PATTERN "*.md"
  PATTERN site EXCLUDE PATTERN decisions EXCLUDE)
install(DIRECTORY include/sextant DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT libsextant-dev)
install(FILES ${PROJECT_BINARY_DIR}/sextant.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT libsextant-dev)
install(DIRECTORY python/sextant DESTINATION lib/python3/dist-packages COMPONENT python3-sextant
  PATTERN __pycache__ EXCLUDE PATTERN "*.so*" EXCLUDE)

set(SEXTANT_PACKAGES sextant libsextant1 libsextant-dev python3-sextant)
if(SEXTANT_GZIP)
  # Debian wants a changelog of its own; NEWS.md has what changed.
  set(contact "The Sextant developers <sextant@example.org>")
  configure_file(cmake/debian/changelog.in changelog @ONLY)
  execute_process(COMMAND ${SEXTANT_GZIP} -9nkf ${PROJECT_BINARY_DIR}/changelog)
  configure_file(cmake/debian/copyright copyright COPYONLY)
  configure_file(cmake/debian/shlibs.in shlibs @ONLY)
  foreach(package IN LISTS SEXTANT_PACKAGES)
    install(FILES ${PROJECT_BINARY_DIR}/copyright ${PROJECT_BINARY_DIR}/changelog.gz
      DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package} COMPONENT ${package})
  endforeach()
endif()

set(CPACK_GENERATOR "DEB;TGZ")
set(CPACK_PACKAGE_NAME sextant)
set(CPACK_PACKAGE_VERSION ${SEXTANT_VERSION})
set(CPACK_DEBIAN_PACKAGE_VERSION ${SEXTANT_DEBIAN_VERSION})
set(CPACK_PACKAGE_VENDOR "The Sextant developers")
set(CPACK_PACKAGE_CONTACT "${contact}")
set(CPACK_PACKAGE_FILE_NAME sextant-${SEXTANT_VERSION}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL ${SEXTANT_PACKAGES})
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_ARCHIVE_COMPONENT_INSTALL OFF)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
  WORLD_EXECUTE)

set(about "Sextant finds how to tile, order and unroll the loops of a tensor
computation (a convolution, a matrix product, any einsum, a whole network) on
a hardware accelerator, which memory keeps which tensor, and how far from the
optimum the answer can be. It reads Timeloop's files.

This package has")
set(CPACK_DEBIAN_SEXTANT_PACKAGE_NAME sextant)
set(CPACK_DEBIAN_SEXTANT_PACKAGE_SECTION science)
set(CPACK_DEBIAN_SEXTANT_DESCRIPTION "map tensor computations onto hardware accelerators\n${about} the program.")
set(CPACK_DEBIAN_LIBSEXTANT1_PACKAGE_NAME libsextant1)
set(CPACK_DEBIAN_LIBSEXTANT1_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBSEXTANT1_PACKAGE_CONTROL_EXTRA
  "${PROJECT_BINARY_DIR}/shlibs;${PROJECT_SOURCE_DIR}/cmake/debian/triggers")
set(CPACK_DEBIAN_LIBSEXTANT1_DESCRIPTION "map tensor computations onto accelerators - library\n${about} the shared library.")
set(CPACK_DEBIAN_LIBSEXTANT-DEV_PACKAGE_NAME libsextant-dev)
set(CPACK_DEBIAN_LIBSEXTANT-DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBSEXTANT-DEV_PACKAGE_DEPENDS "libsextant1 (= ${SEXTANT_DEBIAN_VERSION})")
set(CPACK_DEBIAN_LIBSEXTANT-DEV_DESCRIPTION "map tensor computations onto accelerators - headers\n${about} what C programs need to be compiled.")
set(CPACK_DEBIAN_PYTHON3-SEXTANT_PACKAGE_NAME python3-sextant)
set(CPACK_DEBIAN_PYTHON3-SEXTANT_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON3-SEXTANT_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON3-SEXTANT_PACKAGE_DEPENDS "python3 (>= 3.9), libsextant1 (>= ${SEXTANT_DEBIAN_VERSION})")
set(CPACK_DEBIAN_PYTHON3-SEXTANT_PACKAGE_RECOMMENDS "python3-numpy")
set(CPACK_DEBIAN_PYTHON3-SEXTANT_DESCRIPTION "map tensor computations onto accelerators - Python\n${about} the Python package.")
set(CPACK_DEBIAN_PYTHON3-SEXTANT_PACKAGE_CONTROL_EXTRA "${PROJECT_SOURCE_DIR}/cmake/debian/prerm")
include(CPack)
