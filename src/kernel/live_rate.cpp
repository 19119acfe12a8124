#include <onbeat/kernel/live_rate.hpp>

#include <algorithm>
#include <utility>

namespace onbeat::kernel {
namespace {

// Time for every loop to be woken and to read a change before it takes effect; far more than the
// clocks of two cores differ.
constexpr Duration kNotice = std::chrono::milliseconds(2);

/// Keeps a version odd while a change is being made, whatever throws.
class Announcement {
 public:
  explicit Announcement(std::atomic<std::uint64_t>& version) : version_(version) {
    version_.fetch_add(1, std::memory_order_seq_cst);
  }
  ~Announcement() { version_.fetch_add(1, std::memory_order_seq_cst); }
  Announcement(const Announcement&) = delete;
  Announcement& operator=(const Announcement&) = delete;

 private:
  std::atomic<std::uint64_t>& version_;
};

}  // namespace

LiveRate::LiveRate(RateProfile profile) : profile_(std::move(profile)) {}

void LiveRate::begin(Instant start, unsigned loops) {
  std::lock_guard lock(mutex_);
  start_ = start;
  loops_ = loops;
  begun_ = true;
}

void LiveRate::set_rate(double rate, const std::function<Instant()>& clock_now) {
  {
    std::lock_guard lock(mutex_);
    const Announcement announcement(version_);
    if (begun_) {
      Duration tau = std::max(clock_now() - start_, Duration::zero());
      if (loops_ > 1) tau += kNotice;
      const Duration released{released_.load(std::memory_order_seq_cst)};
      last_change_ = std::max({tau, last_change_, released + Duration(1)});
      profile_.append(last_change_, rate);
    } else {
      profile_ = RateProfile::constant(rate);
    }
  }
  std::lock_guard lock(wakes_mutex_);
  for (const auto& wake : wakes_) wake();
}

std::uint64_t LiveRate::read(RateProfile& profile) const {
  std::lock_guard lock(mutex_);
  profile = profile_;
  return version_.load(std::memory_order_relaxed);
}

std::uint64_t LiveRate::read(RateProfile& profile, double position) {
  std::lock_guard lock(mutex_);
  profile_.resume_at(position);
  profile = profile_;
  return version_.load(std::memory_order_relaxed);
}

void LiveRate::on_change(std::function<void()> wake) {
  std::lock_guard lock(wakes_mutex_);
  wakes_.push_back(std::move(wake));
}

void LiveRate::end() {
  std::lock_guard lock(wakes_mutex_);
  wakes_.clear();
}

RateProfile LiveRate::profile() const {
  std::lock_guard lock(mutex_);
  return profile_;
}

}  // namespace onbeat::kernel
