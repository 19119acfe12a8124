// Any bytes of a server, in any pieces: the messages do not depend on the cuts, limits hold, and
// what only looks like gzip or base64 ends in an error. Input: a byte for the size of the pieces,
// then the stream.
#include "grpc/framing.hpp"
#include "grpc/gzip.hpp"
#include "grpc/message_reader.hpp"
#include "grpc/metadata.hpp"
#include "grpc/status.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

using namespace onbeat::grpc;

constexpr std::uint32_t kLimit = 1'000;

void require(bool condition) {
  if (!condition) std::abort();
}

struct Decoded {
  std::vector<std::string> messages;
  MessageDecoder::Fault fault = MessageDecoder::Fault::none;
  bool within = false;
};

Decoded decode(std::string_view bytes, std::size_t piece) {
  MessageDecoder decoder(kLimit);
  Decoded result;
  while (!bytes.empty() && result.fault == MessageDecoder::Fault::none) {
    result.fault = decoder.feed(bytes.substr(0, piece));
    bytes.remove_prefix(std::min(piece, bytes.size()));
    while (decoder.next()) {
      require(decoder.message().size() <= kLimit);
      result.messages.push_back((decoder.compressed() ? "z" : "-") +
                                std::string(decoder.message()));
    }
  }
  require(result.messages.size() == decoder.whole());
  result.within = decoder.within_message();
  return result;
}

void read_as_error(std::string_view bytes) {
  std::string text;
  JsonText sink(text);
  if (read_details(wire_value("x-bin", bytes), rpc_types(), sink))
    require(nlohmann::json::accept(text));
  static_cast<void>(read_details(bytes, rpc_types(), sink));
  require(decode_message(bytes).size() <= bytes.size());
  static_cast<void>(parse_status(bytes));
  const auto back = decode_binary(wire_value("x-bin", bytes));
  require(back && *back == bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Decoded whole = decode(bytes, bytes.size());
  const Decoded cut = decode(bytes, std::size_t{data[0]} % 16 + 1);
  require(whole.messages == cut.messages && whole.fault == cut.fault);
  if (whole.fault == MessageDecoder::Fault::none) require(whole.within == cut.within);
  static Gzip gzip;
  std::string out;
  for (const std::string& message : whole.messages) {
    if (message[0] != 'z') continue;
    const auto result = gzip.decompress(std::string_view(message).substr(1), kLimit, out);
    require(result != Gzip::Inflated::ok || out.size() <= kLimit);
  }
  read_as_error(bytes);
  return 0;
}
