#include "cli/gctf_files.hpp"

#include "cli/console.hpp"
#include "options/file.hpp"

#include <algorithm>
#include <filesystem>

namespace onbeat::cli {
namespace {

constexpr std::size_t kLargestFile = std::size_t{64} << 20;

/// Files below a folder whose names end with .gctf.
std::vector<std::string> files_below(const std::string& folder) {
  std::vector<std::string> found;
  std::error_code error;
  const auto options = std::filesystem::directory_options::skip_permission_denied;
  for (auto it = std::filesystem::recursive_directory_iterator(folder, options, error);
       !error && it != std::filesystem::recursive_directory_iterator(); it.increment(error)) {
    if (it->path().extension() == ".gctf" && it->is_regular_file(error)) {
      found.push_back(it->path().string());
    }
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace

std::optional<std::vector<GctfFile>> read_gctf_files(const std::vector<std::string>& paths) {
  std::vector<options::Problem> problems;
  const auto problem = [&](const std::string& where, std::string message, std::string hint = {}) {
    problems.push_back(
        {.where = where, .message = std::move(message), .hint = std::move(hint), .text = {}});
  };
  if (paths.empty())
    problem({}, "a file is missing", "a .gctf file, a folder of them, or - for standard input");
  std::vector<GctfFile> files;
  for (const std::string& path : paths) {
    std::error_code error;
    std::vector<std::string> named{path};
    if (std::filesystem::is_directory(path, error)) named = files_below(path);
    if (named.empty()) problem(path, "the folder has no .gctf file");
    for (const std::string& name : named) {
      auto text = options::read_file(name, kLargestFile);
      if (text) {
        files.push_back({name == "-" ? "standard input" : name, std::move(*text)});
      } else {
        problem(name, text.error());
      }
    }
  }
  if (problems.empty()) return files;
  show(problems);
  return std::nullopt;
}

}  // namespace onbeat::cli
