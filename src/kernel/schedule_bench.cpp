// What an arrival costs in the schedule: a cursor's step for each kind of profile.
#include <onbeat/kernel/mix.hpp>
#include <onbeat/kernel/random.hpp>
#include <onbeat/kernel/schedule.hpp>

#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdint>
#include <utility>

namespace onbeat::kernel {
namespace {

using namespace std::chrono_literals;

void walk(benchmark::State& state, RateProfile profile, Arrivals arrivals) {
  const SchedulePlan plan{.profile = std::move(profile), .arrivals = arrivals};
  ScheduleCursor cursor(plan);
  for (auto _ : state) {
    benchmark::DoNotOptimize(cursor.due());
    cursor.next();
  }
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK_CAPTURE(walk, even_constant, RateProfile::constant(123'456.7), Arrivals::even);
BENCHMARK_CAPTURE(walk, poisson_constant, RateProfile::constant(123'456.7), Arrivals::poisson);
BENCHMARK_CAPTURE(walk, even_ramp, RateProfile::ramp(0, 1e7, 1h), Arrivals::even);
BENCHMARK_CAPTURE(walk, even_sine, RateProfile::sine(1e6, 5e5, 10s), Arrivals::even);

void exponential(benchmark::State& state) {
  Random random(1);
  for (auto _ : state) benchmark::DoNotOptimize(random.exponential());
}
BENCHMARK(exponential);

void mix_item(benchmark::State& state) {
  const Mix mix({70, 20, 10});
  Mix::Cache cache;
  std::uint64_t n = 0;
  for (auto _ : state) benchmark::DoNotOptimize(mix.item(n++, cache));
}
BENCHMARK(mix_item);

}  // namespace
}  // namespace onbeat::kernel
