// Surroundings made up for tests.
#pragma once

#include "options/surroundings.hpp"

#include <map>
#include <string>

namespace onbeat::options {

struct FakeSurroundings {
  std::map<std::string, std::string> variables, files;

  [[nodiscard]] Surroundings make() const {
    return {
        .environment = [all = variables](const std::string& name) -> std::optional<std::string> {
          const auto found = all.find(name);
          return found == all.end() ? std::nullopt : std::optional(found->second);
        },
        .variables =
            [all = variables] {
              std::vector<std::string> names;
              for (const auto& [name, value] : all) names.push_back(name);
              return names;
            },
        .read_file = [all = files](const std::string& path,
                                   std::size_t) -> std::expected<std::string, std::string> {
          const auto found = all.find(path);
          if (found == all.end()) return std::unexpected("No such file or directory");
          return found->second;
        }};
  }
};

}  // namespace onbeat::options
