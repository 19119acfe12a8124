#include "cache/shard.hpp"

#include <algorithm>
#include <utility>

namespace onbeat::cache {

Shard::Shard(const Config& config, Limits& limits, std::uint64_t entries, std::uint64_t seed)
    : clock_(*config.clock),
      limits_(limits),
      policy_(make_policy(config.eviction, entries)),
      admission_(make_admission(config, entries, seed)) {}

Slot Shard::slot_of(std::uint64_t hash, std::string_view key) const noexcept {
  return index_.find(hash, [&](Slot slot) { return entries_[slot].key() == key; });
}

Shard::Attempt Shard::set(std::uint64_t hash, std::string_view key, const Value& value,
                          kernel::Duration ttl, bool admitted) {
  if (closed_) return {.stored = reject(Stored::closed)};
  if (!limits_.fits_alone(key.size() + value.stored.size())) {
    return {.stored = reject(Stored::too_large)};
  }
  const kernel::Instant expires = ttl.count() > 0 ? clock_.now() + ttl : kernel::kNever;
  if (!admitted) admission_->used(hash);
  Slot slot = slot_of(hash, key);
  if (slot != kNoSlot && has_expired(entries_[slot])) {
    remove(slot, stats_.expirations);
    slot = kNoSlot;
  }
  if (slot != kNoSlot) return update(slot, key, value, expires);
  if (!admitted && !admission_->admits()) return {.stored = reject(Stored::admission)};
  return insert(hash, key, value, expires, admitted);
}

Shard::Attempt Shard::insert(std::uint64_t hash, std::string_view key, const Value& value,
                             kernel::Instant expires, bool admitted) {
  const Room whole{.entries = 1,
                   .bytes = static_cast<std::int64_t>(key.size() + value.stored.size())};
  Room missing = whole;
  while (!limits_.take(missing)) {
    const Slot victim = index_.size() == 0 ? kNoSlot : policy_->victim();
    if (victim == kNoSlot ||
        (!admitted && !admission_->admits_instead(hash, entries_[victim].hash))) {
      limits_.give_back(
          {.entries = whole.entries - missing.entries, .bytes = whole.bytes - missing.bytes});
      if (victim == kNoSlot) return {.no_room = true};
      return {.stored = reject(Stored::admission)};
    }
    // The first that would go has decided: what is rejected has cost nobody its place.
    admitted = true;
    // What goes makes room for what comes, without a detour over the shared limits.
    const Room freed = take_out(victim, stats_.evictions);
    missing.entries -= freed.entries;
    missing.bytes -= freed.bytes;
  }
  const Slot slot = free_slot();
  entries_[slot].hash = hash;
  entries_[slot].present = true;
  write(entries_[slot], key, value, expires);
  index_.insert(hash, slot);
  policy_->inserted(slot, hash);
  ++stats_.inserts;
  ++stats_.entries;
  return {.stored = Stored::inserted};
}

Shard::Attempt Shard::update(Slot slot, std::string_view key, const Value& value,
                             kernel::Instant expires) {
  policy_->used(slot);
  const std::uint64_t hash = entries_[slot].hash;
  const std::int64_t growth =
      static_cast<std::int64_t>(value.stored.size()) - std::int64_t{entries_[slot].stored_size};
  Room missing{.bytes = growth};
  while (!limits_.take(missing)) {
    const Slot victim = policy_->victim();
    const Room freed = take_out(victim, stats_.evictions);
    missing.entries -= freed.entries;
    missing.bytes -= freed.bytes;
    if (victim == slot) {
      // Its own turn has come: the new value comes as a new entry does.
      limits_.give_back({.entries = -missing.entries, .bytes = growth - missing.bytes});
      return insert(hash, key, value, expires, true);
    }
  }
  write(entries_[slot], key, value, expires);
  ++stats_.updates;
  return {.stored = Stored::updated};
}

Slot Shard::free_slot() {
  if (free_.empty()) {
    entries_.emplace_back();
    return static_cast<Slot>(entries_.size() - 1);
  }
  const Slot slot = free_.back();
  free_.pop_back();
  return slot;
}

// An empty entry, or the one of that key.
void Shard::write(Entry& entry, std::string_view key, const Value& value, kernel::Instant expires) {
  const std::uint64_t size = key.size() + value.stored.size();
  const auto suits = [&](const Block& block) {
    return block.bytes && block.capacity >= size && block.capacity <= 2 * size + 64;
  };
  if (!suits(entry.block)) std::swap(entry.block, spare_);
  if (!suits(entry.block)) {
    entry.block = {.bytes = std::make_unique_for_overwrite<char[]>(size), .capacity = size};
  }
  stats_.bytes -= static_cast<std::uint64_t>(entry.bytes());
  stats_.bytes_uncompressed -= std::uint64_t{entry.key_size} + entry.value_size;
  std::copy_n(key.data(), key.size(), entry.block.bytes.get());
  std::copy_n(value.stored.data(), value.stored.size(), entry.block.bytes.get() + key.size());
  entry.key_size = static_cast<std::uint32_t>(key.size());
  entry.stored_size = static_cast<std::uint32_t>(value.stored.size());
  entry.value_size = value.size;
  entry.compressed = value.compressed;
  entry.expires = expires;
  stats_.bytes += static_cast<std::uint64_t>(entry.bytes());
  stats_.bytes_uncompressed += std::uint64_t{entry.key_size} + entry.value_size;
}

const Value* Shard::find(std::uint64_t hash, std::string_view key) {
  const Slot slot = slot_of(hash, key);
  if (slot != kNoSlot && !has_expired(entries_[slot])) {
    policy_->used(slot);
    admission_->used(hash);
    ++stats_.hits;
    const Entry& entry = entries_[slot];
    found_ = {.stored = entry.stored(), .size = entry.value_size, .compressed = entry.compressed};
    return &found_;
  }
  if (slot != kNoSlot) remove(slot, stats_.expirations);
  ++stats_.misses;
  return nullptr;
}

// Out of everything but the shared limits.
Room Shard::take_out(Slot slot, std::uint64_t& counter) {
  Entry& entry = entries_[slot];
  const Room room{.entries = 1, .bytes = entry.bytes()};
  index_.erase(entry.hash, slot);
  policy_->removed(slot);
  --stats_.entries;
  stats_.bytes -= static_cast<std::uint64_t>(entry.bytes());
  stats_.bytes_uncompressed -= std::uint64_t{entry.key_size} + entry.value_size;
  spare_ = std::exchange(entry, Entry{}).block;
  free_.push_back(slot);
  ++counter;
  return room;
}

void Shard::remove(Slot slot, std::uint64_t& counter) {
  limits_.give_back(take_out(slot, counter));
  spare_ = {};
}

bool Shard::erase(std::uint64_t hash, std::string_view key) {
  const Slot slot = slot_of(hash, key);
  if (slot == kNoSlot) return false;
  const bool expired = has_expired(entries_[slot]);
  remove(slot, expired ? stats_.expirations : stats_.erases);
  return !expired;
}

void Shard::clear() {
  for (Slot slot = 0; slot < entries_.size(); ++slot) {
    if (entries_[slot].present) remove(slot, stats_.erases);
  }
  entries_ = std::vector<Entry>{};
  free_ = std::vector<Slot>{};
  index_ = Index{};
}

void Shard::close() {
  clear();
  closed_ = true;
}

std::uint64_t Shard::erase_expired() {
  std::uint64_t count = 0;
  const kernel::Instant now = clock_.now();
  for (Slot slot = 0; slot < entries_.size(); ++slot) {
    if (!entries_[slot].present || entries_[slot].expires > now) continue;
    remove(slot, stats_.expirations);
    ++count;
  }
  return count;
}

bool Shard::evict_one() {
  if (index_.size() == 0) return false;
  remove(policy_->victim(), stats_.evictions);
  return true;
}

Stored Shard::reject(Stored why) {
  if (closed_) why = Stored::closed;
  Rejections& counts = stats_.rejections;
  switch (why) {
    case Stored::inserted:
    case Stored::updated:
      break;
    case Stored::key_size:
      ++counts.key_size;
      break;
    case Stored::value_size:
      ++counts.value_size;
      break;
    case Stored::too_large:
      ++counts.too_large;
      break;
    case Stored::admission:
      ++counts.admission;
      break;
    case Stored::closed:
      ++counts.closed;
      break;
  }
  return why;
}

}  // namespace onbeat::cache
