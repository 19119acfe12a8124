// Any text as a .gctf file: no crash, every diagnostic has its place in the text, what is accepted
// can be made ready to run, and formatting is idempotent and changes no meaning.
#include "document/gctf_format.hpp"
#include "document/prepared.hpp"
#include "document/source_list.hpp"

#include <algorithm>
#include <cstdlib>

namespace {

using namespace onbeat::document;

void require(bool condition) {
  if (!condition) std::abort();
}

void placed(const std::vector<Diagnostic>& diagnostics, std::string_view text) {
  const auto lines = static_cast<std::uint32_t>(std::ranges::count(text, '\n') + 1);
  for (const Diagnostic& one : diagnostics) {
    require(!one.message.empty() && !one.code.empty());
    require(one.at.line >= 1 && one.at.line <= lines + 1 && one.at.column >= 1);
  }
}

/// What a chain means, in words: equal for equal meanings.
std::string meaning(const Chain& chain) {
  std::string out = chain.meta.name + "|" + chain.meta.owner;
  for (const Entry& entry : chain.bench) out += entry.key + "=" + entry.value + ";";
  for (const JsonTree& row : chain.dataset) append_json(row.root(), out);
  for (const Document& document : chain.documents) {
    out += "\n" + document.address + " " + document.endpoint();
    for (const Entry& header : document.headers) out += header.key + ":" + header.value + ";";
    for (const Step& step : document.steps) {
      out += "\n " + std::to_string(static_cast<int>(step.kind)) + (step.attached ? "+" : "");
      out += std::to_string(step.attributes.repeat) + step.attributes.name;
      for (const std::string& name : step.match.redact) out += name + ",";
      for (const JsonTree& message : step.messages) append_json(message.root(), out);
      for (const AssertionLine& line : step.assertions) out += line.text + ";";
      for (const ExtractLine& line : step.extractions)
        out += line.name + "=" + line.expression + ";";
    }
  }
  std::erase_if(out, [](char c) { return c == ' ' || c == '\t'; });  // those at line ends go
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Parsed parsed = parse_gctf("folder/x.gctf", text);
  placed(parsed.diagnostics, text);
  std::vector<Diagnostic> of_sources;
  const auto sources = read_sources(parsed.chain, of_sources);
  for (const Diagnostic& one : of_sources) require(!one.message.empty());
  const auto formatted = format_gctf("folder/x.gctf", text);
  require(formatted.has_value() == !has_errors(parsed.diagnostics));
  if (!formatted) return 0;
  const auto again = format_gctf("folder/x.gctf", *formatted);
  require(again && *again == *formatted);
  const Parsed reparsed = parse_gctf("folder/x.gctf", *formatted);
  require(meaning(reparsed.chain) == meaning(parsed.chain));
  return 0;
}
