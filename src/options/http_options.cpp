#include "options/http_options.hpp"

#include "options/endpoint_text.hpp"
#include "options/multipart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace onbeat::options {
namespace {

constexpr std::size_t kLargestBody = std::size_t{256} << 20;
constexpr std::size_t kLargestUrlFile = std::size_t{256} << 20;
constexpr std::array<std::string_view, 4> kBodies{"body", "body-file", "json-body", "form"};

class HttpBuilder {
 public:
  HttpBuilder(const Settings& settings, const Surroundings& surroundings)
      : settings_(settings), surroundings_(surroundings) {}

  BuiltHttp run() && {
    read_headers();
    read_body();
    read_endpoints();
    read_data();
    read_request();
    read_connections();
    read_version();
    read_tls();
    read_expectations();
    check();
    return std::move(built_);
  }

 private:
  void error(std::string origin, std::string message, std::string hint = {}) {
    built_.errors.push_back({std::move(origin), std::move(message), std::move(hint), {}, 0});
  }
  void warn(std::string origin, std::string message, std::string hint = {}) {
    built_.warnings.push_back({std::move(origin), std::move(message), std::move(hint), {}, 0});
  }
  std::string origin(std::string_view name, std::size_t i = 0) const {
    const auto* value = settings_.find(name);
    return value != nullptr ? value->origins.at(i) : fmt::format("--{}", name);
  }
  bool on(std::string_view name) const { return settings_.flag(name); }

  /// The value of `name` by its grammar, when it is set and right.
  template <typename Parse>
  auto read(std::string_view name, Parse parse) const
      -> std::optional<typename decltype(parse(std::string_view{}))::value_type> {
    if (!settings_.has(name)) return std::nullopt;
    auto parsed = parse(settings_.text(name));
    if (!parsed) return std::nullopt;
    return std::move(*parsed);
  }
  template <typename Parse, typename Value>
  void read_all(std::string_view name, Parse parse, std::vector<Value>& values) const {
    for (const std::string& text : settings_.all(name)) {
      if (auto parsed = parse(text)) values.push_back(std::move(*parsed));
    }
  }

  void read_headers() {
    const std::vector<std::string> texts = settings_.all("header");
    for (std::size_t i = 0; i < texts.size(); ++i) {
      // Who read the settings has reported what is not even the form of a header.
      if (check_value(*find_option("header", kHttp), texts[i])) continue;
      auto headers = parse_header(texts[i], surroundings_.header_sources());
      if (headers) {
        headers_.insert(headers_.end(), headers->begin(), headers->end());
      } else {
        error(origin("header", i), headers.error().message, headers.error().hint);
      }
    }
  }

  /// The content of a file, read once whoever asks.
  std::optional<std::string> content(const std::string& path, const std::string& asked_by) {
    if (const auto known = contents_.find(path); known != contents_.end()) return known->second;
    auto text = surroundings_.read_file(path, kLargestBody);
    if (!text) {
      error(asked_by, fmt::format("cannot read {}: {}", path, text.error()));
      return std::nullopt;
    }
    return contents_.emplace(path, std::move(*text)).first->second;
  }

  void read_body() {
    std::string_view given;
    for (const std::string_view name : kBodies) {
      if (!settings_.has(name)) continue;
      if (!given.empty()) {
        error(origin(name), fmt::format("contradicts --{}", given), "leave one of them out");
        return;
      }
      given = name;
    }
    if (given == "body" || given == "json-body") body_ = settings_.text(given);
    if (given == "json-body") {
      body_headers_ = {{"Content-Type", "application/json"}, {"Accept", "application/json"}};
    }
    if (given == "body-file") body_ = content(settings_.text(given), origin(given));
    if (given == "form") read_form();
    has_body_ = !given.empty();
  }

  void read_form() {
    std::vector<FormPart> parts;
    read_all("form", parse_form_part, parts);
    auto form = make_multipart(parts, read("seed", parse_count).value_or(1), surroundings_);
    if (!form) return error(origin("form"), form.error());
    body_ = std::move(form->body);
    body_headers_ = {{"Content-Type", std::move(form->content_type)}};
  }

  void read_endpoints() {
    std::vector<std::string> texts = settings_.all("url");
    const bool elsewhere = settings_.has("urls") || settings_.has("curl");
    // The port is the target's, whatever stands here.
    if (texts.empty() && !elsewhere && on("calibrate")) texts.emplace_back("http://127.0.0.1/");
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (auto endpoint = parse_endpoint(texts[i])) add(std::move(*endpoint), origin("url", i));
    }
    if (settings_.has("urls")) read_url_file(settings_.text("urls"));
    if (texts.empty() && !elsewhere) error({}, "a URL is missing", "onbeat http URL... [options]");
    if (texts.empty() && settings_.has("curl")) error(origin("curl"), "it has no URL");
  }

  void read_url_file(const std::string& path) {
    auto text = surroundings_.read_file(path, kLargestUrlFile);
    if (!text) return error(origin("urls"), fmt::format("cannot read {}: {}", path, text.error()));
    UrlFile file = parse_url_file(*text, path == "-" ? "standard input" : path);
    built_.errors.insert(built_.errors.end(), file.problems.begin(), file.problems.end());
    for (UrlFile::Entry& entry : file.entries) add(std::move(entry.endpoint), entry.origin);
    if (file.entries.empty() && file.problems.empty()) {
      error(origin("urls"), fmt::format("{} has no URL", path));
    }
  }

  /// Those of `headers` whose names are not among `over`, before those.
  static std::vector<Header> combined(const std::vector<Header>& headers,
                                      const std::vector<Header>& over) {
    std::vector<Header> all;
    for (const Header& header : headers) {
      if (std::ranges::none_of(
              over, [&](const Header& own) { return same_name(own.name, header.name); })) {
        all.push_back(header);
      }
    }
    all.insert(all.end(), over.begin(), over.end());
    return all;
  }

  void add(EndpointText text, const std::string& asked_by) {
    HttpEndpoint endpoint{.name = std::move(text.name),
                          .weight = text.weight,
                          .url = std::move(text.url),
                          .method = {},
                          .headers = combined(headers_, text.headers),
                          .body = std::move(text.body),
                          .origin = asked_by};
    if (!text.body_path.empty()) {
      endpoint.body = content(text.body_path, asked_by);
    } else if (!endpoint.body && has_body_) {
      endpoint.body = body_;
      endpoint.headers = combined(body_headers_, endpoint.headers);
    }
    const bool posts = endpoint.body.has_value();
    endpoint.method = !text.method.empty()      ? std::move(text.method)
                      : settings_.has("method") ? settings_.text("method")
                      : posts                   ? "POST"
                                                : "GET";
    built_.options.endpoints.push_back(std::move(endpoint));
  }

  void read_data() {
    const std::vector<std::string> texts = settings_.all("data");
    for (std::size_t i = 0; i < texts.size(); ++i) {
      auto file = parse_data_file(texts[i]);
      if (!file) continue;
      file->origin = origin("data", i);
      options_.data.push_back(std::move(*file));
    }
    std::map<std::string, int> names;
    for (const DataFile& file : options_.data) {
      if (++names[file.name] == 2) {
        error(origin("data"), fmt::format("two files are called {}", file.name), "NAME=FILE");
      }
    }
  }

  void read_request() {
    options_.user = read("user", parse_user).value_or("");
    options_.user_agent = read("user-agent", parse_field_value).value_or("");
    if (on("location")) options_.redirects = kStandardRedirects;
    if (const auto most = read("redirects", parse_count)) {
      options_.redirects = static_cast<unsigned>(*most);
    }
    if (on("location") && options_.redirects == 0) {
      error(origin("location"), "contradicts --redirects 0", "leave one of them out");
    }
    options_.decompress = on("decompress");
    options_.print_curl = on("print-curl");
  }

  void read_connections() {
    options_.keep_alive = !on("no-keepalive");
    if (const auto most = read("requests-per-connection", parse_count)) {
      options_.requests_per_connection = *most;
    }
    if (const auto depth = read("pipeline", parse_count)) {
      options_.pipeline = static_cast<std::uint32_t>(*depth);
    }
    if (const auto time = read("connect-timeout", parse_duration)) {
      options_.connect_timeout = *time;
      if (time->count() == 0) error(origin("connect-timeout"), "must be longer than 0");
    }
    options_.proxy = settings_.text("proxy");
    options_.unix_socket = settings_.text("unix-socket");
    options_.source_ip = read("source-ip", parse_ip).value_or("");
    read_all("connect-to", parse_connect_to, options_.connect_to);
    read_all("resolve", parse_resolve, options_.resolve);
  }

  void read_version() {
    const std::string version = settings_.text("http-version");
    if (version == "2") options_.version = HttpVersion::http2;
    if (version == "auto") options_.version = HttpVersion::automatic;
    Http2Options& http2 = options_.http2;
    if (const auto streams = read("streams", parse_count)) {
      http2.streams = static_cast<std::uint32_t>(*streams);
    }
    // Ranges: RFC 9113, 6.5.2 and 6.9.1.
    constexpr std::uint64_t widest = (std::uint64_t{1} << 31) - 1;
    read_size("window", 1, widest, http2.window);
    read_size("connection-window", 65'535, widest, http2.connection_window);
    read_size("max-frame-size", 16'384, (1 << 24) - 1, http2.max_frame_size);
    read_size("header-table-size", 0, widest, http2.header_table_size);
    read_size("encoder-header-table-size", 0, widest, http2.encoder_table_size);
    read_size("max-header-list", 1, widest, http2.max_header_list);
    check_version();
  }

  template <typename Number>
  void read_size(std::string_view name, std::uint64_t lowest, std::uint64_t highest,
                 Number& number) {
    const auto size = read(name, parse_size);
    if (!size) return;
    if (*size < lowest || *size > highest) {
      return error(origin(name), fmt::format("must be {} to {} bytes", lowest, highest));
    }
    number = static_cast<std::uint32_t>(*size);
  }

  void check_version() {
    if (options_.version == HttpVersion::http1) {
      for (const std::string_view name :
           {"streams", "window", "connection-window", "max-frame-size", "header-table-size",
            "encoder-header-table-size", "max-header-list"}) {
        if (settings_.has(name)) error(origin(name), "is for HTTP/2", "give --http-version 2, too");
      }
      return;
    }
    for (const std::string_view name : {"pipeline", "alpn"}) {
      if (settings_.has(name)) {
        error(origin(name), "is for HTTP/1.1",
              name == "pipeline" ? "--streams for HTTP/2" : "leave out --http-version");
      }
    }
  }

  void read_tls() {
    TlsSettings& tls = options_.tls;
    tls.ca_file = settings_.text("cacert");
    tls.certificate = settings_.text("cert");
    tls.key = settings_.has("key") ? settings_.text("key") : tls.certificate;
    if (settings_.has("key") && tls.certificate.empty()) {
      error(origin("key"), "a key without its certificate", "give --cert, too");
    }
    tls.insecure = on("insecure");
    tls.server_name = settings_.text("server-name");
    if (auto versions = read("tls-version", parse_tls_versions)) {
      tls.min_version = std::move(versions->first);
      tls.max_version = std::move(versions->second);
    }
    tls.ciphers = settings_.text("ciphers");
    tls.alpn = read("alpn", parse_alpn).value_or(std::vector<std::string>{"http/1.1"});
    tls.new_session = on("new-session");
  }

  void read_expectations() {
    options_.expect_status =
        read("expect-status", parse_status_list).value_or(std::vector<StatusRange>{});
    read_all("expect-header", parse_header_expectation, options_.expect_headers);
    options_.expect_body = settings_.text("expect-body");
  }

  void check() {
    if (!options_.unix_socket.empty()) {
      for (const std::string_view name : {"proxy", "source-ip", "connect-to", "resolve"}) {
        if (settings_.has(name)) {
          error(origin(name), "contradicts --unix-socket", "leave one of them out");
        }
      }
    }
    if (on("calibrate")) {
      for (const std::string_view name :
           {"proxy", "connect-to", "resolve", "unix-socket", "source-ip"}) {
        if (settings_.has(name))
          error(origin(name), "contradicts --calibrate", "leave one of them out");
      }
    }
    if (!options_.keep_alive) {
      for (const std::string_view name : {"pipeline", "requests-per-connection"}) {
        if (settings_.has(name)) {
          error(origin(name), "contradicts --no-keepalive", "leave one of them out");
        }
      }
    }
    if (options_.tls.insecure && !options_.tls.ca_file.empty()) {
      warn(origin("cacert"), "has no effect with --insecure");
    }
    warn_of_proxy_variables();
  }

  void warn_of_proxy_variables() {
    if (!options_.proxy.empty()) return;
    for (const char* name :
         {"http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"}) {
      const auto value = surroundings_.environment(name);
      if (!value || value->empty()) continue;
      warn(name, "the variable is ignored", "--proxy URL sends requests through a proxy");
      return;
    }
  }

  const Settings& settings_;
  const Surroundings& surroundings_;
  BuiltHttp built_;
  HttpOptions& options_ = built_.options;
  std::vector<Header> headers_, body_headers_;
  bool has_body_ = false;
  std::optional<std::string> body_;
  std::map<std::string, std::string> contents_;
};

}  // namespace

BuiltHttp build_http_options(const Settings& settings, const Surroundings& surroundings) {
  return HttpBuilder(settings, surroundings).run();
}

}  // namespace onbeat::options
