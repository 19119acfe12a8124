// What recording costs. Latencies are spread as a real target spreads them (log-normal, sigma 0.5
// to 1), from a table drawn beforehand, so that the buckets touched are those of a run and no
// random number is drawn while timing.
#include <onbeat/kernel/recorder.hpp>

#include <benchmark/benchmark.h>

#include <cmath>
#include <random>
#include <vector>

namespace onbeat::kernel {
namespace {

constexpr std::size_t kResults = 1U << 12;

std::vector<Result> realistic_results(unsigned seed) {
  std::mt19937_64 random(seed);
  std::lognormal_distribution<double> service(std::log(400e3), 0.7);
  std::lognormal_distribution<double> wait(std::log(3e3), 1.0);
  std::lognormal_distribution<double> lag(std::log(8e3), 0.5);
  std::vector<Result> results(kResults);
  for (auto& result : results) {
    const auto part = [&](auto& distribution) {
      return Duration{static_cast<std::int64_t>(distribution(random))};
    };
    result.unit.released = result.unit.due + part(lag);
    result.unit.started = result.unit.released + part(wait);
    result.done = result.unit.started + part(service);
    result.code = 0;
    result.bytes_sent = 120;
    result.bytes_received = 900;
  }
  return results;
}

void run(benchmark::State& state, bool open) {
  Recorder recorder({.open = open});
  const auto results = realistic_results(static_cast<unsigned>(state.thread_index()) + 1);
  std::size_t i = 0;
  for (auto _ : state) {
    recorder.finished(results[i++ % kResults]);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations());
}

void finished_open(benchmark::State& state) { run(state, true); }
BENCHMARK(finished_open)->Threads(1)->Threads(2)->UseRealTime();

void finished_closed(benchmark::State& state) { run(state, false); }
BENCHMARK(finished_closed)->Threads(1)->Threads(2)->UseRealTime();

void record_one(benchmark::State& state) {
  IntervalHistogram histogram;
  const auto results = realistic_results(1);
  std::size_t i = 0;
  for (auto _ : state) {
    histogram.record(results[i++ % kResults].response().count());
    benchmark::ClobberMemory();
  }
}
BENCHMARK(record_one)->Threads(1)->Threads(2)->UseRealTime();

/// A whole interval of 100 000 units on its way from the recorder to the fold of the run.
void hand_over_and_merge(benchmark::State& state) {
  Recorder recorder({});
  const auto results = realistic_results(1);
  Interval total;
  for (auto _ : state) {
    state.PauseTiming();
    for (std::size_t i = 0; i < 100'000; ++i) recorder.finished(results[i % kResults]);
    state.ResumeTiming();
    recorder.hand_over(Duration{1});
    Interval interval;
    recorder.collect(interval);
    total.merge_next(interval);
  }
}
BENCHMARK(hand_over_and_merge)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace onbeat::kernel
