#include "options/endpoint_text.hpp"

#include "options/nearest.hpp"
#include "options/scan.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace onbeat::options {
namespace {

using Json = nlohmann::ordered_json;
using Failure = std::optional<std::string>;

constexpr std::array<std::string_view, 9> kKeys{
    "url", "method", "name", "weight", "header", "headers", "body", "body_text", "body_file"};

bool is_json(std::string_view text) { return text.starts_with('{') && !text.starts_with("{{"); }

Failure read_text(const Json& value, std::string_view key, std::string& text) {
  if (!value.is_string()) return fmt::format("\"{}\" must be a text", key);
  text = value.get_ref<const std::string&>();
  return text.empty() ? Failure(fmt::format("\"{}\" is empty", key)) : std::nullopt;
}

Failure add_header(const std::string& name, const Json& value, std::vector<Header>& headers) {
  if (!is_token(name)) return fmt::format("{} is not the name of a header", quote(name));
  if (!value.is_string()) return fmt::format("header {}: the value must be a text", name);
  auto text = parse_field_value(value.get_ref<const std::string&>());
  if (!text) return fmt::format("header {}: a control character in its value", name);
  headers.push_back({name, std::move(*text)});
  return std::nullopt;
}

Failure read_headers(const Json& value, std::vector<Header>& headers) {
  if (!value.is_object()) return "\"header\" must be an object of texts or lists of texts";
  for (const auto& [name, texts] : value.items()) {
    if (!texts.is_array()) {
      if (auto failure = add_header(name, texts, headers)) return failure;
      continue;
    }
    for (const Json& text : texts) {
      if (auto failure = add_header(name, text, headers)) return failure;
    }
  }
  return std::nullopt;
}

Failure read_weight(const Json& value, std::uint32_t& weight) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() == 0 ||
      value.get<std::uint64_t>() > kHighestWeight) {
    return fmt::format("\"weight\" must be a whole number from 1 to {}", kHighestWeight);
  }
  weight = value.get<std::uint32_t>();
  return std::nullopt;
}

Failure read_body(const Json& value, std::string_view key, EndpointText& endpoint) {
  if (endpoint.body || !endpoint.body_path.empty()) return "only one body can count";
  if (key == "body_file") return read_text(value, key, endpoint.body_path);
  if (!value.is_string()) return fmt::format("\"{}\" must be a text", key);
  const auto& text = value.get_ref<const std::string&>();
  if (key == "body_text") {
    endpoint.body = text;
    return std::nullopt;
  }
  auto bytes = base64_decode(text);
  if (!bytes) return "\"body\" is not base64; a body as plain text is \"body_text\"";
  endpoint.body = std::move(*bytes);
  return std::nullopt;
}

Failure read_member(const std::string& key, const Json& value, EndpointText& endpoint) {
  if (key == "url") return read_text(value, key, endpoint.url);
  if (key == "name") return read_text(value, key, endpoint.name);
  if (key == "weight") return read_weight(value, endpoint.weight);
  if (key == "header" || key == "headers") return read_headers(value, endpoint.headers);
  if (key == "body" || key == "body_text" || key == "body_file") {
    return read_body(value, key, endpoint);
  }
  if (key == "method") {
    if (auto failure = read_text(value, key, endpoint.method)) return failure;
    return is_token(endpoint.method) ? std::nullopt : Failure("\"method\" is not a method's name");
  }
  const auto near = nearest(key, kKeys);
  return fmt::format("unknown key {}{}", quote(key),
                     near ? fmt::format(", did you mean {}?", *near) : std::string());
}

Parsing<EndpointText> parse_json(std::string_view text) {
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::parse_error& error) {
    const std::size_t at = std::clamp<std::size_t>(error.byte, 1, text.size() + 1) - 1;
    return Scanner::fail_at(at, "not a JSON object");
  }
  EndpointText endpoint;
  for (const auto& [key, value] : json.items()) {
    if (auto failure = read_member(key, value, endpoint)) return Scanner::fail_at(0, *failure);
  }
  if (endpoint.url.empty()) return Scanner::fail_at(0, "\"url\" is missing");
  return endpoint;
}

/// The lines of one URL file, block by block.
class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {}

  void line(std::string_view text) {
    ++number_;
    if (text.ends_with('\r')) text.remove_suffix(1);
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) {
      in_block_ = false;
      return;
    }
    text = text.substr(first, text.find_last_not_of(" \t") - first + 1);
    if (text.starts_with('#')) return;
    if (is_json(text) || is_url(text)) return whole(text);
    if (text.starts_with('@')) return body(text.substr(1));
    const auto space = std::min(text.find_first_of(" \t"), text.size());
    const auto colon = std::min(text.find(':'), text.size());
    if (space < colon) return request(text.substr(0, space), text.substr(space));
    if (colon < text.size()) return header(text.substr(0, colon), text.substr(colon + 1));
    problem("neither a request nor a header", "for example GET http://127.0.0.1:8080/");
  }
  UrlFile take() && { return std::move(file_); }

 private:
  static bool is_url(std::string_view text) {
    const auto equals = text.find_first_not_of("0123456789");
    if (equals != 0 && equals != std::string_view::npos && text[equals] == '=') {
      text.remove_prefix(equals + 1);
    }
    const std::string start = lower_case(text.substr(0, 8));
    return start.starts_with("http://") || start.starts_with("https://") || start.starts_with("{{");
  }
  void problem(std::string message, std::string hint = {}) {
    file_.problems.push_back(
        {fmt::format("{}:{}", path_, number_), std::move(message), std::move(hint), {}, 0});
  }
  EndpointText* add(std::string_view text) {
    auto endpoint = parse_endpoint(text);
    in_block_ = endpoint.has_value();
    // Its header lines are no problem of their own.
    skipping_ = !in_block_;
    if (!endpoint) {
      problem(endpoint.error().message, endpoint.error().hint);
      return nullptr;
    }
    file_.entries.push_back({std::move(*endpoint), fmt::format("{}:{}", path_, number_)});
    return &file_.entries.back().endpoint;
  }
  void whole(std::string_view text) {
    add(text);
    in_block_ = skipping_ = false;
  }
  void request(std::string_view method, std::string_view url) {
    url.remove_prefix(url.find_first_not_of(" \t"));
    if (!is_token(method)) {
      in_block_ = false;
      skipping_ = true;
      return problem("not a method's name before the URL", "for example GET http://127.0.0.1/");
    }
    if (EndpointText* endpoint = add(url)) endpoint->method = method;
  }
  bool belongs(std::string_view what) {
    if (!in_block_ && !skipping_) problem(fmt::format("{} without a request before it", what));
    return in_block_;
  }
  void header(std::string_view name, std::string_view value) {
    if (!belongs("a header")) return;
    EndpointText& endpoint = file_.entries.back().endpoint;
    if (endpoint.body || !endpoint.body_path.empty()) return problem("a header after the body");
    value.remove_prefix(std::min(value.find_first_not_of(" \t"), value.size()));
    if (!is_token(name)) return problem("not the name of a header");
    if (!parse_field_value(value)) return problem("a control character in the header's value");
    endpoint.headers.push_back({std::string(name), std::string(value)});
  }
  void body(std::string_view path) {
    if (!belongs("a body")) return;
    EndpointText& endpoint = file_.entries.back().endpoint;
    if (path.empty()) return problem("the body's file is missing after \"@\"");
    if (!endpoint.body_path.empty()) return problem("only one body can count");
    endpoint.body_path = path;
  }

  const std::string& path_;
  std::size_t number_ = 0;
  bool in_block_ = false, skipping_ = false;
  UrlFile file_;
};

}  // namespace

Parsing<EndpointText> parse_endpoint(std::string_view text) {
  if (is_json(text)) return parse_json(text);
  auto url = parse_weighted_url(text);
  if (!url) return std::unexpected(url.error());
  EndpointText endpoint;
  endpoint.weight = url->weight;
  endpoint.url = std::move(url->url);
  return endpoint;
}

std::string endpoint_json(const EndpointText& endpoint) {
  Json json;
  json["url"] = endpoint.url;
  json["weight"] = endpoint.weight;
  if (!endpoint.name.empty()) json["name"] = endpoint.name;
  if (!endpoint.method.empty()) json["method"] = endpoint.method;
  for (const Header& header : endpoint.headers) json["header"][header.name].push_back(header.value);
  if (endpoint.body) json["body"] = base64_encode(*endpoint.body);
  if (!endpoint.body_path.empty()) json["body_file"] = endpoint.body_path;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

UrlFile parse_url_file(std::string_view text, const std::string& path) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  Reader reader(path);
  while (!text.empty()) {
    const std::size_t newline = std::min(text.find('\n'), text.size());
    reader.line(text.substr(0, newline));
    text.remove_prefix(std::min(newline + 1, text.size()));
  }
  return std::move(reader).take();
}

}  // namespace onbeat::options
