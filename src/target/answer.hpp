// What the HTTP target answers: a pure function of the request, the defaults and the faults.
//
// The path of a request says what is wanted, in any order and combination:
//   /status/503      that status, 200 to 599
//   /bytes/10k       a body of that size
//   /delay/50ms      answered so much later
//   /chunked/10k     a body of that size in chunks
//   /echo            the request as it was received: its head byte for byte (HTTP/2: its fields, a
//                    line each), then its body
//   /raw/BYTES       exactly the percent-decoded bytes, and nothing else
//   /raw-close/BYTES the same, then closes
// Any other path is answered with the defaults.
#pragma once

#include "http/request_parser.hpp"
#include "target/fault_plan.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace onbeat::target {

struct AnswerDefaults {
  Duration delay{0};
  std::uint64_t bytes = 0;
  int status = 200;
};

/// What a request wants to be answered with.
struct Wanted {
  int status = 200;
  std::uint64_t bytes = 0;
  Duration delay{0};
  bool chunked = false;
  bool close = false;
  std::optional<std::string> text{};  // the body, instead of `bytes` of filler
  std::optional<std::string> raw{};   // the whole answer

  [[nodiscard]] std::uint64_t body_size() const noexcept { return text ? text->size() : bytes; }
};

[[nodiscard]] Wanted read_wishes(const http::ReceivedRequest& request,
                                 const AnswerDefaults& defaults);
/// Whether an answer to such a request has no body, whatever its fields say (RFC 9110, 6.4.1).
[[nodiscard]] bool is_bodiless(std::string_view method, int status) noexcept;
/// What fills bodies: 64 KiB of it.
[[nodiscard]] std::string_view filler() noexcept;

/// The bytes of an answer over HTTP/1.1: a text (head, and the body when it is small), so many
/// bytes of filler, a text.
struct Answer {
  std::string head;
  std::uint64_t filler = 0;
  std::string tail;
  std::uint64_t body_at = 0;  // where the body begins
  Duration delay{0};
  bool close = false;  // the connection ends with it

  [[nodiscard]] std::uint64_t size() const noexcept { return head.size() + filler + tail.size(); }
};

/// Of `effects` those that change bytes; the others are the connection's.
[[nodiscard]] Answer make_answer(const http::ReceivedRequest& request,
                                 const AnswerDefaults& defaults, const Effects& effects);
/// 400 and why; closes.
[[nodiscard]] Answer bad_request(std::string_view why);

}  // namespace onbeat::target
