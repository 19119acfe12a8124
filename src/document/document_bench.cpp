// What two variables from a data file of a million rows cost a request, and what is paid once at
// set-up.
#include "document/data.hpp"
#include "document/data_file.hpp"
#include "document/message_template.hpp"

#include <benchmark/benchmark.h>

#include <string>
#include <utility>

namespace onbeat::document {
namespace {

constexpr int kRows = 1'000'000;

const DataFile& million_rows(DataFormat format) {
  static const auto make = [](DataFormat made) {
    const bool json = made == DataFormat::ndjson;
    std::string text = json ? "" : "id,name,email\n";
    for (int i = 0; i < kRows; ++i) {
      const std::string id = std::to_string(i);
      text += json ? "{\"id\":" + id + ",\"name\":\"user " + id + "\",\"email\":\"u" + id +
                         "@example.com\"}\n"
                   : id + ",user " + id + ",u" + id + "@example.com\n";
    }
    return text;
  };
  static const DataFile csv(make(DataFormat::csv), "user.csv");
  static const DataFile ndjson(make(DataFormat::ndjson), "user.ndjson");
  return format == DataFormat::ndjson ? ndjson : csv;
}

MessageTemplate request(Scope& scope) {
  MessageTemplate message(*Template::compile(R"({"name":"{{user.name}}"})", Place::json, scope));
  message.add("POST ");
  message.add(*Template::compile("/users/{{user.id}}", Place::target, scope));
  message.add(" HTTP/1.1\r\nHost: example.com\r\nUser-Agent: onbeat\r\nContent-Length: ");
  message.add_body_size();
  message.add("\r\n\r\n");
  return message;
}

/// Arguments: the number of loops (each takes every so-manyth row), and the order.
void run(benchmark::State& state, DataFormat format) {
  const auto order = state.range(1) == 0 ? RowOrder::sequential : RowOrder::random;
  const auto source =
      DataSource::open({.path = million_rows(format).path(), .order = order}).value();
  Scope scope{.variables = source->variables(), .environment = {}};
  const MessageTemplate message = request(scope);
  DataReader reader(*source, message.slots());
  std::string scratch;
  std::string out;
  std::uint64_t n = 0;
  for (auto _ : state) {
    const auto row = reader.row(n);
    out.clear();
    if (!row || message.render({.arrival = n, .values = *row}, scratch, out) != RenderFault::none) {
      state.SkipWithError("no row");
      break;
    }
    benchmark::DoNotOptimize(out.data());
    n += static_cast<std::uint64_t>(state.range(0));
  }
}

void BM_TwoVariablesCsv(benchmark::State& state) { run(state, DataFormat::csv); }
BENCHMARK(BM_TwoVariablesCsv)->Args({1, 0})->Args({2, 0})->Args({16, 0})->Args({1, 1});

void BM_TwoVariablesNdjson(benchmark::State& state) { run(state, DataFormat::ndjson); }
BENCHMARK(BM_TwoVariablesNdjson)->Args({1, 0})->Args({2, 0})->Args({16, 0})->Args({1, 1});

void BM_Functions(benchmark::State& state) {
  Scope scope;
  const Template text = *Template::compile(
      "{{seq()}} {{uuid()}} {{random(1,100)}} {{random_string(16)}}", Place::text, scope);
  std::string out;
  std::uint64_t n = 0;
  for (auto _ : state) {
    out.clear();
    if (text.render({.arrival = n++}, out) != RenderFault::none) state.SkipWithError("fault");
    benchmark::DoNotOptimize(out.data());
  }
}
BENCHMARK(BM_Functions);

void open(benchmark::State& state, DataFormat format) {
  const std::string& path = million_rows(format).path();
  for (auto _ : state) {
    const auto source = DataSource::open({.path = path});
    if (!source) state.SkipWithError("refused");
  }
  state.SetItemsProcessed(state.iterations() * kRows);
}
void BM_OpenCsv(benchmark::State& state) { open(state, DataFormat::csv); }
BENCHMARK(BM_OpenCsv)->Unit(benchmark::kMillisecond);
void BM_OpenNdjson(benchmark::State& state) { open(state, DataFormat::ndjson); }
BENCHMARK(BM_OpenNdjson)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace onbeat::document
