#include "bench/http_plan.hpp"

#include <netinet/in.h>

#include <algorithm>
#include <utility>

namespace onbeat::bench {
namespace {

bool is_loopback(const net::Address& address) {
  if (address.family() == AF_UNIX) return true;
  if (address.family() == AF_INET)
    return (ntohl(reinterpret_cast<const sockaddr_in*>(address.data())->sin_addr.s_addr) >> 24) ==
           127;
  return address.family() == AF_INET6 &&
         IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6*>(address.data())->sin6_addr);
}

std::string text_of(const std::vector<http::Url>& urls) {
  std::string text = urls.front().to_string();
  if (urls.size() > 1) text += " and " + std::to_string(urls.size() - 1) + " more";
  return text;
}

}  // namespace

HttpTarget make_http_target(const options::RequestOptions& request,
                            const std::vector<std::string>& urls,
                            std::vector<options::Problem>& problems) {
  HttpTarget target;
  http::Fields fields;
  for (const options::Header& header : request.headers)
    fields.emplace_back(header.name, header.value);
  for (const std::string& text : urls) {
    auto url = http::parse_url(text);
    if (url && url->scheme == "https")
      url = std::unexpected(http::UrlError{"https is not in this version", 0});
    if (url && !url->user.empty())
      url = std::unexpected(http::UrlError{
          "a user and password in the URL are not in this version; use -H 'Authorization: ...'",
          0});
    if (!url) {
      // The text may hold a password: it is shown only when it cannot.
      const bool secret = text.find('@') != std::string::npos;
      problems.push_back({.where = "URL",
                          .message = url.error().message,
                          .hint = "for example http://127.0.0.1:8080/path",
                          .text = secret ? "" : text,
                          .column = secret ? 0 : url.error().column + 1});
      continue;
    }
    const std::string authority = url->host + ":" + std::to_string(url->port);
    auto& origins = target.plan.origins;
    auto origin = std::ranges::find(origins, authority, &HttpOrigin::authority);
    if (origin == origins.end())
      origin = origins.insert(origins.end(), {authority, url->host, url->port, {}});
    const std::string_view method =
        request.method.empty() ? "GET" : std::string_view(request.method);
    target.plan.items.push_back(
        {.request = http::make_request(method, *url, fields, request.body.value_or("")),
         .origin = static_cast<std::size_t>(origin - origins.begin()),
         .endpoint = static_cast<kernel::EndpointId>(target.urls.size())});
    target.urls.push_back(std::move(*url));
  }
  if (!target.urls.empty()) target.text = text_of(target.urls);
  return target;
}

std::expected<void, std::string> resolve_origins(HttpTarget& target) {
  target.local = true;
  for (HttpOrigin& origin : target.plan.origins) {
    auto addresses = net::resolve(origin.host, origin.port);
    if (!addresses) return std::unexpected(origin.host + ": " + addresses.error());
    origin.addresses = std::move(*addresses);
    target.local = target.local && std::ranges::all_of(origin.addresses, is_loopback);
  }
  return {};
}

}  // namespace onbeat::bench
