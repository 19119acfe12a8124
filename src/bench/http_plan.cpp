#include "bench/http_plan.hpp"

#include "http/redirect.hpp"
#include "options/surroundings.hpp"
#include "run/redact.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace onbeat::bench {
namespace {

using options::HttpOptions;
using options::Problem;
using Problems = std::vector<Problem>;

bool is_loopback(const net::Address& address) {
  if (address.family() == AF_UNIX) return true;
  if (address.family() == AF_INET)
    return (ntohl(reinterpret_cast<const sockaddr_in*>(address.data())->sin_addr.s_addr) >> 24) ==
           127;
  return address.family() == AF_INET6 &&
         IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6*>(address.data())->sin6_addr);
}

std::string basic(std::string_view user) { return "Basic " + options::base64_encode(user); }

std::optional<http::Url> proxy_of(const HttpOptions& options) {
  if (options.proxy.empty()) return std::nullopt;
  auto url = http::parse_url(options.proxy);
  return url ? std::optional(std::move(*url)) : std::nullopt;
}

net::TlsOptions tls_options(const options::TlsSettings& settings, std::vector<std::string> alpn) {
  return {.ca_file = settings.ca_file,
          .certificate = settings.certificate,
          .key = settings.key,
          .verify = !settings.insecure,
          .min_version = settings.min_version,
          .max_version = settings.max_version,
          .ciphers = settings.ciphers,
          .alpn = std::move(alpn),
          .reuse_sessions = !settings.new_session};
}

http::Http2Settings http2_settings(const options::Http2Options& options) {
  http::Http2Settings settings;
  const auto take = [](std::uint32_t& setting, std::uint32_t value) {
    if (value != 0) setting = value;
  };
  take(settings.window, options.window);
  take(settings.connection_window, options.connection_window);
  take(settings.max_frame_size, options.max_frame_size);
  take(settings.max_header_list, options.max_header_list);
  settings.header_table_size = options.header_table_size.value_or(settings.header_table_size);
  settings.encoder_table_size = options.encoder_table_size.value_or(settings.encoder_table_size);
  settings.max_streams = options.streams.value_or(settings.max_streams);
  return settings;
}

/// Makes the items of a plan.
class Maker {
 public:
  Maker(HttpTarget& target, Problems& problems)
      : plan_(target.plan), warnings_(target.warnings), problems_(problems) {}

  void make(std::uint64_t seed);

 private:
  void open_data(std::uint64_t seed);
  void add(const options::HttpEndpoint& endpoint);
  std::optional<http::Url> url_of(const options::HttpEndpoint& endpoint);
  http::RequestForm form_for(const http::Url& url) const;
  void compile(HttpItem& item, const options::HttpEndpoint& endpoint,
               const std::vector<http::RequestPart>& head, const std::string& body);
  std::size_t origin_of(const http::Url& url);
  void warn_of_connection_fields(const options::HttpEndpoint& endpoint);
  void check_transport();

  HttpPlan& plan_;
  Problems& warnings_;
  Problems& problems_;
  document::Scope scope_;
  std::vector<std::int64_t> weights_;
};

void Maker::make(std::uint64_t seed) {
  open_data(seed);
  check_transport();
  for (const options::HttpEndpoint& endpoint : plan_.options.endpoints) add(endpoint);
  plan_.expectations = std::make_shared<const Expectations>(plan_.options, problems_);
  if (problems_.empty()) plan_.mix = kernel::Mix(weights_, seed);
}

void Maker::open_data(std::uint64_t seed) {
  scope_.environment = options::system_surroundings().environment;
  for (const options::DataFile& file : plan_.options.data) {
    using document::RowOrder;
    auto source =
        document::DataSource::open({.path = file.path,
                                    .name = file.name,
                                    .order = file.random ? RowOrder::random : RowOrder::sequential,
                                    .seed = seed});
    if (!source) {
      for (Problem& problem : source.error()) {
        // A place within the file says enough by itself.
        if (problem.where == file.path) problem.where = file.origin + ": " + file.path;
        problems_.push_back(std::move(problem));
      }
      scope_.unread.push_back(file.name.empty() ? std::filesystem::path(file.path).stem().string()
                                                : file.name);
      continue;
    }
    const auto variables = (*source)->variables();
    scope_.variables.insert(scope_.variables.end(), variables.begin(), variables.end());
    plan_.data.push_back(std::move(*source));
  }
}

std::optional<http::Url> Maker::url_of(const options::HttpEndpoint& endpoint) {
  auto url = http::parse_url(endpoint.url, true);
  if (url) return std::move(*url);
  // The text may hold a password: it is shown only when it cannot.
  const bool secret = endpoint.url.find('@') != std::string::npos;
  problems_.push_back({.where = endpoint.origin,
                       .message = url.error().message,
                       .hint = "for example http://127.0.0.1:8080/path",
                       .text = secret ? "" : endpoint.url,
                       .column = secret ? 0 : url.error().column + 1});
  return std::nullopt;
}

http::RequestForm Maker::form_for(const http::Url& url) const {
  const HttpOptions& options = plan_.options;
  http::RequestForm form;
  if (!options.user_agent.empty()) form.user_agent = options.user_agent;
  const std::string user = url.user.empty() ? options.user : http::percent_decoded(url.user);
  if (!user.empty()) form.standard_fields.emplace_back("Authorization", basic(user));
  if (options.decompress) form.standard_fields.emplace_back("Accept-Encoding", "gzip, deflate");
  if (!options.keep_alive) form.standard_fields.emplace_back("Connection", "close");
  const http::RequestForm by_proxy = proxy_form(options, url);
  form.absolute_target = by_proxy.absolute_target;
  form.standard_fields.insert(form.standard_fields.end(), by_proxy.standard_fields.begin(),
                              by_proxy.standard_fields.end());
  return form;
}

void Maker::add(const options::HttpEndpoint& endpoint) {
  auto url = url_of(endpoint);
  if (!url) return;
  http::Fields fields;
  for (const options::Header& header : endpoint.headers)
    fields.emplace_back(header.name, header.value);
  const std::string body = endpoint.body.value_or("");
  HttpItem item;
  item.origin = origin_of(*url);
  warn_of_connection_fields(endpoint);
  item.endpoint = static_cast<kernel::EndpointId>(std::min<std::size_t>(plan_.items.size(), 100));
  const auto head =
      http::request_head(endpoint.method, *url, fields, !body.empty(), form_for(*url));
  item.request.is_head = endpoint.method == "HEAD";
  item.url = std::move(*url);
  compile(item, endpoint, head, body);
  plan_.items.push_back(std::move(item));
  weights_.push_back(endpoint.weight);
}

void Maker::warn_of_connection_fields(const options::HttpEndpoint& endpoint) {
  if (plan_.options.version == options::HttpVersion::http1) return;
  for (const options::Header& header : endpoint.headers)
    if (http::is_connection_field(header.name, header.value))
      warnings_.push_back({.where = endpoint.origin,
                           .message = fmt::format("the header {} is not sent in HTTP/2, which "
                                                  "has no place for it (RFC 9113, 8.2.2)",
                                                  header.name),
                           .hint = "--http-version 1.1 sends it",
                           .text = {}});
}

// Puts the pieces together: to bytes when nothing varies, else to a message template.
void Maker::compile(HttpItem& item, const options::HttpEndpoint& endpoint,
                    const std::vector<http::RequestPart>& head, const std::string& body) {
  using Kind = http::RequestPart::Kind;
  using document::Place;
  const auto compiled = [&](std::string_view text, Place place, std::string_view what) {
    auto result = document::Template::compile(text, place, scope_);
    if (result) return std::move(*result);
    for (const options::GrammarError& error : result.error())
      problems_.push_back({.where = endpoint.origin == what
                                        ? endpoint.origin
                                        : fmt::format("{} ({})", endpoint.origin, what),
                           .message = error.message,
                           .hint = error.hint,
                           .text = place == Place::target ? std::string(text) : "",
                           .column = place == Place::target ? error.column : 0});
    return document::Template();
  };
  const auto first = body.find_first_not_of(" \t\r\n");
  const bool json = first != std::string::npos && (body[first] == '{' || body[first] == '[') &&
                    !body.substr(first).starts_with("{{");
  scope_.next_position = 0;
  document::MessageTemplate message(compiled(body, json ? Place::json : Place::text, "body"));
  for (const http::RequestPart& part : head) {
    switch (part.kind) {
      case Kind::literal:
        message.add(part.text);
        break;
      case Kind::target:
        message.add(compiled(part.text, Place::target, "URL"));
        break;
      case Kind::value:
        message.add(compiled(part.text, Place::field, "header"));
        break;
      case Kind::body_size:
        message.add_body_size();
        break;
    }
  }
  if (!message.is_literal()) {
    item.message.emplace(std::move(message));
    return;
  }
  std::string scratch;
  const auto fault = message.render({}, scratch, item.request.bytes);
  if (fault != document::RenderFault::none)
    problems_.push_back({.where = endpoint.origin,
                         .message = std::string(to_string(fault)),
                         .hint = {},
                         .text = {}});
}

std::size_t Maker::origin_of(const http::Url& url) {
  auto& origins = plan_.origins;
  const auto known =
      std::ranges::find_if(origins, [&url](const HttpOrigin& origin) { return origin.is(url); });
  if (known != origins.end()) return static_cast<std::size_t>(known - origins.begin());
  origins.push_back({url.scheme, url.host, url.port, {}});
  origins.back().http2 = plan_.options.version == options::HttpVersion::http2;
  return origins.size() - 1;
}

// What loops would otherwise find out one by one.
void Maker::check_transport() {
  const HttpOptions& options = plan_.options;
  if (!options.proxy.empty()) {
    const auto proxy = http::parse_url(options.proxy);
    if (!proxy || proxy->scheme != "http")
      problems_.push_back({.where = "--proxy",
                           .message = proxy ? "only http proxies are known" : proxy.error().message,
                           .hint = "for example http://127.0.0.1:3128",
                           .text = {}});
  }
  if (options.unix_socket.size() > net::Address::unix_path_limit)
    problems_.push_back({.where = "--unix-socket",
                         .message = fmt::format("a socket's path has at most {} bytes",
                                                net::Address::unix_path_limit),
                         .hint = {},
                         .text = {}});
  const bool tls = std::ranges::any_of(
      options.endpoints,
      [](const options::HttpEndpoint& endpoint) { return endpoint.url.starts_with("https:"); });
  if (!tls && options.redirects == 0) return;
  if (auto context = net::TlsContext::make(tls_options(options.tls, options.tls.alpn)); !context)
    problems_.push_back(
        {.where = "TLS",
         .message = context.error(),
         .hint = context.error().starts_with("no key in") ? "--key FILE, or both in one file" : "",
         .text = {}});
}

}  // namespace

HttpTarget make_http_target(const HttpOptions& options, std::uint64_t seed, Problems& problems) {
  HttpTarget target;
  target.plan.options = options;
  target.plan.seed = seed;
  Maker(target, problems).make(seed);
  if (target.plan.items.empty()) return target;
  target.text = run::redact_url(target.plan.items.front().url.to_string());
  if (target.plan.items.size() > 1)
    target.text += fmt::format(" and {} more", target.plan.items.size() - 1);
  return target;
}

std::expected<std::vector<net::Address>, std::string> resolve_origin(const HttpOrigin& origin,
                                                                     const HttpOptions& options) {
  if (!options.unix_socket.empty())
    return std::vector{net::Address::unix_path(options.unix_socket)};
  std::string host = origin.host;
  std::uint16_t port = origin.port;
  if (const auto proxy = proxy_of(options)) {
    host = proxy->host;
    port = proxy->port;
  } else {
    for (const options::ConnectTo& to : options.connect_to) {
      const bool meant = (to.from_host.empty() || to.from_host == options::lower_case(host)) &&
                         (to.from_port == 0 || to.from_port == port);
      if (!meant) continue;
      if (!to.to_host.empty()) host = to.to_host;
      if (to.to_port != 0) port = to.to_port;
      break;
    }
    for (const options::Resolve& known : options.resolve) {
      if ((known.host != "*" && known.host != options::lower_case(host)) || known.port != port)
        continue;
      std::vector<net::Address> addresses;
      for (const std::string& text : known.addresses)
        if (auto numeric = net::resolve(text, port)) addresses.push_back(numeric->front());
      return addresses;
    }
  }
  auto addresses = net::resolve(host, port);
  if (!addresses) return std::unexpected(host + ": " + addresses.error());
  return addresses;
}

std::expected<void, std::string> resolve_origins(HttpTarget& target) {
  target.local = true;
  const auto start = kernel::Monotonic::now();
  bool asked = false;
  for (HttpOrigin& origin : target.plan.origins) {
    auto addresses = resolve_origin(origin, target.plan.options);
    if (!addresses) return std::unexpected(addresses.error());
    origin.addresses = std::move(*addresses);
    target.local = target.local && std::ranges::all_of(origin.addresses, is_loopback);
    unsigned char ignored[sizeof(in6_addr)];
    asked = asked || (inet_pton(AF_INET, origin.host.c_str(), ignored) != 1 &&
                      inet_pton(AF_INET6, origin.host.c_str(), ignored) != 1);
  }
  if (asked) target.resolving = kernel::Monotonic::now() - start;
  return {};
}

http::RequestForm proxy_form(const HttpOptions& options, const http::Url& url) {
  http::RequestForm form;
  const auto proxy = proxy_of(options);
  // HTTP/2 goes through a tunnel in any case.
  if (!proxy || url.scheme != "http" || options.version == options::HttpVersion::http2) return form;
  form.absolute_target = true;
  if (!proxy->user.empty())
    form.standard_fields.emplace_back("Proxy-Authorization",
                                      basic(http::percent_decoded(proxy->user)));
  return form;
}

std::unique_ptr<http::Peer> make_peer(const HttpOrigin& origin, const HttpOptions& options) {
  auto peer = std::make_unique<http::Peer>();
  peer->addresses = origin.addresses;
  peer->connect_timeout = options.connect_timeout;
  peer->keep_alive = options.keep_alive;
  peer->requests_per_connection = options.requests_per_connection;
  if (!options.source_ip.empty())
    if (auto source = net::resolve(options.source_ip, 0)) peer->options.source = source->front();
  if (origin.http2) peer->http2 = http2_settings(options.http2);
  const bool tls = origin.scheme == "https";
  if (tls) {
    auto alpn = origin.http2 ? std::vector<std::string>{"h2"} : options.tls.alpn;
    peer->tls = std::move(net::TlsContext::make(tls_options(options.tls, std::move(alpn))).value());
    peer->server_name = options.tls.server_name.empty() ? origin.host : options.tls.server_name;
  }
  if (const auto proxy = proxy_of(options); proxy && (tls || origin.http2)) {
    const std::string authority =
        (origin.host.find(':') == std::string::npos ? origin.host : "[" + origin.host + "]") + ":" +
        std::to_string(origin.port);
    peer->tunnel = "CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n";
    if (!proxy->user.empty())
      peer->tunnel += "Proxy-Authorization: " + basic(http::percent_decoded(proxy->user)) + "\r\n";
    peer->tunnel += "\r\n";
  }
  return peer;
}

}  // namespace onbeat::bench
