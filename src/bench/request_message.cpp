#include "bench/request_message.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace onbeat::bench {
namespace {

using document::JsonKind;
using document::JsonView;
using document::Place;
using document::Template;

/// The template of a whole string that is one extracted variable: its value as JSON, "token:json".
std::string typed(std::string_view text, const document::Scope& scope) {
  if (!text.starts_with("{{") || !text.ends_with("}}") || text.size() < 5) return {};
  std::string_view name = text.substr(2, text.size() - 4);
  while (name.starts_with(' ') || name.starts_with('\t')) name.remove_prefix(1);
  while (name.ends_with(' ') || name.ends_with('\t')) name.remove_suffix(1);
  const std::string slot = std::string(name) + ":json";
  const bool known = std::ranges::find(scope.variables, slot) != scope.variables.end();
  return known ? "{{" + slot + "}}" : std::string();
}

/// Where the value stands to which a JSON pointer leads.
std::uint32_t offset_of(JsonView value, std::string_view pointer) {
  while (!pointer.empty()) {
    pointer.remove_prefix(1);
    const std::size_t end = std::min(pointer.find('/'), pointer.size());
    std::string key;
    for (std::size_t i = 0; i < end; ++i) {
      const bool escaped = pointer[i] == '~' && i + 1 < end;
      key += escaped ? (pointer[++i] == '0' ? '~' : '/') : pointer[i];
    }
    JsonView next;
    if (value.is(JsonKind::object)) next = value.find(key);
    if (value.is(JsonKind::array) && !key.empty() &&
        key.find_first_not_of("0123456789") == std::string::npos)
      next = value.item(static_cast<std::uint32_t>(std::stoul(key)));
    if (!next) break;
    value = next;
    pointer.remove_prefix(end);
  }
  return value.offset();
}

}  // namespace

std::expected<RequestMessage, RequestMessage::Faults> RequestMessage::make(
    const JsonView& json, const google::protobuf::Descriptor& type, document::Scope& scope) {
  Faults faults;
  std::vector<Hole> holes;
  const auto find_hole = [&](std::string_view text) -> std::optional<std::uint32_t> {
    if (text.find("{{") == std::string_view::npos) return std::nullopt;
    const std::string as_json = typed(text, scope);
    auto compiled = Template::compile(as_json.empty() ? text : as_json, Place::text, scope);
    if (!compiled) {
      for (const options::GrammarError& error : compiled.error())
        faults.push_back({0, error.message + (error.hint.empty() ? "" : ": " + error.hint)});
      return std::nullopt;
    }
    holes.push_back({std::move(*compiled), !as_json.empty()});
    return static_cast<std::uint32_t>(holes.size() - 1);
  };
  std::string text;
  document::append_json(json, text);
  auto message = grpc::PreparedMessage::compile(text, type, find_hole);
  if (!message) {
    for (const grpc::JsonFault& fault : message.error())
      faults.push_back({offset_of(json, fault.place),
                        fault.place.empty() ? fault.message : fault.place + ": " + fault.message});
  }
  if (!faults.empty()) return std::unexpected(std::move(faults));
  return RequestMessage(std::move(*message), std::move(holes));
}

bool RequestMessage::uses_clock() const noexcept {
  return std::ranges::any_of(holes_, [](const Hole& hole) { return hole.text.uses_clock(); });
}

std::string_view RequestMessage::append(const document::RenderContext& context,
                                        RequestScratch& scratch, std::string& out) const {
  if (scratch.texts.size() < holes_.size()) scratch.texts.resize(holes_.size());
  scratch.values.resize(holes_.size());
  for (std::size_t i = 0; i < holes_.size(); ++i) {
    std::string& text = scratch.texts[i];
    text.clear();
    const auto fault = holes_[i].text.render(context, text);
    if (fault != document::RenderFault::none) return to_string(fault);
    scratch.values[i] = {.text = text, .is_json = holes_[i].is_json};
  }
  return message_.append(scratch.values, out) ? std::string_view("template_value")
                                              : std::string_view();
}

}  // namespace onbeat::bench
