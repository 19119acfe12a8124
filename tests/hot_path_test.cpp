// The hot path on the real loop against the real target: once warm, a request allocates nothing.
#include "bench/http_load.hpp"
#include "counted_run.hpp"
#include "target/target_server.hpp"

#include <gtest/gtest.h>

namespace onbeat {
namespace {

using namespace std::chrono_literals;
using kernel::Model;

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

  CountedRun run(run::Phase phase) {
    phase.shape = {.open = phase.driver.model != Model::closed,
                   .histograms = {"turn", "connect", "tls", "first_byte", "body"},
                   .counters = plan_.counters()};
    const CountedRun ran = run_counted(std::move(phase), 64, [&](run::LoadLoop& load) {
      return std::make_unique<bench::HttpWorkload>(load, plan_);
    });
    EXPECT_EQ(ran.started, kUnits);
    EXPECT_GE(ran.all.counts.ok, kWarmUnits) << "the intervals were not handed over";
    EXPECT_GE(ran.counted, kCountedUnits);
    EXPECT_EQ(ran.allocations, 0u) << "in " << ran.counted << " requests";
    return ran;
  }

  std::unique_ptr<target::TargetServer> server_;
  kernel::Names names_;
  run::ErrorSamples samples_;
  bench::HttpPlan plan_;
};

TEST_F(HotPath, AClosedRunAllocatesNothingOnceWarm) {
  if (!kernel::kCountsAllocations) GTEST_SKIP() << "not with ThreadSanitizer";
  kernel::RequestBudget budget(kUnits);
  run::Phase phase;
  phase.driver.model = Model::closed;
  phase.budget = &budget;
  phase.ends_by_count = true;
  run(phase);
}

TEST_F(HotPath, AnOpenRunAllocatesNothingOnceWarm) {
  if (!kernel::kCountsAllocations) GTEST_SKIP() << "not with ThreadSanitizer";
  run::Phase phase;
  phase.driver.model = Model::open;
  phase.driver.on_saturation = kernel::OnSaturation::queue;
  phase.driver.catch_up_limit = 1h;  // a busy host must not make arrivals miss
  phase.plan.profile = kernel::RateProfile::constant(40'000);
  phase.plan.max_arrivals = kUnits;
  phase.plan.length = 1h;
  phase.length = 1h;
  phase.ends_by_count = true;
  run(phase);
}

TEST_F(HotPath, ManyStreamsAllocateNothingOnceWarm) {
  if (!kernel::kCountsAllocations) GTEST_SKIP() << "not with ThreadSanitizer";
  plan_.origins.front().http2 = true;
  plan_.connections = 4;
  bench::make_http2_requests(plan_);
  kernel::RequestBudget budget(kUnits);
  run::Phase phase;
  phase.driver.model = Model::closed;
  phase.budget = &budget;
  phase.ends_by_count = true;
  run(phase);
}

TEST_F(HotPath, ARequestLogAllocatesNothing) {
  if (!kernel::kCountsAllocations) GTEST_SKIP() << "not with ThreadSanitizer";
  kernel::RequestBudget budget(kUnits);
  run::SampleRing ring(1, 1);
  run::Phase phase;
  phase.driver.model = Model::closed;
  phase.budget = &budget;
  phase.ends_by_count = true;
  phase.samples = &ring;
  const CountedRun ran = run(phase);
  std::vector<run::LoggedSample> rest;
  ring.take(rest);
  EXPECT_EQ(ran.logged + rest.size() + ring.dropped(), kUnits);
  EXPECT_GT(ran.logged, 0u);
}

}  // namespace
}  // namespace onbeat
