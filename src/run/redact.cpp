#include "run/redact.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace onbeat::run {
namespace {

// Lower case, with - and _ as one, so that X-API-Key, api_key and apiKey are found alike.
std::string plain_name(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    if (c == '-' || c == '_') continue;
    plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return plain;
}

template <std::size_t N>
bool contains_any(std::string_view text, const std::array<std::string_view, N>& words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return text.contains(word); });
}

constexpr std::array<std::string_view, 5> kSecretWords{"apikey", "token", "secret", "passw",
                                                       "credential"};

bool is_secret_parameter(std::string_view name) {
  static constexpr std::array<std::string_view, 6> kWhole{"key",       "auth", "sig",
                                                          "signature", "pwd",  "accesskey"};
  const std::string plain = plain_name(name);
  return contains_any(plain, kSecretWords) || plain.ends_with("signature") ||
         std::ranges::find(kWhole, plain) != kWhole.end();
}

std::string redact_query(std::string_view query) {
  std::string out;
  while (!query.empty()) {
    const std::size_t end = std::min(query.find_first_of("&;#"), query.size());
    const std::string_view parameter = query.substr(0, end);
    const std::size_t equals = parameter.find('=');
    if (equals != std::string_view::npos && is_secret_parameter(parameter.substr(0, equals))) {
      out.append(parameter.substr(0, equals + 1)).append(kRedacted);
    } else {
      out += parameter;
    }
    if (end < query.size()) out += query[end];
    if (end < query.size() && query[end] == '#') return out.append(query.substr(end + 1));
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  return out;
}

// user:password@host; the last @ before the path ends the user info, for passwords may hold one
// unescaped.
std::string redact_authority(std::string_view authority) {
  const std::size_t at = authority.rfind('@');
  if (at == std::string_view::npos) return std::string(authority);
  const std::size_t colon = authority.find(':');
  if (colon >= at) return std::string(authority);
  return std::string(authority.substr(0, colon + 1)).append(kRedacted).append(authority.substr(at));
}

}  // namespace

std::string redact_url(std::string_view url) {
  const std::size_t scheme = url.find("://");
  const std::size_t start = scheme == std::string_view::npos ? 0 : scheme + 3;
  // A password with a / or ? in it is not a valid URL, and is taken out all the same when an @
  // follows.
  std::size_t end = std::min(url.find_first_of("/?#", start), url.size());
  const std::size_t question = std::min(url.find('?', start), url.size());
  std::string out(url.substr(0, start));
  if (scheme != std::string_view::npos) {
    const std::size_t at = url.substr(0, question).rfind('@');
    const std::size_t colon = url.find(':', start);
    const bool odd_password =
        at != std::string_view::npos && at > end && colon < end && url[start] != '[' &&
        url.substr(colon + 1, end - colon - 1).find_first_not_of("0123456789") !=
            std::string_view::npos;
    if (odd_password) end = std::min(url.find_first_of("/?#", at), url.size());
    out += redact_authority(url.substr(start, end - start));
  } else {
    end = start;
  }
  const std::size_t query = std::min(url.find('?', end), url.size());
  out += url.substr(end, query - end);
  if (query == url.size()) return out;
  return out + "?" + redact_query(url.substr(query + 1));
}

bool is_secret_header(std::string_view name) {
  const std::string plain = plain_name(name);
  return plain.contains("authorization") || plain.contains("cookie") ||
         plain.ends_with("authkey") || contains_any(plain, kSecretWords);
}

std::string redact_header(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return std::string(line);
  const std::string_view name = line.substr(0, colon);
  if (is_secret_header(name)) return std::string(name).append(": ").append(kRedacted);
  return std::string(name).append(":").append(redact_url(line.substr(colon + 1)));
}

OptionValue redact(OptionValue option) {
  if (option.key == "header") {
    option.value = redact_header(option.value);
  } else if (option.key == "user") {
    const std::size_t colon = std::min(option.value.find(':'), option.value.size());
    option.value = option.value.substr(0, colon).append(":").append(kRedacted);
  } else if (contains_any(plain_name(option.key), kSecretWords)) {
    option.value = kRedacted;
  } else {
    option.value = redact_url(option.value);
  }
  return option;
}

}  // namespace onbeat::run
