// Any text in any place: no crash, errors point into the text, and what is rendered cannot break
// out of its place. Input: the values of two variables, each ended by 0xff, then the text.
#include "document/message_template.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using namespace onbeat::document;

void require(bool condition) {
  if (!condition) std::abort();
}

std::string_view take(std::string_view& input) {
  const std::size_t end = std::min(input.find('\xff'), input.size());
  const std::string_view taken = input.substr(0, end);
  input.remove_prefix(std::min(end + 1, input.size()));
  return taken;
}

Scope make_scope() {
  return {.variables = {"user.id", "a b"},
          .environment = [](const std::string& name) { return std::optional<std::string>(name); }};
}

void in_place(std::string_view text, Place place, const RenderContext& context) {
  Scope scope = make_scope();
  const auto compiled = Template::compile(text, place, scope);
  if (!compiled) {
    require(!compiled.error().empty());
    for (const auto& error : compiled.error()) {
      require(!error.message.empty() && error.column >= 1 && error.column <= text.size() + 1);
    }
    return;
  }
  std::string out;
  std::string again;
  const RenderFault fault = compiled->render(context, out);
  require(compiled->render(context, again) == fault && out == again);
  require(fault == RenderFault::none || out.empty());
  require(!compiled->is_literal() || (fault == RenderFault::none && out == compiled->literal()));
  for (const std::uint32_t slot : compiled->slots()) require(slot < scope.variables.size());

  MessageTemplate message(*compiled);
  message.add_body_size();
  std::string scratch;
  again.clear();
  require(message.render(context, scratch, again) == fault);
  require(fault != RenderFault::none || again == std::to_string(out.size()) + out);
}

/// A value between two quotes of JSON stays between them; one in a header or a target ends neither.
void guarded(std::string_view value, const RenderContext& context) {
  Scope scope = make_scope();
  std::string out;
  require(Template::compile("/{{user.id}}", Place::target, scope)->render(context, out) ==
          RenderFault::none);
  require(out.find_first_of(std::string_view(" \r\n\0#", 5)) == std::string::npos);
  out.clear();
  const RenderFault fault =
      Template::compile("{{user.id}}", Place::field, scope)->render(context, out);
  const bool holds_break = value.find_first_of(std::string_view("\r\n\0", 3)) != value.npos;
  require((fault == RenderFault::forbidden) == holds_break);
  out.clear();
  require(Template::compile(R"(["{{user.id}}"])", Place::json, scope)->render(context, out) ==
          RenderFault::none);
  const auto json = nlohmann::json::parse(out, nullptr, false);
  // Other than by bytes that are not UTF-8, which a data file cannot hold.
  require(json.is_discarded() || json[0].get<std::string>() == value);
  const bool ascii = std::ranges::all_of(value, [](char c) { return c >= 0; });
  require(!ascii || !json.is_discarded());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::string id(take(input));
  const std::string other(take(input));
  const std::array<std::string_view, 2> values{id, other};
  const RenderContext context{.seed = size, .arrival = 7, .unix_ms = 1, .values = values};
  for (const Place place : {Place::text, Place::json, Place::field, Place::target}) {
    in_place(input, place, context);
  }
  guarded(id, context);
  return 0;
}
