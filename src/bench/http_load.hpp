// HTTP/1.1 requests as load: a worker is a connection (one a host), a unit is an exchange.
#pragma once

#include "http/client.hpp"
#include "run/load_loop.hpp"
#include "run/workload.hpp"
#include <onbeat/kernel/mix.hpp>
#include <onbeat/kernel/random.hpp>
#include <onbeat/kernel/recorder.hpp>
#include <onbeat/kernel/task.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace onbeat::bench {

using kernel::Duration;
using kernel::Instant;

/// A host and port that requests go to; names are resolved before the loops run.
struct HttpOrigin {
  std::string authority;  // "host:port"
  std::string host;
  std::uint16_t port = 0;
  std::vector<net::Address> addresses;
};

struct HttpItem {
  http::Request request;
  std::size_t origin = 0;
  kernel::EndpointId endpoint = 0;
};

/// The same for every loop; read-only while they run, but for the names and samples (their own
/// locks).
struct HttpPlan {
  std::vector<HttpOrigin> origins;
  std::vector<HttpItem> items;
  kernel::Mix mix{{1}};
  Duration timeout = std::chrono::seconds(30);
  Duration connect_timeout = std::chrono::seconds(5);
  std::uint64_t seed = 1;
  kernel::Names* names = nullptr;
  run::ErrorSamples* samples = nullptr;

  /// Which counters HttpWorkload::flush() writes, in its order.
  [[nodiscard]] std::vector<std::string> counters() const;
};

/// Whether a status is a success: 2xx and 3xx.
[[nodiscard]] constexpr bool is_success(int status) noexcept {
  return status >= 200 && status < 400;
}

class HttpWorkload final : public run::Workload {
 public:
  HttpWorkload(run::LoadLoop& load, const HttpPlan& plan);
  ~HttpWorkload() override;

  run::Worker& add_worker(bool connect) override;
  void flush(kernel::Recorder& recorder) override;

 private:
  class HttpWorker;

  kernel::CodeId code_of(int status);
  kernel::ErrorId error_of(net::NetError error);
  void keep_sample(net::NetError error, const http::Exchange& exchange,
                   const http::Connection& connection);

  run::LoadLoop& load_;
  const HttpPlan& plan_;
  std::vector<http::Peer> peers_;  // by origin; never grows
  std::vector<http::ConnectionLedger> flushed_;
  std::vector<std::unique_ptr<HttpWorker>> workers_;
  kernel::Mix::Cache mix_cache_;
  std::array<kernel::CodeId, 1000> codes_;
  std::array<kernel::ErrorId, net::kNetErrors> errors_;
};

}  // namespace onbeat::bench
