#include "cache/codec.hpp"
#include "cache/shard.hpp"
#include <onbeat/cache/cache.hpp>
#include <onbeat/kernel/random.hpp>

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <thread>

namespace onbeat::cache {
namespace {

__extension__ using Wide = unsigned __int128;

std::uint64_t hash_of(std::string_view key) noexcept { return std::hash<std::string_view>{}(key); }

Config checked(Config config) {
  std::string faults;
  for (const std::string& error : advise(config, 1).errors) {
    faults += (faults.empty() ? "" : "; ") + error;
  }
  if (!faults.empty()) throw std::invalid_argument(faults);
  if (config.max_entries != 0) {
    config.shards =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(config.shards, config.max_entries));
  }
  return config;
}

}  // namespace

Cache::Cache(const Config& config)
    : config_(checked(config)),
      own_clock_(config.clock == nullptr ? std::make_unique<kernel::SystemClock>() : nullptr),
      limits_(std::make_unique<Limits>(config.max_entries, config.max_bytes)) {
  if (own_clock_) config_.clock = own_clock_.get();
  const std::uint64_t entries = (config_.max_entries + config_.shards - 1) / config_.shards;
  for (std::uint32_t i = 0; i < config_.shards; ++i) {
    shards_.push_back(
        std::make_unique<Shard>(config_, *limits_, entries, kernel::splitmix64(config_.seed, i)));
  }
}

Cache::~Cache() = default;

// By the hash's upper bits; the index of a shard goes by the lower.
Shard& Cache::shard_of(std::uint64_t hash) const noexcept {
  return *shards_[static_cast<std::size_t>(Wide{hash} * shards_.size() >> 64)];
}

Stored Cache::set(std::string_view key, std::string_view value, kernel::Duration ttl) {
  const std::uint64_t hash = hash_of(key);
  Shard& shard = shard_of(hash);
  const auto exceeds = [](std::size_t size, std::uint32_t limit) {
    return size > (limit != 0 ? limit : UINT32_MAX);
  };
  if (exceeds(key.size(), config_.max_key_size) || exceeds(value.size(), config_.max_value_size)) {
    const auto lock = shard.lock();
    return shard.reject(exceeds(key.size(), config_.max_key_size) ? Stored::key_size
                                                                  : Stored::value_size);
  }
  static thread_local std::string compressed;
  Value to_store{.stored = value, .size = static_cast<std::uint32_t>(value.size())};
  if (config_.compression != Compression::off && value.size() >= config_.compress_from &&
      compress(config_.compression, value, compressed)) {
    to_store.stored = compressed;
    to_store.compressed = true;
  }
  for (bool admitted = false;; admitted = true) {
    Shard::Attempt attempt;
    {
      const auto lock = shard.lock();
      attempt = shard.set(hash, key, to_store, ttl, admitted);
    }
    if (!attempt.no_room) return attempt.stored;
    make_room_elsewhere(shard);
  }
}

// One entry of the next shard that has any. Never two locks at a time.
void Cache::make_room_elsewhere(const Shard& not_this) {
  const auto self = std::ranges::find_if(
      shards_, [&](const std::unique_ptr<Shard>& shard) { return shard.get() == &not_this; });
  const auto from = static_cast<std::size_t>(self - shards_.begin());
  for (std::size_t i = 1; i < shards_.size(); ++i) {
    Shard& shard = *shards_[(from + i) % shards_.size()];
    const auto lock = shard.lock();
    if (shard.evict_one()) return;
  }
  // Nothing anywhere: what room there was is another thread's, which is about to use it.
  std::this_thread::yield();
}

Found Cache::find(std::string_view key) {
  const std::uint64_t hash = hash_of(key);
  Shard& shard = shard_of(hash);
  auto lock = shard.lock();
  const Value* value = shard.find(hash, key);
  if (value == nullptr) return {};
  if (!value->compressed) return {std::move(lock), value->stored};
  decompress(config_.compression, value->stored, value->size, shard.scratch());
  return {std::move(lock), shard.scratch()};
}

bool Cache::get(std::string_view key, std::string& value) {
  const std::uint64_t hash = hash_of(key);
  Shard& shard = shard_of(hash);
  const auto lock = shard.lock();
  const Value* found = shard.find(hash, key);
  if (found == nullptr) return false;
  if (found->compressed) {
    decompress(config_.compression, found->stored, found->size, value);
  } else {
    value.assign(found->stored);
  }
  return true;
}

std::optional<std::string> Cache::get(std::string_view key) {
  std::string value;
  if (!get(key, value)) return std::nullopt;
  return value;
}

bool Cache::erase(std::string_view key) {
  const std::uint64_t hash = hash_of(key);
  Shard& shard = shard_of(hash);
  const auto lock = shard.lock();
  return shard.erase(hash, key);
}

void Cache::clear() {
  for (const auto& shard : shards_) {
    const auto lock = shard->lock();
    shard->clear();
  }
}

void Cache::close() {
  for (const auto& shard : shards_) {
    const auto lock = shard->lock();
    shard->close();
  }
}

std::uint64_t Cache::erase_expired() {
  std::uint64_t count = 0;
  for (const auto& shard : shards_) {
    const auto lock = shard->lock();
    count += shard->erase_expired();
  }
  return count;
}

std::vector<Stats> Cache::shard_stats() const {
  std::vector<Stats> all;
  all.reserve(shards_.size());
  for (const auto& shard : shards_) {
    const auto lock = shard->lock();
    all.push_back(shard->stats());
  }
  return all;
}

Stats Cache::stats() const {
  Stats sum;
  for (const Stats& shard : shard_stats()) sum += shard;
  return sum;
}

}  // namespace onbeat::cache
