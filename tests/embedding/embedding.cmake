# Installs the kernel into a folder of its own, builds the example from there by find_package and by pkg-config, and
# runs it. The documentation must show the same program.
cmake_minimum_required(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\nended with ${result}:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

# 5000 calls at 20 times the speed: 2 s instead of 39.
function(run_example program)
  run("${program}" 20)
  if(NOT output MATCHES "^5000 req, [0-9.]+ rps, 0\\.00% err \\(0 saturated\\), p50/p95/p99 [0-9]")
    message(FATAL_ERROR "${program} printed:\n${output}")
  endif()
endfunction()

file(READ "${SOURCE}/docs/embedding.md" documentation)
foreach(file main.cpp CMakeLists.txt)
  file(READ "${SOURCE}/examples/embed/${file}" text)
  string(FIND "${documentation}" "\n${text}```\n" place)
  if(place EQUAL -1)
    message(FATAL_ERROR "docs/embedding.md does not show examples/embed/${file} as it is")
  endif()
endforeach()

file(REMOVE_RECURSE "${WORK}")
set(prefix "${WORK}/a prefix")
run("${CMAKE_COMMAND}" --install "${BINARY}" --component kernel --prefix "${prefix}")
# What is installed must not need what it was built from.
file(GLOB_RECURSE packages "${prefix}/*.cmake" "${prefix}/*.pc")
foreach(package IN LISTS packages)
  file(READ "${package}" text)
  string(FIND "${text}" "${SOURCE}" place)
  if(NOT place EQUAL -1)
    message(FATAL_ERROR "${package} names the source tree")
  endif()
endforeach()

run("${CMAKE_COMMAND}" -S "${SOURCE}/examples/embed" -B "${WORK}/by_cmake" -G "${GENERATOR}" "-DCMAKE_PREFIX_PATH=${prefix}"
    "-DCMAKE_CXX_COMPILER=${COMPILER}" "-DCMAKE_CXX_FLAGS=${FLAGS}")
run("${CMAKE_COMMAND}" --build "${WORK}/by_cmake")
run_example("${WORK}/by_cmake/embed")

file(GLOB_RECURSE pc "${prefix}/*/onbeat-kernel.pc")
get_filename_component(pc_folder "${pc}" DIRECTORY)
set(ENV{PKG_CONFIG_PATH} "${pc_folder}")
run("${PKG_CONFIG}" --cflags --libs onbeat-kernel)
separate_arguments(from_pkg_config UNIX_COMMAND "${output}")
separate_arguments(flags UNIX_COMMAND "${FLAGS}")
run("${COMPILER}" -std=c++23 ${flags} "${SOURCE}/examples/embed/main.cpp" -o "${WORK}/by_pkg_config" ${from_pkg_config})
run_example("${WORK}/by_pkg_config")
