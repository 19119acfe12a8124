// A window (1 %) by recency for what is new, and a main part in two segments: what was used there
// once more is protected (up to 80 % of main), the rest on probation. When room is wanted, the
// window's oldest stands against the oldest on probation, and the one used less often of late goes.
#include "cache/frequency_sketch.hpp"
#include "cache/policy.hpp"

#include <algorithm>

namespace onbeat::cache {
namespace {

class WTinyLfu final : public Policy {
 public:
  explicit WTinyLfu(std::uint64_t entries) : sketch_(entries) {}

  void inserted(Slot slot, std::uint64_t hash) override {
    reach(links_, slot);
    if (slot >= hashes_.size()) hashes_.resize(slot + std::size_t{1});
    if (slot >= sketch_.entries()) sketch_.fit(slot + std::uint64_t{1});
    hashes_[slot] = hash;
    sketch_.record(hash);
    enter(kWindow, slot);
    while (segment(kWindow).size() > window_share()) {
      move(segment(kWindow).oldest(), kProbation);
    }
  }

  void used(Slot slot) noexcept override {
    sketch_.record(hashes_[slot]);
    const std::uint8_t now = links_[slot].queue;
    if (now != kProbation) {
      segment(now).renew(links_, slot);
      return;
    }
    move(slot, kProtected);
    while (segment(kProtected).size() > protected_share()) {
      move(segment(kProtected).oldest(), kProbation);
    }
  }

  void removed(Slot slot) noexcept override { segment(links_[slot].queue).remove(links_, slot); }

  Slot victim() noexcept override {
    const Slot candidate = segment(kWindow).oldest();
    const Slot in_main = segment(segment(kProbation).empty() ? kProtected : kProbation).oldest();
    if (in_main == kNoSlot) return candidate;
    if (candidate == kNoSlot || segment(kWindow).size() < window_share()) return in_main;
    if (sketch_.frequency(hashes_[candidate]) <= sketch_.frequency(hashes_[in_main])) {
      return candidate;
    }
    move(candidate, kProbation);
    return in_main;
  }

 private:
  static constexpr std::uint8_t kWindow = 0, kProbation = 1, kProtected = 2;

  SlotList& segment(std::uint8_t which) noexcept { return segments_[which]; }
  // Shares of what is there, not of a capacity: a limit of bytes has none.
  [[nodiscard]] std::uint32_t entries() const noexcept {
    return segments_[kWindow].size() + segments_[kProbation].size() + segments_[kProtected].size();
  }
  [[nodiscard]] std::uint32_t window_share() const noexcept {
    return std::max(1U, entries() / 100);
  }
  [[nodiscard]] std::uint32_t protected_share() const noexcept {
    const std::uint64_t main = segments_[kProbation].size() + segments_[kProtected].size();
    return static_cast<std::uint32_t>(main * 4 / 5);
  }
  void enter(std::uint8_t which, Slot slot) noexcept {
    links_[slot].queue = which;
    segment(which).push(links_, slot);
  }
  void move(Slot slot, std::uint8_t to) noexcept {
    segment(links_[slot].queue).remove(links_, slot);
    enter(to, slot);
  }

  Links links_;
  std::vector<std::uint64_t> hashes_;
  SlotList segments_[3];
  FrequencySketch sketch_;
};

}  // namespace

std::unique_ptr<Policy> make_wtinylfu(std::uint64_t entries) {
  return std::make_unique<WTinyLfu>(entries);
}

}  // namespace onbeat::cache
