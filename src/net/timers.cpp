#include "net/timers.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace onbeat::net {

Timer::~Timer() {
  if (wheel_ != nullptr) wheel_->disarm(*this);
}

Timers::Timers(Instant now) noexcept : origin_(now) {}

Instant Timers::instant_of(std::int64_t tick) const noexcept {
  return origin_ + Duration(tick << kTickBits);
}

void Timers::arm(Timer& timer, Instant when) noexcept {
  disarm(timer);
  if (when == kNever) return;
  // Rounded up: a timer never fires early.
  const std::int64_t ns = std::max<std::int64_t>((when - origin_).count(), 0);
  timer.tick_ = std::max((ns + (1 << kTickBits) - 1) >> kTickBits, tick_ + 1);
  timer.wheel_ = this;
  next_ = std::min(next_, instant_of(insert(timer)));
  ++armed_;
}

void Timers::disarm(Timer& timer) noexcept {
  if (timer.wheel_ == nullptr) return;
  unlink(timer);
  timer.wheel_ = nullptr;
  if (--armed_ == 0) next_ = kNever;
}

// The highest group of 8 bits in which a timer's tick differs from the present one is its level;
// that group's value its slot. Returns the tick at which the slot has to be looked at: to fire
// (level 0), or to be spread over the level below.
std::int64_t Timers::insert(Timer& timer) noexcept {
  constexpr std::int64_t farthest = (std::int64_t{1} << (kLevels * kSlotBits)) - 1;
  const std::int64_t tick = std::min(timer.tick_, tick_ + farthest);
  const auto differing = static_cast<std::uint64_t>(tick ^ tick_);
  const int level = std::min((63 - std::countl_zero(differing | 1)) / kSlotBits, kLevels - 1);
  const auto slot =
      static_cast<std::uint16_t>(level * kSlots + ((tick >> (level * kSlotBits)) & (kSlots - 1)));
  timer.slot_ = slot;
  timer.previous_ = nullptr;
  timer.next_ = slots_[slot];
  if (timer.next_ != nullptr) timer.next_->previous_ = &timer;
  slots_[slot] = &timer;
  used_[slot / 64] |= std::uint64_t{1} << (slot % 64);
  return (tick >> (level * kSlotBits)) << (level * kSlotBits);
}

void Timers::unlink(Timer& timer) noexcept {
  if (timer.next_ != nullptr) timer.next_->previous_ = timer.previous_;
  if (timer.previous_ != nullptr) {
    timer.previous_->next_ = timer.next_;
  } else {
    slots_[timer.slot_] = timer.next_;
    if (timer.next_ == nullptr)
      used_[timer.slot_ / 64] &= ~(std::uint64_t{1} << (timer.slot_ % 64));
  }
  timer.next_ = timer.previous_ = nullptr;
}

// Moves what one slot of a higher level holds down to where it belongs now.
void Timers::cascade(int level) noexcept {
  const auto slot =
      static_cast<std::size_t>(level * kSlots + ((tick_ >> (level * kSlotBits)) & (kSlots - 1)));
  Timer* each = std::exchange(slots_[slot], nullptr);
  used_[slot / 64] &= ~(std::uint64_t{1} << (slot % 64));
  while (each != nullptr) {
    Timer* next = each->next_;
    insert(*each);
    each = next;
  }
}

void Timers::expire(Instant now) noexcept {
  const std::int64_t last = (now - origin_).count() >> kTickBits;
  while (tick_ < last && armed_ != 0) {
    // Straight to the next tick that has something to do.
    const std::int64_t next = (next_ - origin_).count() >> kTickBits;
    if (next > last) break;
    tick_ = std::max(tick_ + 1, next);
    for (int level = 1;
         level < kLevels && (tick_ & ((std::int64_t{1} << (level * kSlotBits)) - 1)) == 0; ++level)
      cascade(level);
    const auto slot = static_cast<std::size_t>(tick_ & (kSlots - 1));
    while (slots_[slot] != nullptr) {
      Timer& timer = *slots_[slot];
      unlink(timer);
      timer.wheel_ = nullptr;
      --armed_;
      timer.on_timer(now);
    }
    find_next();
  }
  tick_ = std::max(tick_, last);
  if (armed_ == 0) next_ = kNever;
}

void Timers::find_next() noexcept {
  next_ = kNever;
  if (armed_ == 0) return;
  // The first used slot of the lowest level that has one; a higher level's slot begins with a
  // cascade.
  for (int level = 0; level < kLevels; ++level) {
    const std::int64_t at = tick_ >> (level * kSlotBits);
    const std::int64_t base = at & ~std::int64_t{kSlots - 1};
    for (std::int64_t slot = (at & (kSlots - 1)) + 1; slot < kSlots; ++slot) {
      const auto index = static_cast<std::size_t>(level * kSlots + slot);
      if ((used_[index / 64] >> (index % 64) & 1) == 0) continue;
      next_ = instant_of((base + slot) << (level * kSlotBits));
      return;
    }
  }
  // What is farther than the wheel's span waits in the top level's earlier slots.
  next_ = instant_of(((tick_ >> ((kLevels - 1) * kSlotBits)) + 1) << ((kLevels - 1) * kSlotBits));
}

}  // namespace onbeat::net
