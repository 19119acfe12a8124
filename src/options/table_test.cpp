#include "options/table.hpp"

#include "options/grammar.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace onbeat::options {
namespace {

TEST(Table, NamesAndLettersAreUniqueWithinACommand) {
  for (const Command& command : commands()) {
    std::set<std::string_view> names;
    std::set<char> letters;
    for (const Option& option : options()) {
      if ((option.commands & command.id) == 0) continue;
      EXPECT_TRUE(names.insert(option.name).second) << command.name << " --" << option.name;
      if (option.letter == 0) continue;
      EXPECT_TRUE(letters.insert(option.letter).second) << command.name << " -" << option.letter;
    }
  }
}

TEST(Table, EveryRowIsWhole) {
  for (const Option& option : options()) {
    EXPECT_NE(option.commands, 0U) << option.name;
    EXPECT_FALSE(option.help.empty()) << option.name;
    EXPECT_FALSE(option.help.ends_with('.')) << option.name;
    EXPECT_FALSE(option.standard.empty()) << option.name;
    EXPECT_EQ(option.value.empty(), option.kind == Kind::flag) << option.name;
    EXPECT_EQ(option.choices.empty(), option.kind != Kind::choice && option.kind != Kind::out)
        << option.name;
  }
}

TEST(Table, DefaultsThatAreValuesPassTheirOwnGrammar) {
  for (const std::string_view name :
       {"arrivals", "mode", "warmup", "on-late", "catch-up-limit", "on-saturation", "timeout",
        "seed", "color", "delay", "bytes"}) {
    const Option* option = find_option(name);
    ASSERT_NE(option, nullptr) << name;
    EXPECT_EQ(check_value(*option, option->standard), std::nullopt) << name;
  }
}

TEST(Table, WhatIsLaterOrForeignIsNotOurs) {
  for (const LaterOption& later : later_options()) {
    EXPECT_EQ(find_option(later.name), nullptr) << later.name;
  }
  for (const std::string_view later : later_commands())
    EXPECT_EQ(find_command(later), nullptr) << later;
  std::set<std::string_view> flags;
  for (const ForeignFlag& foreign : foreign_flags()) {
    EXPECT_TRUE(flags.insert(foreign.flag).second) << foreign.flag;
    if (foreign.flag.starts_with("--")) {
      EXPECT_EQ(find_option(foreign.flag.substr(2)), nullptr) << foreign.flag;
    } else if (foreign.flag.size() == 2) {
      EXPECT_EQ(find_letter(foreign.flag[1], kLoading), nullptr) << foreign.flag;
    }
  }
}

TEST(Table, KeysAndVariablesComeFromTheName) {
  EXPECT_EQ(find_option("max-wait")->key(), "max_wait");
  EXPECT_EQ(find_option("max-wait")->environment(), "ONBEAT_MAX_WAIT");
}

TEST(Table, LookUpIsByCommand) {
  EXPECT_EQ(find_option("port", kHttp), nullptr);
  EXPECT_NE(find_option("port", kTarget), nullptr);
  EXPECT_NE(find_option("out", kHttp), find_option("out", kDoctor));
  EXPECT_EQ(find_letter('c', kDoctor), nullptr);
  EXPECT_EQ(find_letter('c', kHttp)->name, "concurrency");
  EXPECT_EQ(find_letter('\0', kHttp), nullptr) << "options without a letter have none";
}

/// One value that is right and one that is wrong for every kind: no row is left unchecked.
TEST(CheckValue, EveryKindHasItsGrammar) {
  struct Case {
    std::string_view option, right, wrong;
  };
  const Case cases[] = {{"strict", "true", "yes"},
                        {"body-file", "x", ""},
                        {"method", "M-SEARCH", "GE T"},
                        {"arrivals", "poisson", "random"},
                        {"concurrency", "10", "0"},
                        {"port", "65535", "65536"},
                        {"timeout", "5s", "5"},
                        {"bytes", "1k", "1z"},
                        {"rate", "1..5 over 3s", "1..5"},
                        {"max-rate", "10k", "1..5 over 3s"},
                        {"percentiles", "50,99", "100"},
                        {"min-effect", "2.5%", "much"},
                        {"cpu-list", "0-3", "a"},
                        {"tag", "a=b", "a"},
                        {"out", "json=f", "pdf=f"},
                        {"header", "A: $ANY", "A"},
                        {"threshold", "p99 < 1s", "p99 < 1"},
                        {"thresholds", "p99 < 1", "p99 < abc"},
                        {"max-rps", "5k", "-5"},
                        {"load-step", "-5.5", "five"},
                        {"sample-rate", "0.1", "1.5"},
                        {"load-spike-after", "30", "-30"},
                        {"load-profile", "0:10, 500ms:20", "0"},
                        {"rates", "1k..2k", "2k..1k"},
                        {"abort-on", "error_rate > 1% over 1s", "error_rate > 1%"},
                        {"limit", "steal.degraded=1%", "steal.degraded=1"},
                        {"on-late", "burst:5", "burst:-5"},
                        {"url", "3=http://h/", "0=http://h/"},
                        {"curl", "curl h", "wget h"},
                        {"form", "a=b", "a"},
                        {"data", "users.csv", "users="},
                        {"user", "a:b", "a"},
                        {"user-agent", "a b", "a\nb"},
                        {"connect-to", "::h:1", "h:1"},
                        {"resolve", "h:1:1.2.3.4", "h:1:x"},
                        {"source-ip", "::1", "localhost"},
                        {"metrics", "[::1]:9464", "9464x"},
                        {"tls-version", "1.2-1.3", "1.1"},
                        {"alpn", "h2,http/1.1", "h2,"},
                        {"expect-status", "2xx,404", "2x"},
                        {"expect-header", "A: b", "A b"}};
  std::set<Kind> kinds{Kind::text};
  for (const Case& c : cases) {
    const Option* option = find_option(c.option);
    ASSERT_NE(option, nullptr) << c.option;
    kinds.insert(option->kind);
    EXPECT_EQ(check_value(*option, c.right), std::nullopt) << c.option;
    EXPECT_NE(check_value(*option, c.wrong), std::nullopt) << c.option;
  }
  for (const Option& option : options()) EXPECT_TRUE(kinds.contains(option.kind)) << option.name;
}

TEST(CheckValue, ClassesOfErrorsAreThoseOfTheCaller) {
  constexpr std::string_view kErrors[] = {"timeout", "connect_refused"};
  const Vocabulary vocabulary{.metrics = {}, .operations = {}, .errors = kErrors};
  const Option& option = *find_option("threshold");
  EXPECT_EQ(check_value(option, "error(timeout) < 1%", vocabulary), std::nullopt);
  const auto wrong = check_value(option, "error(timeot) < 1%", vocabulary);
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->hint, "did you mean timeout?");
  EXPECT_EQ(check_value(option, "error(timeot) < 1%"), std::nullopt) << "without one any will do";
}

TEST(CheckValue, LaterChoicesSaySo) {
  EXPECT_EQ(check_value(*find_option("mode"), "stepping")->message,
            "stepping is not in this version");
  EXPECT_EQ(check_value(*find_option("out"), "benchstat=f")->message,
            "the format benchstat is not in this version");
  EXPECT_EQ(check_value(*find_option("mode"), "opne")->hint, "did you mean open?");
}

}  // namespace
}  // namespace onbeat::options
