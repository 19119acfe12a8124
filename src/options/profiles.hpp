// Profiles: sets of options for a kind of test, built-in ones and one's own.
#pragma once

#include "options/settings.hpp"

#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace onbeat::options {

struct Profile {
  std::string name;
  std::string description;
  std::string extends;  // the profile whose options hold where it sets none; may be empty
  std::vector<Setting> settings;
  std::string origin;  // "load.yaml:12:3"; empty for a built-in one
};

/// functional, load, stress, spike, soak: for each command in its own options.
std::span<const Profile> built_in_profiles(CommandSet command = kHttp);

/// What `name` sets, with all that it extends. `asked_by` is for messages.
std::expected<Layer, Problem> profile_layer(std::string_view name, std::span<const Profile> custom,
                                            const std::string& asked_by,
                                            CommandSet command = kHttp);

/// Names that clash, parents that do not exist, circles.
std::vector<Problem> check_profiles(std::span<const Profile> custom);

/// For people: each with its description and options.
std::string profiles_text(std::span<const Profile> custom);

}  // namespace onbeat::options
