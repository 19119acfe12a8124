#include "document/gctf_format.hpp"

#include "document/gctf_sections.hpp"
#include "document/json5_format.hpp"

#include <algorithm>
#include <climits>

namespace onbeat::document {
namespace {

using Kind = GctfLine::Kind;

std::string_view right_trimmed(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

/// The options of a header with one blank between them; none within quotes is touched.
std::string single_spaced(std::string_view text) {
  std::string out;
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') quoted = !quoted;
    const bool is_blank = !quoted && (c == ' ' || c == '\t');
    if (is_blank && (out.empty() || out.back() == ' ')) continue;
    out += is_blank ? ' ' : c;
  }
  return out;
}

class Formatter {
 public:
  explicit Formatter(std::string_view text) : text_(text) {}

  std::string format(const RawFile& file) {
    lines(file.preface, [](std::string_view line) { return std::string(right_trimmed(line)); });
    std::vector<const RawSection*> of_file;
    for (const RawSection& section : file.sections) {
      if (section.kind <= SectionKind::dataset) of_file.push_back(&section);
    }
    sort(of_file);
    for (const RawSection* section : of_file) this->section(*section);
    for (const auto document : split_documents(file.sections)) this->document(document);
    return std::move(out_);
  }

 private:
  /// By kind, those of one kind as they stand.
  static void sort(std::vector<const RawSection*>& sections) {
    std::ranges::sort(sections, [](const RawSection* a, const RawSection* b) {
      return std::pair(a->kind, a->header.number) < std::pair(b->kind, b->header.number);
    });
  }

  void document(std::span<const RawSection> sections) {
    std::vector<const RawSection*> preamble;
    std::vector<const RawSection*> steps;
    bool movable = true;
    for (const RawSection& section : sections) {
      if (section.kind <= SectionKind::dataset) continue;
      (is_step(section.kind) ? steps : preamble).push_back(&section);
      // What an attribute is inherited by depends on the order.
      if (!is_step(section.kind) && !section.attributes.empty()) movable = false;
    }
    if (!movable) {
      for (const RawSection& section : sections) {
        if (section.kind > SectionKind::dataset) this->section(section);
      }
      return;
    }
    sort(preamble);
    for (const RawSection* section : preamble) this->section(*section);
    for (const RawSection* section : steps) this->section(*section);
  }

  void line(std::string_view text) {
    out_ += text;
    out_ += '\n';
  }

  /// Blank lines at either end are dropped, several are at most `most_blank`.
  template <typename Write>
  void lines(const std::vector<GctfLine>& body, Write write, int most_blank = 1) {
    int blank = 0;
    bool any = false;
    for (const GctfLine& one : body) {
      if (one.kind == Kind::blank) {
        if (any) ++blank;
        continue;
      }
      for (int i = 0; i < std::min(blank, most_blank); ++i) line("");
      blank = 0;
      any = true;
      line(write(one.text));
    }
  }

  void section(const RawSection& section) {
    if (!out_.empty()) line("");
    for (const GctfLine& comment : section.above) line(trimmed(comment.text));
    for (const RawAttribute& attribute : section.attributes) line(trimmed(attribute.line.text));
    std::string header = "--- " + std::string(to_string(section.kind));
    if (!section.options.empty()) header += " " + single_spaced(section.options);
    line(header + " ---");
    body(section);
  }

  void body(const RawSection& section) {
    constexpr int kAll = INT_MAX;  // blank lines may be part of a YAML text
    switch (section.kind) {
      case SectionKind::meta:
      case SectionKind::dataset:
        return lines(
            section.body, [](std::string_view text) { return std::string(right_trimmed(text)); },
            kAll);
      case SectionKind::bench:
        return lines(
            section.body,
            [](std::string_view text) {
              const bool indented = !text.empty() && (text[0] == ' ' || text[0] == '\t');
              return indented ? std::string(right_trimmed(text)) : entry(text);
            },
            kAll);
      case SectionKind::tls:
      case SectionKind::proto:
      case SectionKind::options:
      case SectionKind::request_headers:
        return lines(section.body, entry);
      case SectionKind::request:
      case SectionKind::response:
      case SectionKind::error:
        return json(section);
      case SectionKind::extract:
        return lines(section.body, binding);
      case SectionKind::address:
      case SectionKind::endpoint:
      case SectionKind::asserts:
        return lines(section.body,
                     [](std::string_view text) { return std::string(trimmed(text)); });
    }
  }

  static bool is_comment(std::string_view text) {
    return text.starts_with('#') || text.starts_with("//");
  }
  static std::string entry(std::string_view text) {
    text = trimmed(text);
    const std::size_t colon = text.find(':');
    if (is_comment(text) || colon == std::string_view::npos) return std::string(text);
    const std::string_view value = trimmed(text.substr(colon + 1));
    return std::string(trimmed(text.substr(0, colon))) + ":" + (value.empty() ? "" : " ") +
           std::string(value);
  }
  static std::string binding(std::string_view text) {
    text = trimmed(text);
    const std::size_t equals = text.find('=');
    if (is_comment(text) || equals == std::string_view::npos) return std::string(text);
    return std::string(trimmed(text.substr(0, equals))) + " = " +
           std::string(trimmed(text.substr(equals + 1)));
  }

  void json(const RawSection& section) {
    if (section.body.empty()) return;
    const std::size_t begin = section.body.front().offset;
    const GctfLine& last = section.body.back();
    const std::string body =
        format_json5(text_.substr(begin, last.offset + last.text.size() - begin));
    if (!body.empty()) line(body);
  }

  std::string_view text_;
  std::string out_;
};

}  // namespace

std::expected<std::string, std::vector<Diagnostic>> format_gctf(const std::string& path,
                                                                std::string_view text) {
  Parsed parsed = parse_gctf(path, text);
  if (has_errors(parsed.diagnostics)) return std::unexpected(std::move(parsed.diagnostics));
  const std::string clean = normalized(text);
  return Formatter(clean).format(read_sections(clean));
}

}  // namespace onbeat::document
