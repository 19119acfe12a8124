// Any text as the JSON of a message: no crash, faults have words, and what is accepted is a message
// whose JSON is the same message again. Strings that begin with '$' are holes; the input is the
// value of all of them, ended by 0xff, then the JSON.
#include "grpc/message_reader.hpp"
#include "grpc/prepared_message.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

using namespace onbeat::grpc;

void require(bool condition) {
  if (!condition) std::abort();
}

const Schema& schema() {
  static const std::unique_ptr<Schema> made = [] {
    const std::vector<std::string> files{ONBEAT_SOURCE_DIR "/tests/grpc_peer/peer.proto"};
    return Schema::from_proto_files(files, {}).value();
  }();
  return *made;
}

/// The JSON of a message, and that of the message which this JSON makes: the same.
void check_message(std::string_view framed) {
  const auto& type = *schema().find_message("onbeat.peer.Everything");
  static MessageReader reader(schema(), type);
  std::string first, second;
  JsonText first_sink(first), second_sink(second);
  require(reader.read(framed.substr(kPrefix), first_sink));
  require(nlohmann::json::accept(first));
  // Times out of range have no JSON.
  if (first.find("\"\"") != std::string::npos) return;
  const auto again = PreparedMessage::compile(first, type);
  require(again.has_value());
  require(reader.read(again->framed().substr(kPrefix), second_sink));
  require(nlohmann::json::parse(first) == nlohmann::json::parse(second));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t end = std::min(input.find('\xff'), size);
  const std::string_view value = input.substr(0, end);
  const std::string_view json = input.substr(std::min(end + 1, size));
  const auto& type = *schema().find_message("onbeat.peer.Everything");
  const auto prepared =
      PreparedMessage::compile(json, type, [](std::string_view text) -> std::optional<unsigned> {
        if (text.starts_with('$')) return 0;
        return {};
      });
  if (!prepared) {
    require(!prepared.error().empty());
    for (const JsonFault& fault : prepared.error()) require(!fault.message.empty());
    return 0;
  }
  if (prepared->is_constant()) {
    check_message(prepared->framed());
    return 0;
  }
  for (const bool is_json : {false, true}) {
    std::string out;
    const std::vector<HoleValue> values(prepared->holes(), HoleValue{value, is_json});
    if (const auto fault = prepared->append(values, out)) {
      require(!fault->message.empty() && out.empty());
    } else {
      check_message(out);
    }
  }
  return 0;
}
