#include "options/config.hpp"

#include "options/fake_surroundings.hpp"
#include "options/gather.hpp"
#include "options/http_options.hpp"
#include "options/load_options.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace onbeat::options {
namespace {

FakeSurroundings around() {
  FakeSurroundings surroundings;
  surroundings.variables = {{"TOKEN", "s3cret"}};
  return surroundings;
}

/// What a file sets, a line each, then its problems.
std::string config(std::string_view text) {
  const ConfigFile file = parse_config(text, "f.yaml", *find_command("http"), around().make());
  std::string result;
  for (const Setting& setting : file.layer.settings) {
    result += fmt::format("{} {}={}\n", setting.origin, setting.option->name, setting.text);
  }
  for (const Problem& problem : file.problems) result += render(problem);
  return result;
}

TEST(Config, AnyOptionByItsKey) {
  EXPECT_EQ(config("rate: 5_000\n"
                   "max_wait: 2s\n"
                   "strict: true\n"
                   "header: {A: b, C: [d, e]}\n"
                   "tag:\n"
                   "  k: v\n"
                   "threshold: [p(99) < 25ms, error_rate < 1%]\n"
                   "limit: {lag_p99.degraded: 2ms}\n"
                   "out: json=x\n"),
            "f.yaml:1:7 rate=5_000\n"
            "f.yaml:2:11 max-wait=2s\n"
            "f.yaml:3:9 strict=true\n"
            "f.yaml:4:13 header=A: b\n"
            "f.yaml:4:20 header=C: d\n"
            "f.yaml:4:23 header=C: e\n"
            "f.yaml:6:6 tag=k=v\n"
            "f.yaml:7:13 threshold=p(99) < 25ms\n"
            "f.yaml:7:27 threshold=error_rate < 1%\n"
            "f.yaml:8:27 limit=lag_p99.degraded=2ms\n"
            "f.yaml:9:6 out=json=x\n");
  EXPECT_EQ(config(""), "");
}

TEST(Config, AllProblemsWithPlacesAndHints) {
  EXPECT_EQ(config("raet: 5\n"
                   "max-wait: 2s\n"
                   "timeout: 5\n"
                   "rate: [1, 2]\n"
                   "strict:\n"
                   "help: true\n"
                   "config: x\n"
                   "duration: 1s\n"
                   "duration: 2s\n"
                   "header: {A: {b: c}}\n"
                   "threshold: {p99: 1}\n"
                   "user: s3cret\n"
                   "port: 80\n"),
            "f.yaml:8:11 duration=1s\n"
            "error: f.yaml:1:1: unknown key \"raet\"\n  hint: did you mean rate?\n"
            "error: f.yaml:2:1: unknown key \"max-wait\"\n  hint: did you mean max_wait?\n"
            "error: f.yaml:3:10: timeout: a duration needs a unit\n  5\n   ^\n  hint: 5s or 5ms\n"
            "error: f.yaml:4:7: rate has one value\n"
            "error: f.yaml:5:1: \"strict\" has no value\n"
            "error: f.yaml:6:1: help does not belong in a file\n"
            "error: f.yaml:7:1: config does not belong in a file\n"
            "error: f.yaml:9:1: \"duration\" is there twice\n  hint: only one of them can count\n"
            "error: f.yaml:10:13: a text is missing here\n"
            "error: f.yaml:11:12: threshold is a text or a list of texts\n"
            "error: f.yaml:12:7: user: a colon and the password are missing\n"
            "  hint: NAME:PASSWORD\n"
            "error: f.yaml:13:1: unknown key \"port\"\n"
            "  hint: onbeat http --help lists the options; a key is a flag's name with '_' for "
            "'-'\n");
}

TEST(Config, Endpoints) {
  EXPECT_EQ(config("endpoints:\n"
                   "  - url: http://h/1\n"
                   "  - threshold: [p(95) < 50ms]\n"
                   "    name: log\"in\n"
                   "    weight: 3\n"
                   "    url: http://h/2\n"
                   "    method: PUT\n"
                   "    header: {Authorization: Bearer $TOKEN}\n"
                   "    json_body: '{}'\n"
                   "  - {url: http://h/3, body_file: b}\n"),
            "f.yaml:2:5 url={\"url\":\"http://h/1\",\"weight\":1}\n"
            "f.yaml:3:17 threshold=endpoint(\"log\\\"in\").p(95) < 50ms\n"
            "f.yaml:3:5 url={\"url\":\"http://h/2\",\"weight\":3,\"name\":\"log\\\"in\","
            "\"method\":\"PUT\",\"header\":{\"Authorization\":[\"Bearer s3cret\"],"
            "\"Content-Type\":[\"application/json\"],\"Accept\":[\"application/json\"]},"
            "\"body\":\"e30=\"}\n"
            "f.yaml:10:5 url={\"url\":\"http://h/3\",\"weight\":1,\"body_file\":\"b\"}\n");
}

TEST(Config, EndpointProblems) {
  EXPECT_EQ(config("endpoints:\n"
                   "  - {name: a}\n"
                   "  - {url: u, threshold: [p95 < 1s]}\n"
                   "  - {url: u, wieght: 2}\n"
                   "  - {url: u, rate: 5}\n"
                   "  - {url: u, weight: 0}\n"
                   "  - {url: 3=u}\n"
                   "  - {url: u, body: a, body_file: b}\n"
                   "  - {url: u, header: {A: $NOPE}}\n"
                   "  - {url: u, name: n, threshold: [rate > 5ms]}\n"
                   "  - text\n"),
            "error: f.yaml:2:5: the endpoint has no url\n"
            "error: f.yaml:3:14: an endpoint with thresholds needs a name\n  hint: name: login\n"
            "error: f.yaml:4:14: unknown key \"wieght\"\n  hint: did you mean weight?\n"
            "error: f.yaml:5:14: unknown key \"rate\"\n"
            "  hint: keys are name, weight, url, method, header, body, json_body, body_file, "
            "threshold\n"
            "error: f.yaml:6:22: a weight is a whole number from 1 to 1000000\n"
            "error: f.yaml:7:11: the url of an endpoint is one URL; its share is weight\n"
            "error: f.yaml:8:34: only one body can count\n"
            "error: f.yaml:9:26: the environment has no NOPE\n"
            "error: f.yaml:10:35: threshold: unknown suffix \"ms\"\n  rate > 5ms\n          ^\n"
            "  hint: k is a thousand, M a million, G a billion\n"
            "error: f.yaml:11:5: an endpoint is a map of keys\n");
}

TEST(Config, WhatIsNotYaml) {
  EXPECT_EQ(config("a: [1\n").substr(0, 20), "error: f.yaml:2:1: e");
  EXPECT_EQ(config("- a\n"), "error: f.yaml:1:1: a configuration is a map of keys\n");
  EXPECT_EQ(config("a: 1\n---\nb: 2\n"), "error: f.yaml:2:1: only one document belongs here\n");
  EXPECT_EQ(config("? [a]\n: b\n"), "error: f.yaml:1:3: a key must be a text\n");
}

TEST(Config, AliasesCannotBlowItUp) {
  std::string text = "a: &a [x, x, x, x, x, x, x, x, x, x]\n";
  for (char c = 'b'; c <= 'h'; ++c) {
    text += fmt::format("{}: &{} [", c, c);
    for (int i = 0; i < 10; ++i)
      text += fmt::format("*{}{}", static_cast<char>(c - 1), i < 9 ? ", " : "]\n");
  }
  EXPECT_NE(config(text).find("the document is too large"), std::string::npos);
}

/// What holds, and from where.
std::string gathered(std::vector<std::string_view> args, const FakeSurroundings& surroundings,
                     std::initializer_list<std::string_view> names) {
  const Command& command = *find_command("http");
  const Arguments arguments = parse_arguments(command, args);
  for (const Problem& problem : arguments.problems) ADD_FAILURE() << render(problem);
  const Gathered all = gather_settings(command, arguments, surroundings.make());
  std::string text;
  for (const std::string_view name : names) {
    text += fmt::format("{}={} ({})\n", name, fmt::join(all.settings.all(name), "|"),
                        to_string(all.settings.source(name)));
  }
  for (const Problem& problem : all.errors) text += render(problem);
  for (const Problem& problem : all.warnings) text += render(problem, "warning");
  return text;
}

TEST(Gather, FlagOverVariableOverFileOverProfileOverDefault) {
  FakeSurroundings surroundings;
  surroundings.variables = {
      {"ONBEAT_TIMEOUT", "2s"}, {"ONBEAT_RATE", "20"}, {"ONBEAT_CONFIG", "f"}};
  surroundings.files = {{"f", "timeout: 3s\nrate: 30\nseed: 3\nprofile: soak\n"}};
  EXPECT_EQ(gathered({"u", "--timeout", "1s"}, surroundings,
                     {"timeout", "rate", "seed", "concurrency", "duration", "drain"}),
            "timeout=1s (cli)\nrate=20 (env)\nseed=3 (file)\nconcurrency=5 (profile)\n"
            "duration=1h (profile)\ndrain= (default)\n");
}

TEST(Gather, RequestsOfTheUserDoAwayWithADurationOfTheProfile) {
  EXPECT_EQ(gathered({"u", "--profile", "functional", "-n", "5"}, {}, {"requests", "duration"}),
            "requests=5 (cli)\nduration= (default)\n");
}

TEST(Gather, UrlsOfTheCommandLineReplaceEndpointsOfTheFile) {
  FakeSurroundings surroundings;
  surroundings.files = {{"f", "endpoints: [{url: http://file/}]\n"}};
  EXPECT_EQ(gathered({"--config", "f"}, surroundings, {"url"}),
            "url={\"url\":\"http://file/\",\"weight\":1} (file)\n");
  EXPECT_EQ(gathered({"--config", "f", "a", "2=b"}, surroundings, {"url"}), "url=a|2=b (cli)\n");
  EXPECT_EQ(gathered({"--config", "f", "--curl", "curl c"}, surroundings, {"url"}),
            "url=c (cli)\n");
}

TEST(Gather, VariablesOfRepeatableOptionsHaveAValueALine) {
  FakeSurroundings surroundings;
  surroundings.variables = {{"ONBEAT_THRESHOLD", "p99 < 1s\nerror_rate < 1%\n"},
                            {"ONBEAT_SEED", ""}};
  EXPECT_EQ(gathered({"u"}, surroundings, {"threshold", "seed"}),
            "threshold=p99 < 1s|error_rate < 1% (env)\nseed= (default)\n");
}

TEST(Gather, AllProblemsOfAllSources) {
  FakeSurroundings surroundings;
  surroundings.variables = {{"ONBEAT_RAET", "5"},       {"ONBEAT_TIMEOUT", "5"},
                            {"ONBEAT_USER", "s3cret"},  {"ONBEAT_MY_OWN_THING", "x"},
                            {"ONBEAT_PROFILE", "laod"}, {"ONBEAT_PORT", "80"}};
  EXPECT_EQ(gathered({"{\"url\":1}", "--config", "none"}, surroundings, {}),
            "error: URL: \"url\" must be a text\n"
            "error: ONBEAT_TIMEOUT: a duration needs a unit\n  5\n   ^\n  hint: 5s or 5ms\n"
            "error: ONBEAT_USER: a colon and the password are missing\n  hint: NAME:PASSWORD\n"
            "error: --config: cannot read none: No such file or directory\n"
            "error: ONBEAT_PROFILE: unknown profile \"laod\"\n  hint: did you mean load?\n"
            "warning: ONBEAT_RAET: the variable sets no option\n  hint: did you mean "
            "ONBEAT_RATE?\n");
}

TEST(Profiles, BuiltInOnesAreValidAndFitTogether) {
  for (const Profile& profile : built_in_profiles()) {
    for (const Setting& setting : profile.settings) {
      ASSERT_NE(setting.option, nullptr) << profile.name;
      EXPECT_EQ(check_value(*setting.option, setting.text), std::nullopt) << setting.text;
    }
    const auto layer = profile_layer(profile.name, {}, "--profile");
    ASSERT_TRUE(layer);
    const BuiltOptions built =
        build_load_options(*find_command("http"), resolve(kHttp, std::span(&*layer, 1)));
    EXPECT_TRUE(built.errors.empty()) << profile.name;
    EXPECT_TRUE(built.warnings.empty()) << profile.name;
  }
}

TEST(Profiles, OnesOwnExtendOthers) {
  FakeSurroundings surroundings;
  surroundings.files = {{"p",
                         "nightly: {description: d, extends: soak, duration: 8h, seed: 2}\n"
                         "short: {extends: nightly, requests: 10}\n"}};
  EXPECT_EQ(gathered({"u", "--profile-file", "p", "--profile", "short"}, surroundings,
                     {"requests", "duration", "seed", "rate", "concurrency"}),
            "requests=10 (profile)\nduration= (default)\nseed=2 (profile)\nrate=50 (profile)\n"
            "concurrency=5 (profile)\n");
}

TEST(Profiles, ProblemsOfOnesOwn) {
  const ConfigFile file = parse_profile_file(
      "load: {rate: 5}\n"
      "a: {extends: b}\n"
      "b: {extends: a}\n"
      "c: {extends: sok}\n"
      "d: {rate: x, profile: load, nmae: e}\n"
      "e: 5\n",
      "p", *find_command("http"));
  std::string text;
  for (const Problem& problem : file.problems) text += render(problem);
  EXPECT_EQ(text,
            "error: p:5:11: rate: a rate starts with a digit, not with \"x\"\n  x\n  ^\n"
            "error: p:5:14: profile does not belong in a profile\n  hint: extends: NAME\n"
            "error: p:5:29: unknown key \"nmae\"\n  hint: did you mean name?\n"
            "error: p:6:4: a profile is a map of keys\n"
            "error: p:1:1: load is built in\n  hint: choose another name\n"
            "error: p:2:1: what \"a\" extends goes round in a circle\n"
            "error: p:3:1: what \"b\" extends goes round in a circle\n"
            "error: p:4:1: unknown profile \"sok\"\n  hint: did you mean soak?\n");
}

TEST(Profiles, ACircleIsToldOnceAndHasAnEnd) {
  FakeSurroundings surroundings;
  surroundings.files = {{"p", "a: {extends: b}\nb: {extends: c}\nc: {extends: b}\n"}};
  EXPECT_EQ(gathered({"u", "--profile-file", "p", "--profile", "b"}, surroundings, {"rate"}),
            "rate= (default)\n"
            "error: p:1:1: what \"a\" extends goes round in a circle\n"
            "error: p:2:1: what \"b\" extends goes round in a circle\n"
            "error: p:3:1: what \"c\" extends goes round in a circle\n");
}

TEST(Profiles, AreListedWithTheirOptions) {
  FakeSurroundings surroundings;
  surroundings.files = {{"p", "own: {description: Mine, extends: spike, user: 'a:b'}\n"},
                        {"bad", "own: 5\n"}};
  const auto report = [&](std::vector<std::string_view> args) {
    const Arguments arguments = parse_arguments(*find_command("profiles"), args);
    return profiles_report(resolve(kProfiles, std::span(&arguments.layer, 1)), surroundings.make());
  };
  const std::string text = *report({"--profile-file", "p"});
  EXPECT_NE(text.find("spike  A sudden peak, and the time after it\n  concurrency: 100\n"
                      "  duration: 1m\n  rate: spike(base=10, peak=500, at=30s, for=10s)\n"),
            std::string::npos);
  EXPECT_NE(text.find("own  Mine\n  extends spike\n  user: ...\n"), std::string::npos);
  EXPECT_EQ(report({})->find("own"), std::string::npos);
  EXPECT_EQ(render(report({"--profile-file", "bad"}).error().at(0)),
            "error: bad:1:6: a profile is a map of keys\n");
  EXPECT_EQ(render(report({"--profile-file", "none"}).error().at(0)),
            "error: --profile-file: cannot read none: No such file or directory\n");
}

}  // namespace
}  // namespace onbeat::options
