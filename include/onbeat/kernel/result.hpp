// What one unit of work leaves behind: four instants, an outcome, a code, bytes, an endpoint.
// Small, flat, no strings: names are interned.
//
//   due       when the schedule wanted it
//   released  when the driver took it up              lag      = released - due     (the
//   generator's own lateness) started   when a worker began it                  wait     = started
//   - released (no free worker or connection) done      when its outcome was known service  = done
//   - started     (often called raw)
//                                                     response = done - due         (corrected: the
//                                                     sum of the three)
#pragma once

#include <onbeat/kernel/clock.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace onbeat::kernel {

/// How a started unit ended. Every started unit ends in exactly one of these:
/// started = ok + failed + timed_out + cancelled + in_flight (at the end of the run).
enum class Outcome : std::uint8_t { ok, failed, timed_out, cancelled, in_flight };
inline constexpr int kOutcomes = 5;
[[nodiscard]] std::string_view to_string(Outcome outcome) noexcept;

/// What a verdict beside the outcome says: a document's, on an answer whose status says nothing
/// of its content. not_judged: nobody looked.
enum class Verdict : std::uint8_t { not_judged, passed, not_passed };

/// Which histograms a unit's times enter.
///   by_outcome     what succeeded: response and service; what failed: failed; the rest is censored
///   headline       response and service, whatever the outcome (a failure that was expected)
///   failures       failed, whatever the outcome (a success with the wrong content)
///   endpoint_only  response and service of its endpoint, not those of all together
///   nowhere        none
/// The last two leave no sample in the totals; Counts::untimed says how many.
enum class Timing : std::uint8_t { by_outcome, headline, failures, endpoint_only, nowhere };

using EndpointId = std::uint16_t;
using CodeId = std::uint16_t;
using ErrorId = std::uint16_t;
inline constexpr std::uint16_t kNoName = UINT16_MAX;

/// What a worker is given.
struct Unit {
  std::uint64_t arrival = 0;
  Instant due{};
  Instant released{};
  Instant started{};
};

/// What a worker gives back. `unit` is as it was given; of a closed loop due == released ==
/// started.
struct Result {
  Unit unit;
  Instant done{};
  Outcome outcome = Outcome::ok;
  Verdict verdict = Verdict::not_judged;
  Timing timing = Timing::by_outcome;
  EndpointId endpoint = 0;
  CodeId code = kNoName;    // what the peer answered (a status), whether ok or failed
  ErrorId error = kNoName;  // the class of the error, when failed or timed out
  std::uint32_t bytes_sent = 0;
  std::uint32_t bytes_received = 0;

  [[nodiscard]] Duration lag() const noexcept { return unit.released - unit.due; }
  [[nodiscard]] Duration wait() const noexcept { return unit.started - unit.released; }
  [[nodiscard]] Duration service() const noexcept { return done - unit.started; }
  [[nodiscard]] Duration response() const noexcept { return done - unit.due; }
};

/// Interned names, shared by all threads of a run. id() locks and may allocate: call it at set-up
/// or when a name is first met, and keep the id. Beyond `limit` names every further one is
/// "__overflow__" (one more id).
class NameTable {
 public:
  explicit NameTable(std::uint16_t limit = 100);
  ~NameTable();
  [[nodiscard]] std::uint16_t id(std::string_view name);
  [[nodiscard]] std::string name(std::uint16_t id) const;
  [[nodiscard]] std::vector<std::string> names() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The names of a run.
struct Names {
  NameTable endpoints{100};
  NameTable codes{200};
  NameTable errors{100};
};

}  // namespace onbeat::kernel
