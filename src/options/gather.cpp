#include "options/gather.hpp"

#include "options/config.hpp"
#include "options/curl.hpp"
#include "options/nearest.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace onbeat::options {
namespace {

constexpr std::size_t kLargestFile = std::size_t{16} << 20;
constexpr std::string_view kPrefix = "ONBEAT_";

class Gatherer {
 public:
  Gatherer(const Command& command, const Arguments& arguments, const Surroundings& surroundings,
           const Vocabulary& vocabulary, const Layer* section)
      : command_(command), surroundings_(surroundings), vocabulary_(vocabulary) {
    layers_.push_back(arguments.layer);
    if (section != nullptr) layers_.push_back(*section);
    add_positionals(arguments.positionals);
  }

  Gathered run() && {
    layers_.push_back(environment());
    misspelt_variables();
    if (find_option("config", command_.id) != nullptr) {
      read_config();
      read_profile();
    }
    for (Layer& layer : layers_) {
      expand_curl(layer, surroundings_, gathered_.errors, gathered_.warnings);
    }
    gathered_.settings = resolve(command_.id, layers_);
    read_other_variables();
    return std::move(gathered_);
  }

 private:
  void error(std::string where, std::string message, std::string hint = {}) {
    gathered_.errors.push_back({std::move(where), std::move(message), std::move(hint), {}, 0});
  }

  /// The value is left out where it may hold a secret.
  void refuse(const Option& option, const std::string& where, const std::string& text,
              const GrammarError& wrong) {
    const bool shown = !option.secret && !text.empty();
    gathered_.errors.push_back(
        {where, wrong.message, wrong.hint, shown ? text : std::string(), wrong.column});
  }

  void add_positionals(const std::vector<std::string>& positionals) {
    const Option* url = find_option(command_.fills, command_.id);
    if (url == nullptr) return;
    const std::string_view name = command_.fills == "url" ? "URL" : "FILE";
    for (std::size_t i = 0; i < positionals.size(); ++i) {
      const std::string where =
          positionals.size() > 1 ? fmt::format("{} #{}", name, i + 1) : std::string(name);
      if (const auto wrong = check_value(*url, positionals[i])) {
        refuse(*url, where, positionals[i], *wrong);
      }
      layers_[0].settings.push_back({url, positionals[i], where});
    }
  }

  /// Several values of a repeatable option are lines of its variable.
  Layer environment() {
    Layer layer{Source::env, {}};
    for (const Option& option : options()) {
      if ((option.commands & command_.id) == 0 || option.group == Group::general ||
          option.section_only)
        continue;
      std::string name = option.environment();
      auto value = surroundings_.environment(name);
      if ((!value || value->empty()) && !option.alias.empty()) {
        name = Option{.name = option.alias}.environment();
        value = surroundings_.environment(name);
      }
      if (!value || value->empty()) continue;
      for (std::size_t at = 0; at <= value->size();) {
        const std::size_t end =
            option.repeatable ? std::min(value->find('\n', at), value->size()) : value->size();
        const std::string text = value->substr(at, end - at);
        at = end + 1;
        if (text.empty()) continue;
        if (const auto wrong = check_value(option, text, vocabulary_)) {
          refuse(option, name, text, *wrong);
        }
        layer.settings.push_back({&option, text, name});
      }
    }
    return layer;
  }

  /// Variables of one's own may begin with ONBEAT_, too: only what is near an option is told.
  void misspelt_variables() {
    std::vector<std::string> known;
    for (const Option& option : options()) known.push_back(option.environment());
    std::vector<std::string_view> keys;
    for (const std::string& name : known)
      keys.push_back(std::string_view(name).substr(kPrefix.size()));
    for (const std::string& name : surroundings_.variables()) {
      if (!name.starts_with(kPrefix)) continue;
      const std::string_view key = std::string_view(name).substr(kPrefix.size());
      const auto near = nearest(key, keys);
      if (!near || *near == key) continue;
      gathered_.warnings.push_back({name,
                                    "the variable sets no option",
                                    fmt::format("did you mean {}{}?", kPrefix, *near),
                                    {},
                                    0});
    }
  }

  /// A variable of other tools that counts when nothing else says how many threads.
  void read_other_variables() {
    constexpr std::string_view kThreads = "TOKIO_WORKER_THREADS";
    if (command_.id != kBench || gathered_.settings.has("threads")) return;
    const auto value = surroundings_.environment(std::string(kThreads));
    if (!value || value->empty()) return;
    const Option& option = *find_option("threads", command_.id);
    if (const auto wrong = check_value(option, *value))
      return refuse(option, std::string(kThreads), *value, *wrong);
    layers_.push_back({Source::env, {{&option, *value, std::string(kThreads)}}});
    gathered_.settings = resolve(command_.id, layers_);
  }

  void take(ConfigFile file) {
    gathered_.errors.insert(gathered_.errors.end(), file.problems.begin(), file.problems.end());
    for (Profile& profile : file.profiles) profiles_.push_back(std::move(profile));
    if (!file.layer.settings.empty()) layers_.push_back(std::move(file.layer));
  }

  /// What the layers so far make of a path; its content.
  template <typename Parse>
  void read(std::string_view option, Parse parse) {
    const Settings so_far = resolve(command_.id, layers_);
    const Settings::Value* value = so_far.find(option);
    if (value == nullptr || value->texts.back().empty()) return;
    const std::string& path = value->texts.back();
    const auto text = surroundings_.read_file(path, kLargestFile);
    if (!text) {
      return error(value->origins.back(), fmt::format("cannot read {}: {}", path, text.error()));
    }
    take(parse(*text, path == "-" ? std::string("standard input") : path));
  }

  void read_config() {
    read("config", [&](const std::string& text, const std::string& path) {
      return parse_config(text, path, command_, surroundings_, vocabulary_);
    });
    read("profile-file", [&](const std::string& text, const std::string& path) {
      return parse_profile_file(text, path, command_, vocabulary_);
    });
  }

  void read_profile() {
    const Settings so_far = resolve(command_.id, layers_);
    const Settings::Value* value = so_far.find("profile");
    if (value == nullptr) return;
    auto layer = profile_layer(value->texts.back(), profiles_, value->origins.back(), command_.id);
    if (!layer) {
      // A circle or a missing parent has been told where the profiles were read.
      if (!std::ranges::any_of(gathered_.errors, [&](const Problem& told) {
            return told.where == layer.error().where && told.message == layer.error().message;
          })) {
        gathered_.errors.push_back(layer.error());
      }
      return;
    }
    layers_.push_back(std::move(*layer));
  }

  const Command& command_;
  const Surroundings& surroundings_;
  const Vocabulary& vocabulary_;
  std::vector<Layer> layers_;
  std::vector<Profile> profiles_;
  Gathered gathered_{.settings = Settings(kEvery), .errors = {}, .warnings = {}};
};

}  // namespace

Gathered gather_settings(const Command& command, const Arguments& arguments,
                         const Surroundings& surroundings, const Vocabulary& vocabulary,
                         const Layer* section) {
  return Gatherer(command, arguments, surroundings, vocabulary, section).run();
}

std::expected<std::string, std::vector<Problem>> profiles_report(const Settings& settings,
                                                                 const Surroundings& surroundings) {
  ConfigFile file;
  if (const Settings::Value* value = settings.find("profile-file")) {
    const std::string& path = value->texts.back();
    const auto text = surroundings.read_file(path, kLargestFile);
    if (!text) {
      return std::unexpected(
          std::vector{Problem{value->origins.back(),
                              fmt::format("cannot read {}: {}", path, text.error()),
                              {},
                              {},
                              0}});
    }
    file = parse_profile_file(*text, path, *find_command("http"));
    if (!file.problems.empty()) return std::unexpected(std::move(file.problems));
  }
  return profiles_text(file.profiles);
}

}  // namespace onbeat::options
