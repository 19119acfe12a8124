# The kernel for other programs: headers, library, find_package(onbeat), pkg-config. `cmake --install DIR --component
# kernel` installs these alone. Nothing in them holds an absolute path, so that the tree can be moved.
include(CMakePackageConfigHelpers)

if(TARGET onbeat_kernel)
  set_target_properties(onbeat_kernel PROPERTIES EXPORT_NAME kernel)
  install(TARGETS onbeat_kernel EXPORT onbeat ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT kernel)
  install(FILES "${PROJECT_SOURCE_DIR}/include/onbeat/kernel.hpp" DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/onbeat COMPONENT kernel)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/onbeat/kernel" DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/onbeat COMPONENT kernel)

  set(onbeat_package ${CMAKE_INSTALL_LIBDIR}/cmake/onbeat)
  install(EXPORT onbeat NAMESPACE onbeat:: FILE onbeat-targets.cmake DESTINATION ${onbeat_package} COMPONENT kernel)
  configure_package_config_file(
    "${PROJECT_SOURCE_DIR}/cmake/onbeat-config.cmake.in" "${PROJECT_BINARY_DIR}/onbeat-config.cmake"
    INSTALL_DESTINATION ${onbeat_package} NO_SET_AND_CHECK_MACRO)
  # Before 1.0 a minor version may change the interface.
  write_basic_package_version_file("${PROJECT_BINARY_DIR}/onbeat-config-version.cmake" COMPATIBILITY SameMinorVersion)
  install(FILES "${PROJECT_BINARY_DIR}/onbeat-config.cmake" "${PROJECT_BINARY_DIR}/onbeat-config-version.cmake"
          DESTINATION ${onbeat_package} COMPONENT kernel)

  file(RELATIVE_PATH onbeat_pc_to_prefix "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
  configure_file("${PROJECT_SOURCE_DIR}/cmake/onbeat-kernel.pc.in" "${PROJECT_BINARY_DIR}/onbeat-kernel.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/onbeat-kernel.pc" DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT kernel)
endif()
