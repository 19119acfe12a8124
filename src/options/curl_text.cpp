// curl_text: the way back, from options to a curl command.
#include "options/format.hpp"
#include "options/http_options.hpp"
#include "options/shell_words.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace onbeat::options {
namespace {

std::string bracketed(const std::string& host) {
  return host.contains(':') ? "[" + host + "]" : host;
}

std::string port_text(std::uint16_t port) { return port == 0 ? "" : std::to_string(port); }

/// As printf's %b reads it: no shell can hold a NUL in a word.
std::string octal(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) text += fmt::format("\\0{:03o}", static_cast<unsigned char>(c));
  return text;
}

class Writer {
 public:
  Writer(const HttpOptions& options, const HttpEndpoint& endpoint)
      : options_(options), endpoint_(endpoint) {}

  std::string run() && {
    method();
    word(endpoint_.url);
    headers();
    body();
    connection();
    tls();
    version();
    return text_ + "\n";
  }

 private:
  void word(std::string_view value) { text_ += " " + shell_quoted(value); }
  void flag(std::string_view name) { text_ += fmt::format(" {}", name); }
  void flag(std::string_view name, std::string_view value) {
    if (value.empty()) return;
    flag(name);
    word(value);
  }

  void method() {
    const std::string_view usual = endpoint_.body ? "POST" : "GET";
    if (endpoint_.method == "HEAD" && !endpoint_.body) {
      flag("-I");
    } else if (endpoint_.method != usual) {
      flag("-X", endpoint_.method);
    }
  }

  void headers() {
    bool type = false;
    for (const Header& header : endpoint_.headers) {
      type = type || same_name(header.name, "Content-Type");
      // curl takes "Name:" as the wish to leave one out.
      flag("-H", header.value.empty() ? header.name + ";" : header.name + ": " + header.value);
    }
    if (endpoint_.body && !type) flag("-H", "Content-Type:");
    flag("-u", options_.user);
    flag("-A", options_.user_agent);
    if (options_.redirects > 0) {
      flag("-L");
      flag("--max-redirs", std::to_string(options_.redirects));
    }
    if (options_.decompress) flag("--compressed");
    if (!options_.keep_alive) flag("-H", "Connection: close");
  }

  void body() {
    if (!endpoint_.body) return;
    if (!endpoint_.body->contains('\0')) {
      flag("--data-raw");
      return word(*endpoint_.body);
    }
    flag("--data-binary", "@-");
    text_ = fmt::format("printf %b {} | {}", shell_quoted(octal(*endpoint_.body)), text_);
  }

  void connection() {
    flag("-x", options_.proxy);
    flag("--unix-socket", options_.unix_socket);
    flag("--interface", options_.source_ip);
    for (const ConnectTo& to : options_.connect_to) {
      flag("--connect-to",
           fmt::format("{}:{}:{}:{}", bracketed(to.from_host), port_text(to.from_port),
                       bracketed(to.to_host), port_text(to.to_port)));
    }
    for (const Resolve& entry : options_.resolve) {
      std::string addresses;
      for (const std::string& address : entry.addresses) {
        addresses += (addresses.empty() ? "" : ",") + bracketed(address);
      }
      flag("--resolve", fmt::format("{}:{}:{}", bracketed(entry.host), entry.port, addresses));
    }
    flag("--connect-timeout",
         number_text(static_cast<double>(options_.connect_timeout.count()) / 1e9));
  }

  void tls() {
    const TlsSettings& tls = options_.tls;
    if (tls.insecure) flag("-k");
    flag("--cacert", tls.ca_file);
    flag("--cert", tls.certificate);
    if (tls.key != tls.certificate) flag("--key", tls.key);
    if (!tls.min_version.empty()) flag("--tlsv" + tls.min_version);
    flag("--tls-max", tls.max_version);
    flag(tls.ciphers.starts_with("TLS_") ? "--tls13-ciphers" : "--ciphers", tls.ciphers);
    if (tls.new_session) flag("--no-sessionid");
  }

  // Over TLS curl leaves the choice to the server, else it speaks HTTP/1.1.
  void version() {
    const bool secure = endpoint_.url.starts_with("https:");
    if (options_.version == HttpVersion::http1 && secure) flag("--http1.1");
    if (options_.version == HttpVersion::http2)
      flag(secure ? "--http2" : "--http2-prior-knowledge");
  }

  const HttpOptions& options_;
  const HttpEndpoint& endpoint_;
  std::string text_ = "curl";
};

}  // namespace

std::string curl_text(const HttpOptions& options, const HttpEndpoint& endpoint) {
  return Writer(options, endpoint).run();
}

std::vector<std::string> without_curl(const Settings& settings) {
  std::vector<std::string> names;
  for (const std::string_view name :
       {"server-name", "alpn", "requests-per-connection", "pipeline", "streams", "window",
        "connection-window", "max-frame-size", "header-table-size", "encoder-header-table-size",
        "max-header-list", "expect-status", "expect-header", "expect-body"})
    if (settings.has(name)) names.push_back(fmt::format("--{}", name));
  return names;
}

}  // namespace onbeat::options
