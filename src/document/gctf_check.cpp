#include "document/gctf_check.hpp"

#include "document/diagnostics.hpp"
#include "document/gctf_sections.hpp"
#include "document/prepared.hpp"
#include "document/source_list.hpp"
#include "options/bench_section.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <tuple>

namespace onbeat::document {
namespace {

using Environment = std::function<std::optional<std::string>(const std::string&)>;

class Check {
 public:
  Check(const std::string& path, std::string_view text, const Environment& environment)
      : text_(text),
        environment_(environment),
        parsed_(parse_gctf(path, text)),
        out_(parsed_.diagnostics) {}

  std::vector<Diagnostic> run() {
    const Chain& chain = parsed_.chain;
    for (const Document& document : chain.documents) files(document);
    addresses();
    bench();
    std::vector<std::string> variables;
    for (const SourceDescription& source : read_sources(chain, parsed_.diagnostics)) {
      columns(source, variables);
    }
    dataset(variables);
    auto more = PreparedChain::examine(chain, std::move(variables), environment_);
    auto& all = parsed_.diagnostics;
    all.insert(all.end(), std::make_move_iterator(more.begin()),
               std::make_move_iterator(more.end()));
    std::ranges::sort(
        all, {}, [](const Diagnostic& one) { return std::tie(one.at, one.code, one.message); });
    all.erase(std::ranges::unique(all).begin(), all.end());
    return std::move(all);
  }

 private:
  /// Keys and values, by the table of options.
  void bench() {
    const std::vector<Entry>& entries = parsed_.chain.bench;
    std::vector<options::SectionEntry> keys;
    for (std::size_t i = 0; i < entries.size(); ++i)
      keys.push_back({entries[i].key, entries[i].value, std::to_string(i)});
    const options::BenchSection section = options::read_bench_section(keys);
    const auto at = [&](const options::Problem& problem) {
      return entries[static_cast<std::size_t>(std::stoul(problem.where))].key_at;
    };
    for (const options::Problem& problem : section.problems)
      out_.error("bad_bench", at(problem), problem.message, problem.hint);
    for (const options::Problem& problem : section.warnings)
      out_.warning("bench_unit", at(problem), problem.message, problem.hint);
  }

  void exists(const std::string& path, Position at) {
    std::error_code error;
    if (path.empty() || std::filesystem::is_regular_file(path, error)) return;
    out_.error("missing_file", at, fmt::format("{} is no file", path),
               "paths are relative to the document's folder");
  }

  void files(const Document& document) {
    if (document.tls) {
      exists(document.tls->ca_file, document.tls->at);
      exists(document.tls->cert_file, document.tls->at);
      exists(document.tls->key_file, document.tls->at);
    }
    if (!document.proto) return;
    exists(document.proto->descriptor, document.proto->at);
    for (const std::string& file : document.proto->files) {
      const auto in_path = [&](const std::string& folder) {
        std::error_code error;
        const auto name = std::filesystem::path(file).filename();
        return std::filesystem::exists(std::filesystem::path(folder) / name, error);
      };
      if (!std::ranges::any_of(document.proto->import_paths, in_path))
        exists(file, document.proto->at);
    }
  }

  void addresses() {
    for (const Document& document : parsed_.chain.documents) {
      if (!document.address.empty() || document.service == "?") continue;
      const auto elsewhere = environment_ ? environment_("GRPCTESTIFY_ADDRESS") : std::nullopt;
      if (!elsewhere) {
        out_.warning("no_address", document.at,
                     "ADDRESS is missing: the address must be given to the run");
      }
      return;  // said once
    }
  }

  void columns(const SourceDescription& source, std::vector<std::string>& variables) {
    if (source.data.path.empty()) return;
    std::error_code error;
    if (!std::filesystem::exists(source.data.path, error)) {
      out_.warning("missing_source", source.at, fmt::format("{} is missing", source.data.path));
      return mentioned(source.data.name, variables);
    }
    const auto opened = DataSource::open(source.data);
    if (!opened) {
      for (const options::Problem& problem : opened.error()) {
        out_.error("bad_source", source.at, fmt::format("{}: {}", problem.where, problem.message),
                   problem.hint);
      }
      return mentioned(source.data.name, variables);
    }
    for (std::string& name : (*opened)->variables()) variables.push_back(std::move(name));
  }

  /// What cannot be known is believed: the placeholders of a source that cannot be read.
  void mentioned(const std::string& source, std::vector<std::string>& variables) {
    for (std::size_t at = text_.find("{{"); at != std::string_view::npos;
         at = text_.find("{{", at + 2)) {
      const std::size_t end = std::min(text_.find("}}", at), text_.size());
      const std::string_view name =
          trimmed(text_.substr(at + 2, end - at - std::min<std::size_t>(2, end - at)));
      if (name.starts_with(source + ".")) variables.emplace_back(name);
    }
  }

  void dataset(std::vector<std::string>& variables) {
    for (const JsonTree& row : parsed_.chain.dataset) {
      const JsonView object = row.root();
      for (JsonView member = object.first(); member; member = object.after(member)) {
        std::string name = fmt::format("dataset.{}", member.key());
        if (std::ranges::find(variables, name) == variables.end())
          variables.push_back(std::move(name));
      }
    }
  }

  std::string_view text_;
  const Environment& environment_;
  Parsed parsed_;
  Diagnostics out_;
};

}  // namespace

std::vector<Diagnostic> check_gctf(const std::string& path, std::string_view text,
                                   const Environment& environment) {
  return Check(path, text, environment).run();
}

}  // namespace onbeat::document
