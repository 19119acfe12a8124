// The real load loop and HTTP client against the real HTTP target, over the simulated network: time
// is virtual, every fault comes from a seed, so the books can be checked to the unit and the
// figures to the bucket.
#include "bench/http_load.hpp"
#include "net/sim.hpp"
#include "run/load_loop.hpp"
#include "target/http_target.hpp"
#include <onbeat/kernel/driver.hpp>
#include <onbeat/kernel/interval.hpp>
#include <onbeat/kernel/recorder.hpp>

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace onbeat {
namespace {

using namespace std::chrono_literals;
using kernel::Counts;
using kernel::Duration;
using kernel::Instant;
using kernel::Interval;

constexpr Instant kStart = Instant{} + 1h;

/// What one run is asked to do.
struct Scenario {
  std::uint64_t seed = 1;
  std::uint32_t loops = 1;
  std::uint32_t connections = 1;
  std::string path = "/";
  Duration timeout = 30s;
  Duration connect_timeout = 5s;
  run::Phase phase;
  net::SimFaults faults;
  target::HttpTargetOptions target;
  /// From the start of the world.
  std::optional<net::SimStall> server_freeze, client_freeze;
};

struct Outcome {
  std::uint64_t trace = 0;
  bool ended = false;  // and nothing was left to happen
  Counts driver;       // of all loops
  Interval total;
  std::map<std::string, std::uint64_t> errors, counters;
  target::TargetCounts target;
  Duration issue{};
};

class ClientLoop {
 public:
  ClientLoop(net::SimWorld& world, std::uint32_t index, const bench::HttpPlan& plan)
      : loop(world), load(loop, index), workload_(load, plan) {
    load.set_workload(workload_);
  }
  net::SimLoop loop;
  run::LoadLoop load;

  void collect() {
    if (!load.recording()) return;
    Interval part;
    if (load.recorder().collect(part)) intervals.merge_next(part);
  }
  void collect_rest() {
    collect();
    load.recorder().hand_over(load.drain_ended());
    collect();
  }
  Interval intervals;

 private:
  bench::HttpWorkload workload_;
};

class Execution {
 public:
  explicit Execution(const Scenario& scenario);
  Outcome run();

 private:
  void connect();
  void begin();
  void close();
  void collect();

  const Scenario& scenario_;
  net::SimWorld world_;
  net::SimLoop server_loop_{world_};
  target::HttpTarget target_;
  kernel::Names names_;
  run::ErrorSamples samples_;
  bench::HttpPlan plan_;
  kernel::RequestBudget budget_{UINT64_MAX};
  std::vector<std::unique_ptr<ClientLoop>> clients_;
  std::uint32_t left_ = 0;
  bool ended_ = false;
};

Execution::Execution(const Scenario& scenario)
    : scenario_(scenario), world_(scenario.seed, kStart), target_(server_loop_, scenario.target) {
  const net::Address at = target_.listen(net::Address::ipv4_loopback(0)).value();
  const auto url = http::parse_url("http://" + at.to_string() + scenario.path).value();
  plan_.origins.push_back({url.scheme, url.host, url.port, {at}});
  plan_.items.push_back({.url = url, .request = http::make_request("GET", url, {}, "")});
  plan_.timeout = scenario.timeout;
  plan_.options.connect_timeout = scenario.connect_timeout;
  plan_.seed = scenario.seed;
  plan_.names = &names_;
  plan_.samples = &samples_;
  for (std::uint32_t k = 0; k < scenario.loops; ++k)
    clients_.push_back(std::make_unique<ClientLoop>(world_, k, plan_));
  world_.set_faults(scenario.faults);
  if (const auto& freeze = scenario.server_freeze)
    world_.freeze(server_loop_, freeze->from, freeze->to);
  if (const auto& freeze = scenario.client_freeze)
    world_.freeze(clients_[0]->loop, freeze->from, freeze->to);
}

Outcome Execution::run() {
  connect();
  Outcome outcome;
  outcome.ended = world_.run_until_idle(kStart + 1h) && ended_;
  if (!outcome.ended) return outcome;
  for (const auto& each : clients_) {
    outcome.driver += each->load.driver().counts();
    outcome.total.merge_parallel(each->intervals);
    outcome.issue = std::max(outcome.issue, each->load.issue_ended());
  }
  for (std::uint16_t i = 0; i < outcome.total.errors.size(); ++i)
    if (outcome.total.errors[i] != 0)
      outcome.errors[names_.errors.name(i)] = outcome.total.errors[i];
  const auto counters = plan_.counters();
  for (std::size_t i = 0; i < outcome.total.counters.size(); ++i)
    outcome.counters[counters[i]] = outcome.total.counters[i];
  clients_.clear();  // closes what is open; the target hears of it
  outcome.ended = world_.run_until_idle(kStart + 2h);
  outcome.target = target_.counts();
  outcome.trace = world_.trace();
  return outcome;
}

void Execution::connect() {
  left_ = scenario_.loops;
  for (const auto& each : clients_)
    each->loop.post([this, &each] {
      each->load.connect(scenario_.connections, [this] {
        if (--left_ == 0) begin();
      });
    });
}

void Execution::begin() {
  left_ = scenario_.loops;
  const Instant t0 = world_.time() + 1ms;
  world_.at(t0 + 50ms, [this] { collect(); });
  for (std::uint32_t k = 0; k < scenario_.loops; ++k) {
    run::Phase phase = scenario_.phase;
    phase.plan.share = k;
    phase.plan.of = scenario_.loops;
    phase.plan.length = phase.length;
    phase.plan.seed = scenario_.seed;
    phase.shape = {.open = phase.driver.model != kernel::Model::closed,
                   .histograms = {"turn", "connect", "tls", "first_byte", "body"},
                   .counters = plan_.counters()};
    clients_[k]->loop.post([this, k, phase, t0] {
      clients_[k]->load.begin(phase, t0, [this] {
        if (--left_ == 0) close();
      });
    });
  }
}

void Execution::collect() {
  if (ended_) return;
  for (const auto& each : clients_) each->collect();
  world_.at(world_.now() + 50ms, [this] { collect(); });
}

void Execution::close() {
  for (const auto& each : clients_)
    each->loop.post([this, &each] {
      each->collect_rest();
      each->load.close();
      each->loop.post([this] { ended_ = true; });
    });
}

Outcome execute(const Scenario& scenario) { return Execution(scenario).run(); }

std::uint64_t arrivals_due(const Scenario& scenario) {
  kernel::SchedulePlan plan = scenario.phase.plan;
  plan.seed = scenario.seed;
  plan.length = scenario.phase.length;
  kernel::ScheduleCursor cursor(plan);
  std::uint64_t count = 0;
  for (; cursor.due() < scenario.phase.length; cursor.next()) ++count;
  return count;
}

// A hundred arrivals or so, in 0.3 s, over a network and to a target that do their worst.
Scenario bad_day(std::uint64_t seed) {
  kernel::Random random(seed);
  Scenario scenario;
  scenario.seed = seed;
  scenario.loops = 1 + static_cast<std::uint32_t>(random.below(2));
  scenario.connections = 1 + static_cast<std::uint32_t>(random.below(4));
  scenario.path = random.below(2) == 0 ? "/bytes/100" : "/chunked/100";
  scenario.timeout = 80ms;
  scenario.connect_timeout = 50ms;
  scenario.phase.length = 300ms;
  scenario.phase.drain_limit = random.below(2) == 0 ? 20ms : 1s;
  scenario.phase.interval = 70ms;
  kernel::DriverOptions& driver = scenario.phase.driver;
  driver.model = static_cast<kernel::Model>(random.below(3));
  driver.workers = 4 + static_cast<std::uint32_t>(random.below(12));
  driver.on_saturation = static_cast<kernel::OnSaturation>(random.below(2));
  driver.on_late = static_cast<kernel::OnLate>(random.below(3));
  driver.catch_up_limit = 50ms;
  driver.max_wait = random.below(2) == 0 ? kernel::kNoTime : Duration(30ms);
  scenario.phase.plan.profile = kernel::RateProfile::ramp(150, 500, 300ms);
  scenario.phase.plan.arrivals = static_cast<kernel::Arrivals>(random.below(2));
  scenario.faults = {.latency_min = 10us,
                     .latency_max = 5ms,
                     .jitter = 2ms,
                     .refused = 0.05,
                     .unanswered = 0.05,
                     .slow_connect = 0.1,
                     .connect_delay = 60ms,
                     .cut = 0.3,
                     .cut_within = 300ms,
                     .cut_bytes = 2'000,
                     .stall = 0.2,
                     .stall_for = 200ms,
                     .stall_within = 300ms,
                     .split = 0.3,
                     .one_byte = 0.1,
                     .small_buffer = 0.1};
  scenario.target.delay = Duration(static_cast<std::int64_t>(random.below(10'000'000)));
  const std::string with = "share=1%,seed=" + std::to_string(seed);
  for (const char* kind : {"status:", "reset:", "cut:", "garbage:", "excess:", "slow-bytes:",
                           "close:mode=unanswered,"})
    if (random.below(3) == 0)
      scenario.target.faults.push_back(target::parse_fault(kind + with).value());
  const Instant freeze =
      kStart + 100ms + Duration(static_cast<std::int64_t>(random.below(200'000'000)));
  if (random.below(4) == 0) scenario.server_freeze = {freeze, freeze + 100ms};
  if (random.below(8) == 0) scenario.client_freeze = {freeze, freeze + 150ms};
  return scenario;
}

void expect_exact_books(const Scenario& scenario, const Outcome& outcome) {
  ASSERT_TRUE(outcome.ended);
  const Counts& counts = outcome.total.counts;
  // The intervals hold what the driver has counted.
  EXPECT_EQ(counts.planned, outcome.driver.planned);
  EXPECT_EQ(counts.started, outcome.driver.started);
  EXPECT_EQ(counts.missed(), outcome.driver.missed());
  EXPECT_EQ(counts.saturated, outcome.driver.saturated);
  EXPECT_EQ(counts.unaccounted_planned(), 0);
  EXPECT_EQ(counts.unaccounted_started(), 0);
  if (scenario.phase.driver.model == kernel::Model::closed)
    EXPECT_EQ(counts.planned, counts.started);
  else
    EXPECT_EQ(counts.planned, arrivals_due(scenario));
  // One trace each.
  const auto& response = scenario.phase.driver.model == kernel::Model::closed
                             ? outcome.total.service
                             : outcome.total.response;
  EXPECT_EQ(response.count() + outcome.total.failed.count() + counts.saturated + counts.missed_late,
            counts.planned);
  EXPECT_EQ(outcome.total.failed.count(), counts.failed);
  // The other side agrees.
  EXPECT_LE(counts.ok, outcome.target.answers);
  EXPECT_EQ(outcome.target.open, 0u);
  EXPECT_LE(outcome.target.connections,
            outcome.counters.at("opened") + outcome.counters.at("failed"));
}

TEST(Simulated, TheBooksAreExactOver500SeedsAndEachGivesItsTraceTwice) {
  Counts all;
  std::map<std::string, std::uint64_t> errors;
  std::map<std::uint64_t, std::uint64_t> traces;
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Scenario scenario = bad_day(seed);
    const Outcome outcome = execute(scenario);
    expect_exact_books(scenario, outcome);
    const Outcome again = execute(scenario);
    EXPECT_EQ(outcome.trace, again.trace);
    EXPECT_EQ(outcome.total.counts, again.total.counts);
    EXPECT_EQ(outcome.total.response, again.total.response);
    if (testing::Test::HasFailure()) return;  // one seed's faults are enough to read
    ++traces[outcome.trace];
    all += outcome.total.counts;
    for (const auto& [name, count] : outcome.errors) errors[name] += count;
  }
  EXPECT_EQ(traces.size(), 500u);
  // Everything that can happen has happened: else the books were not tried.
  for (const std::uint64_t each :
       {all.ok, all.failed, all.timed_out, all.in_flight_at_end, all.missed_late, all.missed_waited,
        all.missed_at_end, all.saturated})
    EXPECT_GT(each, 0u);
  for (const char* each : {"connect_refused", "connect_timeout", "reset", "closed_early",
                           "short_body", "excess_data", "protocol", "status", "timeout"})
    EXPECT_GT(errors[each], 0u) << each;
}

// --- known truths, exact to the bucket ---

Scenario quiet_day(double rate, Duration length) {
  Scenario scenario;
  scenario.connections = 2;
  scenario.phase.length = length;
  scenario.phase.driver.workers = 1'000;
  scenario.phase.driver.on_saturation = kernel::OnSaturation::queue;
  scenario.phase.plan.profile = kernel::RateProfile::constant(rate);
  scenario.faults.latency_min = scenario.faults.latency_max = 1ms;
  return scenario;
}

void expect_near(Duration actual, Duration truth, double part) {
  EXPECT_NEAR(static_cast<double>(actual.count()), static_cast<double>(truth.count()),
              part * static_cast<double>(truth.count()));
}

TEST(Simulated, M19_ConstantServiceIsExactToTheBucket) {
  const Scenario scenario = quiet_day(100, 10s);
  const Outcome outcome = execute(scenario);
  expect_exact_books(scenario, outcome);
  EXPECT_EQ(outcome.total.counts.ok, 1'000u);
  for (const double p : {1.0, 50.0, 99.0, 99.9}) {
    expect_near(outcome.total.service.percentile(p), 2ms, 0.001);
    expect_near(outcome.total.response.percentile(p), 2ms, 0.001);
  }
  EXPECT_EQ(outcome.counters.at("opened"), 2u);
}

TEST(Simulated, M19_TwoValuedServiceIsExactToTheBucket) {
  // Every fifth answer is 298 ms late: 2 ms and 300 ms, each exact, and as many as there are. (The
  // target's timer is coarse, 131 us: little beside 300 ms.)
  Scenario scenario = quiet_day(100, 10s);
  scenario.connections = 20;  // enough: none is opened within a unit
  scenario.target.faults = {target::parse_fault("delay:time=298ms,every=5").value()};
  const Outcome outcome = execute(scenario);
  expect_exact_books(scenario, outcome);
  for (const kernel::Histogram* each : {&outcome.total.service, &outcome.total.response}) {
    for (const double p : {1.0, 50.0, 79.9}) expect_near(each->percentile(p), 2ms, 0.001);
    for (const double p : {80.2, 90.0, 99.9}) expect_near(each->percentile(p), 300ms, 0.001);
    EXPECT_NEAR(each->mean(), 61.6e6, 61.6e3);
  }
}

TEST(Simulated, M18_ArrivalsThatNeverStartAreInThePercentiles) {
  // 1,000/s for 60 s against a target of 500/s, 16 at once: response times grow from 0 to 30 s, and
  // those that are due in the second half and never start have waited from 30 s down to 0.
  Scenario scenario = quiet_day(1'000, 60s);
  scenario.connections = 16;
  scenario.phase.driver.workers = 16;
  scenario.target.faults = {target::parse_fault("capacity:rate=500").value()};
  scenario.phase.drain_limit = 0s;
  const Outcome outcome = execute(scenario);
  expect_exact_books(scenario, outcome);
  const kernel::Histogram& response = outcome.total.response;
  EXPECT_EQ(response.count(), 60'000u);
  EXPECT_NEAR(static_cast<double>(outcome.total.counts.ok), 30'000, 30);
  EXPECT_EQ(response.censored(), 60'000 - outcome.total.counts.ok);
  expect_near(response.percentile(50), 15s, 0.01);
  expect_near(response.percentile(99), 29'700ms, 0.01);
  EXPECT_TRUE(response.percentile_is_lower_bound(50));
  EXPECT_TRUE(response.percentile_is_lower_bound(99));
}

TEST(Simulated, M1_AFrozenTargetIsSeenByEveryArrivalThatWasDue) {
  // 200/s for 20 s; frozen for 2 s. The responses are evenly spread over (0, 2 s].
  Scenario scenario = quiet_day(200, 20s);
  scenario.server_freeze = {kStart + 10s, kStart + 12s};
  const Outcome outcome = execute(scenario);
  expect_exact_books(scenario, outcome);
  EXPECT_EQ(outcome.total.counts.ok, 4'000u);
  // 400 of 4 000 met the freeze; half of these waited for more than 1 s.
  expect_near(outcome.total.response.percentile(100 * (1 - 0.1 / 2)), 1s, 0.02);
  expect_near(outcome.total.response.percentile(100 * (1 - 0.1 / 4)), 1500ms, 0.02);
  EXPECT_NEAR(static_cast<double>(outcome.total.response.max().count()), 2e9, 6e6);
}

TEST(Simulated, M1_AFreezeAtTheEndLosesNoArrival) {
  // Frozen for the last 2 s of 10 and long after: what hangs counts at the least that it took.
  Scenario scenario = quiet_day(100, 10s);
  scenario.server_freeze = {kStart + 8s, kStart + 60s};
  scenario.phase.drain_limit = 1s;
  const Outcome outcome = execute(scenario);
  expect_exact_books(scenario, outcome);
  EXPECT_EQ(outcome.total.response.count(), 1'000u);
  EXPECT_NEAR(static_cast<double>(outcome.total.counts.in_flight_at_end), 200, 2);
  EXPECT_GE(outcome.total.response.percentile(90), 900ms);
}

TEST(Simulated, M9_OneWorkerTooSlowForTheRate) {
  // 100/s against one connection that takes 100 ms (and 2 ms on the way, and a timer's tick).
  Scenario scenario = quiet_day(100, 10s);
  scenario.connections = 1;
  scenario.phase.driver.workers = 1;
  scenario.target.delay = 98ms;
  const Outcome outcome = execute(scenario);
  expect_exact_books(scenario, outcome);
  expect_near(outcome.total.service.percentile(50), 100ms, 0.005);
  // The last that starts, about the 100th, was due 9 s earlier.
  EXPECT_GE(outcome.total.response.max(), 9s);
}

TEST(Simulated, D1_APauseIsNotLag) {
  Scenario scenario = quiet_day(100, 4s);
  scenario.phase.plan.profile = kernel::RateProfile::phased({{1s, 100}, {2s, 0}, {1s, 100}});
  const Outcome outcome = execute(scenario);
  expect_exact_books(scenario, outcome);
  EXPECT_EQ(outcome.total.counts.ok, 200u);
  EXPECT_EQ(outcome.total.lag_max, Duration{0});
}

TEST(Simulated, AFrozenGeneratorTellsItsLag) {
  Scenario scenario = quiet_day(100, 4s);
  scenario.client_freeze = {kStart + 1s, kStart + 1500ms};
  const Outcome outcome = execute(scenario);
  expect_exact_books(scenario, outcome);
  EXPECT_EQ(outcome.total.counts.ok, 400u);
  EXPECT_NEAR(static_cast<double>(outcome.total.lag_max.count()), 500e6, 10e6);
}

}  // namespace
}  // namespace onbeat
