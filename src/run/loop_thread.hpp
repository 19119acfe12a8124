// The threads of a run's loops, and how the run waits for all of them. Private to run.cpp and what
// belongs to it.
#pragma once

#include "net/epoll_loop.hpp"
#include "run/load_loop.hpp"
#include "run/run.hpp"

#include <pthread.h>
#include <sched.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

namespace onbeat::run {

/// A loop, its thread and its part of the work.
class LoopThread {
 public:
  LoopThread(std::uint32_t index, const RunPlan& plan, const WorkloadSpec& spec)
      : loop_({.spin = plan.spin}), load_(loop_, index), workload_(spec.make(load_)) {
    load_.set_workload(*workload_);
    thread_ =
        std::thread([this, cpu = plan.cpus.empty() ? -1 : plan.cpus[index % plan.cpus.size()]] {
          if (cpu >= 0) {
            cpu_set_t set;
            CPU_ZERO(&set);
            CPU_SET(cpu, &set);
            pthread_setaffinity_np(pthread_self(), sizeof set, &set);
          }
          loop_.run();
        });
  }
  ~LoopThread() {
    loop_.post([this] { load_.close(); });
    loop_.stop();
    thread_.join();
  }
  LoopThread(const LoopThread&) = delete;
  LoopThread& operator=(const LoopThread&) = delete;

  net::Loop& loop() noexcept { return loop_; }
  LoadLoop& load() noexcept { return load_; }

 private:
  net::EpollLoop loop_;
  LoadLoop load_;
  std::unique_ptr<Workload> workload_;
  std::thread thread_;
};

/// Counts loops down to "all have".
class Latch {
 public:
  void reset(std::size_t count) {
    const std::lock_guard lock(mutex_);
    left_ = count;
  }
  void arrive() {
    const std::lock_guard lock(mutex_);
    if (--left_ == 0) all_.notify_all();
  }
  /// True when all have arrived; waits until then, or for so long.
  bool wait_for(Duration duration) {
    std::unique_lock lock(mutex_);
    return all_.wait_for(lock, duration, [this] { return left_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_;
  std::size_t left_ = 0;
};

}  // namespace onbeat::run
