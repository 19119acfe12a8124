// Reading what the JSON writers write: a place in a document that knows its path, so that what is
// wrong is named. Private to JSON readers: it pulls in the JSON library.
#pragma once

#include "report/json_parts.hpp"

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace onbeat::report {

/// "latency/response/hdr: not base64". Never leaves this folder.
struct Unreadable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Borrowed: the document must outlive it. Everything throws Unreadable for what is missing or of
/// another kind.
class Place {
 public:
  explicit Place(const Json& json, std::string path = {}) : json_(json), path_(std::move(path)) {}

  [[noreturn]] void fail(std::string_view why) const;
  [[nodiscard]] Place operator[](std::string_view key) const;
  [[nodiscard]] bool is_null() const { return json_.is_null(); }
  [[nodiscard]] const Json& json() const { return json_; }

  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::string text_or_empty() const { return is_null() ? std::string() : text(); }
  [[nodiscard]] bool flag() const;
  [[nodiscard]] std::uint64_t count() const;
  [[nodiscard]] kernel::Duration ns() const;
  [[nodiscard]] std::optional<kernel::Duration> maybe_ns() const;
  [[nodiscard]] std::optional<double> maybe_number() const;
  /// 0 where there is none.
  [[nodiscard]] double number() const { return maybe_number().value_or(0); }
  [[nodiscard]] std::vector<std::string> texts() const;
  [[nodiscard]] run::NamedCounts named_counts() const;

  /// each(place) for the elements of an array.
  template <typename Each>
  void elements(Each each) const {
    if (!json_.is_array()) fail("must be an array");
    for (std::size_t i = 0; i < json_.size(); ++i) each(below(std::to_string(i), json_[i]));
  }
  /// each(key, place) for the members of an object, in their order.
  template <typename Each>
  void members(Each each) const {
    if (!json_.is_object()) fail("must be an object");
    for (const auto& [key, value] : json_.items()) each(key, below(key, value));
  }

 private:
  [[nodiscard]] Place below(std::string_view key, const Json& json) const {
    return Place(json, path_.empty() ? std::string(key) : path_ + "/" + std::string(key));
  }

  const Json& json_;
  std::string path_;
};

/// From the HDR payload and the exact figures beside it; empty for null and for a count of 0.
[[nodiscard]] kernel::Histogram read_histogram(const Place& place);
[[nodiscard]] std::vector<kernel::LoopUsage> read_loops(const Place& place);
/// The whole book-keeping but the bytes.
[[nodiscard]] kernel::Counts read_counts(const Place& place);
/// The parts that the report and the stream's header share: tool, host, run, options, load.
void read_known(const Place& place, run::Report& report);
/// A whole report.
[[nodiscard]] run::Report read_report(const Place& place);

}  // namespace onbeat::report
