#include "run/sample_ring.hpp"

#include <onbeat/kernel/random.hpp>

namespace onbeat::run {
namespace {

using kernel::Ending;
using kernel::Outcome;

Ending ending_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::ok:
      return Ending::ok;
    case Outcome::failed:
      return Ending::failed;
    case Outcome::timed_out:
      return Ending::timed_out;
    case Outcome::cancelled:
      return Ending::cancelled;
    case Outcome::in_flight:
      return Ending::in_flight;
  }
  return Ending::failed;
}

Ending ending_of(kernel::MissedSink::Why why) {
  switch (why) {
    case kernel::MissedSink::Why::late:
      return Ending::missed_late;
    case kernel::MissedSink::Why::waited:
      return Ending::missed_waited;
    case kernel::MissedSink::Why::at_end:
      return Ending::missed_at_end;
    case kernel::MissedSink::Why::saturated:
      return Ending::saturated;
  }
  return Ending::missed_late;
}

}  // namespace

SampleRing::SampleRing(std::uint64_t one_of, std::uint64_t seed, std::size_t capacity)
    : one_of_(one_of), seed_(kernel::stream_seed(seed, kernel::Stream::samples)), ring_(capacity) {}

// Not arrival mod N: loop k of L has the arrivals with n mod L = k, and only some loops would be
// seen.
bool SampleRing::is_chosen(std::uint64_t arrival) const noexcept {
  return one_of_ <= 1 || kernel::splitmix64(seed_, arrival) % one_of_ == 0;
}

void SampleRing::put(const LoggedSample& sample) noexcept {
  const std::uint64_t at = written_.load(std::memory_order_relaxed);
  if (at - read_seen_ == ring_.size()) {
    read_seen_ = read_.load(std::memory_order_acquire);
    if (at - read_seen_ == ring_.size()) {
      dropped_.store(dropped_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      return;
    }
  }
  ring_[at & (ring_.size() - 1)] = sample;
  written_.store(at + 1, std::memory_order_release);
}

void SampleRing::finished(const kernel::Result& result) noexcept {
  if (is_chosen(result.unit.arrival)) put({result, ending_of(result.outcome)});
}

void SampleRing::missed(std::uint64_t arrival, kernel::Instant due, kernel::Instant now, Why why) {
  if (!is_chosen(arrival)) return;
  LoggedSample sample{.ending = ending_of(why)};
  sample.result.unit.arrival = arrival;
  sample.result.unit.due = due;
  sample.result.done = now;
  put(sample);
}

void SampleRing::take(std::vector<LoggedSample>& into) {
  const std::uint64_t from = read_.load(std::memory_order_relaxed);
  const std::uint64_t to = written_.load(std::memory_order_acquire);
  for (std::uint64_t at = from; at != to; ++at) into.push_back(ring_[at & (ring_.size() - 1)]);
  read_.store(to, std::memory_order_release);
}

}  // namespace onbeat::run
