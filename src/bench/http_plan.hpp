// From the options of an HTTP load to what its loops send.
#pragma once

#include "bench/inspector.hpp"
#include "document/data.hpp"
#include "document/message_template.hpp"
#include "http/client.hpp"
#include "http/http2_request.hpp"
#include "http/url.hpp"
#include "options/http_options.hpp"
#include "options/settings.hpp"
#include "run/workload.hpp"
#include <onbeat/kernel/mix.hpp>
#include <onbeat/kernel/result.hpp>

#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace onbeat::bench {

using kernel::Duration;

/// A scheme, host and port that requests go to. Names are resolved before the loops run.
struct HttpOrigin {
  std::string scheme;
  std::string host;
  std::uint16_t port = 0;
  std::vector<net::Address> addresses;
  bool http2 = false;  // which version is spoken; of --http-version auto after choose_versions()

  [[nodiscard]] bool is(const http::Url& url) const {
    return scheme == url.scheme && host == url.host && port == url.port;
  }
};

struct HttpItem {
  http::Url url;
  http::Request request;        // when nothing in it varies
  http::Http2Request request2;  // the same for HTTP/2, where that is spoken
  std::optional<document::MessageTemplate> message;
  std::size_t origin = 0;
  kernel::EndpointId endpoint = 0;
};

/// The same for every loop; read-only while they run, but for the names and samples (their own
/// locks).
struct HttpPlan {
  std::vector<HttpOrigin> origins;
  std::vector<HttpItem> items;
  kernel::Mix mix{{1}};
  std::vector<std::unique_ptr<const document::DataSource>> data;
  std::shared_ptr<const Expectations>
      expectations;  // null: 2xx and 3xx are right, and nothing is looked at
  options::HttpOptions options;
  Duration timeout = std::chrono::seconds(30);
  std::uint64_t seed = 1;
  std::uint32_t connections = 0;  // of all loops; 0: as needed. HTTP/2: the workers share them
  std::uint32_t loops = 1;
  kernel::Names* names = nullptr;
  run::ErrorSamples* samples = nullptr;

  /// Which counters HttpWorkload::flush() writes, in its order.
  [[nodiscard]] std::vector<std::string> counters() const;
};

/// Requests at once on an HTTP/2 connection unless --streams says otherwise: what servers allow at
/// least (RFC 9113, 6.5.2).
inline constexpr std::uint32_t kStreamsAConnection = 100;

/// The histograms of the parts of an exchange, after those of every run, by position.
inline constexpr std::array<std::string_view, 3> kHttpHistograms{"tls", "first_byte", "body"};

struct HttpTarget {
  HttpPlan plan;
  std::string text;  // for people, without secrets
  std::vector<options::Problem> warnings;
  bool local = false;  // every address is this host's loopback; known after resolve_origins()
  std::optional<Duration>
      resolving;  // how long asking for names took; nothing when there was none to ask for
};

/// Parses URLs and templates, opens data files, loads certificates, makes the requests ready. No
/// name is resolved yet. Adds all that is wrong to `problems`; the result is of use only without
/// any.
[[nodiscard]] HttpTarget make_http_target(const options::HttpOptions& options, std::uint64_t seed,
                                          std::vector<options::Problem>& problems);

/// The addresses that connections of an origin go to: its own, those of the proxy, of --connect-to,
/// --resolve or
/// --unix-socket. Blocks while a name is resolved. The error: the name, with the resolver's words.
[[nodiscard]] std::expected<std::vector<net::Address>, std::string> resolve_origin(
    const HttpOrigin& origin, const options::HttpOptions& options);
/// All of them.
[[nodiscard]] std::expected<void, std::string> resolve_origins(HttpTarget& target);

/// Whether HTTP/2 is spoken with an origin, whose addresses are known. For --http-version auto and
/// https it is asked by a handshake; one that does not answer counts as HTTP/1.1, and its
/// connections will say why. Blocks at most for the connect timeout.
[[nodiscard]] bool ask_version(HttpOrigin& origin, const options::HttpOptions& options);
/// Of all origins.
void choose_versions(HttpTarget& target);
/// Once versions are known and requests stay where they are: makes their HTTP/2 form.
void make_http2_requests(HttpPlan& plan);

/// What a proxy, if there is one, wants of a request to `url`: nothing of one through a tunnel.
[[nodiscard]] http::RequestForm proxy_form(const options::HttpOptions& options,
                                           const http::Url& url);

/// How connections of one loop to an origin are made. The settings have been found right by
/// make_http_target().
[[nodiscard]] std::unique_ptr<http::Peer> make_peer(const HttpOrigin& origin,
                                                    const options::HttpOptions& options);

}  // namespace onbeat::bench
