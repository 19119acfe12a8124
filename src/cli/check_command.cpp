#include "cli/check_command.hpp"

#include "cli/console.hpp"
#include "cli/gctf_files.hpp"
#include "document/gctf_check.hpp"
#include "options/surroundings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace onbeat::cli {
namespace {

using document::Diagnostic;
using Severity = Diagnostic::Severity;

struct CheckedFile {
  std::string path;
  std::vector<Diagnostic> diagnostics;
};

std::string_view name_of(Severity severity) {
  return severity == Severity::error ? "error" : "warning";
}

/// "schema": "onbeat.check/1".
std::string json_text(const std::vector<CheckedFile>& files, std::size_t errors,
                      std::size_t warnings) {
  document::JsonTree tree;
  const auto text = [&](std::string_view key, std::string_view value) {
    tree.key(key);
    tree.text(value);
  };
  const auto number = [&](std::string_view key, std::uint64_t value) {
    tree.key(key);
    tree.natural(value);
  };
  tree.begin_object();
  text("schema", "onbeat.check/1");
  number("files", files.size());
  number("errors", errors);
  number("warnings", warnings);
  tree.key("problems");
  tree.begin_array();
  for (const CheckedFile& file : files) {
    for (const Diagnostic& one : file.diagnostics) {
      tree.begin_object();
      text("file", file.path);
      number("line", one.at.line);
      number("column", one.at.column);
      text("severity", name_of(one.severity));
      text("code", one.code);
      text("message", one.message);
      text("hint", one.hint);
      tree.end();
    }
  }
  tree.end();
  tree.end();
  std::string out;
  document::append_json(tree.root(), out);
  return out + "\n";
}

std::string counted(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace

int check_command(const std::vector<std::string>& files, const options::Settings& settings) {
  const auto texts = read_gctf_files(files);
  if (!texts) return static_cast<int>(run::ExitCode::usage);
  const options::Surroundings surroundings = options::system_surroundings();
  std::vector<CheckedFile> checked;
  std::size_t errors = 0;
  std::size_t warnings = 0;
  for (const GctfFile& file : *texts) {
    checked.push_back(
        {file.path, document::check_gctf(file.path, file.text, surroundings.environment)});
    for (const Diagnostic& one : checked.back().diagnostics) {
      ++(one.severity == Severity::error ? errors : warnings);
    }
  }
  bool printed = true;
  if (settings.flag("json")) {
    printed = print(stdout, json_text(checked, errors, warnings));
  } else {
    for (const CheckedFile& file : checked) {
      for (const Diagnostic& one : file.diagnostics) {
        show({document::problem_of(file.path, one)}, std::string(name_of(one.severity)).c_str());
      }
    }
    printed = print(stdout, fmt::format("{}, {}, {}\n", counted(checked.size(), "file"),
                                        counted(errors, "error"), counted(warnings, "warning")));
  }
  return errors == 0 && printed ? 0 : static_cast<int>(run::ExitCode::usage);
}

}  // namespace onbeat::cli
