#include "document/gctf_yaml.hpp"

#include "document/gctf_entries.hpp"
#include "document/json5.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace onbeat::document {
namespace {

using Node = options::YamlNode;
constexpr std::size_t kLargeDataset = 50;

/// The lines of a body, those that begin with // left empty.
std::string body_text(const RawSection& section) {
  std::string text;
  std::uint32_t number = section.header.number + 1;
  for (const GctfLine& line : section.body) {
    for (; number < line.number; ++number) text += '\n';
    if (!trimmed(line.text).starts_with("//")) text += line.text;
    text += '\n';
    ++number;
  }
  return text;
}

/// ":3:5" at the end of a place, within a text that begins in `first_line`.
Position place_at_end(std::string_view where, std::uint32_t first_line) {
  Position at{1, 1};
  const std::size_t column = where.rfind(':');
  const std::size_t line = where.rfind(':', column - 1);
  if (column == std::string_view::npos || line == std::string_view::npos) return at;
  std::from_chars(where.data() + line + 1, where.data() + column, at.line);
  std::from_chars(where.data() + column + 1, where.data() + where.size(), at.column);
  at.line += first_line - 1;
  return at;
}

void shift(Node& node, std::size_t lines) {
  node.line += lines;
  for (Node& item : node.items) shift(item, lines);
  for (options::YamlMember& member : node.members) {
    shift(member.key, lines);
    shift(member.value, lines);
  }
}

void text_list(const Node& node, std::string_view key, std::vector<std::string>& into,
               Diagnostics& out) {
  if (!node.is(Node::Kind::list)) {
    out.error("bad_meta", position_of(node), fmt::format("{} is a list", key),
              fmt::format("{}: [one, two]", key));
    return;
  }
  for (const Node& item : node.items) {
    if (item.is(Node::Kind::list)) {
      out.error("bad_meta", position_of(item), fmt::format("an item of {} is a text", key));
    } else {
      into.push_back(item.is(Node::Kind::map) && !item.members.empty() ? item.members[0].value.text
                                                                       : item.text);
    }
  }
}

}  // namespace

void append_yaml(const Node& node, JsonTree& out) {
  switch (node.kind) {
    case Node::Kind::nothing:
      return out.null();
    case Node::Kind::list:
      out.begin_array();
      for (const Node& item : node.items) append_yaml(item, out);
      return out.end();
    case Node::Kind::map:
      out.begin_object();
      for (const options::YamlMember& member : node.members) {
        out.key(member.key.text);
        append_yaml(member.value, out);
      }
      return out.end();
    case Node::Kind::scalar:
      break;
  }
  const std::string_view text = node.text;
  const bool plain = !node.quoted;
  if (plain && (text == "null" || text == "~" || text.empty())) return out.null();
  if (plain && (text == "true" || text == "false")) return out.boolean(text == "true");
  const bool numeric = plain && text.find_first_of("0123456789") != std::string_view::npos &&
                       text.find_first_not_of("0123456789+-.eE") == std::string_view::npos;
  if (numeric) {
    const Json5Body number = parse_json5(text);
    if (number.faults.empty() && number.values.size() == 1) {
      return out.copy(number.values[0].root());
    }
  }
  out.text(text);
}

std::optional<Node> read_yaml(const std::string& text, std::uint32_t first_line, Diagnostics& out) {
  auto node = options::parse_yaml(text, "");
  if (!node) {
    out.error("bad_yaml", place_at_end(node.error().where, first_line), node.error().message);
    return std::nullopt;
  }
  shift(*node, first_line - 1);
  return std::move(*node);
}

Position position_of(const Node& node) noexcept {
  return {static_cast<std::uint32_t>(node.line), static_cast<std::uint32_t>(node.column)};
}

Meta read_meta(const RawSection& section, Diagnostics& out) {
  constexpr std::array<std::string_view, 5> kFields{"name", "summary", "owner", "tags", "links"};
  Meta meta;
  const auto root = read_yaml(body_text(section), section.header.number + 1, out);
  if (!root || root->is(Node::Kind::nothing)) return meta;
  if (!root->is(Node::Kind::map)) {
    out.error("bad_meta", position_of(*root), "META has lines of key: value");
    return meta;
  }
  for (const auto& [key, value] : root->members) {
    const auto text = [&](std::string& into) {
      if (!value.is(Node::Kind::scalar)) {
        out.error("bad_meta", position_of(value), fmt::format("{} is a text", key.text));
      }
      into = value.text;
    };
    if (key.text == "name") {
      text(meta.name);
    } else if (key.text == "summary") {
      text(meta.summary);
    } else if (key.text == "owner") {
      text(meta.owner);
    } else if (key.text == "tags") {
      text_list(value, key.text, meta.tags, out);
    } else if (key.text == "links") {
      text_list(value, key.text, meta.links, out);
    } else {
      unknown_key(out, position_of(key), "unknown_meta_field", "META field", key.text, kFields);
    }
  }
  return meta;
}

std::vector<JsonTree> read_dataset(const RawSection& section, Diagnostics& out) {
  std::vector<JsonTree> rows;
  const auto root = read_yaml(body_text(section), section.header.number + 1, out);
  if (!root) return rows;
  const Position at = section.header.position(section.name);
  if (!root->is(Node::Kind::list) || root->items.empty()) {
    out.error("bad_dataset", at, "DATASET is a list of rows, and not an empty one",
              "- name: value");
    return rows;
  }
  for (const Node& item : root->items) {
    if (!item.is(Node::Kind::map)) {
      out.error("bad_dataset", position_of(item), "a row is a mapping", "- name: value");
      continue;
    }
    append_yaml(item, rows.emplace_back());
  }
  if (rows.size() > kLargeDataset) {
    out.warning("large_dataset", at, fmt::format("{} rows are many for a document", rows.size()),
                "a file under BENCH sources");
  }
  return rows;
}

}  // namespace onbeat::document
