# Writes onbeat_version.hpp when its content changes: at every build, so that the commit is the present one.
execute_process(COMMAND git -C "${ROOT}" describe --always --dirty=+ --exclude=* OUTPUT_VARIABLE commit
                OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
set(text "#define ONBEAT_VERSION \"${VERSION}\"\n#define ONBEAT_COMMIT \"${commit}\"\n#define ONBEAT_COMPILER \"${COMPILER}\"\n")
if(EXISTS "${OUT}")
  file(READ "${OUT}" before)
endif()
if(NOT "${before}" STREQUAL "${text}")
  file(WRITE "${OUT}" "${text}")
endif()
