// What an HTTP load sends, where to and how, typed, from its settings. Files, the environment and
// standard input are read here; names are not resolved and nothing is connected.
#pragma once

#include "options/http_grammar.hpp"
#include "options/settings.hpp"
#include "options/surroundings.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace onbeat::options {

/// One kind of request of the run.
struct HttpEndpoint {
  std::string name;          // in the report; empty: its URL
  std::uint32_t weight = 1;  // its share among all weights; at least 1
  std::string url;           // as given; the http layer parses it
  std::string method;        // GET, or POST with a body, unless given
  /// Those of all endpoints whose names it does not set itself, then its own; in the order given.
  std::vector<Header> headers;
  std::optional<std::string> body;  // an empty one is a body, too
  std::string origin;               // for messages: "URL", "urls.txt:3"
};

/// Meanings as in net::TlsOptions.
struct TlsSettings {
  std::string ca_file;
  std::string certificate, key;
  bool insecure = false;                 // neither the peer's certificate nor its name is verified
  std::string server_name;               // in SNI and for verification; empty: the URL's host
  std::string min_version, max_version;  // "1.2", "1.3"; empty: what OpenSSL allows
  std::string ciphers;
  std::vector<std::string> alpn;
  bool new_session = false;  // a full handshake for every connection
};

enum class HttpVersion : std::uint8_t {
  http1,
  http2,      // over TLS by ALPN, else by prior knowledge
  automatic,  // over TLS what the server prefers of both, else HTTP/1.1
};

/// Meanings, ranges and defaults as in http::Http2Settings; 0: the default.
struct Http2Options {
  std::optional<std::uint32_t> streams;  // at once on a connection
  std::uint32_t window = 0, connection_window = 0;
  std::uint32_t max_frame_size = 0, max_header_list = 0;
  std::optional<std::uint32_t> header_table_size, encoder_table_size;
};

struct HttpOptions {
  std::vector<HttpEndpoint> endpoints;  // at least one
  std::vector<DataFile> data;

  std::string user;        // "name:password" for basic authentication; a URL's own comes first
  std::string user_agent;  // empty: the program's own
  unsigned redirects = 0;  // how many are followed; 0: none
  bool decompress = false;

  HttpVersion version = HttpVersion::http1;
  Http2Options http2;
  bool keep_alive = true;
  std::uint64_t requests_per_connection = UINT64_MAX;
  std::uint32_t pipeline = 1;
  Duration connect_timeout = std::chrono::seconds(5);
  std::string proxy;        // a URL, perhaps with credentials, which go to the proxy alone
  std::string unix_socket;  // path; connections go there whatever the host is
  std::string source_ip;    // numeric; IPv6 without brackets
  std::vector<ConnectTo> connect_to;
  std::vector<Resolve> resolve;
  TlsSettings tls;

  std::vector<StatusRange> expect_status;  // empty: 2xx and 3xx are right
  std::vector<HeaderExpectation> expect_headers;
  std::string expect_body;  // a regular expression; empty: anything

  bool print_curl = false;
};

/// --location follows at most so many (curl: 50, load tools: 10).
inline constexpr unsigned kStandardRedirects = 10;

struct BuiltHttp {
  HttpOptions options;  // of use only without errors
  std::vector<Problem> errors;
  std::vector<Problem> warnings;
};

/// Values that their grammar refuses count as not given: whoever read them has reported them.
/// Errors never quote the value of a header, a password or a body.
BuiltHttp build_http_options(const Settings& settings, const Surroundings& surroundings);

/// The curl command that sends the request of `endpoint`, quoted for a shell, secrets included.
std::string curl_text(const HttpOptions& options, const HttpEndpoint& endpoint);
/// Flags of a request or its connection that are set and for which curl has no words.
std::vector<std::string> without_curl(const Settings& settings);

}  // namespace onbeat::options
