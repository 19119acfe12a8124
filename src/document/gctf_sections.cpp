#include "document/gctf_sections.hpp"

#include "document/diagnostics.hpp"
#include "document/utf8.hpp"
#include "options/nearest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace onbeat::document {
namespace {

constexpr std::array<std::string_view, 15> kNames{
    "META",     "BENCH", "DATASET", "ADDRESS",         "ENDPOINT",
    "TLS",      "PROTO", "OPTIONS", "REQUEST_HEADERS", "REQUEST",
    "RESPONSE", "ERROR", "ASSERTS", "EXTRACT",         "HEADERS",
};
constexpr std::string_view kDashes = "---";

bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (is_lower(c)) c = static_cast<char>(c - 'a' + 'A');
  }
  return out;
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  RawFile read() {
    if (const std::size_t bad = invalid_utf8(text_); bad != std::string_view::npos) {
      refuse_bytes(bad);
      return std::move(file_);
    }
    std::uint32_t number = 0;
    for (std::size_t at = 0; at < text_.size();) {
      const std::size_t end = std::min(text_.find('\n', at), text_.size());
      line({.kind = GctfLine::Kind::content,
            .text = text_.substr(at, end - at),
            .number = ++number,
            .offset = static_cast<std::uint32_t>(at)});
      at = end + 1;
    }
    give_back_pending();
    return std::move(file_);
  }

 private:
  void error(std::string_view code, Position at, std::string message, std::string hint = {}) {
    Diagnostics(file_.diagnostics).error(code, at, std::move(message), std::move(hint));
  }

  void refuse_bytes(std::size_t bad) {
    const std::string_view before = text_.substr(0, bad);
    const auto line = static_cast<std::uint32_t>(std::ranges::count(before, '\n') + 1);
    const std::size_t begin = before.rfind('\n') + 1;
    error("not_utf8", {line, static_cast<std::uint32_t>(bad - begin + 1)}, "the text is not UTF-8");
  }

  void line(GctfLine line) {
    const std::string_view text = trimmed(line.text);
    if (text.empty()) {
      line.kind = GctfLine::Kind::blank;
      if (!attributes_.empty()) return;
    } else if (text.starts_with(kDashes) && header(line, text)) {
      return;
    } else if (text.starts_with("#[") && text.size() > 2 && is_lower(text[2])) {
      line.kind = GctfLine::Kind::attribute;
      attribute(line, text);
      return;
    } else if (text[0] == '#' || text.starts_with("//")) {
      line.kind = GctfLine::Kind::comment;
      pending_.push_back(line);
      return;
    }
    give_back_pending();
    add(line);
  }

  void add(const GctfLine& line) {
    if (skipping_) return;
    (file_.sections.empty() ? file_.preface : file_.sections.back().body).push_back(line);
  }

  /// Comments that no header follows belong to the section before them.
  void give_back_pending() {
    for (const RawAttribute& attribute : attributes_) {
      error("stray_attribute", attribute.line.position(trimmed(attribute.line.text)),
            "the attribute has no section",
            "attributes stand right above the header of their section");
    }
    for (const GctfLine& comment : pending_) add(comment);
    pending_.clear();
    attributes_.clear();
  }

  /// Whether the line is meant as a header.
  bool header(GctfLine& line, std::string_view text) {
    const bool closed = text.size() >= 2 * kDashes.size() && text.ends_with(kDashes);
    std::string_view inside = text.substr(kDashes.size());
    if (closed) inside.remove_suffix(kDashes.size());
    inside = trimmed(inside);
    const auto end = std::ranges::find_if(inside, is_blank);
    const std::string_view name = inside.substr(0, static_cast<std::size_t>(end - inside.begin()));
    const bool is_name =
        !name.empty() && std::ranges::all_of(name, [](char c) { return is_upper(c) || c == '_'; });
    const bool is_known = std::ranges::find(kNames, upper(name)) != kNames.end();
    if (!is_known && !(is_name && closed)) return false;
    if (!is_name) {
      error("header_case", line.position(name), "names of sections are upper case",
            fmt::format("--- {} ---", upper(name)));
    } else if (!closed) {
      error("header_open", line.position(text), "the header is not closed",
            fmt::format("--- {} ---", inside));
    }
    line.kind = GctfLine::Kind::header;
    begin_section(line, name, trimmed(inside.substr(name.size())));
    return true;
  }

  void begin_section(const GctfLine& line, std::string_view name, std::string_view options) {
    const auto kind = section_kind(upper(name));
    skipping_ = !kind;
    if (!kind) {
      const auto nearest = options::nearest(name, kNames);
      error("unknown_section", line.position(name), fmt::format("unknown section {}", name),
            nearest ? fmt::format("did you mean {}?", *nearest)
                    : fmt::format("sections are {}", fmt::join(std::span(kNames).first(14), ", ")));
      pending_.clear();
      attributes_.clear();
      return;
    }
    file_.sections.push_back({.kind = *kind,
                              .header = line,
                              .name = name,
                              .options = options,
                              .attributes = std::exchange(attributes_, {}),
                              .above = std::exchange(pending_, {}),
                              .body = {}});
  }

  void attribute(const GctfLine& line, std::string_view text) {
    const auto is_name = [](char c) { return is_lower(c) || c == '_' || c == '-'; };
    const std::string_view inside = text.substr(2);
    const auto end = std::ranges::find_if_not(inside, is_name);
    RawAttribute attribute{
        line, inside.substr(0, static_cast<std::size_t>(end - inside.begin())), {}};
    std::string_view rest = trimmed(inside.substr(attribute.name.size()));
    std::string_view fault;
    if (rest.starts_with('(')) {
      rest.remove_prefix(1);
      attribute.value = value(rest, fault);
    }
    if (fault.empty() && rest != "]") {
      fault =
          rest.starts_with(']') ? "something follows the attribute" : "the attribute is not closed";
    }
    if (!fault.empty()) {
      error("attribute_syntax", line.position(text), std::string(fault),
            "#[name], #[name(value)] or #[name(\"value\")] on a line of its own");
      return;
    }
    attributes_.push_back(std::move(attribute));
  }

  /// Takes the value and its closing parenthesis off `rest`.
  static std::string value(std::string_view& rest, std::string_view& fault) {
    rest = trimmed(rest);
    std::string out;
    if (!rest.empty() && (rest[0] == '"' || rest[0] == '\'')) {
      const char quote = rest[0];
      std::size_t at = 1;
      for (; at < rest.size() && rest[at] != quote; ++at) {
        if (rest[at] == '\\' && at + 1 < rest.size()) ++at;
        out += rest[at];
      }
      if (at >= rest.size()) {
        fault = "the text is not closed";
        return out;
      }
      rest = trimmed(rest.substr(at + 1));
    } else {
      const std::size_t close = rest.find(')');
      if (close == std::string_view::npos) {
        fault = "the parenthesis is not closed";
        return out;
      }
      out = trimmed(rest.substr(0, close));
      rest.remove_prefix(close);
    }
    if (!rest.starts_with(')')) fault = "the parenthesis is not closed";
    if (fault.empty()) rest = trimmed(rest.substr(1));
    return out;
  }

  std::string_view text_;
  RawFile file_;
  std::vector<GctfLine> pending_;  // comments that may belong to the next header
  std::vector<RawAttribute> attributes_;
  bool skipping_ = false;  // a section of an unknown name
};

}  // namespace

std::string_view to_string(SectionKind kind) noexcept {
  return kNames[static_cast<std::size_t>(kind)];
}

std::optional<SectionKind> section_kind(std::string_view name) noexcept {
  if (name == "HEADERS") return SectionKind::request_headers;
  const auto found = std::ranges::find(kNames, name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<SectionKind>(found - kNames.begin());
}

std::span<const std::string_view> section_names() noexcept {
  return std::span(kNames).first(kNames.size() - 1);
}

bool is_step(SectionKind kind) noexcept { return kind >= SectionKind::request; }

std::string normalized(std::string_view text) {
  constexpr std::string_view kBom = "\xef\xbb\xbf";
  if (text.starts_with(kBom)) text.remove_prefix(kBom.size());
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    while (line.ends_with('\r')) line.remove_suffix(1);
    out += line;
    if (end < text.size()) out += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

RawFile read_sections(std::string_view text) { return Reader(text).read(); }

std::vector<std::span<const RawSection>> split_documents(std::span<const RawSection> sections) {
  std::vector<std::span<const RawSection>> documents;
  std::size_t begin = 0;
  std::size_t behind_step = 0;  // where a next document would begin
  bool has_step = false;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    if (is_step(sections[i].kind)) {
      has_step = true;
      behind_step = i + 1;
    } else if (sections[i].kind == SectionKind::endpoint && has_step) {
      documents.push_back(sections.subspan(begin, behind_step - begin));
      begin = behind_step;
      has_step = false;
    }
  }
  if (begin < sections.size()) documents.push_back(sections.subspan(begin));
  return documents;
}

std::string_view trimmed(std::string_view text) noexcept {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace onbeat::document
