#include "run/adaptive.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace onbeat::run {
namespace {

using namespace std::chrono_literals;

/// What a target shows in a step.
using Target = std::function<StepOutcome(const SearchStep&)>;

struct Server {
  double capacity = 1000;  // of a single server with fixed service time
  Duration limit = 25ms;   // what p99 must stay under
  Duration path = 0ms;     // on top of every answer
  double noise = 0;        // of the rate that a step really sees, uniform, relative
  std::uint64_t seed = 1;
};

// The answers of a single server with fixed service time to evenly spaced arrivals: below its
// capacity each takes the service time, above it the queue grows steadily.
Target single_server(const Server& server) {
  return [server, random = std::mt19937_64(server.seed)](const SearchStep& step) mutable {
    std::uniform_real_distribution<double> noise(1 - server.noise, 1 + server.noise);
    const double service = 1 / server.capacity * noise(random);
    const double length = std::chrono::duration<double>(step.length).count();
    const auto planned = static_cast<std::uint64_t>(std::ceil(step.rate * length));
    const double path = std::chrono::duration<double>(server.path).count();
    std::vector<double> response;
    double free = 0;
    std::uint64_t unfinished = 0;
    for (std::uint64_t n = 0; n < planned; ++n) {
      const double due = static_cast<double>(n) / step.rate;
      free = std::max(free, due) + service;
      response.push_back(free + path - due);
      if (free + path > length) ++unfinished;
    }
    std::ranges::sort(response);
    const auto rank = static_cast<std::size_t>(std::ceil(0.99 * static_cast<double>(planned)) - 1);
    StepOutcome outcome{.planned = planned, .unfinished = unfinished};
    outcome.typical = Duration(static_cast<std::int64_t>(response[planned / 2] * 1e9));
    if (response[rank] >= std::chrono::duration<double>(server.limit).count())
      outcome.failed_threshold = "p(99) < 25ms: it is too long";
    return outcome;
  };
}

struct Played {
  AdaptiveSearch search;
  Duration took{};
};

Played play(const AdaptiveOptions& options, Target target) {
  Played played{.search = AdaptiveSearch(options)};
  while (const auto step = played.search.next(played.took)) {
    played.search.add(target(*step));
    played.took += step->length + 10ms;
    EXPECT_LE(played.search.tried().size(), 200u);
    if (played.search.tried().size() > 200) break;
  }
  return played;
}

AdaptiveOptions for_p99() { return {.samples = 1000}; }

StepOutcome held() { return {.planned = 1000, .unfinished = 0, .typical = 1ms}; }
StepOutcome too_slow() {
  return {.planned = 1000, .unfinished = 0, .typical = 1ms, .failed_threshold = "p99 < 25ms: no"};
}
StepOutcome late() {
  return {.planned = 1000,
          .unfinished = 0,
          .typical = 1ms,
          .failed_threshold = "p99 < 25ms: no",
          .generator = "The generator was late"};
}

std::string path_of(const AdaptiveSearch& search) {
  std::string text;
  for (const TriedStep& tried : search.tried())
    text += std::string(to_string(tried.step.kind)).substr(0, 1) +
            std::to_string(std::lround(tried.step.rate)) + (tried.held ? "+ " : "- ");
  return text;
}

TEST(AdaptiveSearch, ProbesThenBisectsThenHolds) {
  const Played played = play(
      for_p99(), [](const SearchStep& step) { return step.rate <= 3000 ? held() : too_slow(); });
  EXPECT_EQ(path_of(played.search),
            "p1000+ p2000+ p4000- b2828+ b3364- b3084- b2954+ h2954+ h2954+ h2954+ ");
  EXPECT_TRUE(played.search.converged());
  EXPECT_NEAR(*played.search.rate(), 2954, 1);
  EXPECT_EQ(played.search.evidence(), (std::vector<std::size_t>{7, 8, 9}));
  EXPECT_EQ(played.search.shortfall(), "");
  EXPECT_EQ(played.search.generator_limit(), "");
}

TEST(AdaptiveSearch, GoesDownWhenTheFirstRateDoesNotHold) {
  const Played played = play(
      for_p99(), [](const SearchStep& step) { return step.rate <= 300 ? held() : too_slow(); });
  EXPECT_EQ(path_of(played.search).substr(0, 20), "p1000- p500- p250+ b");
  EXPECT_TRUE(played.search.converged());
  EXPECT_GT(*played.search.rate(), 300 / 1.05);
  EXPECT_LE(*played.search.rate(), 300);
}

TEST(AdaptiveSearch, StepsLastAsLongAsTheirSamplesTake) {
  AdaptiveSearch search({.first = 1000, .samples = 10'000});
  const auto step = search.next(0s);
  ASSERT_TRUE(step);
  EXPECT_GE(step->length, 10s);
  EXPECT_LE(step->length, 11s);
  EXPECT_EQ(AdaptiveSearch({.first = 1000, .samples = 20}).next(0s)->length, 1s);
}

TEST(AdaptiveSearch, HoldsAreLongerAndThreeInARow) {
  const Played played = play({.first = 1000, .samples = 20}, [](const SearchStep& step) {
    return step.rate <= 1200 ? held() : too_slow();
  });
  for (const std::size_t i : played.search.evidence())
    EXPECT_EQ(played.search.tried()[i].step.length, 3s);
  EXPECT_EQ(played.search.evidence().size(), 3u);
}

TEST(AdaptiveSearch, AHoldThatFailsLowersTheRateAndBeginsAnew) {
  int holds = 0;
  const Played played = play({.first = 1000, .samples = 20}, [&](const SearchStep& step) {
    if (step.kind == StepKind::hold && ++holds == 2) return too_slow();
    return step.rate <= 1000 ? held() : too_slow();
  });
  EXPECT_TRUE(path_of(played.search).ends_with("h1000+ h1000- h975+ h975+ h975+ "))
      << path_of(played.search);
  EXPECT_EQ(*played.search.rate(), 975);
  EXPECT_TRUE(played.search.converged());
}

TEST(AdaptiveSearch, LowersFasterTheMoreHoldsFail) {
  const Played played = play({.first = 1000, .samples = 20}, [](const SearchStep& step) {
    if (step.kind == StepKind::hold) return step.rate <= 800 ? held() : too_slow();
    return step.rate <= 1000 ? held() : too_slow();
  });
  EXPECT_TRUE(path_of(played.search).ends_with("h1000- h975- h926- h857- h771+ h771+ h771+ "))
      << path_of(played.search);
}

TEST(AdaptiveSearch, AStepThatTheGeneratorWasLateForIsRepeated) {
  int late_steps = 2;
  const Played played = play(for_p99(), [&](const SearchStep& step) {
    if (step.rate == 2000 && late_steps-- > 0) return late();
    return step.rate <= 3000 ? held() : too_slow();
  });
  EXPECT_TRUE(path_of(played.search).starts_with("p1000+ p2000- p2000- p2000+ p4000- "))
      << path_of(played.search);
  EXPECT_TRUE(played.search.tried()[1].disturbed);
  EXPECT_EQ(played.search.tried()[1].reason, "The generator was late");
  EXPECT_TRUE(played.search.converged());
  EXPECT_EQ(played.search.generator_limit(), "") << "it did the step after all";
}

TEST(AdaptiveSearch, AGeneratorThatCannotDoMoreIsNamed) {
  const Played played =
      play(for_p99(), [](const SearchStep& step) { return step.rate <= 3000 ? held() : late(); });
  EXPECT_TRUE(played.search.converged());
  EXPECT_GT(*played.search.rate(), 3000 / 1.05);
  EXPECT_EQ(played.search.generator_limit(), "The generator was late");
}

TEST(AdaptiveSearch, TheGeneratorsLatenessIsNoMatterWhereTheThresholdsHold) {
  const Played played = play(for_p99(), [](const SearchStep& step) {
    StepOutcome outcome = step.rate <= 3000 ? held() : too_slow();
    if (step.rate <= 3000) outcome.generator = "The generator was late";
    return outcome;
  });
  EXPECT_EQ(path_of(played.search),
            "p1000+ p2000+ p4000- b2828+ b3364- b3084- b2954+ h2954+ h2954+ h2954+ ");
}

TEST(AdaptiveSearch, StopsAtTheHighestRateAllowed) {
  const Played played = play({.first = 1000, .highest = 5000, .samples = 20},
                             [](const SearchStep&) { return held(); });
  EXPECT_EQ(path_of(played.search), "p1000+ p2000+ p4000+ p5000+ h5000+ h5000+ h5000+ ");
  EXPECT_TRUE(played.search.converged());
}

TEST(AdaptiveSearch, TheBudgetBoundsAllOfIt) {
  for (const Duration budget : {5s, 8s, 12s, 15s, 20s, 25s, 30s, 60s}) {
    const Played played =
        play({.first = 1000, .budget = budget, .samples = 20},
             [](const SearchStep& step) { return step.rate <= 3000 ? held() : too_slow(); });
    EXPECT_LE(played.took, budget + 10ms) << budget.count();
    EXPECT_EQ(played.search.converged(), played.search.shortfall().empty()) << budget.count();
  }
}

TEST(AdaptiveSearch, WithoutTimeToNarrowItConfirmsWhatHasHeld) {
  // Two probes that hold and one that does not, three holds: 3 s + 9 s.
  const Played played =
      play({.first = 1000, .budget = 12'100ms, .samples = 20},
           [](const SearchStep& step) { return step.rate <= 3000 ? held() : too_slow(); });
  EXPECT_EQ(path_of(played.search), "p1000+ p2000+ p4000- h2000+ h2000+ h2000+ ");
  EXPECT_FALSE(played.search.converged());
  EXPECT_EQ(*played.search.rate(), 2000);
  EXPECT_EQ(played.search.shortfall(), "the time was over before the range was within 5%");
}

TEST(AdaptiveSearch, WithoutTimeToConfirmTheFastestStepThatHeldStands) {
  const Played played =
      play({.first = 1000, .budget = 4s, .samples = 20},
           [](const SearchStep& step) { return step.rate <= 1500 ? held() : too_slow(); });
  EXPECT_FALSE(played.search.converged());
  EXPECT_EQ(*played.search.rate(), 1000);
  EXPECT_EQ(played.search.evidence(), (std::vector<std::size_t>{0}));
  EXPECT_EQ(played.search.shortfall(), "the time was over before the rate was confirmed");
}

TEST(AdaptiveSearch, WhereNothingHoldsItSaysSo) {
  const Played played = play(for_p99(), [](const SearchStep&) { return too_slow(); });
  EXPECT_FALSE(played.search.rate());
  EXPECT_FALSE(played.search.converged());
  EXPECT_EQ(played.search.evidence().size(), 1u);
  EXPECT_EQ(played.search.evidence()[0], played.search.tried().size() - 1) << "the slowest";
  EXPECT_NE(played.search.shortfall().find("no rate kept the thresholds"), std::string::npos);
}

TEST(AdaptiveSearch, InterruptedBeforeAnyStepItHasNothing) {
  AdaptiveSearch search(for_p99());
  EXPECT_TRUE(search.evidence().empty());
  EXPECT_FALSE(search.rate());
  static_cast<void>(search.next(0s));
  EXPECT_TRUE(search.evidence().empty()) << "a step without an outcome does not count";
}

// A backlog counts even where no threshold sees it.
TEST(AdaptiveSearch, FewerThan98PercentCompletedDoesNotHold) {
  const auto outcome_of = [](std::uint64_t unfinished, Duration typical) {
    AdaptiveSearch search({.first = 1000, .samples = 20});
    static_cast<void>(search.next(0s));
    search.add({.planned = 1000, .unfinished = unfinished, .typical = typical});
    return search.tried().back();
  };
  EXPECT_TRUE(outcome_of(20, 0ms).held);
  EXPECT_FALSE(outcome_of(21, 0ms).held);
  EXPECT_EQ(outcome_of(500, 0ms).reason, "50% of its arrivals were not completed within it");
  // What an answer normally takes is no backlog: at 100 ms, 100 are always in flight.
  EXPECT_TRUE(outcome_of(110, 100ms).held);
  EXPECT_FALSE(outcome_of(130, 100ms).held);
  // But a queue as long as the step is not normal.
  EXPECT_FALSE(outcome_of(500, 500ms).held);
}

TEST(AdaptiveSearch, TheNormalTimeIsThatOfTheLightestStep) {
  AdaptiveSearch search({.first = 1000, .samples = 20});
  static_cast<void>(search.next(0s));
  search.add({.planned = 1000, .unfinished = 1, .typical = 1ms});
  static_cast<void>(search.next(1s));
  search.add({.planned = 2000, .unfinished = 400, .typical = 200ms});
  EXPECT_FALSE(search.tried().back().held);
}

// The found rate against the truth, for capacities, limits and paths of all sizes.
TEST(AdaptiveSearch, FindsTheCapacityOfASingleServerWithinFivePercent) {
  for (const double capacity : {90.0, 333.0, 1000.0, 1234.5, 4800.0, 31'000.0}) {
    for (const Duration limit : {Duration(15ms), Duration(25ms), Duration(100ms)}) {
      for (const Duration path : {Duration(0ms), Duration(8ms)}) {
        const bool possible = 1 / capacity < std::chrono::duration<double>(limit - path).count();
        if (!possible) continue;
        AdaptiveOptions options{.first = first_rate(100), .budget = 120s, .samples = 100};
        const Played played =
            play(options, single_server({.capacity = capacity, .limit = limit, .path = path}));
        ASSERT_TRUE(played.search.rate());
        EXPECT_TRUE(played.search.converged()) << capacity << path_of(played.search);
        EXPECT_NEAR(*played.search.rate() / capacity, 1, 0.05)
            << capacity << "/s, " << limit.count() << " ns: " << path_of(played.search);
      }
    }
  }
}

TEST(AdaptiveSearch, FindsItTenTimesOfTenWithNoise) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Played played =
        play(for_p99(), single_server({.capacity = 5000, .noise = 0.005, .seed = seed}));
    ASSERT_TRUE(played.search.rate());
    EXPECT_NEAR(*played.search.rate() / 5000, 1, 0.05) << seed << ": " << path_of(played.search);
    EXPECT_LE(played.took, 60s);
  }
}

// With a lax threshold only the backlog tells that the target does not keep up.
TEST(AdaptiveSearch, FindsItWithoutAThresholdThatSeesTheQueue) {
  for (const double capacity : {150.0, 1000.0, 7000.0}) {
    const Played played = play({.first = 1000, .budget = 120s, .samples = 100},
                               single_server({.capacity = capacity, .limit = 1h}));
    ASSERT_TRUE(played.search.rate());
    EXPECT_NEAR(*played.search.rate() / capacity, 1, 0.05) << path_of(played.search);
  }
}

TEST(AdaptiveSearch, TheFirstRateGivesTheSamplesInASecond) {
  EXPECT_EQ(first_rate(20), 100);
  EXPECT_EQ(first_rate(200), 200);
  EXPECT_EQ(first_rate(1000), 1000);
  EXPECT_EQ(first_rate(100'000), 1000);
}

}  // namespace
}  // namespace onbeat::run
