# onbeat_layer(NAME USES layers... LINKS targets...)
#
# A layer is a folder of src/: one static library of its .cpp files, and beside them x_test.cpp (GoogleTest), x_bench.cpp
# (Google Benchmark) and x_fuzz.cpp (libFuzzer). The build fails when a file of the folder includes a layer that is not
# in USES or below it.
#
# Tests become one binary, <name>_test, and up to two ctest entries: <name>, and <name>.measured (label `measured`) for
# the suites whose name begins with Measured: checks of real time, run apart from the rest.
find_package(fmt REQUIRED)
find_package(ZLIB REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(OpenSSL REQUIRED)

function(onbeat_layer name)
  cmake_parse_arguments(arg "" "" "USES;LINKS" ${ARGN})
  set(folder "${PROJECT_SOURCE_DIR}/src/${name}")
  file(GLOB sources CONFIGURE_DEPENDS "${folder}/*.cpp")
  file(GLOB headers CONFIGURE_DEPENDS "${folder}/*.hpp" "${PROJECT_SOURCE_DIR}/include/onbeat/${name}/*.hpp")
  set(tests ${sources})
  set(benches ${sources})
  set(fuzzers ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER benches INCLUDE REGEX "_bench\\.cpp$")
  list(FILTER fuzzers INCLUDE REGEX "_fuzz\\.cpp$")
  set(all_files ${sources} ${headers})
  list(FILTER sources EXCLUDE REGEX "_(test|bench|fuzz)\\.cpp$|/main\\.cpp$")
  if(NOT sources)
    return()
  endif()

  set(allowed ${name} ${arg_USES})
  foreach(used IN LISTS arg_USES)
    get_property(below GLOBAL PROPERTY onbeat_uses_${used})
    list(APPEND allowed ${below})
  endforeach()
  list(REMOVE_DUPLICATES allowed)
  set_property(GLOBAL PROPERTY onbeat_uses_${name} "${allowed}")
  set(stamp "${PROJECT_BINARY_DIR}/layers/${name}.checked")
  list(JOIN allowed "," allowed_words)
  add_custom_command(
    OUTPUT "${stamp}"
    COMMAND ${CMAKE_COMMAND} -DLAYER=${name} -DALLOWED=${allowed_words} -DROOT=${PROJECT_SOURCE_DIR} -DSTAMP=${stamp}
            -P "${PROJECT_SOURCE_DIR}/cmake/CheckLayer.cmake"
    DEPENDS ${all_files} "${PROJECT_SOURCE_DIR}/cmake/CheckLayer.cmake"
    COMMENT "Checking what ${name} includes" VERBATIM)
  add_custom_target(onbeat_${name}_includes DEPENDS "${stamp}")

  add_library(onbeat_${name} STATIC ${sources})
  add_dependencies(onbeat_${name} onbeat_${name}_includes)
  add_library(onbeat::${name} ALIAS onbeat_${name})
  target_include_directories(
    onbeat_${name} PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>" "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>"
                          "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>")
  target_compile_features(onbeat_${name} PUBLIC cxx_std_23)
  target_link_libraries(onbeat_${name} PUBLIC Threads::Threads)
  foreach(used IN LISTS arg_USES)
    if(TARGET onbeat_${used})
      target_link_libraries(onbeat_${name} PUBLIC onbeat_${used})
    endif()
  endforeach()
  target_link_libraries(onbeat_${name} PRIVATE ${arg_LINKS})

  if(ONBEAT_TESTS AND tests)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE onbeat_${name} ${arg_LINKS} GTest::gmock GTest::gtest GTest::gtest_main)
    target_compile_definitions(${name}_test PRIVATE ONBEAT_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    onbeat_add_test(${name} ${name}_test ${tests})
  endif()
  if(ONBEAT_TESTS AND benches)
    add_executable(${name}_bench ${benches})
    target_link_libraries(${name}_bench PRIVATE onbeat_${name} ${arg_LINKS} benchmark::benchmark benchmark::benchmark_main)
  endif()
  if(ONBEAT_FUZZ)
    foreach(fuzzer IN LISTS fuzzers)
      get_filename_component(fuzzer_name "${fuzzer}" NAME_WE)
      add_executable(${fuzzer_name} "${fuzzer}")
      target_link_libraries(${fuzzer_name} PRIVATE onbeat_${name} ${arg_LINKS})
      target_link_options(${fuzzer_name} PRIVATE -fsanitize=fuzzer)
      if(NOT TARGET fuzzers)
        add_custom_target(fuzzers)
      endif()
      add_dependencies(fuzzers ${fuzzer_name})
    endforeach()
  endif()
endfunction()

# Registers a GoogleTest binary with ctest, in random order, its Measured* suites apart.
function(onbeat_add_test name binary)
  add_test(NAME ${name} COMMAND ${binary} --gtest_shuffle --gtest_brief=1 --gtest_filter=-Measured*)
  set_tests_properties(${name} PROPERTIES TIMEOUT 300)
  set(measured FALSE)
  foreach(file IN LISTS ARGN)
    file(STRINGS "${file}" found REGEX "^TEST(_F|_P)?\\(Measured")
    if(found)
      set(measured TRUE)
    endif()
  endforeach()
  if(measured)
    add_test(NAME ${name}.measured COMMAND ${binary} --gtest_brief=1 --gtest_filter=Measured*)
    set_tests_properties(${name}.measured PROPERTIES LABELS measured RUN_SERIAL TRUE TIMEOUT 600)
  endif()
endfunction()

# The onbeat binary.
function(onbeat_program)
  if(NOT EXISTS "${PROJECT_SOURCE_DIR}/src/cli/main.cpp")
    return()
  endif()
  add_executable(onbeat "${PROJECT_SOURCE_DIR}/src/cli/main.cpp")
  target_link_libraries(onbeat PRIVATE onbeat_cli)
  set_target_properties(onbeat PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
  install(TARGETS onbeat RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()
