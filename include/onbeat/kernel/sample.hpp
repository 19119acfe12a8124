// One unit of work as a caller of the library sees it: what the stream of results carries and what
// Stats takes.
//
// Unlike Result (small, flat, names interned: the hot path of a measuring run) a Sample owns its
// strings, so that a program can keep it, filter it or print it. A plain value, no thread rules.
#pragma once

#include <onbeat/kernel/clock.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace onbeat::kernel {

/// What became of an arrival. The first five were started; the others never were and have no
/// latency.
enum class Ending : std::uint8_t {
  ok,
  failed,
  timed_out,
  cancelled,
  in_flight,      // cut off at the end of the run
  saturated,      // no worker was free when it was due
  missed_late,    // the generator was too late
  missed_waited,  // waited too long for a worker
  missed_at_end,  // still waiting when the run ended
};
[[nodiscard]] std::string_view to_string(Ending ending) noexcept;

/// Why a unit failed. `stack` is empty where the platform gives none.
struct SampleError {
  std::string type;
  std::string message;
  std::string stack;
};

using Labels = std::vector<std::pair<std::string, std::string>>;

struct Sample {
  std::uint64_t arrival = 0;
  /// When the schedule wanted it; absent where there is no schedule.
  std::optional<Instant> due;
  /// The other instants (result.hpp); absent where the unit never got so far.
  std::optional<Instant> released;
  std::optional<Instant> started;
  std::optional<Instant> done;
  Ending ending = Ending::ok;
  std::string code;
  std::optional<SampleError> error;
  std::uint64_t bytes = 0;
  Labels labels;

  [[nodiscard]] bool success() const noexcept { return ending == Ending::ok; }
  [[nodiscard]] bool was_started() const noexcept { return ending <= Ending::in_flight; }
  [[nodiscard]] bool saturated() const noexcept { return ending == Ending::saturated; }
  /// A started unit whose end is not known: its latency is a lower bound.
  [[nodiscard]] bool censored() const noexcept {
    return ending == Ending::timed_out || ending == Ending::cancelled ||
           ending == Ending::in_flight;
  }
  /// done - started; absent where one of the two is.
  [[nodiscard]] std::optional<Duration> service() const noexcept {
    return started && done ? std::optional(*done - *started) : std::nullopt;
  }
  /// started - due, negative for a unit that began early: what the reference calls its schedule lag
  /// (lag + wait).
  [[nodiscard]] std::optional<Duration> behind_schedule() const noexcept {
    return started && due ? std::optional(*started - *due) : std::nullopt;
  }
  /// The value of a label; empty when it has none.
  [[nodiscard]] std::string_view label(std::string_view key) const noexcept {
    const auto found = std::ranges::find(labels, key, &Labels::value_type::first);
    return found == labels.end() ? std::string_view{} : std::string_view{found->second};
  }
};

/// Where samples go: statistics, and what passes them on (sample_sinks.hpp). record() may be called
/// by several threads.
class SampleSink {
 public:
  virtual ~SampleSink() = default;
  virtual void record(const Sample& sample) = 0;
};

/// Reads a stream of samples (Run, or anything whose next() gives std::optional<Sample>) to its
/// end; returns how many there were.
template <class Stream>
std::uint64_t drain(Stream& stream, SampleSink& sink) {
  std::uint64_t count = 0;
  while (const auto sample = stream.next()) {
    sink.record(*sample);
    ++count;
  }
  return count;
}

}  // namespace onbeat::kernel
