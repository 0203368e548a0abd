# Text files as arrays of a C file: sextant_embed(OUTPUT HEADER NAME FILE [NAME FILE]...), where HEADER
# declares the names. Made when CMake runs, and again when
# a file changes.
function(sextant_embed output header)
  set(text "#include \"${header}\"\n")
  while(ARGN)
    list(POP_FRONT ARGN name file)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} bytes HEX)
    string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    string(APPEND text "const char ${name}[] = {\n${bytes}0};\n")
  endwhile()
  file(CONFIGURE OUTPUT ${output} CONTENT "${text}" @ONLY)
endfunction()
