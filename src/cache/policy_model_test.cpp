// Every policy against a model of it that is written for plainness alone: the same operations must
// give the same answers, one by one.
#include "cache/frequency_sketch.hpp"
#include <onbeat/cache.hpp>
#include <onbeat/kernel/random.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace onbeat::cache {
namespace {

using namespace std::chrono_literals;
using Key = std::string;
using Keys = std::vector<Key>;  // oldest first

void drop(Keys& keys, const Key& key) { std::erase(keys, key); }
bool has(const Keys& keys, const Key& key) { return std::ranges::find(keys, key) != keys.end(); }

/// The order of entries, as the papers tell it.
class Order {
 public:
  virtual ~Order() = default;
  virtual void insert(const Key& key) = 0;
  virtual void use(const Key& key) = 0;
  virtual void remove(const Key& key) = 0;
  virtual Key victim() = 0;
};

class FifoOrder : public Order {
 public:
  void insert(const Key& key) override { keys_.push_back(key); }
  void use(const Key&) override {}
  void remove(const Key& key) override { drop(keys_, key); }
  Key victim() override { return keys_.front(); }

 protected:
  Keys keys_;
};

class LruOrder final : public FifoOrder {
 public:
  void use(const Key& key) override {
    drop(keys_, key);
    keys_.push_back(key);
  }
};

/// A ring and a hand, as a clock has them.
class ClockOrder final : public Order {
 public:
  void insert(const Key& key) override {
    ring_.insert(ring_.begin() + static_cast<std::ptrdiff_t>(hand_), key);
    ++hand_;  // what is new is what the hand reaches last
    used_[key] = false;
  }
  void use(const Key& key) override { used_[key] = true; }
  void remove(const Key& key) override {
    const auto at = static_cast<std::size_t>(std::ranges::find(ring_, key) - ring_.begin());
    ring_.erase(ring_.begin() + static_cast<std::ptrdiff_t>(at));
    if (at < hand_) --hand_;
  }
  Key victim() override {
    for (;; ++hand_) {
      if (hand_ == ring_.size()) hand_ = 0;
      if (!used_[ring_[hand_]]) return ring_[hand_];
      used_[ring_[hand_]] = false;
    }
  }

 private:
  Keys ring_;
  std::map<Key, bool> used_;
  std::size_t hand_ = 0;
};

class SieveOrder final : public Order {
 public:
  void insert(const Key& key) override {
    keys_.push_back(key);
    visited_[key] = false;
  }
  void use(const Key& key) override { visited_[key] = true; }
  void remove(const Key& key) override {
    const auto at = static_cast<std::size_t>(std::ranges::find(keys_, key) - keys_.begin());
    drop(keys_, key);
    if (at < hand_) --hand_;
    // A hand that stood on the newest begins anew at the oldest.
    if (at == hand_ && hand_ == keys_.size()) hand_ = 0;
  }
  Key victim() override {
    for (;; ++hand_) {
      if (hand_ == keys_.size()) hand_ = 0;
      if (!visited_[keys_[hand_]]) return keys_[hand_];
      visited_[keys_[hand_]] = false;
    }
  }

 private:
  Keys keys_;
  std::map<Key, bool> visited_;
  std::size_t hand_ = 0;
};

class S3FifoOrder final : public Order {
 public:
  void insert(const Key& key) override {
    const std::size_t reach = std::min(main_.size(), gone_.size());
    const auto ghost =
        std::find(gone_.end() - static_cast<std::ptrdiff_t>(reach), gone_.end(), key);
    const bool known = ghost != gone_.end();
    if (known) *ghost = "";
    gone_.erase(gone_.begin(), gone_.end() - static_cast<std::ptrdiff_t>(reach));
    (known ? main_ : small_).push_back(key);
    uses_[key] = 0;
  }
  void use(const Key& key) override { uses_[key] = std::min(uses_[key] + 1, 3); }
  void remove(const Key& key) override {
    drop(small_, key);
    drop(main_, key);
  }
  Key victim() override {
    for (;;) {
      const std::size_t tenth = std::max<std::size_t>(1, (small_.size() + main_.size()) / 10);
      if (small_.size() < tenth && !main_.empty()) {
        const Key key = main_.front();
        if (uses_[key] == 0) return key;
        --uses_[key];
        drop(main_, key);
        main_.push_back(key);
        continue;
      }
      const Key key = small_.front();
      if (uses_[key] <= 1) {
        std::ranges::replace(gone_, key, Key());
        gone_.push_back(key);
        return key;
      }
      uses_[key] = 0;
      drop(small_, key);
      main_.push_back(key);
    }
  }

 private:
  Keys small_, main_, gone_;
  std::map<Key, int> uses_;
};

/// Over the same sketch, which has a test of its own.
class WTinyLfuOrder final : public Order {
 public:
  explicit WTinyLfuOrder(std::uint64_t entries) : sketch_(entries) {}
  void insert(const Key& key) override {
    sketch_.record(hash(key));
    window_.push_back(key);
    while (window_.size() > window_share()) oldest_to(window_, probation_);
  }
  void use(const Key& key) override {
    sketch_.record(hash(key));
    if (!has(probation_, key)) {
      Keys& part = has(window_, key) ? window_ : protected_;
      drop(part, key);
      part.push_back(key);
      return;
    }
    drop(probation_, key);
    protected_.push_back(key);
    const std::size_t main = probation_.size() + protected_.size();
    while (protected_.size() > main * 4 / 5) oldest_to(protected_, probation_);
  }
  void remove(const Key& key) override {
    for (Keys* part : {&window_, &protected_, &probation_}) drop(*part, key);
  }
  Key victim() override {
    if (probation_.empty() && protected_.empty()) return window_.front();
    const Key in_main = probation_.empty() ? protected_.front() : probation_.front();
    if (window_.size() < window_share()) return in_main;
    const Key candidate = window_.front();
    if (sketch_.frequency(hash(candidate)) <= sketch_.frequency(hash(in_main))) return candidate;
    oldest_to(window_, probation_);
    return in_main;
  }

 private:
  static std::uint64_t hash(const Key& key) { return std::hash<std::string_view>{}(key); }
  static void oldest_to(Keys& from, Keys& to) {
    to.push_back(from.front());
    from.erase(from.begin());
  }
  [[nodiscard]] std::size_t window_share() const {
    return std::max<std::size_t>(1, (window_.size() + probation_.size() + protected_.size()) / 100);
  }
  Keys window_, probation_, protected_;
  FrequencySketch sketch_;
};

std::unique_ptr<Order> order_of(Eviction eviction, std::uint64_t entries) {
  switch (eviction) {
    case Eviction::lru:
      return std::make_unique<LruOrder>();
    case Eviction::wtinylfu:
      return std::make_unique<WTinyLfuOrder>(entries);
    case Eviction::s3fifo:
      return std::make_unique<S3FifoOrder>();
    case Eviction::sieve:
      return std::make_unique<SieveOrder>();
    case Eviction::fifo:
      return std::make_unique<FifoOrder>();
    case Eviction::clock:
      return std::make_unique<ClockOrder>();
  }
  std::abort();
}

/// A cache of one shard, as one would explain it.
class Model {
 public:
  Model(const Config& config, const kernel::Clock& clock)
      : config_(config), clock_(clock), order_(order_of(config.eviction, config.max_entries)) {}

  Stored set(const Key& key, const std::string& value, kernel::Duration ttl) {
    if (config_.max_bytes != 0 && key.size() + value.size() > config_.max_bytes) {
      return Stored::too_large;
    }
    expire(key);
    const bool update = entries_.contains(key);
    if (update) {
      order_->use(key);
      while (entries_.contains(key) && !fits(0, value.size() - entries_[key].value.size())) evict();
    }
    const bool stays = entries_.contains(key);
    while (!stays && !fits(1, key.size() + value.size())) evict();
    if (!stays) order_->insert(key);
    entries_[key] = {value, ttl == 0ns ? kernel::kNever : clock_.now() + ttl};
    return stays ? Stored::updated : Stored::inserted;
  }
  std::optional<std::string> get(const Key& key) {
    expire(key);
    if (!entries_.contains(key)) return std::nullopt;
    order_->use(key);
    return entries_[key].value;
  }
  bool erase(const Key& key) {
    expire(key);
    if (!entries_.contains(key)) return false;
    remove(key);
    return true;
  }
  std::uint64_t erase_expired() {
    Keys keys;
    for (const auto& [key, entry] : entries_) keys.push_back(key);
    const std::size_t before = entries_.size();
    for (const Key& key : keys) expire(key);
    return before - entries_.size();
  }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (const auto& [key, entry] : entries_) sum += key.size() + entry.value.size();
    return sum;
  }
  [[nodiscard]] std::uint64_t evictions() const { return evictions_; }

 private:
  struct Entry {
    std::string value;
    kernel::Instant expires;
  };
  [[nodiscard]] bool fits(std::uint64_t entries, std::uint64_t bytes) const {
    return (config_.max_entries == 0 || entries_.size() + entries <= config_.max_entries) &&
           (config_.max_bytes == 0 || this->bytes() + bytes <= config_.max_bytes);
  }
  void evict() {
    remove(order_->victim());
    ++evictions_;
  }
  void remove(const Key& key) {
    order_->remove(key);
    entries_.erase(key);
  }
  void expire(const Key& key) {
    if (entries_.contains(key) && entries_[key].expires <= clock_.now()) remove(key);
  }
  Config config_;
  const kernel::Clock& clock_;
  std::unique_ptr<Order> order_;
  std::map<Key, Entry> entries_;
  std::uint64_t evictions_ = 0;
};

std::uint64_t operations() {
  const char* wanted = std::getenv("ONBEAT_MODEL_OPERATIONS");  // per policy and kind of limit
  return wanted == nullptr ? 20'000 : std::strtoull(wanted, nullptr, 10);
}

class PolicyModel : public testing::TestWithParam<Eviction> {
 protected:
  // Skewed keys, so that some are used again and again; now and then a time to live, an erase.
  static void compare(Config config, std::uint64_t seed, std::uint64_t count) {
    kernel::ManualClock clock;
    config.shards = 1;
    config.clock = &clock;
    Cache cache(config);
    Model model(config, clock);
    kernel::Random random(seed);
    for (std::uint64_t i = 0; i < count; ++i) {
      const double skewed = random.uniform() * random.uniform();
      const Key key = "key_" + std::to_string(static_cast<int>(skewed * 300));
      const std::uint64_t choice = random.below(100);
      if (choice < 55) {
        ASSERT_EQ(cache.get(key), model.get(key)) << "operation " << i << ", " << key;
      } else if (choice < 95) {
        const std::string value(random.below(40), static_cast<char>('a' + i % 26));
        const kernel::Duration ttl =
            std::chrono::microseconds(random.below(20) == 0 ? random.below(500) : 0);
        ASSERT_EQ(cache.set(key, value, ttl), model.set(key, value, ttl)) << "operation " << i;
      } else if (choice < 99) {
        ASSERT_EQ(cache.erase(key), model.erase(key)) << "operation " << i;
      } else {
        ASSERT_EQ(cache.erase_expired(), model.erase_expired()) << "operation " << i;
      }
      clock.advance(1us);
      if (i % 64 != 0) continue;
      const Stats stats = cache.stats();
      ASSERT_EQ(stats.entries, model.size());
      ASSERT_EQ(stats.bytes, model.bytes());
      ASSERT_EQ(stats.evictions, model.evictions());
      ASSERT_EQ(stats.entries, stats.inserts - stats.evictions - stats.expirations - stats.erases);
    }
  }
};

TEST_P(PolicyModel, LimitOfEntries) {
  for (const std::uint64_t entries : {1, 2, 3, 17, 120}) {
    SCOPED_TRACE(entries);
    compare({.max_entries = entries, .eviction = GetParam()}, entries, operations() / 5);
    if (HasFatalFailure()) return;
  }
}

TEST_P(PolicyModel, LimitOfBytes) {
  for (const std::uint64_t bytes : {30, 60, 400, 2000}) {
    SCOPED_TRACE(bytes);
    // So small that the sketch does not grow by itself: the model's does not either.
    compare({.max_entries = 250, .max_bytes = bytes, .eviction = GetParam()}, bytes,
            operations() / 4);
    if (HasFatalFailure()) return;
  }
}

TEST_P(PolicyModel, NoLimit) {
  compare({.max_entries = 0, .eviction = GetParam()}, 7, operations());
}

INSTANTIATE_TEST_SUITE_P(All, PolicyModel,
                         testing::Values(Eviction::lru, Eviction::wtinylfu, Eviction::s3fifo,
                                         Eviction::sieve, Eviction::fifo, Eviction::clock),
                         [](const auto& info) { return std::string(to_string(info.param)); });

}  // namespace
}  // namespace onbeat::cache
