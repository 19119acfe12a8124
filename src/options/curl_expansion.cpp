// expand_curl: from a parsed command to settings.
#include "options/curl.hpp"
#include "options/http_grammar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <expected>
#include <optional>

namespace onbeat::options {
namespace {

using Kind = CurlCommand::DataKind;

constexpr std::size_t kLargestData = std::size_t{256} << 20;

/// All but RFC 3986's unreserved characters as %XX.
std::string percent_encoded(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    if (plain) {
      result += c;
    } else {
      result += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return result;
}

class Expansion {
 public:
  Expansion(Layer& layer, const Setting& origin, CurlCommand command,
            const Surroundings& surroundings, std::vector<Problem>& errors)
      : layer_(layer),
        origin_(origin.origin),
        command_(std::move(command)),
        surroundings_(surroundings),
        errors_(errors) {}

  void run() {
    const std::size_t beside = layer_.settings.size();
    add_data();
    for (const CurlCommand::Setting& setting : command_.settings) {
      const Option& option = *find_option(setting.option, kHttp);
      if (!overruled(option, setting.text, beside)) {
        layer_.settings.push_back({&option, setting.text, origin_});
      }
    }
  }

 private:
  /// Whether one of the first `beside` settings of the layer says something else.
  bool overruled(const Option& option, std::string_view text, std::size_t beside) const {
    for (std::size_t i = 0; i < beside; ++i) {
      const Setting& other = layer_.settings[i];
      if (other.option == &option) {
        if (!option.repeatable || !option.family.empty()) return true;
        if (option.name == "header" &&
            same_name(text.substr(0, text.find(':')), other.text.substr(0, other.text.find(':')))) {
          return true;
        }
      }
      if (!option.family.empty() && other.option->family == option.family) return true;
    }
    return false;
  }

  bool has_header(std::string_view name) const {
    return std::ranges::any_of(command_.settings,
                               [&](const CurlCommand::Setting& setting) {
                                 return setting.option == "header" &&
                                        same_name(setting.text.substr(0, setting.text.find(':')),
                                                  name);
                               }) ||
           std::ranges::any_of(command_.no_header,
                               [&](const std::string& taken) { return same_name(taken, name); });
  }
  void add_header(std::string_view name, std::string_view value) {
    if (has_header(name)) return;
    command_.settings.push_back({"header", fmt::format("{}: {}", name, value)});
  }

  std::optional<std::string> read(const std::string& path) {
    auto text = surroundings_.read_file(path, kLargestData);
    if (text) return std::move(*text);
    errors_.push_back({origin_, fmt::format("cannot read {}: {}", path, text.error()), {}, {}, 0});
    return std::nullopt;
  }

  std::optional<std::string> url_encoded(const std::string& text) {
    const auto mark = text.find_first_of("=@");
    if (mark == std::string::npos) return percent_encoded(text);
    const std::string name = mark == 0 ? std::string() : text.substr(0, mark) + "=";
    std::string value = text.substr(mark + 1);
    if (text[mark] == '@') {
      auto content = read(value);
      if (!content) return std::nullopt;
      value = std::move(*content);
    }
    return name + percent_encoded(value);
  }

  std::optional<std::string> piece(const CurlCommand::Data& data) {
    if (data.kind == Kind::url_encoded) return url_encoded(data.text);
    if (data.kind == Kind::raw || !data.text.starts_with('@')) return data.text;
    auto content = read(data.text.substr(1));
    if (content && data.kind == Kind::text) {
      std::erase_if(*content, [](char c) { return c == '\r' || c == '\n' || c == '\0'; });
    }
    return content;
  }

  void add_data() {
    if (command_.data.empty()) return;
    std::string body;
    bool json = false, first = true;
    for (const CurlCommand::Data& data : command_.data) {
      const auto text = piece(data);
      if (!text) return;
      if (!first && data.kind != Kind::json) body += '&';
      first = false;
      json = json || data.kind == Kind::json;
      body += *text;
    }
    if (command_.data_in_query) return add_to_query(body);
    add_header("Content-Type", json ? "application/json" : "application/x-www-form-urlencoded");
    if (json) add_header("Accept", "application/json");
    command_.settings.push_back({"body", std::move(body)});
  }

  void add_to_query(const std::string& query) {
    for (CurlCommand::Setting& setting : command_.settings) {
      if (setting.option != "url") continue;
      const auto end = std::min(setting.text.find('#'), setting.text.size());
      const bool has_query = setting.text.find('?') < end;
      setting.text.insert(end, (has_query ? "&" : "?") + query);
    }
  }

  Layer& layer_;
  std::string origin_;
  CurlCommand command_;
  const Surroundings& surroundings_;
  std::vector<Problem>& errors_;
};

}  // namespace

void expand_curl(Layer& layer, const Surroundings& surroundings, std::vector<Problem>& errors,
                 std::vector<Problem>& warnings) {
  const auto found = std::ranges::find_if(
      layer.settings, [](const Setting& setting) { return setting.option->name == "curl"; });
  if (found == layer.settings.end()) return;
  auto command = parse_curl(found->text);
  if (!command) return;
  if (!command->ignored.empty()) {
    warnings.push_back({found->origin,
                        fmt::format("without meaning for a load and left out: {}",
                                    fmt::join(command->ignored, ", ")),
                        {},
                        {},
                        0});
  }
  const Setting curl = *found;
  Expansion(layer, curl, std::move(*command), surroundings, errors).run();
}

}  // namespace onbeat::options
