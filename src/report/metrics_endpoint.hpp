// --metrics: the figures of the run so far, in the text format of Prometheus, over HTTP. A thread
// of its own answers one request after the other with the text that the last interval left; the
// loops know nothing of it.
#pragma once

#include "report/interval_output.hpp"

#include <cstdint>
#include <expected>
#include <memory>
#include <string>

namespace onbeat::report {

class MetricsEndpoint final : public IntervalOutput {
 public:
  MetricsEndpoint();
  ~MetricsEndpoint() override;
  MetricsEndpoint(const MetricsEndpoint&) = delete;
  MetricsEndpoint& operator=(const MetricsEndpoint&) = delete;

  /// Listens and answers from now on, until destroyed. Port 0: a free one.
  std::expected<void, std::string> open(const std::string& host, std::uint16_t port);
  /// "http://127.0.0.1:9464/metrics"
  [[nodiscard]] std::string url() const;

  void begin(const run::Report& known) override;
  void interval(const kernel::Interval& interval, const kernel::Names& names,
                const kernel::RecorderShape& shape) override;
  void end(const run::Report& report) override;
  [[nodiscard]] std::string problem() const override { return {}; }

 private:
  class Server;
  run::Report so_far_;
  std::unique_ptr<Server> server_;
};

}  // namespace onbeat::report
