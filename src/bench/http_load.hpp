// HTTP requests as load: a unit is an exchange (with its redirects). Over HTTP/1.1 a worker has a
// connection to each host, which it shares with others only where pipelining is asked for; over
// HTTP/2 all workers of a loop share its connections.
#pragma once

#include "bench/http_plan.hpp"
#include "bench/renderer.hpp"
#include "http/client.hpp"
#include "http/http2_connection.hpp"
#include "run/load_loop.hpp"
#include "run/workload.hpp"
#include <onbeat/kernel/mix.hpp>
#include <onbeat/kernel/recorder.hpp>
#include <onbeat/kernel/task.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace onbeat::bench {

using kernel::Duration;
using kernel::Instant;

class HttpWorkload final : public run::Workload {
 public:
  HttpWorkload(run::LoadLoop& load, const HttpPlan& plan);
  ~HttpWorkload() override;

  run::Worker& add_worker(bool connect) override;
  void flush(kernel::Recorder& recorder) override;

 private:
  class Worker;
  static constexpr std::size_t kNoOrigin = SIZE_MAX;

  /// A connection to each origin, made when first needed.
  using ConnectionSet = std::vector<std::unique_ptr<http::Connection>>;
  using SharedConnections = std::vector<std::unique_ptr<http::Http2Connection>>;

  /// The origin of a URL that a redirect leads to: a known one, or made now, by asking for its
  /// addresses.
  kernel::Task<std::size_t> origin_of(const http::Url& url);
  std::size_t add_peer(const HttpOrigin& origin);
  [[nodiscard]] std::size_t shared_slot(std::size_t number) const;
  http::Connection& connection(ConnectionSet& set, std::size_t origin);
  http::Http2Connection& connection(SharedConnections& set, std::size_t origin);
  [[nodiscard]] const HttpOrigin& origin(std::size_t index) const;
  kernel::CodeId code_of(int status);
  kernel::ErrorId error_of(net::NetError error);
  void keep_sample(net::NetError error, std::string message);

  run::LoadLoop& load_;
  const HttpPlan& plan_;
  std::vector<std::unique_ptr<HttpOrigin>> further_origins_;  // found by redirects
  std::vector<std::unique_ptr<http::Peer>> peers_;            // by origin
  std::vector<http::ConnectionLedger> flushed_;
  std::uint64_t serving_peak_ = 0;  // connections that served, at any flush
  std::vector<std::unique_ptr<ConnectionSet>> connections_;  // by worker / pipeline
  std::vector<std::unique_ptr<SharedConnections>> shared_;
  std::unique_ptr<Renderer> renderer_;  // null: nothing varies
  std::vector<std::unique_ptr<Worker>> workers_;
  kernel::Mix::Cache mix_cache_;
  std::array<kernel::CodeId, 1000> codes_;
  std::array<kernel::ErrorId, net::kNetErrors> errors_;
};

}  // namespace onbeat::bench
