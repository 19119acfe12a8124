// YAML as a tree of texts: what a value means is decided by the grammar of its option.
#pragma once

#include "options/settings.hpp"

#include <cstddef>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace onbeat::options {

struct YamlMember;

struct YamlNode {
  enum class Kind { nothing, scalar, list, map };
  Kind kind = Kind::nothing;
  std::string text;     // of a scalar
  bool quoted = false;  // of a scalar: a text, whatever it looks like
  std::size_t line = 1, column = 1;
  std::vector<YamlNode> items;      // of a list
  std::vector<YamlMember> members;  // of a map, in order

  [[nodiscard]] bool is(Kind wanted) const { return kind == wanted; }
};

struct YamlMember {
  YamlNode key, value;  // the key is a scalar
};

/// One document; an empty one is nothing. `path` is for messages: "load.yaml:3:5".
std::expected<YamlNode, Problem> parse_yaml(std::string_view text, const std::string& path);
std::string yaml_place(const std::string& path, const YamlNode& node);

}  // namespace onbeat::options
