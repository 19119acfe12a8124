#include "options/yaml.hpp"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

namespace onbeat::options {
namespace {

/// Aliases multiply what a short text holds.
constexpr std::size_t kMostNodes = 200'000;

std::size_t one_based(int position) {
  return position < 0 ? 1 : static_cast<std::size_t>(position) + 1;
}

class Converter {
 public:
  YamlNode convert(const YAML::Node& node) {
    if (++nodes_ > kMostNodes) throw YAML::Exception(node.Mark(), "the document is too large");
    YamlNode result;
    result.line = one_based(node.Mark().line);
    result.column = one_based(node.Mark().column);
    if (node.IsScalar()) {
      result.kind = YamlNode::Kind::scalar;
      result.text = node.Scalar();
      result.quoted = node.Tag() != "?";
    } else if (node.IsSequence()) {
      result.kind = YamlNode::Kind::list;
      for (const auto& item : node) result.items.push_back(convert(item));
    } else if (node.IsMap()) {
      result.kind = YamlNode::Kind::map;
      for (const auto& member : node) {
        if (!member.first.IsScalar()) {
          throw YAML::Exception(member.first.Mark(), "a key must be a text");
        }
        result.members.push_back({convert(member.first), convert(member.second)});
      }
    }
    return result;
  }

 private:
  std::size_t nodes_ = 0;
};

}  // namespace

std::expected<YamlNode, Problem> parse_yaml(std::string_view text, const std::string& path) {
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(std::string(text));
    if (documents.empty()) return YamlNode{};
    if (documents.size() > 1) {
      throw YAML::Exception(documents[1].Mark(), "only one document belongs here");
    }
    return Converter().convert(documents[0]);
  } catch (const YAML::Exception& exception) {
    return std::unexpected(Problem{fmt::format("{}:{}:{}", path, one_based(exception.mark.line),
                                               one_based(exception.mark.column)),
                                   exception.msg,
                                   {},
                                   {},
                                   0});
  }
}

std::string yaml_place(const std::string& path, const YamlNode& node) {
  return fmt::format("{}:{}:{}", path, node.line, node.column);
}

}  // namespace onbeat::options
