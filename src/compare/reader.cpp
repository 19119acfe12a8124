#include "compare/reader.hpp"

#include "report/json_reader.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>

namespace onbeat::compare {

std::vector<std::string_view> split_documents(std::string_view text) {
  std::vector<std::string_view> documents;
  std::size_t begin = 0;
  std::size_t depth = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_text) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        in_text = false;
      }
    } else if (c == '"') {
      in_text = true;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && depth > 0 && --depth == 0) {
      documents.push_back(text.substr(begin, i + 1 - begin));
      begin = i + 1;
    }
  }
  const std::string_view rest = text.substr(begin);
  if (documents.empty() || rest.find_first_not_of(" \t\r\n") != std::string_view::npos)
    documents.push_back(rest);
  return documents;
}

std::expected<std::vector<Run>, std::string> read_runs(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file.is_open() || file.bad())
    return std::unexpected(
        fmt::format("{}: {}", path, std::generic_category().message(errno != 0 ? errno : EIO)));
  const std::vector<std::string_view> documents = split_documents(text);
  std::vector<Run> runs;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    std::string source = documents.size() == 1 ? path : fmt::format("{}, run {}", path, i + 1);
    auto report = report::from_json(documents[i]);
    if (!report)
      return std::unexpected(
          fmt::format("{}: no report of a run (--out json=FILE): {}", source, report.error()));
    runs.push_back({std::move(source), *std::move(report)});
  }
  return runs;
}

}  // namespace onbeat::compare
