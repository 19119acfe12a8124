// A run of a load on a real loop that counts what its thread allocates once it is warm.
#pragma once

#include "kernel/allocation_count.hpp"
#include "net/epoll_loop.hpp"
#include "run/load_loop.hpp"
#include <onbeat/kernel/recorder.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <thread>
#include <vector>

namespace onbeat {

struct CountedRun {
  std::uint64_t started = 0;      // units
  std::uint64_t counted = 0;      // of them, those in which `allocations` were made
  std::uint64_t allocations = 0;  // by the loop's thread
  std::uint64_t logged = 0;       // samples taken from the phase's ring while the run lasted
  kernel::Interval all;
};

inline constexpr std::uint64_t kWarmUnits = 20'000, kCountedUnits = 100'000;
/// What a run must send, so that the counted part surely ends within it.
inline constexpr std::uint64_t kUnits = kWarmUnits + kCountedUnits + 10'000;

/// Reads the allocations of the loop's thread when so many units have been started.
class AllocationProbe final : public net::Timer {
 public:
  AllocationProbe(net::Loop& loop, run::LoadLoop& load, CountedRun& result)
      : loop_(loop), load_(load), result_(result) {}
  void arm() { loop_.timers().arm(*this, loop_.now() + std::chrono::milliseconds(1)); }

 private:
  void on_timer(kernel::Instant now) noexcept override {
    const std::uint64_t started = load_.driver().counts().started;
    const std::uint64_t so_far = kernel::allocations_of_this_thread();
    if (from_ == 0 && started >= kWarmUnits) {
      from_ = started;
      before_ = so_far;
    } else if (from_ != 0 && started >= from_ + kCountedUnits) {
      result_.counted = started - from_;
      result_.allocations = so_far - before_;
      return;
    }
    loop_.timers().arm(*this, now + std::chrono::milliseconds(1));
  }

  net::Loop& loop_;
  run::LoadLoop& load_;
  CountedRun& result_;
  std::uint64_t from_ = 0, before_ = 0;
};

/// Runs the phase to its end with so many workers; the intervals are collected on this thread, as
/// in every run.
inline CountedRun run_counted(
    run::Phase phase, std::uint32_t workers,
    const std::function<std::unique_ptr<run::Workload>(run::LoadLoop&)>& make) {
  using namespace std::chrono_literals;
  net::EpollLoop loop;
  run::LoadLoop load(loop, 0);
  const std::unique_ptr<run::Workload> workload = make(load);
  load.set_workload(*workload);
  CountedRun result;
  AllocationProbe probe(loop, load, result);
  phase.driver.workers = workers;
  phase.interval = 50ms;
  std::promise<void> begun, ended;
  std::thread thread([&] { loop.run(); });
  loop.post([&] {
    load.connect(workers, [&] {
      loop.post([&] {
        load.begin(phase, loop.now() + 1ms, [&] { ended.set_value(); });
        probe.arm();
        begun.set_value();
      });
    });
  });
  begun.get_future().wait();
  auto end = ended.get_future();
  while (end.wait_for(10ms) != std::future_status::ready) {
    kernel::Interval part;
    if (load.recorder().collect(part)) result.all.merge_next(part);
    if (phase.samples == nullptr) continue;
    std::vector<run::LoggedSample> samples;
    phase.samples->take(samples);
    result.logged += samples.size();
  }
  kernel::Interval last;
  if (load.recorder().collect(last)) result.all.merge_next(last);
  loop.post([&] { load.close(); });
  loop.stop();
  thread.join();
  result.started = load.driver().counts().started;
  return result;
}

}  // namespace onbeat
