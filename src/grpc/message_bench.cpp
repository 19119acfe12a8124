// What a request with variables, and a response that is looked at, cost.
#include "grpc/message_reader.hpp"
#include "grpc/prepared_message.hpp"

#include <benchmark/benchmark.h>

namespace onbeat::grpc {
namespace {

const Schema& schema() {
  static const std::unique_ptr<Schema> made = [] {
    const std::vector<std::string> files{ONBEAT_SOURCE_DIR "/tests/grpc_peer/peer.proto"};
    return Schema::from_proto_files(files, {}).value();
  }();
  return *made;
}

const auto& type() { return *schema().find_message("onbeat.peer.Everything"); }

constexpr std::string_view kJson =
    R"({"a_string":"$0","an_int64":"12","nested":{"words":["a","$1"],"a_double":0.5},)"
    R"("counts":{"x":"$0"}})";

PreparedMessage prepared(bool varies) {
  return PreparedMessage::compile(kJson, type(),
                                  [&](std::string_view text) {
                                    return varies && text[0] == '$'
                                               ? std::optional<std::uint32_t>(text[1] - '0')
                                               : std::nullopt;
                                  })
      .value();
}

void BM_FillHoles(benchmark::State& state) {
  const PreparedMessage message = prepared(true);
  const HoleValue values[] = {{"12345"}, {"some words"}};
  std::string out;
  for (auto _ : state) {
    out.clear();
    benchmark::DoNotOptimize(message.append(values, out));
    benchmark::DoNotOptimize(out.data());
  }
}
BENCHMARK(BM_FillHoles);

void BM_CompileJson(benchmark::State& state) {
  constexpr std::string_view kLiteral =
      R"({"a_string":"12345","an_int64":"12","nested":{"words":["a","b"],"a_double":0.5},)"
      R"("counts":{"x":"12345"}})";
  for (auto _ : state) benchmark::DoNotOptimize(PreparedMessage::compile(kLiteral, type()));
}
BENCHMARK(BM_CompileJson);

void BM_ReadMessage(benchmark::State& state) {
  const auto message = PreparedMessage::compile(
      R"({"a_string":"12345","an_int64":"12","nested":{"words":["a","b"],"a_double":0.5},)"
      R"("counts":{"x":"12345"}})",
      type());
  const std::string_view bytes = std::string_view(message->framed()).substr(kPrefix);
  MessageReader reader(schema(), type());
  std::string json;
  for (auto _ : state) {
    json.clear();
    JsonText sink(json);
    benchmark::DoNotOptimize(reader.read(bytes, sink));
  }
}
BENCHMARK(BM_ReadMessage);

void BM_ReadSmallMessage(benchmark::State& state) {
  const auto& small = *schema().find_message("onbeat.peer.Message");
  const auto message = PreparedMessage::compile(R"({"text":"some words","count":"12"})", small);
  const std::string_view bytes = std::string_view(message->framed()).substr(kPrefix);
  MessageReader reader(schema(), small);
  std::string json;
  for (auto _ : state) {
    json.clear();
    JsonText sink(json);
    benchmark::DoNotOptimize(reader.read(bytes, sink));
  }
}
BENCHMARK(BM_ReadSmallMessage);

}  // namespace
}  // namespace onbeat::grpc
