// The lexical layer of a `.gctf` file: lines, and sections as they are written, with their
// comments. Nothing is lost: the formatter prints from these, the parser reads them.
#pragma once

#include "document/gctf.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace onbeat::document {

enum class SectionKind : std::uint8_t {
  meta,
  bench,
  dataset,
  address,
  endpoint,
  tls,
  proto,
  options,
  request_headers,
  request,
  response,
  error,
  asserts,
  extract,
};
/// "REQUEST_HEADERS".
[[nodiscard]] std::string_view to_string(SectionKind kind) noexcept;
/// By name; HEADERS is another one of REQUEST_HEADERS.
[[nodiscard]] std::optional<SectionKind> section_kind(std::string_view name) noexcept;
[[nodiscard]] std::span<const std::string_view> section_names() noexcept;
/// REQUEST, RESPONSE, ERROR, ASSERTS, EXTRACT.
[[nodiscard]] bool is_step(SectionKind kind) noexcept;

struct GctfLine {
  enum class Kind : std::uint8_t { blank, comment, attribute, header, content };
  Kind kind = Kind::blank;
  std::string_view text;  // without its line break
  std::uint32_t number = 1;
  std::uint32_t offset = 0;  // in the file

  /// Of a piece of `text`.
  [[nodiscard]] Position position(std::string_view piece) const noexcept {
    return {number, static_cast<std::uint32_t>(piece.data() - text.data()) + 1};
  }
};

struct RawAttribute {
  GctfLine line;
  std::string_view name;
  std::optional<std::string> value;  // without its quotes
};

struct RawSection {
  SectionKind kind = SectionKind::meta;
  GctfLine header;
  std::string_view name;     // within the header
  std::string_view options;  // within the header; may be empty
  std::vector<RawAttribute> attributes;
  std::vector<GctfLine> above;  // comments right above the header or its attributes
  std::vector<GctfLine> body;   // up to the next section, without its `above` and attributes
};

struct RawFile {
  std::vector<GctfLine> preface;  // before the first section
  std::vector<RawSection> sections;
  std::vector<Diagnostic> diagnostics;
};

/// The text without BOM and carriage returns before line breaks.
[[nodiscard]] std::string normalized(std::string_view text);
/// `text` is normalized, and outlives the result. A section of an unknown name is an error and left
/// out.
[[nodiscard]] RawFile read_sections(std::string_view text);

/// The documents of a chain as ranges of `sections`: a document ends where an ENDPOINT comes after
/// a step; what precedes that ENDPOINT without being a step goes with it.
[[nodiscard]] std::vector<std::span<const RawSection>> split_documents(
    std::span<const RawSection> sections);

[[nodiscard]] std::string_view trimmed(std::string_view text) noexcept;

}  // namespace onbeat::document
