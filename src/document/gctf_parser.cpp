#include "document/assertion_text.hpp"
#include "document/gctf.hpp"
#include "document/gctf_attributes.hpp"
#include "document/gctf_entries.hpp"
#include "document/gctf_rules.hpp"
#include "document/gctf_yaml.hpp"
#include "document/json5.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <tuple>
#include <utility>

namespace onbeat::document {
namespace {

using Kind = GctfLine::Kind;

Position place_of(const RawSection& section) { return section.header.position(section.name); }

class Parser {
 public:
  Parser(const std::string& path, std::string_view text)
      : text_(normalized(text)),
        raw_(read_sections(text_)),
        folder_(std::filesystem::path(path).parent_path()),
        out_(parsed_.diagnostics) {
    parsed_.chain.path = path;
    parsed_.diagnostics = std::move(raw_.diagnostics);
  }

  Parsed parse() {
    index_lines();
    preface();
    file_sections();
    const auto documents = split_documents(raw_.sections);
    for (const auto sections : documents) document(sections);
    if (documents.empty() && !has_errors(parsed_.diagnostics)) {
      out_.error("no_sections", {}, "the file has no sections",
                 "at least --- ENDPOINT --- and one of RESPONSE, ERROR, ASSERTS");
    }
    std::ranges::sort(parsed_.diagnostics, {}, [](const Diagnostic& diagnostic) {
      return std::tie(diagnostic.at, diagnostic.code, diagnostic.message);
    });
    return std::move(parsed_);
  }

 private:
  Chain& chain() { return parsed_.chain; }

  void index_lines() {
    chain().line_begins.push_back(0);
    for (std::size_t at = text_.find('\n'); at != std::string::npos;
         at = text_.find('\n', at + 1)) {
      chain().line_begins.push_back(static_cast<std::uint32_t>(at + 1));
    }
  }

  void preface() {
    const auto content = std::ranges::find(raw_.preface, Kind::content, &GctfLine::kind);
    if (content == raw_.preface.end()) return;
    out_.warning("preface", content->position(trimmed(content->text)),
                 "text before the first section is ignored");
  }

  /// Sections that belong to the whole file.
  void file_sections() {
    const RawSection* first_of[3] = {};
    for (std::size_t i = 0; i < raw_.sections.size(); ++i) {
      const RawSection& section = raw_.sections[i];
      if (section.kind > SectionKind::dataset) continue;
      const RawSection*& first = first_of[static_cast<std::size_t>(section.kind)];
      if (first != nullptr) {
        repeated(section, *first);
        continue;
      }
      first = &section;
      static_cast<void>(read_match_options(section, out_));
      if (section.kind == SectionKind::meta) {
        if (i != 0) out_.error("meta_order", place_of(section), "META must be the first section");
        chain().meta = read_meta(section, out_);
      } else if (section.kind == SectionKind::bench) {
        bench(section, i);
      } else {
        chain().dataset = read_dataset(section, out_);
      }
    }
  }

  void bench(const RawSection& section, std::size_t index) {
    const bool in_place = index == 0 || (index == 1 && raw_.sections[0].kind == SectionKind::meta);
    if (!in_place) {
      out_.warning("bench_order", place_of(section), "BENCH belongs first, or right after META");
    }
    chain().has_bench = true;
    chain().bench_at = place_of(section);
    chain().bench = read_bench_entries(section, out_);
  }

  void repeated(const RawSection& section, const RawSection& first) {
    out_.error("repeated_section", place_of(section),
               fmt::format("{} stands twice in one document", to_string(section.kind)),
               fmt::format("first in line {}", first.header.number));
  }

  void document(std::span<const RawSection> sections) {
    const bool only_file_sections = std::ranges::all_of(
        sections, [](const RawSection& section) { return section.kind <= SectionKind::dataset; });
    if (only_file_sections && !chain().documents.empty()) return;
    Document document;
    if (!chain().documents.empty()) inherit(chain().documents.back(), document);
    document.at = place_of(sections.front());
    Attributes attributes;
    std::vector<const RawSection*> seen;
    for (const RawSection& section : sections) {
      if (section.kind <= SectionKind::dataset) continue;
      const Attributes own = read_attributes(section, attributes, out_);
      if (is_step(section.kind)) {
        step(section, own, document);
        continue;
      }
      static_cast<void>(read_match_options(section, out_));
      const auto first = std::ranges::find(seen, section.kind, &RawSection::kind);
      if (first != seen.end()) {
        repeated(section, **first);
        continue;
      }
      seen.push_back(&section);
      preamble(section, document);
    }
    attach_asserts(document);
    const std::size_t number = chain().documents.size() + 1;
    check_document(document, number, out_);
    chain().documents.push_back(std::move(document));
  }

  static void inherit(const Document& from, Document& into) {
    into.address = from.address;
    into.address_at = from.address_at;
    into.tls = from.tls;
    into.proto = from.proto;
    into.options = from.options;
    into.headers = from.headers;
  }

  void preamble(const RawSection& section, Document& document) {
    switch (section.kind) {
      case SectionKind::address:
        if (auto line = read_single_line(section, out_)) {
          document.address = std::move(line->first);
          document.address_at = line->second;
          check_address(document.address, document.address_at, out_);
        }
        break;
      case SectionKind::endpoint:
        endpoint(section, document);
        break;
      case SectionKind::tls:
        document.tls = read_tls(section, folder_, out_);
        break;
      case SectionKind::proto:
        document.proto = read_proto(section, folder_, out_);
        break;
      case SectionKind::options:
        document.options = read_options(section, out_);
        break;
      case SectionKind::request_headers:
        if (section.name == "HEADERS") {
          out_.warning("deprecated_name", place_of(section), "HEADERS is deprecated",
                       "--- REQUEST_HEADERS ---");
        }
        document.headers = read_entries(section, out_);
        check_headers(document.headers, out_);
        break;
      default:
        std::unreachable();
    }
  }

  void endpoint(const RawSection& section, Document& document) {
    document.endpoint_at = place_of(section);
    const auto line = read_single_line(section, out_);
    if (!line) {
      document.service = "?";  // said already
      return;
    }
    document.endpoint_at = line->second;
    const std::string& text = line->first;
    const std::size_t slash = text.rfind('/');
    if (slash == std::string::npos || slash == 0 || slash + 1 == text.size() ||
        text.find('/') != slash || text.find_first_of(" \t") != std::string::npos) {
      out_.error("bad_endpoint", line->second, "ENDPOINT names a method of a service",
                 "package.Service/Method");
      document.service = "?";
      return;
    }
    document.service = text.substr(0, slash);
    document.method = text.substr(slash + 1);
  }

  void step(const RawSection& section, const Attributes& attributes, Document& document) {
    const auto kind = static_cast<Step::Kind>(static_cast<int>(section.kind) -
                                              static_cast<int>(SectionKind::request));
    Step step{.kind = kind, .at = place_of(section), .attributes = attributes};
    step.match = read_match_options(section, out_);
    switch (kind) {
      case Step::Kind::request:
      case Step::Kind::response:
      case Step::Kind::error:
        messages(section, step);
        break;
      case Step::Kind::asserts:
        assertions(section, step);
        break;
      case Step::Kind::extract:
        extractions(section, step);
        break;
    }
    document.steps.push_back(std::move(step));
  }

  void messages(const RawSection& section, Step& step) {
    if (section.body.empty()) return;
    const std::uint32_t begin = section.body.front().offset;
    const GctfLine& last = section.body.back();
    const std::string_view text =
        std::string_view(text_).substr(begin, last.offset + last.text.size() - begin);
    Json5Body body = parse_json5(text, begin);
    for (Json5Fault& fault : body.faults) {
      out_.error("bad_json", chain().position(static_cast<std::uint32_t>(fault.offset)),
                 std::move(fault.message), std::move(fault.hint));
    }
    step.messages = std::move(body.values);
  }

  void assertions(const RawSection& section, Step& step) {
    for (const GctfLine& line : section.body) {
      if (line.kind != Kind::content) continue;
      const std::string_view text = without_comment(line.text);
      if (!text.empty()) step.assertions.push_back({std::string(text), line.position(text)});
    }
  }

  void extractions(const RawSection& section, Step& step) {
    for (const GctfLine& line : section.body) {
      if (line.kind != Kind::content) continue;
      const std::string_view text = without_comment(line.text);
      const std::size_t equals = text.find('=');
      const std::string_view left = trimmed(text.substr(0, std::min(equals, text.size())));
      const std::string_view name = trimmed(left.substr(0, std::min(left.find(':'), left.size())));
      const bool is_name = !name.empty() && !(name[0] >= '0' && name[0] <= '9') &&
                           std::ranges::all_of(name, [](char c) {
                             return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                                    (c >= '0' && c <= '9') || c == '_';
                           });
      if (equals == std::string_view::npos || !is_name || text.substr(equals, 2) == "==") {
        out_.error("bad_extract", line.position(text), "EXTRACT has lines of name = expression",
                   "token = .session.token");
        continue;
      }
      const std::string_view expression = trimmed(text.substr(equals + 1));
      if (expression.empty()) {
        out_.error("bad_extract", line.position(text), fmt::format("{} binds nothing", name));
        continue;
      }
      if (std::ranges::find(step.extractions, name, &ExtractLine::name) != step.extractions.end()) {
        out_.error("repeated_variable", line.position(text), fmt::format("{} stands twice", name));
        continue;
      }
      const std::string_view type =
          name.size() < left.size() ? trimmed(left.substr(left.find(':') + 1)) : std::string_view{};
      step.extractions.push_back({std::string(name), std::string(type), std::string(expression),
                                  line.position(text), line.position(expression)});
    }
  }

  static void attach_asserts(Document& document) {
    for (std::size_t i = 1; i < document.steps.size(); ++i) {
      document.steps[i].attached =
          document.steps[i].kind == Step::Kind::asserts && document.steps[i - 1].match.with_asserts;
    }
  }

  std::string text_;
  RawFile raw_;
  std::filesystem::path folder_;
  Parsed parsed_;
  Diagnostics out_;
};

}  // namespace

Parsed parse_gctf(const std::string& path, std::string_view text) {
  return Parser(path, text).parse();
}

}  // namespace onbeat::document
