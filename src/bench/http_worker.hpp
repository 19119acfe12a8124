// One worker of an HTTP load: a coroutine that carries out units, one at a time, by the version of
// HTTP that each host speaks. Belongs to its loop's thread.
#pragma once

#include "bench/http_load.hpp"
#include "http/redirect.hpp"
#include "net/back_off.hpp"
#include "net/rest.hpp"

namespace onbeat::bench {

class HttpWorkload::Worker final : public run::Worker {
 public:
  /// `connections`, of HTTP/1.1, are its own, or it `shares` them with a worker before it
  /// (pipelining). `shared` are those of HTTP/2; the worker that `opens` them opens them first.
  Worker(HttpWorkload& workload, std::uint64_t id, ConnectionSet& connections, bool shares,
         SharedConnections& shared, bool opens);

  void start(bool connect) {
    connect_first_ = connect;
    life_.start();
  }

 private:
  kernel::Task<void> live();
  kernel::Task<bool> open_first();
  kernel::Task<http::Exchange> follow(const HttpItem& item, const http::Request& first,
                                      http::Exchange exchange, Instant deadline);
  [[nodiscard]] bool leads_on(const http::Exchange& exchange) const;
  [[nodiscard]] const http::Http2Request& in_http2(const HttpItem& item,
                                                   const http::Request& request);
  void use(std::size_t origin);
  void finish(const HttpItem& item, const http::Exchange& exchange);
  void finish_unsent(const HttpItem& item, std::string_view fault);
  [[nodiscard]] bool status_is_right(int status) const;
  void note_parts(const http::Exchange& exchange, Instant started, Instant done);
  void note(const http::Exchange& exchange);
  void keep_sample(net::NetError error, const http::Exchange& exchange);
  void cancel() noexcept override;

  HttpWorkload& workload_;
  ConnectionSet& connections_;
  SharedConnections& shared_;
  const bool shares_, opens_;
  net::Rest rest_;
  net::BackOff back_off_;
  // The connection of the present exchange: one of the two.
  http::Connection* own_ = nullptr;
  http::Http2Connection* busy_ = nullptr;
  http::Http2Stream stream_;
  http::Request rendered_;
  http::Http2Request translated_;
  std::unique_ptr<Inspector> inspector_;
  bool connect_first_ = false;
  kernel::Task<void> life_;
};

}  // namespace onbeat::bench
