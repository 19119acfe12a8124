#include "options/config.hpp"

#include "options/endpoint_text.hpp"
#include "options/nearest.hpp"
#include "options/scan.hpp"
#include "options/yaml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace onbeat::options {
namespace {

using Kind = YamlNode::Kind;

constexpr std::array<std::string_view, 9> kEndpointKeys{
    "name", "weight", "url", "method", "header", "body", "json_body", "body_file", "threshold"};
constexpr std::array<std::string_view, 2> kProfileKeys{"description", "extends"};

/// Repeatable options that are a name and a value can be written as a map: what stands between.
std::string_view between(const Option& option) {
  using enum onbeat::options::Kind;
  switch (option.kind) {
    case header:
    case header_expectation:
      return ": ";
    case tag:
    case out:
    case limit:
    case form:
    case data_file:
      return "=";
    default:
      return {};
  }
}

class ConfigReader {
 public:
  ConfigReader(const std::string& path, const Command& command, const Vocabulary& vocabulary,
               const Surroundings* surroundings)
      : path_(path), command_(command), vocabulary_(vocabulary), surroundings_(surroundings) {}

  ConfigFile config(const YamlNode& root) && {
    each(root, "a configuration", [&](const YamlNode& key, const YamlNode& value) {
      if (key.text == "endpoints") return endpoints(value);
      if (key.text == "profiles") return profiles(value);
      constexpr std::array<std::string_view, 2> kMore{"endpoints", "profiles"};
      option(key, value, kMore, file_.layer.settings);
    });
    return finish();
  }

  ConfigFile profile_file(const YamlNode& root) && {
    profiles(root);
    return finish();
  }

 private:
  ConfigFile finish() {
    std::vector<Problem> problems = check_profiles(file_.profiles);
    file_.problems.insert(file_.problems.end(), problems.begin(), problems.end());
    return std::move(file_);
  }

  void problem(const YamlNode& node, std::string message, std::string hint = {},
               std::string text = {}, std::size_t column = 0) {
    file_.problems.push_back(
        {yaml_place(path_, node), std::move(message), std::move(hint), std::move(text), column});
  }

  /// Every member of a map, each key once.
  template <typename Visit>
  void each(const YamlNode& node, std::string_view what, Visit visit) {
    if (node.is(Kind::nothing)) return;
    if (!node.is(Kind::map)) return problem(node, fmt::format("{} is a map of keys", what));
    std::set<std::string_view> seen;
    for (const auto& [key, value] : node.members) {
      if (!seen.insert(key.text).second) {
        problem(key, fmt::format("{} is there twice", quote(key.text)),
                "only one of them can count");
      } else if (value.is(Kind::nothing)) {
        problem(key, fmt::format("{} has no value", quote(key.text)));
      } else {
        visit(key, value);
      }
    }
  }

  void unknown_key(const YamlNode& key, std::span<const std::string_view> more, bool options_too) {
    std::vector<std::string> keys(more.begin(), more.end());
    if (options_too) {
      for (const Option& row : options()) {
        if ((row.commands & command_.id) != 0 && !row.section_only) keys.push_back(row.key());
      }
    }
    const std::vector<std::string_view> names(keys.begin(), keys.end());
    const auto near = nearest(key.text, names);
    std::string hint = near ? fmt::format("did you mean {}?", *near)
                            : fmt::format(
                                  "onbeat {} --help lists the options; a key is a flag's "
                                  "name with '_' for '-'",
                                  command_.name);
    if (!options_too && !near) hint = fmt::format("keys are {}", fmt::join(names, ", "));
    problem(key, fmt::format("unknown key {}", quote(key.text)), std::move(hint));
  }

  void option(const YamlNode& key, const YamlNode& value, std::span<const std::string_view> more,
              std::vector<Setting>& settings) {
    const Option* found = find_key(key.text, command_.id);
    if (found == nullptr || found->section_only) return unknown_key(key, more, true);
    const bool outside = found->group == Group::general || found->name == "config";
    if (outside) return problem(key, fmt::format("{} does not belong in a file", key.text));
    if (value.is(Kind::scalar)) return text(*found, value, value.text, settings);
    if (!found->repeatable) {
      return problem(value, fmt::format("{} has one value", key.text));
    }
    if (value.is(Kind::list)) {
      for (const YamlNode& item : value.items) {
        if (item.is(Kind::scalar)) {
          text(*found, item, item.text, settings);
        } else {
          problem(item, fmt::format("an item of {} is a text", key.text), example(*found));
        }
      }
      return;
    }
    pairs(*found, key, value, settings);
  }

  static std::string example(const Option& option) {
    return fmt::format("{}: [\"{}\"]", option.key(), option.value);
  }

  /// {Accept: text/html} for ["Accept: text/html"].
  void pairs(const Option& option, const YamlNode& key, const YamlNode& value,
             std::vector<Setting>& settings) {
    const std::string_view separator = between(option);
    if (separator.empty()) {
      return problem(value, fmt::format("{} is a text or a list of texts", key.text));
    }
    each(value, key.text, [&](const YamlNode& name, const YamlNode& item) {
      const auto add = [&](const YamlNode& node) {
        if (!node.is(Kind::scalar)) return problem(node, "a text is missing here");
        text(option, node, fmt::format("{}{}{}", name.text, separator, node.text), settings);
      };
      if (!item.is(Kind::list)) return add(item);
      for (const YamlNode& one : item.items) add(one);
    });
  }

  void text(const Option& option, const YamlNode& node, std::string value,
            std::vector<Setting>& settings) {
    if (const auto wrong = check_value(option, value, vocabulary_)) {
      const bool shown = !option.secret && !value.empty();
      return problem(node, fmt::format("{}: {}", option.key(), wrong->message), wrong->hint,
                     shown ? value : std::string(), wrong->column);
    }
    settings.push_back({&option, std::move(value), yaml_place(path_, node)});
  }

  void profiles(const YamlNode& node) {
    each(node, "profiles", [&](const YamlNode& name, const YamlNode& value) {
      Profile profile{name.text, {}, {}, {}, yaml_place(path_, name)};
      if (!is_token(name.text)) problem(name, "not a name for a profile");
      each(value, "a profile", [&](const YamlNode& key, const YamlNode& part) {
        if (key.text == "description") return scalar(key, part, profile.description);
        if (key.text == "extends") return scalar(key, part, profile.extends);
        if (key.text == "profile" || key.text == "profile_file") {
          return problem(key, fmt::format("{} does not belong in a profile", key.text),
                         "extends: NAME");
        }
        option(key, part, kProfileKeys, profile.settings);
      });
      file_.profiles.push_back(std::move(profile));
    });
  }

  void scalar(const YamlNode& key, const YamlNode& value, std::string& result) {
    if (!value.is(Kind::scalar)) return problem(value, fmt::format("{} is a text", key.text));
    result = value.text;
  }

  void endpoints(const YamlNode& node) {
    if (find_option("url", command_.id) == nullptr) {
      return problem(node, fmt::format("`{}` has no endpoints", command_.name));
    }
    if (!node.is(Kind::list)) {
      return problem(node, "endpoints is a list", "- url: http://127.0.0.1:8080/");
    }
    for (const YamlNode& item : node.items) endpoint(item);
  }

  void endpoint(const YamlNode& node) {
    const std::size_t before = file_.problems.size();
    EndpointText endpoint;
    std::vector<Setting> parts;
    if (!node.is(Kind::map)) return problem(node, "an endpoint is a map of keys");
    each(node, "an endpoint", [&](const YamlNode& key, const YamlNode& value) {
      if (key.text == "name") return scalar(key, value, endpoint.name);
      if (key.text == "weight") return weight(value, endpoint);
      if (key.text == "threshold") return thresholds(key, value, node);
      if (std::ranges::find(kEndpointKeys, key.text) == kEndpointKeys.end()) {
        return unknown_key(key, kEndpointKeys, false);
      }
      option(key, value, {}, parts);
    });
    for (const Setting& part : parts) read_part(part, endpoint);
    if (endpoint.url.empty() && file_.problems.size() == before) {
      problem(node, "the endpoint has no url");
    }
    if (file_.problems.size() > before) return;
    file_.layer.settings.push_back(
        {find_option("url", command_.id), endpoint_json(endpoint), yaml_place(path_, node)});
  }

  void read_part(const Setting& part, EndpointText& endpoint) {
    const std::string_view name = part.option->name;
    const auto wrong = [&](std::string message) {
      file_.problems.push_back({part.origin, std::move(message), {}, {}, 0});
    };
    if (name == "url") {
      const auto url = parse_endpoint(part.text);
      if (!endpoint.url.empty() || url->weight != 1 || url->url != part.text) {
        return wrong("the url of an endpoint is one URL; its share is weight");
      }
      endpoint.url = url->url;
    } else if (name == "method") {
      endpoint.method = part.text;
    } else if (name == "header") {
      auto headers = parse_header(part.text, surroundings_->header_sources());
      if (!headers) return wrong(headers.error().message);
      endpoint.headers.insert(endpoint.headers.end(), headers->begin(), headers->end());
    } else {
      if (endpoint.body || !endpoint.body_path.empty()) return wrong("only one body can count");
      if (name == "body-file") {
        endpoint.body_path = part.text;
      } else {
        endpoint.body = part.text;
      }
      if (name == "json-body") json_headers(endpoint);
    }
  }

  static void json_headers(EndpointText& endpoint) {
    for (const std::string_view name : {"Content-Type", "Accept"}) {
      if (std::ranges::none_of(endpoint.headers, [&](const Header& header) {
            return same_name(header.name, name);
          })) {
        endpoint.headers.push_back({std::string(name), "application/json"});
      }
    }
  }

  void weight(const YamlNode& value, EndpointText& endpoint) {
    const auto count =
        parse_count(value.is(Kind::scalar) ? std::string_view(value.text) : std::string_view());
    if (!count || *count == 0 || *count > kHighestWeight) {
      return problem(value, fmt::format("a weight is a whole number from 1 to {}", kHighestWeight));
    }
    endpoint.weight = static_cast<std::uint32_t>(*count);
  }

  /// "p(99) < 25ms" of an endpoint is endpoint("login").p(99) < 25ms of the run.
  void thresholds(const YamlNode& key, const YamlNode& value, const YamlNode& endpoint) {
    std::string name;
    for (const auto& [other, text] : endpoint.members) {
      if (other.text == "name" && text.is(Kind::scalar)) name = text.text;
    }
    if (name.empty()) {
      return problem(key, "an endpoint with thresholds needs a name", "name: login");
    }
    std::vector<Setting> own;
    option(key, value, {}, own);
    const Option* row = find_option("threshold", command_.id);
    for (Setting& setting : own) {
      std::string quoted;
      for (const char c : name)
        quoted += c == '"' || c == '\\' ? std::string{'\\', c} : std::string(1, c);
      std::string scoped = fmt::format("endpoint(\"{}\").{}", quoted, setting.text);
      if (const auto wrong = check_value(*row, scoped, vocabulary_)) {
        file_.problems.push_back(
            {setting.origin, wrong->message, wrong->hint, scoped, wrong->column});
      } else {
        file_.layer.settings.push_back({row, std::move(scoped), setting.origin});
      }
    }
  }

  const std::string& path_;
  const Command& command_;
  const Vocabulary& vocabulary_;
  const Surroundings* surroundings_;
  ConfigFile file_;
};

}  // namespace

ConfigFile parse_config(std::string_view text, const std::string& path, const Command& command,
                        const Surroundings& surroundings, const Vocabulary& vocabulary) {
  const auto root = parse_yaml(text, path);
  if (!root) return {.problems = {root.error()}};
  return ConfigReader(path, command, vocabulary, &surroundings).config(*root);
}

ConfigFile parse_profile_file(std::string_view text, const std::string& path,
                              const Command& command, const Vocabulary& vocabulary) {
  const auto root = parse_yaml(text, path);
  if (!root) return {.problems = {root.error()}};
  return ConfigReader(path, command, vocabulary, nullptr).profile_file(*root);
}

}  // namespace onbeat::options
