// Which version of HTTP is spoken with whom.
#include "bench/http_plan.hpp"
#include "http/connector.hpp"
#include "net/epoll_loop.hpp"

namespace onbeat::bench {
namespace {

/// One handshake that offers both.
class Question final : private http::Connector::Owner, private net::Timer {
 public:
  explicit Question(http::Peer& peer) : peer_(peer), connector_(loop_, peer, *this) {}

  bool prefers_http2() {
    loop_.timers().arm(*this, loop_.now() + peer_.connect_timeout);
    connector_.begin();
    loop_.run();
    loop_.timers().disarm(*this);
    return answer_ == "h2";
  }

 private:
  void connected() noexcept override {
    answer_ = connector_.take()->alpn();
    loop_.stop();
  }
  void connect_failed(net::NetError, int) noexcept override { loop_.stop(); }
  void on_timer(kernel::Instant) noexcept override { loop_.stop(); }

  http::Peer& peer_;
  net::EpollLoop loop_;
  http::Connector connector_;
  std::string answer_;
};

}  // namespace

bool ask_version(HttpOrigin& origin, const options::HttpOptions& options) {
  if (options.version != options::HttpVersion::automatic)
    return options.version == options::HttpVersion::http2;
  if (origin.scheme != "https" || origin.addresses.empty()) return false;
  options::HttpOptions both = options;
  both.tls.alpn = {"h2", "http/1.1"};
  origin.http2 = false;
  const auto peer = make_peer(origin, both);
  return Question(*peer).prefers_http2();
}

void choose_versions(HttpTarget& target) {
  for (HttpOrigin& origin : target.plan.origins)
    origin.http2 = ask_version(origin, target.plan.options);
}

void make_http2_requests(HttpPlan& plan) {
  for (HttpItem& item : plan.items) {
    const HttpOrigin& origin = plan.origins[item.origin];
    if (origin.http2 && !item.message)
      http::translate(item.request.bytes, origin.scheme, item.request2);
  }
}

}  // namespace onbeat::bench
