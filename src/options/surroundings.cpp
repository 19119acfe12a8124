#include "options/surroundings.hpp"

#include "options/file.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace onbeat::options {
namespace {

constexpr std::size_t kLargestHeaderFile = 1 << 20;

std::vector<std::string> variable_names() {
  std::vector<std::string> names;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    names.emplace_back(text.substr(0, text.find('=')));
  }
  return names;
}

}  // namespace

HeaderSources Surroundings::header_sources() const {
  return {.environment = environment, .read_file = [read = read_file](const std::string& path) {
            return read(path, kLargestHeaderFile);
          }};
}

Surroundings system_surroundings() {
  return {.environment = [](const std::string& name) -> std::optional<std::string> {
            const char* value = std::getenv(name.c_str());
            return value == nullptr ? std::nullopt : std::optional<std::string>(value);
          },
          .variables = variable_names,
          .read_file = [](const std::string& path,
                          std::size_t largest) -> std::expected<std::string, std::string> {
            if (path == "-" && std::feof(stdin) != 0) {
              return std::unexpected("standard input has been read already");
            }
            return read_file(path, largest);
          }};
}

}  // namespace onbeat::options
