// What an HTTP load sends, where to and how, typed, from its settings. Files, the environment and
// standard input are read here; names are not resolved and nothing is connected.
#pragma once

#include "options/grammar.hpp"
#include "options/settings.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace onbeat::options {

/// One kind of request of the run.
struct HttpEndpoint {
  std::string name;                 // in the report; empty: its URL
  std::uint32_t weight = 1;         // its share among all weights; at least 1
  std::string url;                  // as given; the http layer parses it
  std::string method;               // GET, or POST with a body, unless given
  std::vector<Header> headers;      // common ones first, then its own; in the order given
  std::optional<std::string> body;  // an empty one is a body, too
  std::string origin;               // for messages: "URL", "urls.txt:3"
};

/// "200", "2xx", "200-204": both ends belong to it.
struct StatusRange {
  int first = 0, last = 0;
  bool operator==(const StatusRange&) const = default;
};

struct HeaderExpectation {
  std::string name;
  std::string pattern;  // a regular expression found in the value; empty: being there is enough
  bool operator==(const HeaderExpectation&) const = default;
};

/// Connections meant for one host and port go to another; the request stays as it is. Empty host
/// and port 0, on either side: any, or as they were.
struct ConnectTo {
  std::string from_host;  // names in lower case, IPv6 without brackets
  std::uint16_t from_port = 0;
  std::string to_host;
  std::uint16_t to_port = 0;
  bool operator==(const ConnectTo&) const = default;
};

/// The addresses of a host and port, instead of asking for them.
struct Resolve {
  std::string host;  // in lower case; "*": any
  std::uint16_t port = 0;
  std::vector<std::string> addresses;  // numeric, IPv6 without brackets
  bool operator==(const Resolve&) const = default;
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

/// A file of rows for templates.
struct DataFile {
  std::string name;  // as in {{name.column}}: given, or the file's name without its folder and
                     // ending
  std::string path;
  bool operator==(const DataFile&) const = default;
};

struct HttpOptions {
  std::vector<HttpEndpoint> endpoints;  // at least one
  std::vector<DataFile> data;

  std::string user;        // "name:password" for basic authentication; a URL's own comes first
  std::string user_agent;  // empty: the program's own
  unsigned redirects = 0;  // how many are followed; 0: none
  bool decompress = false;

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
BuiltHttp build_http_options(const Settings& settings, const HeaderSources& sources);

/// The curl command that sends the request of `endpoint`, quoted for a shell, secrets included.
std::string curl_text(const HttpOptions& options, const HttpEndpoint& endpoint);

}  // namespace onbeat::options
