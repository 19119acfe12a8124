// The hot path on the real loop against the real target: once warm, a request allocates nothing.
#include "bench/http_load.hpp"
#include "kernel/allocation_count.hpp"
#include "net/epoll_loop.hpp"
#include "run/load_loop.hpp"
#include "target/target_server.hpp"
#include <onbeat/kernel/recorder.hpp>

#include <gtest/gtest.h>

#include <future>
#include <thread>

namespace onbeat {
namespace {

using namespace std::chrono_literals;
using kernel::Duration;
using kernel::Instant;
using kernel::Model;

constexpr std::uint64_t kWarm = 20'000;
constexpr std::uint64_t kCounted = 100'000;
constexpr std::uint64_t kRequests = kWarm + kCounted + 10'000;

/// Reads the allocations of the loop's thread when so many units have been started.
class Probe final : public net::Timer {
 public:
  Probe(net::Loop& loop, run::LoadLoop& load) : loop_(loop), load_(load) {}
  void arm() { loop_.timers().arm(*this, loop_.now() + 1ms); }

  std::uint64_t from = 0, to = 0;  // units
  std::uint64_t allocations = 0;

 private:
  void on_timer(Instant now) noexcept override {
    const std::uint64_t started = load_.driver().counts().started;
    const std::uint64_t so_far = kernel::allocations_of_this_thread();
    if (from == 0 && started >= kWarm) {
      from = started;
      allocations = so_far;
    } else if (from != 0 && started >= from + kCounted) {
      to = started;
      allocations = so_far - allocations;
      return;
    }
    loop_.timers().arm(*this, now + 1ms);
  }

  net::Loop& loop_;
  run::LoadLoop& load_;
};

class HotPath : public testing::Test {
 protected:
  HotPath() : server_(target::TargetServer::start({}, net::Address::ipv4_loopback(0)).value()) {
    const net::Address at = server_->address();
    const auto url = http::parse_url("http://" + at.to_string() + "/").value();
    plan_.origins.push_back({url.scheme, url.host, url.port, {at}});
    plan_.items.push_back({.url = url, .request = http::make_request("GET", url, {}, "")});
    plan_.names = &names_;
    plan_.samples = &samples_;
  }

  // Runs all requests with so many connections; the intervals are collected on this thread, as in
  // every run.
  void run(run::Phase phase, std::uint32_t connections) {
    net::EpollLoop loop;
    run::LoadLoop load(loop, 0);
    bench::HttpWorkload workload(load, plan_);
    load.set_workload(workload);
    Probe probe(loop, load);
    phase.driver.workers = connections;
    phase.shape = {.open = phase.driver.model != Model::closed,
                   .histograms = {"turn", "connect", "tls", "first_byte", "body"},
                   .counters = plan_.counters()};
    phase.interval = 50ms;
    std::promise<void> begun, ended;
    std::thread thread([&] { loop.run(); });
    loop.post([&] {
      load.connect(connections, [&] {
        loop.post([&] {
          load.begin(phase, loop.now() + 1ms, [&] { ended.set_value(); });
          probe.arm();
          begun.set_value();
        });
      });
    });
    begun.get_future().wait();
    auto end = ended.get_future();
    kernel::Interval all;
    const auto collect = [&] {
      kernel::Interval part;
      if (load.recorder().collect(part)) all.merge_next(part);
      if (phase.samples == nullptr) return;
      std::vector<run::LoggedSample> samples;
      phase.samples->take(samples);
      logged_ += samples.size();
    };
    while (end.wait_for(10ms) != std::future_status::ready) collect();
    loop.post([&] { load.close(); });
    loop.stop();
    thread.join();
    EXPECT_EQ(load.driver().counts().started, kRequests);
    EXPECT_GE(all.counts.ok, kWarm) << "the intervals were not handed over";
    ASSERT_GE(probe.to, probe.from + kCounted);
    EXPECT_EQ(probe.allocations, 0u) << "in " << probe.to - probe.from << " requests";
  }

  std::uint64_t logged_ = 0;
  std::unique_ptr<target::TargetServer> server_;
  kernel::Names names_;
  run::ErrorSamples samples_;
  bench::HttpPlan plan_;
};

TEST_F(HotPath, AClosedRunAllocatesNothingOnceWarm) {
  if (!kernel::kCountsAllocations) GTEST_SKIP() << "not with ThreadSanitizer";
  kernel::RequestBudget budget(kRequests);
  run::Phase phase;
  phase.driver.model = Model::closed;
  phase.budget = &budget;
  phase.ends_by_count = true;
  run(phase, 64);
}

TEST_F(HotPath, AnOpenRunAllocatesNothingOnceWarm) {
  if (!kernel::kCountsAllocations) GTEST_SKIP() << "not with ThreadSanitizer";
  run::Phase phase;
  phase.driver.model = Model::open;
  phase.driver.on_saturation = kernel::OnSaturation::queue;
  phase.driver.catch_up_limit = 1h;  // a busy host must not make arrivals miss
  phase.plan.profile = kernel::RateProfile::constant(40'000);
  phase.plan.max_arrivals = kRequests;
  phase.plan.length = 1h;
  phase.length = 1h;
  phase.ends_by_count = true;
  run(phase, 64);
}

TEST_F(HotPath, ManyStreamsAllocateNothingOnceWarm) {
  if (!kernel::kCountsAllocations) GTEST_SKIP() << "not with ThreadSanitizer";
  plan_.origins.front().http2 = true;
  plan_.connections = 4;
  bench::make_http2_requests(plan_);
  kernel::RequestBudget budget(kRequests);
  run::Phase phase;
  phase.driver.model = Model::closed;
  phase.budget = &budget;
  phase.ends_by_count = true;
  run(phase, 64);
}

TEST_F(HotPath, ARequestLogAllocatesNothing) {
  if (!kernel::kCountsAllocations) GTEST_SKIP() << "not with ThreadSanitizer";
  kernel::RequestBudget budget(kRequests);
  run::SampleRing ring(1, 1);
  run::Phase phase;
  phase.driver.model = Model::closed;
  phase.budget = &budget;
  phase.ends_by_count = true;
  phase.samples = &ring;
  run(phase, 64);
  std::vector<run::LoggedSample> rest;
  ring.take(rest);
  EXPECT_EQ(logged_ + rest.size() + ring.dropped(), kRequests);
  EXPECT_GT(logged_, 0u);
}

}  // namespace
}  // namespace onbeat
