// The small languages of HTTP's options; see grammar.hpp.
#pragma once

#include "options/grammar.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace onbeat::options {

/// "200", "2xx", "200-204": both ends belong to it.
struct StatusRange {
  int first = 0, last = 0;
  bool operator==(const StatusRange&) const = default;
};
/// "200", "2xx", "200-204,404": statuses from 100 to 599.
Parsing<std::vector<StatusRange>> parse_status_list(std::string_view text);

struct HeaderExpectation {
  std::string name;
  std::string pattern;  // a regular expression found in the value; empty: being there is enough
  bool operator==(const HeaderExpectation&) const = default;
};
/// "Name" or "Name: REGEX".
Parsing<HeaderExpectation> parse_header_expectation(std::string_view text);

/// Connections meant for one host and port go to another; the request stays as it is. Empty host
/// and port 0, on either side: any, or as they were.
struct ConnectTo {
  std::string from_host;  // names in lower case, IPv6 without brackets
  std::uint16_t from_port = 0;
  std::string to_host;
  std::uint16_t to_port = 0;
  bool operator==(const ConnectTo&) const = default;
};
/// "HOST:PORT:HOST2:PORT2" as in curl, IPv6 in brackets, each part may be empty.
Parsing<ConnectTo> parse_connect_to(std::string_view text);

/// The addresses of a host and port, instead of asking for them.
struct Resolve {
  std::string host;  // in lower case; "*": any
  std::uint16_t port = 0;
  std::vector<std::string> addresses;  // numeric, IPv6 without brackets
  bool operator==(const Resolve&) const = default;
};
/// "HOST:PORT:ADDRESS[,ADDRESS]" as in curl.
Parsing<Resolve> parse_resolve(std::string_view text);

/// A numeric address, IPv6 with or without brackets; returned without.
Parsing<std::string> parse_ip(std::string_view text);

/// "1.2", "1.3", "1.2-1.3": lowest and highest.
Parsing<std::pair<std::string, std::string>> parse_tls_versions(std::string_view text);

/// "h2,http/1.1": names of 1 to 255 bytes.
Parsing<std::vector<std::string>> parse_alpn(std::string_view text);

/// "name:password"; errors never quote it.
Parsing<std::string> parse_user(std::string_view text);

/// Where to listen.
struct ListenAddress {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;  // 0: a free one
  bool operator==(const ListenAddress&) const = default;
};
/// "HOST:PORT", or "PORT" on the loopback address.
Parsing<ListenAddress> parse_listen(std::string_view text);

/// The value of a header: no control characters; errors never quote it.
Parsing<std::string> parse_field_value(std::string_view text);

/// A file of rows for templates.
struct DataFile {
  std::string name;  // as in {{name.column}}
  std::string path;
  bool random = false;  // rows in shuffled order; each once before any comes again
  std::string origin;   // for messages: "--data", "load.yaml:5:7"; set by who reads the settings
  bool operator==(const DataFile&) const = default;
};
/// "NAME=FILE", or "FILE", whose name is that without its folder and ending; both perhaps with
/// ",order=random" or ",order=sequential" behind them.
Parsing<DataFile> parse_data_file(std::string_view text);

/// One part of a multipart/form-data body.
struct FormPart {
  std::string name;
  std::string text;      // of a field; empty when `path` is set
  std::string path;      // of a file whose content is the value
  std::string filename;  // empty: none is sent
  std::string type;      // Content-Type of the part; empty: none is sent
  bool operator==(const FormPart&) const = default;
};
/// "name=value", "name=@file", "name=<file" (content without a file name), the latter two with
/// ";type=TYPE" and ";filename=NAME" after them.
Parsing<FormPart> parse_form_part(std::string_view text);

/// "3=URL": a weight before a URL. No URL begins with a number and "=", and no shell makes anything
/// of it. Without one the weight is 1.
struct WeightedUrl {
  std::uint32_t weight = 1;
  std::string url;
};
Parsing<WeightedUrl> parse_weighted_url(std::string_view text);
inline constexpr std::uint32_t kHighestWeight = 1'000'000;

/// RFC 4648, section 4, with padding; decoding refuses everything else.
std::string base64_encode(std::string_view bytes);
Parsing<std::string> base64_decode(std::string_view text);

/// Letters, digits and the signs that may stand in a header's name or a method.
bool is_token(char c);
bool is_token(std::string_view text);
/// ASCII only.
std::string lower_case(std::string_view text);
bool same_name(std::string_view a, std::string_view b);

}  // namespace onbeat::options
