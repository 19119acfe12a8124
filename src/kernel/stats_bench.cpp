// What a record into statistics shared by several threads costs. Measuring runs use a Recorder a
// thread instead.
#include <onbeat/kernel/labeled_stats.hpp>
#include <onbeat/kernel/stats.hpp>

#include <benchmark/benchmark.h>

namespace onbeat::kernel {
namespace {

using namespace std::chrono_literals;

void record_into(benchmark::State& state, SampleSink& sink) {
  Sample sample;
  sample.due = Instant{};
  sample.code = "200";
  sample.bytes = 900;
  sample.labels = {{"endpoint", "login"}};
  std::int64_t i = 0;
  for (auto _ : state) {
    sample.started = Instant{} + Duration{++i % 10'000};
    sample.done = *sample.started + Duration{400'000 + i % 100'000};
    sink.record(sample);
  }
}

void stats_record(benchmark::State& state) {
  static Stats stats;
  record_into(state, stats);
}
BENCHMARK(stats_record)->Threads(1)->Threads(2)->UseRealTime();

void labeled_stats_record(benchmark::State& state) {
  static LabeledStats stats("endpoint");
  record_into(state, stats);
}
BENCHMARK(labeled_stats_record)->Threads(1)->Threads(2)->UseRealTime();

}  // namespace
}  // namespace onbeat::kernel
