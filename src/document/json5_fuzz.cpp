// Any text as JSON5: no crash, faults lie in the text, and what is accepted prints as strict JSON
// that reads back as the same value.
#include "document/compare.hpp"
#include "document/json5.hpp"
#include "document/json5_format.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdlib>

namespace {

using namespace onbeat::document;

void require(bool condition) {
  if (!condition) std::abort();
}

bool is_finite(const JsonView& value) {
  if (value.is(JsonKind::real)) return std::isfinite(value.real());
  for (JsonView child = value.first(); child; child = value.after(child)) {
    if (!is_finite(child)) return false;
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Json5Body body = parse_json5(text, 7);
  for (const Json5Fault& fault : body.faults) {
    require(fault.offset >= 7 && fault.offset <= size + 7 && !fault.message.empty());
  }
  for (const JsonTree& value : body.values) {
    std::string printed;
    append_json(value.root(), printed);
    const bool ascii = std::ranges::all_of(printed, [](char c) { return c >= 0; });
    require(!ascii || nlohmann::json::accept(printed));
    if (!ascii || !is_finite(value.root())) continue;
    const Json5Body again = parse_json5(printed);
    require(again.faults.empty() && again.values.size() == 1);
    require(equal_values(again.values[0].root(), value.root()));
    static_cast<void>(
        find_difference(value.root(), again.values[0].root(), {.unordered_arrays = true}));
  }
  if (!body.faults.empty()) return 0;
  const std::string formatted = format_json5(text);
  require(format_json5(formatted) == formatted);
  require(parse_json5(formatted).values.size() == body.values.size());
  return 0;
}
