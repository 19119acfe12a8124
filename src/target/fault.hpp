// Faults that a target commits on purpose, and the grammar in which they are asked for:
//
//   KIND[:key=value,...]     reset:every=100   stall:at=2s,for=1s   slow-bytes:every=7,gap=1ms
//
// Which requests a fault strikes (all of them when nothing is said; where several are said, all
// must hold):
//   every=N      each N-th request that the server receives, over all connections and threads,
//                from 1
//   request=N    the N-th request only
//   share=P%     that share of the requests, drawn by number from seed=N (default 1)
//   at=A for=B   requests received from A to A + B after the first one (without `for`: from A on)
//
// Kinds, with their own keys:
//   stall        no answers while it lasts; connections stay open, then everything goes out. It
//                lasts from at=A for=B; without `at`, for B from each request that it strikes
//   freeze       as stall, but nothing at all is handled, as if the process were stopped
//   delay        time=D: answers D later
//   capacity     rate=R: one server for all connections, first come first served, 1/R a request
//   status       code=N (503)
//   reset        RST instead of an answer
//   close        mode=silent (answers, then closes; default), said (with Connection: close; HTTP/2:
//                GOAWAY) or unanswered; wait=D: that long after
//   cut          bytes=N: closes when N bytes of the answer have gone out (default: its head and
//                half its body; HTTP/2: half of it)
//   slow-bytes   gap=D (1ms), bytes=N (1): N bytes, then a pause of D, and so on
//   garbage      bytes that are no HTTP instead of an answer, then closes
//   interim      100 and 103 ahead of the answer
//   trailers     the body in chunks, with trailer fields
//   excess       bytes=N (10) behind the answer that belong to no request
//   refuse       beyond=N: connections beyond N open ones are reset
//
// Of HTTP/2 alone (on a connection of HTTP/1.1 they do nothing):
//   goaway       code=NAME (no_error). Without an error: GOAWAY with the last stream 2^31-1, and
//                wait=D (10ms) later with the struck one; those up to it are answered, then the
//                connection ends. With an error: GOAWAY with the stream before, and the end at
//                once. when=connect: instead of a request it strikes every connection as it opens
//   max-streams  limit=N: SETTINGS_MAX_CONCURRENT_STREAMS, from the start; where it says which
//                requests, from then on, on the connection of the request that it strikes
//   reset-stream code=NAME (internal_error): RST_STREAM instead of an answer
//   window-stall time=D: no WINDOW_UPDATE for the request's body until D after its head
// NAME is an error code of RFC 9113, 7 (refused_stream, cancel, enhance_your_calm), or its number.
//
// Of gRPC alone:
//   grpc-status  code=N (14), message=TEXT (as it goes out: percent-encoded, or badly so),
//                form=headers (trailers-only; default) or trailers (behind the replies)
//   no-grpc-status  the answer ends without one
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
  goaway,
  max_streams,
  reset_stream,
  window_stall,
  grpc_status,
  no_grpc_status,
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
  // delay, window-stall; close, goaway: wait; slow-bytes: gap; capacity: service time
  Duration time{0};
  std::optional<std::uint64_t> bytes;
  std::uint32_t code = 0;    // HTTP status, HTTP/2 error code or gRPC status
  std::uint64_t beyond = 0;  // refuse; max-streams: limit
  CloseMode mode = CloseMode::silent;
  bool on_connect = false;   // goaway
  bool in_trailers = false;  // grpc-status
  std::string message;       // grpc-status

  /// Whether it strikes every request, from the first one on.
  [[nodiscard]] bool strikes_all() const noexcept {
    return every == 1 && !request && share >= 1 && !at && !lasts;
  }
  bool operator==(const Fault&) const = default;
};

/// One fault, or all that is wrong with it in one line.
[[nodiscard]] std::expected<Fault, std::string> parse_fault(std::string_view text);
/// Several, or all that is wrong with any of them, a line each.
[[nodiscard]] std::expected<std::vector<Fault>, std::string> parse_faults(
    std::span<const std::string> texts);
/// Whether faults of this kind are of gRPC alone.
[[nodiscard]] constexpr bool is_of_grpc(FaultKind kind) noexcept {
  return kind == FaultKind::grpc_status || kind == FaultKind::no_grpc_status;
}
/// The value of an X-Fault header: faults parted by ';'.
[[nodiscard]] std::expected<std::vector<Fault>, std::string> parse_fault_header(
    std::string_view value);

}  // namespace onbeat::target
