// A `.gctf` file as it is meant: one document, or a chain of several. Parsed strictly, all problems
// at once; what is inherited (attributes within a document; ADDRESS, TLS, PROTO, OPTIONS and
// REQUEST_HEADERS from one document to the next) stands resolved in each.
//
//   Parsed parsed = parse_gctf(path, text);
//   if (has_errors(parsed.diagnostics)) ... problem_of(path, diagnostic) ...
//   for (const Document& document : parsed.chain.documents)
//     for (const Step& step : document.steps) ...
//
// A chain is immutable once parsed: any thread may read it.
#pragma once

#include "document/json_tree.hpp"
#include "options/settings.hpp"
#include <onbeat/kernel/clock.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace onbeat::document {

using kernel::Duration;

/// In a file: from 1, columns in bytes.
struct Position {
  std::uint32_t line = 1, column = 1;
  auto operator<=>(const Position&) const = default;
};

struct Diagnostic {
  enum class Severity : std::uint8_t { error, warning };
  Severity severity = Severity::error;
  std::string code;  // "unknown_section": stable, for programs
  Position at;
  std::string message;
  std::string hint;  // may be empty
  bool operator==(const Diagnostic&) const = default;
};
[[nodiscard]] bool has_errors(const std::vector<Diagnostic>& diagnostics) noexcept;
/// With "path:line:column" as its place.
[[nodiscard]] options::Problem problem_of(const std::string& path, const Diagnostic& diagnostic);

enum class Compression : std::uint8_t { none, gzip };

/// "key: value". A BENCH value keeps its continuation lines, indented as they are, after "\n".
struct Entry {
  std::string key, value;
  Position key_at, value_at;
};

/// What the "#[...]" lines before a section say, and what it inherits from earlier sections of its
/// document.
struct Attributes {
  bool skip = false;         // not inherited
  std::uint64_t repeat = 1;  // not inherited
  std::optional<Duration> timeout;
  std::optional<std::uint64_t> retry;
  std::optional<Duration> retry_delay;
  std::optional<bool> no_retry;
  std::optional<Compression> compression;
  std::string name, owner, summary;
  std::vector<std::string> tags;
};

/// How a RESPONSE or an ERROR is compared (compare.hpp).
struct MatchOptions {
  bool with_asserts = false;
  bool partial = false;
  bool unordered_arrays = false;
  std::optional<double> tolerance;
  std::vector<std::string> redact;
};

/// A line of an ASSERTS section, without its comment.
struct AssertionLine {
  std::string text;
  Position at;
};

/// A line of an EXTRACT section: name[:type] = expression.
struct ExtractLine {
  std::string name, type, expression;
  Position at, expression_at;
};

/// A section that does something; in file order.
struct Step {
  enum class Kind : std::uint8_t { request, response, error, asserts, extract };
  Kind kind = Kind::request;
  Position at;  // of its header
  Attributes attributes;
  MatchOptions match;  // of RESPONSE and ERROR
  /// Of REQUEST, RESPONSE, ERROR: one for each message; none in an empty section. JsonView::offset
  /// is an offset in the file (Chain::position).
  std::vector<JsonTree> messages;
  std::vector<AssertionLine> assertions;  // of ASSERTS
  /// Of ASSERTS: belongs to the RESPONSE or ERROR right before it, whose with_asserts is set.
  bool attached = false;
  std::vector<ExtractLine> extractions;  // of EXTRACT
};

/// Paths are resolved against the file's folder; empty: not said.
struct TlsSection {
  std::string ca_file, cert_file, key_file, server_name;
  bool insecure = false;
  Position at;
};

struct ProtoSection {
  std::string descriptor;
  std::vector<std::string> files, import_paths;
  Position at;
};

struct CallOptions {
  std::optional<Duration> timeout;
  std::uint64_t retry = 0;
  std::optional<Duration> retry_delay;  // absent: 100 ms times the number of the attempt
  bool no_retry = false;
  std::optional<Compression> compression;
};

/// One call. What it inherits is filled in.
struct Document {
  Position at;          // of its first section
  std::string address;  // "host:port" or "scheme://host:port"; empty: not said
  Position address_at;
  std::string service, method;  // "shop.Catalog", "GetPrice"
  Position endpoint_at;
  std::optional<TlsSection> tls;
  std::optional<ProtoSection> proto;
  CallOptions options;
  std::vector<Entry>
      headers;  // REQUEST_HEADERS: values as they are written, templates of Place::field
  std::vector<Step> steps;

  [[nodiscard]] std::string endpoint() const { return service + "/" + method; }
};

struct Meta {
  std::string name, summary, owner;
  std::vector<std::string> tags, links;
};

/// A file.
struct Chain {
  std::string path;
  Meta meta;
  std::vector<Entry> bench;  // the BENCH section: last one of a repeated key; `sources` among them
  Position bench_at;
  bool has_bench = false;
  std::vector<JsonTree> dataset;  // rows of the DATASET section: objects
  std::vector<Document> documents;

  [[nodiscard]] Position position(std::uint32_t offset) const;
  std::vector<std::uint32_t> line_begins;  // offsets, of the text without BOM and carriage returns
};

struct Parsed {
  Chain chain;                          // complete only when there are no errors
  std::vector<Diagnostic> diagnostics;  // in the order of the file
};

/// `path` as messages are to name it; what the file names is relative to its folder. Only the text
/// is judged: no file is touched.
[[nodiscard]] Parsed parse_gctf(const std::string& path, std::string_view text);

}  // namespace onbeat::document
