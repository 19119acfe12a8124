// One HTTP/1.1 connection of the HTTP target. Requests are taken one at a time and answered in
// order. A request that equals the one before it, byte for byte, is not parsed again and gets the
// answer that is already made: one receive, one send, no allocation.
#pragma once

#include "http/request_parser.hpp"
#include "net/transport.hpp"
#include "target/http_target.hpp"

#include <array>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace onbeat::target {

class HttpConnection final : private net::Waiter, private net::Timer {
 public:
  HttpConnection(HttpTarget& target, std::unique_ptr<net::Transport> transport);
  /// Begins to read. The connection may be gone afterwards.
  void start(std::list<HttpConnection>::iterator self) noexcept;

 private:
  friend class HttpTarget;

  enum class State : std::uint8_t {
    reading,    // a request, or waits for one
    holding,    // the answer is not to go out yet
    writing,    // the answer
    lingering,  // has answered, closes later
    draining,   // has closed its side, waits for the peer's
  };
  // How far a step has come. After `gone` the object no longer exists.
  enum class Step : std::uint8_t { done, waits, gone };

  void ready() noexcept override { wake(); }
  void on_timer(Instant now) noexcept override;
  void wake() noexcept;

  void read() noexcept;
  Step decide(std::string_view data) noexcept;
  Step take(std::string_view data) noexcept;
  bool parse(std::string_view data, std::size_t& used) noexcept;
  void prepare(std::string_view bytes) noexcept;
  void send_continue() noexcept;
  bool send_interim() noexcept;
  Step answer() noexcept;
  Step release() noexcept;
  Step write() noexcept;
  std::span<const std::string_view> next_pieces(std::uint64_t most) noexcept;
  Step answered() noexcept;
  Step shut() noexcept;
  Step drain() noexcept;
  Step leave() noexcept;
  Step wait_until(Instant when, State state) noexcept;

  HttpTarget& target_;
  std::unique_ptr<net::Transport> transport_;
  std::list<HttpConnection>::iterator self_;
  State state_ = State::reading;
  bool decided_ = false;    // that it is no HTTP/2
  bool continued_ = false;  // 100 Continue has been sent for this request

  http::RequestParser parser_;
  std::string_view interim_;  // what has not gone out yet of a 100 Continue

  std::string first_;  // received, not yet decided
  std::string left_;   // received, not yet taken
  std::string known_;  // the bytes of the latest request; empty when they were not in one piece
  Answer plain_;       // its answer without faults
  std::vector<Fault> own_faults_;  // those that it asks for
  bool refused_request_ = false;   // it was not valid: plain_ says so

  Answer struck_;  // an answer that faults have changed
  Effects effects_;
  bool has_effects_ = false;
  const Answer* sending_ = nullptr;
  std::uint64_t sent_ = 0, to_send_ = 0;
  Instant due_;
  std::array<std::string_view, 16> pieces_;
};

}  // namespace onbeat::target
