#include <onbeat/kernel/schedule.hpp>

#include <algorithm>
#include <cmath>

namespace onbeat::kernel {
namespace {

// Beyond 2^53 arrivals a double no longer tells one from the next.
constexpr double kManyArrivals = 0x1p53;

// The number of n with time_of(n) < length, which is ceil(I(length)) but for dust.
std::uint64_t planned_evenly(const RateProfile& profile, Duration length) {
  const double offered = profile.arrivals_by(length);
  if (offered >= 0x1p64) return UINT64_MAX;
  if (offered >= kManyArrivals || length == kNoTime) return static_cast<std::uint64_t>(offered);
  auto planned = static_cast<std::uint64_t>(std::ceil(offered));
  while (planned > 0 && profile.time_of(static_cast<double>(planned - 1)) >= length) --planned;
  while (profile.time_of(static_cast<double>(planned)) < length) ++planned;
  return planned;
}

}  // namespace

std::uint64_t planned_arrivals(const SchedulePlan& plan) {
  if (plan.length <= Duration::zero()) return 0;
  if (plan.arrivals == Arrivals::even) {
    const auto most = static_cast<double>(plan.max_arrivals);
    // Without a length, counting would go on to the end of time.
    if (most < kManyArrivals && (most == 0 || plan.profile.time_of(most - 1) < plan.length)) {
      return plan.max_arrivals;
    }
    return std::min(planned_evenly(plan.profile, plan.length), plan.max_arrivals);
  }
  if (std::isinf(plan.profile.arrivals_by(plan.length))) return plan.max_arrivals;
  SchedulePlan whole = plan;
  whole.share = 0;
  whole.of = 1;
  ScheduleCursor cursor(whole);
  while (cursor.due() != kNoTime) cursor.next();
  return cursor.number();
}

ScheduleCursor::ScheduleCursor(const SchedulePlan& plan)
    : plan_(&plan), seed_(stream_seed(plan.seed, Stream::arrivals)), number_(plan.share) {
  if (plan.arrivals == Arrivals::poisson) {
    step_poisson(0, number_ + 1);
  } else {
    x_ = static_cast<double>(number_);
  }
  refresh();
}

void ScheduleCursor::next() noexcept {
  const std::uint64_t from = number_;
  number_ += plan_->of;
  if (plan_->arrivals == Arrivals::poisson) {
    step_poisson(from + 1, number_ + 1);
  } else {
    x_ = static_cast<double>(number_);
  }
  refresh();
}

void ScheduleCursor::refresh() noexcept {
  due_ = number_ < plan_->max_arrivals ? plan_->profile.time_of(x_, hint_) : kNoTime;
  if (due_ >= plan_->length) due_ = kNoTime;
}

// Adds the exponentials of arrivals [from, to), one by one whatever the share, so that every loop
// comes to the same sums.
void ScheduleCursor::step_poisson(std::uint64_t from, std::uint64_t to) noexcept {
  for (std::uint64_t n = from; n < to; ++n) x_ += unit_exponential(splitmix64(seed_, n));
}

}  // namespace onbeat::kernel
