// Faults that a target commits on purpose, and the grammar in which they are asked for:
//
//   KIND[:key=value,...]     reset:every=100   stall:at=2s,for=1s   slow-bytes:every=7,gap=1ms
//
// Which requests a fault strikes (all of them when nothing is said; where several are said, all
// must hold):
//   every=N      each N-th request that the server receives, over all connections and threads, from
//   1 request=N    the N-th request only share=P%     that share of the requests, drawn by number
//   from seed=N (default 1) at=A for=B   requests received from A to A + B after the first one
//   (without `for`: from A on)
//
// Kinds, with their own keys:
//   stall        no answers while it lasts; connections stay open, then everything goes out. It
//   lasts
//                from at=A for=B; without `at`, for B from each request that it strikes
//   freeze       as stall, but nothing at all is handled, as if the process were stopped
//   delay        time=D: answers D later
//   capacity     rate=R: one server for all connections, first come first served, 1/R a request
//   status       code=N (503)
//   reset        RST instead of an answer
//   close        mode=silent (answers, then closes; default), said (with Connection: close) or
//   unanswered;
//                wait=D: that long after
//   cut          bytes=N: closes when N bytes of the answer have gone out (default: its head and
//   half its body) slow-bytes   gap=D (1ms), bytes=N (1): N bytes, then a pause of D, and so on
//   garbage      bytes that are no HTTP instead of an answer, then closes
//   interim      100 and 103 ahead of the answer
//   trailers     the body in chunks, with trailer fields
//   excess       bytes=N (10) behind the answer that belong to no request
//   refuse       beyond=N: connections beyond N open ones are reset
//
// A request can ask for its own: header "X-Fault: KIND:...; KIND:...". It strikes that request,
// whatever its number.
#pragma once

#include <onbeat/kernel/clock.hpp>

#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace onbeat::target {

using kernel::Duration;
using kernel::Instant;

enum class FaultKind : std::uint8_t {
  stall,
  freeze,
  delay,
  capacity,
  status,
  reset,
  close,
  cut,
  slow_bytes,
  garbage,
  interim,
  trailers,
  excess,
  refuse,
};

enum class CloseMode : std::uint8_t { silent, said, unanswered };

struct Fault {
  FaultKind kind{};

  // Which requests it strikes.
  std::uint64_t every = 1;
  std::optional<std::uint64_t> request;
  double share = 1;
  std::uint64_t seed = 1;
  std::optional<Duration> at, lasts;

  // What it does; each kind reads its own.
  Duration time{0};  // delay, close: wait, slow-bytes: gap, capacity: service time
  std::optional<std::uint64_t> bytes;
  int code = 503;
  std::uint64_t beyond = 0;
  CloseMode mode = CloseMode::silent;

  bool operator==(const Fault&) const = default;
};

/// One fault, or all that is wrong with it in one line.
[[nodiscard]] std::expected<Fault, std::string> parse_fault(std::string_view text);
/// Several, or all that is wrong with any of them, a line each.
[[nodiscard]] std::expected<std::vector<Fault>, std::string> parse_faults(
    std::span<const std::string> texts);
/// The value of an X-Fault header: faults parted by ';'.
[[nodiscard]] std::expected<std::vector<Fault>, std::string> parse_fault_header(
    std::string_view value);

}  // namespace onbeat::target
