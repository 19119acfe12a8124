#include "options/http_grammar.hpp"

#include "options/scan.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

namespace onbeat::options {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Digits up to `highest`.
Parsing<unsigned> scan_whole(Scanner& scan, unsigned highest, std::string_view what) {
  const std::size_t start = scan.at();
  unsigned value = 0;
  while (is_digit(scan.peek())) {
    value = value * 10 + static_cast<unsigned>(scan.peek() - '0');
    if (value > highest) {
      return Scanner::fail_at(start, fmt::format("{} is at most {}", what, highest));
    }
    scan.skip(1);
  }
  if (scan.at() == start) return scan.fail(fmt::format("{} is missing", what));
  return value;
}

Parsing<StatusRange> scan_status(Scanner& scan) {
  const std::size_t start = scan.at();
  const auto fits = [&](int status) { return status >= 100 && status <= 599; };
  const char hundreds = scan.peek();
  if (is_digit(hundreds) && (scan.peek(1) | 0x20) == 'x' && (scan.peek(2) | 0x20) == 'x') {
    const int first = (hundreds - '0') * 100;
    scan.skip(3);
    if (!fits(first)) return Scanner::fail_at(start, "a status is from 100 to 599");
    return StatusRange{first, first + 99};
  }
  const auto first = scan_whole(scan, 599, "a status");
  if (!first) return std::unexpected(first.error());
  StatusRange range{static_cast<int>(*first), static_cast<int>(*first)};
  if (scan.take("-")) {
    const auto last = scan_whole(scan, 599, "a status");
    if (!last) return std::unexpected(last.error());
    range.last = static_cast<int>(*last);
  }
  if (!fits(range.first)) return Scanner::fail_at(start, "a status is from 100 to 599");
  if (range.last < range.first) return Scanner::fail_at(start, "the range ends before it begins");
  return range;
}

/// Up to the next colon outside brackets; brackets are taken off.
Parsing<std::string> scan_host(Scanner& scan) {
  const std::size_t start = scan.at();
  if (scan.take("[")) {
    std::string host;
    while (!scan.at_end() && scan.peek() != ']') {
      host += scan.peek();
      scan.skip(1);
    }
    if (!scan.take("]")) return Scanner::fail_at(start, "the closing bracket is missing");
    if (host.empty()) return Scanner::fail_at(start, "the address is missing");
    return lower_case(host);
  }
  while (!scan.at_end() && scan.peek() != ':') {
    const auto c = static_cast<unsigned char>(scan.peek());
    if (c <= 0x20 || c == 0x7f || c == '/' || c == '[' || c == ']') {
      return scan.fail("not the name of a host");
    }
    scan.skip(1);
  }
  return lower_case(scan.text().substr(start, scan.at() - start));
}

Parsing<std::uint16_t> scan_port(Scanner& scan, bool may_be_empty) {
  if (may_be_empty && (scan.at_end() || scan.peek() == ':')) return std::uint16_t{0};
  const std::size_t start = scan.at();
  const auto port = scan_whole(scan, 65535, "a port");
  if (!port) return std::unexpected(port.error());
  if (*port == 0) return Scanner::fail_at(start, "a port is at least 1");
  return static_cast<std::uint16_t>(*port);
}

/// The part of `text` up to `end`, or all of it.
std::string_view up_to(std::string_view text, std::size_t end) {
  return text.substr(0, std::min(end, text.size()));
}

/// ";type=a/b;filename=c" from `at` on.
Parsing<bool> form_details(std::string_view text, std::size_t at, FormPart& part) {
  while (at < text.size()) {
    const std::size_t begin = at + 1;
    const std::size_t end = std::min(text.find(';', begin), text.size());
    const std::string_view detail = text.substr(begin, end - begin);
    if (detail.starts_with("type=")) {
      part.type = detail.substr(5);
    } else if (detail.starts_with("filename=")) {
      part.filename = detail.substr(9);
    } else {
      return Scanner::fail_at(begin, "only type=... and filename=... may follow the file");
    }
    at = end;
  }
  return true;
}

}  // namespace

bool is_token(char c) {
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c);
  return letter || (c != '\0' && std::string_view("!#$%&'*+-.^_`|~").contains(c));
}

bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return is_token(c); });
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  }
  return lower;
}

bool same_name(std::string_view a, std::string_view b) {
  return a.size() == b.size() && lower_case(a) == lower_case(b);
}

Parsing<std::vector<StatusRange>> parse_status_list(std::string_view text) {
  Scanner scan(text);
  std::vector<StatusRange> ranges;
  do {
    scan.skip_spaces();
    const auto range = scan_status(scan);
    if (!range) {
      auto error = range.error();
      error.hint = "for example 200, 2xx or 200-204,404";
      return std::unexpected(std::move(error));
    }
    ranges.push_back(*range);
    scan.skip_spaces();
  } while (scan.take(","));
  if (const auto end = scan.expect_end("a status"); !end) return std::unexpected(end.error());
  return ranges;
}

Parsing<HeaderExpectation> parse_header_expectation(std::string_view text) {
  std::size_t colon = 0;
  while (colon < text.size() && is_token(text[colon])) ++colon;
  if (colon == 0 || (colon < text.size() && text[colon] != ':')) {
    return Scanner::fail_at(colon, "not the name of a header",
                            "for example 'Content-Type: json', or the name alone");
  }
  HeaderExpectation expectation{std::string(text.substr(0, colon)), {}};
  if (colon < text.size()) {
    const std::string_view rest = text.substr(colon + 1);
    const auto first = std::min(rest.find_first_not_of(" \t"), rest.size());
    expectation.pattern = rest.substr(first);
  }
  return expectation;
}

Parsing<ConnectTo> parse_connect_to(std::string_view text) {
  Scanner scan(text);
  ConnectTo result;
  const auto part = [&](std::string& host, std::uint16_t& port) -> Parsing<bool> {
    auto name = scan_host(scan);
    if (!name) return std::unexpected(name.error());
    host = std::move(*name);
    if (!scan.take(":")) {
      return scan.fail("a colon is missing", "HOST:PORT:HOST2:PORT2, each of which may be empty");
    }
    const auto number = scan_port(scan, true);
    if (!number) return std::unexpected(number.error());
    port = *number;
    return true;
  };
  if (const auto from = part(result.from_host, result.from_port); !from) {
    return std::unexpected(from.error());
  }
  if (!scan.take(":")) {
    return scan.fail("the host to connect to is missing",
                     "HOST:PORT:HOST2:PORT2, each of which may be empty");
  }
  if (const auto to = part(result.to_host, result.to_port); !to) {
    return std::unexpected(to.error());
  }
  if (!scan.at_end()) return scan.fail("only HOST:PORT:HOST2:PORT2 belongs here");
  return result;
}

Parsing<ListenAddress> parse_listen(std::string_view text) {
  Scanner scan(text);
  ListenAddress result;
  if (text.contains(':')) {
    auto host = scan_host(scan);
    if (!host) return std::unexpected(host.error());
    if (!host->empty()) result.host = std::move(*host);
    if (!scan.take(":")) return scan.fail("a colon is missing", "HOST:PORT, or PORT");
  }
  const auto port = scan_whole(scan, 65535, "a port");
  if (!port) return std::unexpected(port.error());
  result.port = static_cast<std::uint16_t>(*port);
  if (!scan.at_end()) return scan.fail("only HOST:PORT or PORT belongs here");
  return result;
}

Parsing<std::string> parse_ip(std::string_view text) {
  std::string address(text);
  if (text.starts_with('[') && text.ends_with(']')) address = text.substr(1, text.size() - 2);
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  const bool numeric = inet_pton(AF_INET, address.c_str(), bytes.data()) == 1 ||
                       inet_pton(AF_INET6, address.c_str(), bytes.data()) == 1;
  if (!numeric || address.contains('\0')) {
    return Scanner::fail_at(0, "not a numeric address", "for example 127.0.0.2 or ::1");
  }
  return address;
}

Parsing<Resolve> parse_resolve(std::string_view text) {
  constexpr std::string_view kHint = "HOST:PORT:ADDRESS[,ADDRESS]";
  Scanner scan(text);
  auto host = scan_host(scan);
  if (!host) return std::unexpected(host.error());
  if (host->empty()) return Scanner::fail_at(0, "the host is missing", std::string(kHint));
  if (!scan.take(":")) return scan.fail("a colon and the port are missing", std::string(kHint));
  const auto port = scan_port(scan, false);
  if (!port) return std::unexpected(port.error());
  if (!scan.take(":")) return scan.fail("a colon and an address are missing", std::string(kHint));
  Resolve result{std::move(*host), *port, {}};
  do {
    const std::size_t start = scan.at();
    const std::string_view one = up_to(scan.rest(), scan.rest().find(','));
    auto address = parse_ip(one);
    if (!address) return Scanner::fail_at(start, address.error().message, address.error().hint);
    result.addresses.push_back(std::move(*address));
    scan.skip(one.size());
  } while (scan.take(","));
  return result;
}

Parsing<std::pair<std::string, std::string>> parse_tls_versions(std::string_view text) {
  const auto dash = std::min(text.find('-'), text.size());
  const std::string_view low = text.substr(0, dash);
  const std::string_view high = dash == text.size() ? low : text.substr(dash + 1);
  const auto known = [](std::string_view version) { return version == "1.2" || version == "1.3"; };
  if (!known(low)) return Scanner::fail_at(0, "TLS is 1.2 or 1.3", "1.2, 1.3 or 1.2-1.3");
  if (!known(high)) return Scanner::fail_at(dash + 1, "TLS is 1.2 or 1.3", "1.2, 1.3 or 1.2-1.3");
  if (high < low) return Scanner::fail_at(dash + 1, "the range ends before it begins");
  return std::pair{std::string(low), std::string(high)};
}

Parsing<std::vector<std::string>> parse_alpn(std::string_view text) {
  constexpr std::size_t kLongest = 255;
  std::vector<std::string> names;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    if (end == at) return Scanner::fail_at(at, "a protocol is missing", "for example http/1.1");
    if (end - at > kLongest) return Scanner::fail_at(at, "a protocol has at most 255 bytes");
    names.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return names;
}

Parsing<std::string> parse_field_value(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte < 0x20 && byte != '\t') || byte == 0x7f) {
      return Scanner::fail_at(i, "a control character");
    }
  }
  return std::string(text);
}

Parsing<std::string> parse_user(std::string_view text) {
  if (const auto value = parse_field_value(text); !value) return value;
  if (!text.contains(':')) {
    return Scanner::fail_at(text.size(), "a colon and the password are missing", "NAME:PASSWORD");
  }
  return std::string(text);
}

Parsing<DataFile> parse_data_file(std::string_view text) {
  constexpr std::string_view kOrder = ",order=";
  if (const auto at = text.rfind(kOrder); at != std::string_view::npos) {
    const std::string_view order = text.substr(at + kOrder.size());
    if (order != "random" && order != "sequential") {
      return Scanner::fail_at(at + kOrder.size(), "no order of rows", "sequential or random");
    }
    auto file = parse_data_file(text.substr(0, at));
    if (file) file->random = order == "random";
    return file;
  }
  const auto equals = text.find('=');
  const std::string_view before = up_to(text, equals);
  Scanner scan(before);
  const bool named =
      equals != std::string_view::npos && scan.name().size() == before.size() && !before.empty();
  const std::string_view path = named ? text.substr(equals + 1) : text;
  if (path.empty()) return Scanner::fail_at(text.size(), "the file is missing", "[NAME=]FILE");
  if (named) return DataFile{.name = std::string(before), .path = std::string(path)};
  std::string_view stem = path.substr(path.rfind('/') + 1);
  stem = up_to(stem, stem.find('.', 1));
  Scanner stem_scan(stem);
  if (stem.empty() || stem_scan.name().size() != stem.size()) {
    return Scanner::fail_at(0, "the file's name cannot be that of a variable",
                            "give one: NAME=FILE");
  }
  return DataFile{.name = std::string(stem), .path = std::string(path)};
}

Parsing<FormPart> parse_form_part(std::string_view text) {
  const auto equals = text.find('=');
  if (equals == 0 || equals == std::string_view::npos) {
    return Scanner::fail_at(up_to(text, equals).size(),
                            equals == 0 ? "the field's name is missing" : "\"=\" is missing",
                            "name=value, name=@file or name=@file;type=image/png");
  }
  FormPart part;
  part.name = text.substr(0, equals);
  const std::string_view value = text.substr(equals + 1);
  if (!value.starts_with('@') && !value.starts_with('<')) {
    part.text = value;
    return part;
  }
  const std::size_t details = std::min(text.find(';', equals), text.size());
  part.path = text.substr(equals + 2, details - equals - 2);
  if (part.path.empty()) return Scanner::fail_at(equals + 2, "the file is missing");
  if (value.starts_with('@')) {
    part.filename = part.path.substr(part.path.rfind('/') + 1);
    part.type = "application/octet-stream";
  }
  if (const auto done = form_details(text, details, part); !done) {
    return std::unexpected(done.error());
  }
  if (const auto type = parse_field_value(part.type); !type) {
    return Scanner::fail_at(details, "a control character in the type");
  }
  return part;
}

Parsing<WeightedUrl> parse_weighted_url(std::string_view text) {
  std::size_t digits = 0;
  while (digits < text.size() && is_digit(text[digits])) ++digits;
  if (digits == 0 || digits == text.size() || text[digits] != '=') {
    if (text.empty()) return Scanner::fail_at(0, "the URL is missing");
    return WeightedUrl{1, std::string(text)};
  }
  Scanner scan(text);
  const auto weight = scan_whole(scan, kHighestWeight, "a weight");
  if (!weight) return std::unexpected(weight.error());
  if (*weight == 0) return Scanner::fail_at(0, "a weight is at least 1");
  if (digits + 1 == text.size()) return Scanner::fail_at(digits + 1, "the URL is missing");
  return WeightedUrl{*weight, std::string(text.substr(digits + 1))};
}

}  // namespace onbeat::options
