#include "options/profiles.hpp"

#include "options/nearest.hpp"
#include "options/scan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace onbeat::options {
namespace {

using Pairs = std::vector<std::pair<std::string_view, std::string_view>>;

Profile built_in(CommandSet command, std::string_view name, std::string_view description,
                 const Pairs& pairs) {
  Profile profile{std::string(name), std::string(description), {}, {}, {}};
  for (const auto& [option, text] : pairs) {
    profile.settings.push_back(
        {find_option(option, command), std::string(text), fmt::format("profile {}", name)});
  }
  return profile;
}

const Profile* find_profile(std::string_view name, std::span<const Profile> custom,
                            CommandSet command) {
  for (const auto profiles : {built_in_profiles(command), custom}) {
    const auto found = std::ranges::find(profiles, name, &Profile::name);
    if (found != profiles.end()) return &*found;
  }
  return nullptr;
}

std::string nearest_hint(std::string_view name, std::span<const Profile> custom) {
  std::vector<std::string_view> names;
  for (const Profile& profile : built_in_profiles()) names.push_back(profile.name);
  for (const Profile& profile : custom) names.push_back(profile.name);
  if (const auto near = nearest(name, names)) return fmt::format("did you mean {}?", *near);
  return fmt::format("there are {}", fmt::join(names, ", "));
}

/// From the profile to its furthest ancestor.
std::expected<std::vector<const Profile*>, Problem> ancestry(std::string_view name,
                                                             std::span<const Profile> custom,
                                                             std::string asked_by,
                                                             CommandSet command) {
  std::vector<const Profile*> chain;
  while (!name.empty()) {
    const Profile* profile = find_profile(name, custom, command);
    if (profile == nullptr) {
      return std::unexpected(Problem{std::move(asked_by),
                                     fmt::format("unknown profile {}", quote(name)),
                                     nearest_hint(name, custom),
                                     {},
                                     0});
    }
    if (std::ranges::find(chain, profile) != chain.end()) {
      return std::unexpected(
          Problem{chain.front()->origin,
                  fmt::format("what {} extends goes round in a circle", quote(chain.front()->name)),
                  {},
                  {},
                  0});
    }
    chain.push_back(profile);
    name = profile->extends;
    asked_by = profile->origin;
  }
  return chain;
}

std::string profile_text(const Profile& profile) {
  std::string text = fmt::format("{}", profile.name);
  if (!profile.description.empty()) text += fmt::format("  {}", profile.description);
  text += "\n";
  if (!profile.extends.empty()) text += fmt::format("  extends {}\n", profile.extends);
  for (const Setting& setting : profile.settings) {
    text += fmt::format("  {}: {}\n", setting.option->key(),
                        setting.option->secret ? "..." : setting.text);
  }
  return text;
}

}  // namespace

namespace {

constexpr std::string_view kFunctional = "Does it work at all: one worker, few requests";
constexpr std::string_view kLoad = "Expected load, in steps";
constexpr std::string_view kStress = "More and more, to see what gives";
constexpr std::string_view kSpike = "A sudden peak, and the time after it";
constexpr std::string_view kSoak = "Little load for a long time";

std::vector<Profile> http_profiles() {
  return {
      built_in(kHttp, "functional", kFunctional,
               {{"concurrency", "1"}, {"requests", "100"}, {"duration", "30s"}}),
      built_in(
          kHttp, "load", kLoad,
          {{"concurrency", "10"},
           {"duration", "1m"},
           {"rate", "50 for 10s, 60 for 10s, 70 for 10s, 80 for 10s, 90 for 10s, 100 for 10s"}}),
      built_in(
          kHttp, "stress", kStress,
          {{"concurrency", "50"}, {"duration", "2m"}, {"rate", "10..500 over 1m38s, 500 for 22s"}}),
      built_in(kHttp, "spike", kSpike,
               {{"concurrency", "100"},
                {"duration", "1m"},
                {"rate", "spike(base=10, peak=500, at=30s, for=10s)"}}),
      built_in(kHttp, "soak", kSoak, {{"concurrency", "5"}, {"duration", "1h"}, {"rate", "50"}}),
  };
}

/// The same in the keys of BENCH sections, so that a section can change one of them.
std::vector<Profile> bench_profiles() {
  return {
      built_in(kBench, "functional", kFunctional,
               {{"mode", "fixed"}, {"concurrency", "1"}, {"requests", "100"}, {"duration", "30s"}}),
      built_in(kBench, "load", kLoad,
               {{"mode", "stepping"},
                {"concurrency", "10"},
                {"duration", "60s"},
                {"load-schedule", "step"},
                {"load-start", "50"},
                {"load-step", "10"},
                {"load-end", "200"},
                {"load-step-duration", "10s"}}),
      built_in(kBench, "stress", kStress,
               {{"mode", "stepping"},
                {"concurrency", "50"},
                {"duration", "120s"},
                {"load-schedule", "line"},
                {"load-start", "10"},
                {"load-step", "5"},
                {"load-end", "500"}}),
      built_in(kBench, "spike", kSpike,
               {{"mode", "fixed"},
                {"concurrency", "100"},
                {"duration", "60s"},
                {"load-schedule", "spike"},
                {"load-start", "10"},
                {"load-spike-target", "500"},
                {"load-spike-after", "30"},
                {"load-spike-duration", "10"}}),
      built_in(kBench, "soak", kSoak,
               {{"mode", "fixed"},
                {"concurrency", "5"},
                {"duration", "3600s"},
                {"load-schedule", "const"},
                {"load-start", "50"}}),
  };
}

}  // namespace

std::span<const Profile> built_in_profiles(CommandSet command) {
  static const std::vector<Profile> kHttpProfiles = http_profiles();
  static const std::vector<Profile> kBenchProfiles = bench_profiles();
  return command == kBench ? kBenchProfiles : kHttpProfiles;
}

std::expected<Layer, Problem> profile_layer(std::string_view name, std::span<const Profile> custom,
                                            const std::string& asked_by, CommandSet command) {
  auto chain = ancestry(name, custom, asked_by, command);
  if (!chain) return std::unexpected(chain.error());
  Layer layer{Source::profile, {}};
  for (const Profile* profile : *chain) {
    const std::size_t nearer = layer.settings.size();
    for (const Setting& setting : profile->settings) {
      // As between sources: an option of the nearer profile does away with its family.
      const auto same = [&](const Setting& other) {
        return other.option == setting.option ||
               (!setting.option->family.empty() && other.option->family == setting.option->family);
      };
      const auto end = layer.settings.begin() + static_cast<std::ptrdiff_t>(nearer);
      if (std::find_if(layer.settings.begin(), end, same) == end) layer.settings.push_back(setting);
    }
  }
  return layer;
}

std::vector<Problem> check_profiles(std::span<const Profile> custom) {
  std::vector<Problem> problems;
  for (std::size_t i = 0; i < custom.size(); ++i) {
    const Profile& profile = custom[i];
    const auto clash = [&](std::string message) {
      problems.push_back({profile.origin, std::move(message), "choose another name", {}, 0});
    };
    if (std::ranges::find(built_in_profiles(), profile.name, &Profile::name) !=
        built_in_profiles().end()) {
      clash(fmt::format("{} is built in", profile.name));
    } else if (std::ranges::find(custom.first(i), profile.name, &Profile::name) !=
               custom.first(i).end()) {
      clash(fmt::format("{} is there twice", profile.name));
    } else if (auto chain = ancestry(profile.name, custom, profile.origin, kHttp); !chain) {
      problems.push_back(chain.error());
    }
  }
  return problems;
}

std::string profiles_text(std::span<const Profile> custom) {
  std::string text;
  for (const auto profiles : {built_in_profiles(), custom}) {
    for (const Profile& profile : profiles) text += profile_text(profile) + "\n";
  }
  return text + "onbeat http URL --profile NAME uses one; flags beside it come first\n";
}

}  // namespace onbeat::options
