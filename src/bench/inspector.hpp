// Looks into responses where that is asked for: decoding, expectations, redirects. A run that asks
// for none of it has no inspector, and pays nothing.
#pragma once

#include "http/response_parser.hpp"
#include "net/error.hpp"
#include "options/http_options.hpp"

#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace onbeat::bench {

/// What a response must be like. Immutable; shared by all loops.
class Expectations {
 public:
  /// All that is wrong with the patterns is added to `problems`.
  Expectations(const options::HttpOptions& options, std::vector<options::Problem>& problems);
  ~Expectations();
  Expectations(const Expectations&) = delete;
  Expectations& operator=(const Expectations&) = delete;

  [[nodiscard]] bool needs_inspector() const noexcept;
  /// By --expect-status; else 2xx and 3xx.
  [[nodiscard]] bool status_is_right(int status) const noexcept;

 private:
  friend class Inspector;
  struct Patterns;
  std::vector<options::StatusRange> statuses_;
  std::unique_ptr<Patterns> patterns_;
  bool decompress_ = false, redirects_ = false;
};

/// One a worker; reset by each final response's status line.
class Inspector final : public http::ResponseSink {
 public:
  explicit Inspector(const Expectations& expectations);
  ~Inspector();

  void begin();
  void on_status(int status, std::string_view reason) override;
  void on_field(std::string_view name, std::string_view value) override;
  void on_body(std::string_view part) override;

  /// After a whole response: none, body (it cannot be decoded, or ends too soon), or expectation.
  [[nodiscard]] net::NetError verdict();
  /// What was missed, after NetError::expectation or body.
  [[nodiscard]] const std::string& failure() const noexcept { return failure_; }
  [[nodiscard]] const std::string& location() const noexcept { return location_; }

 private:
  struct Inflater;
  /// No more of a body is kept for --expect-body.
  static constexpr std::size_t kMostBody = std::size_t{16} << 20;

  void keep(std::string_view part);

  const Expectations& expectations_;
  std::unique_ptr<Inflater> inflater_;
  std::vector<bool> met_;  // by expected header
  std::string body_, location_, failure_;
  int status_ = 0;
  bool encoded_ = false;
  bool undecodable_ = false;
};

}  // namespace onbeat::bench
