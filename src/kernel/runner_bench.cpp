// What the threaded runner costs a unit that does nothing, from its release to its sample in the
// caller's hands.
#include <onbeat/kernel/runner.hpp>

#include <benchmark/benchmark.h>

#include <limits>
#include <thread>

namespace onbeat::kernel {
namespace {

RunOptions unlimited(Pacing pacing, std::int64_t requests) {
  RunOptions options;
  options.work = [](const WorkContext&) -> WorkResult { return {}; };
  options.rate = RateProfile::constant(std::numeric_limits<double>::infinity());
  options.pacing = pacing;
  options.workers = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  options.max_requests = requests;
  options.result_buffer = 8192;
  return options;
}

void BM_RunnerStream(benchmark::State& state, Pacing pacing) {
  Runner run(unlimited(pacing, state.max_iterations));
  for (auto _ : state) benchmark::DoNotOptimize(run.next());
}
BENCHMARK_CAPTURE(BM_RunnerStream, closed, Pacing::closed)->UseRealTime();
BENCHMARK_CAPTURE(BM_RunnerStream, open, Pacing::open)->UseRealTime();

void BM_RunnerMeasure(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(measure(unlimited(Pacing::closed, 100'000)));
  }
  state.SetItemsProcessed(state.iterations() * 100'000);
}
BENCHMARK(BM_RunnerMeasure)->UseRealTime();

}  // namespace
}  // namespace onbeat::kernel
