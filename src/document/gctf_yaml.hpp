// META and DATASET, whose bodies are YAML. Private to this folder.
#pragma once

#include "document/diagnostics.hpp"
#include "document/gctf_sections.hpp"
#include "options/yaml.hpp"

#include <optional>

namespace onbeat::document {

/// YAML that begins in line `first_line` of the file; nothing and an error when it is malformed.
[[nodiscard]] std::optional<options::YamlNode> read_yaml(const std::string& text,
                                                         std::uint32_t first_line,
                                                         Diagnostics& out);
/// With the types that YAML gives plain scalars.
void append_yaml(const options::YamlNode& node, JsonTree& out);
[[nodiscard]] Position position_of(const options::YamlNode& node) noexcept;

[[nodiscard]] Meta read_meta(const RawSection& section, Diagnostics& out);
/// Rows as objects, with the types that YAML gives plain scalars.
[[nodiscard]] std::vector<JsonTree> read_dataset(const RawSection& section, Diagnostics& out);

}  // namespace onbeat::document
