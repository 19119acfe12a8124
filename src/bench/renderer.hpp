// Makes the bytes of requests that vary.
#pragma once

#include "bench/http_plan.hpp"
#include "document/data.hpp"

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace onbeat::bench {

/// One a loop, with a reader of each data file. The plan must outlive it.
class Renderer {
 public:
  explicit Renderer(const HttpPlan& plan);

  /// The class of what went wrong ("data_ended", ...); empty when `out` is the request of that
  /// arrival.
  [[nodiscard]] std::string_view render(const HttpItem& item, std::uint64_t arrival,
                                        std::string& out);

 private:
  struct Reader {
    document::DataReader reader;
    std::size_t first_slot;
  };

  const HttpPlan& plan_;
  bool clock_ = false;
  std::vector<Reader> readers_;
  std::vector<std::string_view> values_;
  std::string scratch_;
};

/// The request of arrival 0, or the class of what went wrong.
[[nodiscard]] std::expected<http::Request, std::string> first_request(const HttpPlan& plan,
                                                                      const HttpItem& item);

}  // namespace onbeat::bench
