# What is installed beside the program, and the packages of cpack: a .deb for Debian 12 and a tarball.
#
#   cmake --preset release && cmake --build --preset release --target onbeat onbeat_extras
#   cpack --config build/release/CPackConfig.cmake -B build/release/packages
#
# Components: program (everywhere), kernel (the library, OnbeatInstall.cmake), plain (what is beside it outside Debian),
# debian (what Debian wants in its own places).
if(NOT TARGET onbeat)
  return()
endif()

set(extras "${PROJECT_BINARY_DIR}/extras")
find_program(ONBEAT_GZIP gzip REQUIRED)
set(extra_files
    ${extras}/onbeat.1.gz ${extras}/onbeat.bash ${extras}/_onbeat ${extras}/onbeat.fish ${extras}/changelog.gz
    ${extras}/changelog.Debian.gz)
add_custom_command(
  OUTPUT ${extra_files}
  COMMAND ${CMAKE_COMMAND} -DONBEAT=$<TARGET_FILE:onbeat> -DGZIP=${ONBEAT_GZIP} -DROOT=${PROJECT_SOURCE_DIR} -DOUT=${extras}
          -P "${PROJECT_SOURCE_DIR}/cmake/WriteExtras.cmake"
  DEPENDS onbeat "${PROJECT_SOURCE_DIR}/cmake/WriteExtras.cmake" "${PROJECT_SOURCE_DIR}/CHANGELOG.md"
          "${PROJECT_SOURCE_DIR}/packaging/changelog.Debian"
  COMMENT "Writing the manual page and completions" VERBATIM)
add_custom_target(onbeat_extras ALL DEPENDS ${extra_files})

set(doc ${CMAKE_INSTALL_DATADIR}/doc/onbeat)
install(FILES ${extras}/onbeat.1.gz DESTINATION ${CMAKE_INSTALL_DATADIR}/man/man1 COMPONENT program)
install(FILES ${extras}/onbeat.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME onbeat COMPONENT program)
install(FILES ${extras}/onbeat.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT program)
install(FILES ${extras}/_onbeat DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT plain)
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${doc} COMPONENT plain)
install(FILES ${extras}/_onbeat DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT debian EXCLUDE_FROM_ALL)
install(FILES packaging/copyright ${extras}/changelog.gz ${extras}/changelog.Debian.gz DESTINATION ${doc} COMPONENT debian EXCLUDE_FROM_ALL)
install(FILES packaging/onbeat.lintian-overrides DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides RENAME onbeat
        COMPONENT debian EXCLUDE_FROM_ALL)

set(CPACK_PACKAGE_NAME onbeat)
set(CPACK_PACKAGE_VENDOR "The Onbeat authors")
set(CPACK_PACKAGE_CONTACT "The Onbeat authors <authors@onbeat.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "load generator whose numbers can be trusted")
set(CPACK_PACKAGE_DESCRIPTION
    "Drives load over HTTP at a controlled rate and tells the truth about what\nhappened: latency from when each request was due, books that add up, and a\nverdict on the measurement itself.")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_PROJECT_CONFIG_FILE "${PROJECT_SOURCE_DIR}/cmake/CPackOptions.cmake")
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Scenarios are compiled where they run.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS clang-19)
include(CPack)
