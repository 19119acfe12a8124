#include "net/timers.hpp"

#include <onbeat/kernel/random.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <vector>

namespace onbeat::net {
namespace {

using namespace std::chrono_literals;

constexpr Duration kTick{1 << Timers::kTickBits};
constexpr Instant kStart{Duration{987'654'321}};

class Probe final : public Timer {
 public:
  void on_timer(Instant now) noexcept override {
    fired.push_back(now);
    if (then) then(now);
  }
  std::vector<Instant> fired;
  std::function<void(Instant)> then;
};

TEST(Timers, FiresNotBeforeItsInstantAndAtMostATickLater) {
  for (const Duration delay : {Duration{1}, kTick - 1ns, kTick, kTick + 1ns, Duration{5ms}}) {
    Timers timers(kStart);
    Probe probe;
    const Instant when = kStart + delay;
    timers.arm(probe, when);
    EXPECT_GE(timers.next(), when);
    EXPECT_LT(timers.next(), when + kTick);
    timers.expire(when - 1ns);
    EXPECT_TRUE(probe.fired.empty()) << delay.count();
    timers.expire(when + kTick);
    EXPECT_EQ(probe.fired.size(), 1U) << delay.count();
    EXPECT_FALSE(probe.armed());
    EXPECT_EQ(timers.next(), kNever);
  }
}

TEST(Timers, APastInstantFiresATickFromNow) {
  Timers timers(kStart);
  timers.expire(kStart + 1s);
  Probe probe;
  timers.arm(probe, kStart);
  EXPECT_LE(timers.next(), kStart + 1s + kTick);
  timers.expire(kStart + 1s + kTick);
  EXPECT_EQ(probe.fired.size(), 1U);
}

TEST(Timers, ArmingAgainMoves) {
  Timers timers(kStart);
  Probe probe;
  timers.arm(probe, kStart + 1s);
  timers.arm(probe, kStart + 3s);
  timers.expire(kStart + 2s);
  EXPECT_TRUE(probe.fired.empty());
  timers.expire(kStart + 4s);
  EXPECT_EQ(probe.fired.size(), 1U);
}

TEST(Timers, ArmedForNeverIsDisarmed) {
  Timers timers(kStart);
  Probe probe;
  timers.arm(probe, kStart + 1s);
  timers.arm(probe, kNever);
  EXPECT_FALSE(probe.armed());
  EXPECT_EQ(timers.next(), kNever);
  timers.expire(kStart + 2s);
  EXPECT_TRUE(probe.fired.empty());
}

TEST(Timers, ADestroyedTimerIsForgotten) {
  Timers timers(kStart);
  Probe stays;
  {
    Probe goes;
    timers.arm(goes, kStart + 1s);
    timers.arm(stays, kStart + 1s);
  }
  timers.expire(kStart + 2s);
  EXPECT_EQ(stays.fired.size(), 1U);
}

TEST(Timers, ACallbackMayDisarmAndDestroyOthersOfItsTick) {
  Timers timers(kStart);
  // Whichever fires first removes the other two, whatever the order in the slot.
  std::vector<std::unique_ptr<Probe>> probes;
  int fired = 0;
  for (int i = 0; i < 3; ++i) {
    auto& probe = *probes.emplace_back(std::make_unique<Probe>());
    probe.then = [&, self = &probe](Instant) {
      ++fired;
      std::erase_if(probes, [&](const auto& each) { return each.get() != self; });
    };
    timers.arm(probe, kStart + 1s);
  }
  timers.expire(kStart + 2s);
  EXPECT_EQ(fired, 1);
  EXPECT_EQ(timers.next(), kNever);
}

TEST(Timers, ACallbackMayArmItselfAgain) {
  Timers timers(kStart);
  Probe probe;
  probe.then = [&](Instant now) { timers.arm(probe, now + 10ms); };
  timers.arm(probe, kStart + 10ms);
  Instant now = kStart;
  while (now < kStart + 1s) {
    ASSERT_NE(timers.next(), kNever);
    now = timers.next();
    timers.expire(now);
  }
  // Each period is lengthened by less than a tick.
  EXPECT_GE(probe.fired.size(), 98U);
  EXPECT_LE(probe.fired.size(), 100U);
}

// The wheel against a plain list of what is armed, over days: delays from nothing to beyond its
// span of 156 hours, moves, disarms, and steps of all lengths.
class Model {
 public:
  explicit Model(std::uint64_t seed) : random_(seed), timers_(kStart), entries_(64) {}

  void run(int steps) {
    for (int i = 0; i < steps && !testing::Test::HasFailure(); ++i) {
      change();
      step();
      check();
    }
  }
  // With nothing new, waking at next() alone brings every timer, in few wake-ups.
  void finish() {
    std::size_t left = 0;
    for (const Entry& entry : entries_) left += entry.probe.armed() ? 1U : 0U;
    std::size_t wakes = 0;
    while (timers_.next() != kNever && wakes < 100 * entries_.size()) {
      ASSERT_GT(timers_.next(), now_ - kTick);
      now_ = std::max(now_, timers_.next());
      timers_.expire(now_);
      check();
      ++wakes;
    }
    for (const Entry& entry : entries_) EXPECT_FALSE(entry.probe.armed());
    // Once a level, and once a round of the top level for what is beyond the span.
    EXPECT_LE(wakes, left * 4 + 1024);
  }

 private:
  struct Entry {
    Probe probe;
    std::int64_t tick = 0;  // when it has to fire
    bool armed = false;
  };

  static std::int64_t tick_of(Instant instant) { return (instant - kStart) / kTick; }
  // From a nanosecond to `longest`, all magnitudes alike.
  Duration some(Duration longest) {
    return Duration(static_cast<std::int64_t>(
        std::exp(random_.uniform() * std::log(static_cast<double>(longest.count())))));
  }
  void change() {
    Entry& entry = entries_[random_.below(entries_.size())];
    if (random_.below(4) == 0) {
      timers_.disarm(entry.probe);
      entry.armed = false;
      return;
    }
    const Instant when = now_ + some(400h) - 1ms;
    timers_.arm(entry.probe, when);
    const std::int64_t up =
        (std::max<std::int64_t>((when - kStart).count(), 0) + kTick.count() - 1) / kTick.count();
    entry.tick = std::max(up, tick_of(now_) + 1);
    entry.armed = true;
  }
  void step() {
    if (random_.below(3) == 0 && timers_.next() != kNever && timers_.next() > now_) {
      now_ = timers_.next();
    } else {
      now_ += some(random_.below(50) == 0 ? 100h : 2min);
    }
    timers_.expire(now_);
  }
  void check() {
    for (Entry& entry : entries_) {
      const bool due = entry.armed && entry.tick <= tick_of(now_);
      ASSERT_EQ(entry.probe.fired.size(), due ? 1U : 0U)
          << "tick " << entry.tick << " at " << tick_of(now_);
      entry.probe.fired.clear();
      if (due) entry.armed = false;
      ASSERT_EQ(entry.probe.armed(), entry.armed);
      if (entry.armed) {
        ASSERT_LE(timers_.next(), kStart + entry.tick * kTick);
      }
    }
  }

  kernel::Random random_;
  Timers timers_;
  std::vector<Entry> entries_;
  Instant now_ = kStart;
};

TEST(Timers, AgreeWithASortedListOverDays) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    Model model(seed);
    model.run(3000);
    model.finish();
    ASSERT_FALSE(HasFailure());
  }
}

struct Owner {
  void expired(Instant now) noexcept { at.push_back(now); }
  std::vector<Instant> at;
};

TEST(Deadline, MovedLaterFiresOnceAtItsLastInstant) {
  Timers timers(kStart);
  Owner owner;
  Deadline<Owner, &Owner::expired> deadline(timers, owner);
  deadline.set(kStart + 1s);
  deadline.set(kStart + 2s);
  timers.expire(kStart + 1s + kTick);
  EXPECT_TRUE(owner.at.empty());
  timers.expire(kStart + 2s + kTick);
  EXPECT_EQ(owner.at.size(), 1U);
  timers.expire(kStart + 10s);
  EXPECT_EQ(owner.at.size(), 1U);
}

TEST(Deadline, MovedEarlierFiresEarlier) {
  Timers timers(kStart);
  Owner owner;
  Deadline<Owner, &Owner::expired> deadline(timers, owner);
  deadline.set(kStart + 10s);
  deadline.set(kStart + 1s);
  timers.expire(kStart + 1s + kTick);
  EXPECT_EQ(owner.at.size(), 1U);
}

TEST(Deadline, ClearedFiresNotAndCanBeSetAgain) {
  Timers timers(kStart);
  Owner owner;
  Deadline<Owner, &Owner::expired> deadline(timers, owner);
  deadline.set(kStart + 1s);
  deadline.clear();
  timers.expire(kStart + 2s);
  EXPECT_TRUE(owner.at.empty());
  deadline.set(kStart + 3s);
  timers.expire(kStart + 3s + kTick);
  EXPECT_EQ(owner.at.size(), 1U);
}

// What makes it cheap: set for every unit, it touches the wheel only when its wake-up comes.
TEST(Deadline, SettingItForEveryUnitWakesRarely) {
  Timers timers(kStart);
  Owner owner;
  Deadline<Owner, &Owner::expired> deadline(timers, owner);
  Instant now = kStart;
  int wakes = 0;
  for (int i = 0; i < 100'000; ++i) {
    now += 100us;
    deadline.set(now + 1s);
    if (timers.next() <= now) {
      timers.expire(now);
      ++wakes;
    }
  }
  EXPECT_TRUE(owner.at.empty());
  EXPECT_GE(wakes, 5);
  EXPECT_LE(wakes, 60);  // about one a second, over the levels of the wheel
}

}  // namespace
}  // namespace onbeat::net
