// Configuration files: YAML in which any option of a command stands under its key, beside endpoints
// and profiles.
//
//   rate: 500
//   duration: 1m
//   header: {Accept: application/json}       a map, or a list of 'Name: value'
//   threshold: [p(99) < 25ms]
//   endpoints:
//     - name: login
//       weight: 3
//       url: http://127.0.0.1:8080/login
//       method: POST
//       header: {Authorization: Bearer $TOKEN}
//       body: ...                             or json_body, body_file
//       threshold: [p(95) < 50ms]
//   profiles:
//     nightly: {description: ..., extends: soak, duration: 8h}
//
// Paths are relative to the working directory, as on the command line.
#pragma once

#include "options/profiles.hpp"
#include "options/settings.hpp"
#include "options/surroundings.hpp"
#include "options/table.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace onbeat::options {

struct ConfigFile {
  Layer layer{Source::file, {}};
  std::vector<Profile> profiles;
  std::vector<Problem> problems;
};

/// `path` is for messages: "load.yaml:3:5".
ConfigFile parse_config(std::string_view text, const std::string& path, const Command& command,
                        const Surroundings& surroundings, const Vocabulary& vocabulary = {});

/// A file of profiles alone: what stands under `profiles` in a configuration file. Options are
/// those of `command`.
ConfigFile parse_profile_file(std::string_view text, const std::string& path,
                              const Command& command, const Vocabulary& vocabulary = {});

}  // namespace onbeat::options
