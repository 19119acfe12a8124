// What the kernel costs a unit that does nothing, recording included (the clock reads are in it;
// BM_ClockRead says how much of it they are).
#include <onbeat/kernel/driver.hpp>

#include <benchmark/benchmark.h>

namespace onbeat::kernel {
namespace {

void BM_ClockRead(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(Monotonic::now());
}
BENCHMARK(BM_ClockRead);

RecorderShape shape(bool open) {
  RecorderShape shape;
  shape.open = open;
  return shape;
}

/// One clock read: a unit's done stamp is the start of the next.
void BM_Closed(benchmark::State& state) {
  Recorder recorder(shape(false));
  Driver driver({.model = Model::closed, .workers = 1}, {}, recorder);
  Instant now = Monotonic::now();
  driver.begin(now);
  Result result;
  for (auto _ : state) {
    if (!driver.take(now, result.unit)) state.SkipWithError("nothing to do");
    now = Monotonic::now();
    result.done = now;
    driver.finish(result);
  }
}
BENCHMARK(BM_Closed);

/// Two clock reads: started and done. The rate is such that an arrival is due at every turn.
void BM_Open(benchmark::State& state) {
  Recorder recorder(shape(true));
  Driver driver({.workers = 1, .on_saturation = OnSaturation::queue},
                {.profile = RateProfile::constant(static_cast<double>(state.range(0)))}, recorder);
  const Instant t0 = Monotonic::now();
  driver.begin(t0);
  Result result;
  Duration turn{};
  const Duration gap{1'000'000'000 / state.range(0)};
  for (auto _ : state) {
    benchmark::DoNotOptimize(Monotonic::now());
    turn += gap;  // simulated, so that the figure does not depend on how fast this loop is
    driver.advance(t0 + turn);
    if (!driver.take(t0 + turn, result.unit)) state.SkipWithError("nothing is due");
    result.done = std::max(result.unit.started, Monotonic::now());
    driver.finish(result);
  }
}
BENCHMARK(BM_Open)->Arg(1'000'000)->Arg(10'000'000);

/// An arrival that finds no worker.
void BM_Saturated(benchmark::State& state) {
  Recorder recorder(shape(true));
  Driver driver({.workers = 1}, {.profile = RateProfile::constant(1e6)}, recorder);
  driver.begin(Instant{});
  Unit unit;
  driver.advance(Instant{});
  (void)driver.take(Instant{}, unit);
  Instant now{};
  for (auto _ : state) {
    now += Duration{1000};
    benchmark::DoNotOptimize(driver.advance(now));
  }
}
BENCHMARK(BM_Saturated);

}  // namespace
}  // namespace onbeat::kernel
