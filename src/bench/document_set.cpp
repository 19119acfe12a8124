#include "bench/document_set.hpp"

#include "options/scan.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

namespace onbeat::bench {
namespace {

namespace fs = std::filesystem;
using document::Chain;
using options::Problem;

constexpr std::size_t kLargestDocument = std::size_t{64} << 20;
constexpr std::string_view kExtension = ".gctf";
constexpr std::string_view kCall = "--call";
constexpr std::uint32_t kEndpointOfCall = 2;  // the line

class Reader {
 public:
  Reader(const DocumentQuery& query, const options::Surroundings& surroundings)
      : query_(query), surroundings_(surroundings) {}

  DocumentSet read() && {
    if (!query_.call.empty()) {
      call();
    } else {
      for (const std::string& path : query_.paths) take(path);
      if (query_.paths.empty())
        error({}, "a document is missing", "onbeat bench FILE.gctf, or --call SERVICE/METHOD");
    }
    select();
    agree();
    return std::move(set_);
  }

 private:
  void error(std::string where, std::string message, std::string hint = {}) {
    set_.errors.push_back({std::move(where), std::move(message), std::move(hint), {}, 0});
  }

  void take(const std::string& path) {
    std::error_code ignored;
    if (path != "-" && fs::is_directory(path, ignored)) return folder(path);
    const auto text = surroundings_.read_file(path, kLargestDocument);
    if (!text) return error("FILE", fmt::format("cannot read {}: {}", path, text.error()));
    parse(path == "-" ? "standard input" : path, *text);
  }

  void folder(const std::string& path) {
    std::vector<std::string> found;
    std::error_code failed;
    for (fs::recursive_directory_iterator at(path, failed), end; !failed && at != end;
         at.increment(failed)) {
      std::error_code ignored;
      if (!at->is_regular_file(ignored) || at->path().extension() != kExtension) continue;
      if (!excluded(at->path(), path)) found.push_back(at->path().string());
    }
    if (failed) error("FILE", fmt::format("cannot read {}: {}", path, failed.message()));
    std::ranges::sort(found);
    if (found.empty() && !failed) {
      return error("FILE", fmt::format("no documents in {}", path),
                   query_.exclude.empty() ? "they end in .gctf" : "--exclude leaves none");
    }
    for (const std::string& file : found) take(file);
  }

  [[nodiscard]] bool excluded(const fs::path& file, const std::string& folder) const {
    const std::string name = file.filename().string();
    const std::string below = file.lexically_relative(folder).string();
    return std::ranges::any_of(query_.exclude, [&](const std::string& glob) {
      return fnmatch(glob.c_str(), name.c_str(), 0) == 0 ||
             fnmatch(glob.c_str(), below.c_str(), 0) == 0;
    });
  }

  void parse(const std::string& path, std::string_view text) {
    document::Parsed parsed = document::parse_gctf(path, text);
    for (const document::Diagnostic& diagnostic : parsed.diagnostics) {
      auto& list = diagnostic.severity == document::Diagnostic::Severity::error ? set_.errors
                                                                                : set_.warnings;
      list.push_back(document::problem_of(path, diagnostic));
      list.back().where = place_in(path, diagnostic.at);
    }
    if (document::has_errors(parsed.diagnostics)) return;
    set_.chains.push_back(std::make_unique<const Chain>(std::move(parsed.chain)));
  }

  /// A document of its own: whatever is answered with OK passes.
  void call() {
    if (!query_.paths.empty())
      error("--call", "stands in place of documents", "leave one of them out");
    std::string data = query_.data.empty() ? "{}" : query_.data;
    if (data.starts_with('@')) {
      const auto text = surroundings_.read_file(data.substr(1), kLargestDocument);
      if (!text)
        return error("--data", fmt::format("cannot read {}: {}", data.substr(1), text.error()));
      data = *text;
    }
    if (query_.call.find_first_of("\r\n") != std::string::npos)
      return error("--call", "is one line", "shop.Catalog/GetPrice");
    std::string text = fmt::format("--- ENDPOINT ---\n{}\n", query_.call);
    if (!query_.proto.empty()) {
      const bool sources = query_.proto.find(".proto") != std::string::npos;
      text +=
          fmt::format("--- PROTO ---\n{}: {}\n", sources ? "files" : "descriptor", query_.proto);
    }
    text += fmt::format("--- REQUEST ---\n{}\n--- RESPONSE partial ---\n{{}}\n", data);
    parse(std::string(kCall), text);
  }

  static std::vector<std::string> tags_of(const Chain& chain) {
    std::vector<std::string> tags = chain.meta.tags;
    for (const document::Document& document : chain.documents)
      for (const document::Step& step : document.steps)
        tags.insert(tags.end(), step.attributes.tags.begin(), step.attributes.tags.end());
    return tags;
  }

  void select() {
    if (query_.tags.empty() && query_.skip_tags.empty()) return;
    const auto any = [](const std::vector<std::string>& wanted,
                        const std::vector<std::string>& has) {
      return std::ranges::any_of(
          wanted, [&](const std::string& tag) { return std::ranges::find(has, tag) != has.end(); });
    };
    const bool had = !set_.chains.empty();
    std::erase_if(set_.chains, [&](const auto& chain) {
      const std::vector<std::string> tags = tags_of(*chain);
      return (!query_.tags.empty() && !any(query_.tags, tags)) || any(query_.skip_tags, tags);
    });
    if (had && set_.chains.empty())
      error(query_.tags.empty() ? "--skip-tags" : "--tags", "no document is left");
  }

  void sources(const Chain& chain) {
    std::vector<document::Diagnostic> diagnostics;
    set_.sources = document::read_sources(chain, diagnostics);
    for (const document::Diagnostic& diagnostic : diagnostics) {
      auto& list = diagnostic.severity == document::Diagnostic::Severity::error ? set_.errors
                                                                                : set_.warnings;
      list.push_back(document::problem_of(chain.path, diagnostic));
    }
  }

  /// One run has one BENCH section: those that have one must say the same.
  void agree() {
    const Chain* first = nullptr;
    for (const auto& chain : set_.chains) {
      if (!chain->has_bench) continue;
      if (first == nullptr) {
        first = chain.get();
        sources(*chain);
        for (const document::Entry& entry : chain->bench) {
          set_.bench.push_back(
              {entry.key, entry.value,
               fmt::format("{}:{}:{}", chain->path, entry.key_at.line, entry.key_at.column)});
        }
        continue;
      }
      const auto same = [](const document::Entry& a, const document::Entry& b) {
        return a.key == b.key && a.value == b.value;
      };
      if (!std::ranges::equal(first->bench, chain->bench, same)) {
        error(fmt::format("{}:{}:{}", chain->path, chain->bench_at.line, chain->bench_at.column),
              fmt::format("its BENCH section differs from that of {}", first->path),
              "documents that run together need the same one, or none");
      }
    }
  }

  const DocumentQuery& query_;
  const options::Surroundings& surroundings_;
  DocumentSet set_;
};

}  // namespace

std::string place_in(const std::string& path, document::Position at) {
  // Lines of a text that the user has never seen.
  if (path == kCall) return at.line <= kEndpointOfCall ? "--call" : "--data";
  return fmt::format("{}:{}:{}", path, at.line, at.column);
}

std::vector<std::string> words_of_list(std::string_view list) {
  std::vector<std::string> words;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    std::string_view word = list.substr(0, end);
    while (!word.empty() && word.front() == ' ') word.remove_prefix(1);
    while (!word.empty() && word.back() == ' ') word.remove_suffix(1);
    if (!word.empty()) words.emplace_back(word);
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return words;
}

DocumentSet read_documents(const DocumentQuery& query, const options::Surroundings& surroundings) {
  return Reader(query, surroundings).read();
}

std::unique_ptr<const document::RowSet> open_rows(const DocumentSet& documents, std::uint64_t seed,
                                                  const options::Surroundings& surroundings,
                                                  std::vector<Problem>& problems) {
  if (documents.sources.empty()) return nullptr;
  const auto budget = surroundings.environment("GRPCTESTIFY_DIMENSION_MEMORY_BUDGET");
  auto rows = document::RowSet::open(
      documents.sources, {.seed = seed,
                          .memory_budget = document::default_memory_budget(
                              budget ? std::optional<std::string_view>(*budget) : std::nullopt)});
  if (rows) return std::move(*rows);
  problems.insert(problems.end(), rows.error().begin(), rows.error().end());
  return nullptr;
}

}  // namespace onbeat::bench
