#include "options/yaml.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <sstream>
#include <utility>
#include <vector>

namespace onbeat::options {
namespace {

/// Aliases multiply what a short text holds.
constexpr std::size_t kMostNodes = 200'000;

std::size_t one_based(int position) {
  return position < 0 ? 1 : static_cast<std::size_t>(position) + 1;
}

/// Where the documents of a text begin. Two are enough: on a stray "," LoadAll() sees ever more.
class DocumentStarts : public YAML::EventHandler {
 public:
  static std::vector<YAML::Mark> of(const std::string& text) {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    DocumentStarts starts;
    while (starts.marks_.size() < 2 && parser.HandleNextDocument(starts)) {
    }
    return std::move(starts.marks_);
  }

 private:
  void OnDocumentStart(const YAML::Mark& mark) override { marks_.push_back(mark); }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}

  std::vector<YAML::Mark> marks_;
};

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
    const std::string copy(text);
    const std::vector<YAML::Mark> documents = DocumentStarts::of(copy);
    if (documents.empty()) return YamlNode{};
    if (documents.size() > 1) {
      throw YAML::Exception(documents[1], "only one document belongs here");
    }
    return Converter().convert(YAML::Load(copy));
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
