#include "options/arguments.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

namespace onbeat::options {
namespace {

Arguments parse(std::string_view command, std::vector<std::string_view> args) {
  return parse_arguments(*find_command(command), args);
}

/// "name=value" of every setting, then the positionals.
std::vector<std::string> settings(const Arguments& arguments) {
  std::vector<std::string> texts;
  for (const Setting& setting : arguments.layer.settings) {
    texts.push_back(std::string(setting.option->name) + "=" + setting.text);
  }
  texts.insert(texts.end(), arguments.positionals.begin(), arguments.positionals.end());
  return texts;
}

std::string problems(const std::vector<Problem>& all) {
  std::string text;
  for (const Problem& problem : all) text += render(problem);
  return text;
}

using Texts = std::vector<std::string>;

TEST(Arguments, FormsOfAFlagWithItsValue) {
  for (const std::vector<std::string_view>& args :
       {std::vector<std::string_view>{"--concurrency", "10", "u"},
        {"--concurrency=10", "u"},
        {"-c", "10", "u"},
        {"-c10", "u"},
        {"-c=10", "u"},
        {"u", "-c", "10"}}) {
    const Arguments parsed = parse("http", args);
    EXPECT_EQ(problems(parsed.problems), "") << args[0];
    EXPECT_EQ(settings(parsed), (Texts{"concurrency=10", "u"})) << args[0];
  }
}

TEST(Arguments, FlagsWithoutAValue) {
  EXPECT_EQ(settings(parse("http", {"u", "--strict", "--json=false"})),
            (Texts{"strict=true", "json=false", "u"}));
  EXPECT_EQ(problems(parse("http", {"u", "--strict", "--strict"}).problems), "");
  EXPECT_EQ(problems(parse("http", {"u", "--strict=yes"}).problems),
            "error: --strict: a flag is true or false, or has no value\n  yes\n  ^\n");
}

TEST(Arguments, LettersTogether) {
  for (const std::string_view together : {"-kLc10", "-kLc=10"}) {
    EXPECT_EQ(settings(parse("http", {together, "u"})),
              (Texts{"insecure=true", "location=true", "concurrency=10", "u"}));
  }
  EXPECT_EQ(settings(parse("http", {"-kLc", "10", "u"})),
            (Texts{"insecure=true", "location=true", "concurrency=10", "u"}));
  EXPECT_EQ(problems(parse("http", {"-kL=true", "u"}).problems),
            "error: -kL=true: -L takes no value\n");
  EXPECT_EQ(problems(parse("http", {"-kY", "u"}).problems), "error: -kY: unknown flag -Y\n");
}

TEST(Arguments, ManyValuesMayFollowOneFlag) {
  for (const std::vector<std::string_view>& args :
       {std::vector<std::string_view>{"a", "b", "--to", "c", "d", "--json"},
        {"a", "b", "--to=c", "--to", "d", "--json"}}) {
    const Arguments parsed = parse("compare", args);
    EXPECT_EQ(problems(parsed.problems), "");
    EXPECT_EQ(settings(parsed), (Texts{"to=c", "to=d", "json=true", "a", "b"}));
  }
}

TEST(Arguments, RepeatableOptionsKeepTheirOrder) {
  EXPECT_EQ(settings(parse("http", {"u", "-H", "A: 1", "-HB: 2", "--header=C: =3"})),
            (Texts{"header=A: 1", "header=B: 2", "header=C: =3", "u"}));
}

TEST(Arguments, AfterTwoDashesEverythingIsPositional) {
  EXPECT_EQ(settings(parse("http", {"--strict", "--", "-c", "--help", "--"})),
            (Texts{"strict=true", "-c", "--help", "--"}));
  EXPECT_EQ(settings(parse("http", {"-"})), (Texts{"-"})) << "a single dash is no flag";
}

TEST(Arguments, NegativeValuesReachTheirGrammar) {
  EXPECT_EQ(problems(parse("http", {"u", "--rate", "-5"}).problems),
            "error: --rate: a rate cannot be negative\n  -5\n  ^\n");
}

TEST(Arguments, AllProblemsAtOnce) {
  const Arguments parsed =
      parse("http", {"u", "--rate", "NaN", "--thresold", "p95<1s", "-d", "10", "--strict", "-n",
                     "5", "-n", "6", "--port", "80", "--cache", "2", "--timeout"});
  EXPECT_EQ(problems(parsed.problems),
            "error: --rate: a rate must be a finite number, not NaN\n"
            "  NaN\n"
            "  ^\n"
            "error: --thresold: unknown flag\n"
            "  hint: did you mean --threshold?\n"
            "error: -d: a duration needs a unit\n"
            "  10\n"
            "    ^\n"
            "  hint: 10s or 10ms\n"
            "error: -n: given twice\n"
            "  hint: only one of them can count\n"
            "error: --port: does not apply to `http`\n"
            "  hint: it belongs to `target http`, `target grpc`\n"
            "error: --cache: not in this version\n"
            "error: --timeout: its value is missing\n"
            "  hint: --timeout TIME\n");
  EXPECT_EQ(parsed.positionals, (Texts{"u", "p95<1s"}))
      << "values of flags that are known elsewhere are not taken for URLs";
}

TEST(Arguments, FlagsOfOtherToolsGetOurs) {
  const std::pair<std::vector<std::string_view>, std::string_view> cases[] = {
      {{"-z", "10s", "u"},
       "error: -z: unknown flag\n  hint: -z of hey, oha; here: --duration (-d)\n"},
      {{"-z10s", "u"}, "error: -z: unknown flag\n  hint: -z of hey, oha; here: --duration (-d)\n"},
      {{"--vus=5", "u"},
       "error: --vus: unknown flag\n  hint: --vus of k6; here: --concurrency (-c)\n"},
      {{"-workers=5", "u"},
       "error: -workers: unknown flag\n  hint: -workers of vegeta; here: --concurrency (-c)\n"},
      {{"--latency", "u"},
       "error: --latency: unknown flag\n  hint: --latency of wrk; here: nothing: percentiles are "
       "always printed\n"},
      {{"-duration", "5s", "u"},
       "error: -duration: unknown flag\n  hint: two dashes: --duration\n"},
      {{"-cpus=2", "u"}, "error: -cpus: unknown flag\n  hint: -cpus of hey; here: --threads\n"},
      {{"-y", "u"}, "error: -y: unknown flag\n  hint: onbeat http --help lists them all\n"}};
  for (const auto& [args, text] : cases) {
    const Arguments parsed = parse("http", args);
    EXPECT_EQ(problems(parsed.problems), text);
    EXPECT_EQ(parsed.positionals, Texts{"u"}) << "a foreign flag's value is not a URL: " << args[0];
  }
}

TEST(Arguments, EveryForeignAndLaterFlagIsAnsweredWithItsHint) {
  for (const ForeignFlag& foreign : foreign_flags()) {
    const Arguments parsed = parse("http", {"http://u", foreign.flag});
    ASSERT_EQ(parsed.problems.size(), 1U) << foreign.flag;
    EXPECT_NE(parsed.problems[0].hint.find(foreign.ours), std::string::npos) << foreign.flag;
  }
  for (const LaterOption& later : later_options()) {
    const std::string flag = "--" + std::string(later.name);
    const Arguments parsed = parse("http", {"http://u", flag});
    ASSERT_EQ(parsed.problems.size(), 1U) << flag;
    EXPECT_EQ(parsed.problems[0].message, "not in this version") << flag;
  }
}

TEST(Arguments, AUrlAfterAForeignFlagIsNotItsValue) {
  EXPECT_EQ(parse("http", {"-z", "http://u"}).positionals, Texts{"http://u"});
}

TEST(Arguments, C8_SecretsAreNotQuoted) {
  const std::string text = problems(parse("http", {"u", "-H", "Bearer s3cret"}).problems);
  EXPECT_EQ(text,
            "error: -H: not the name of a header\n"
            "  hint: for example -H 'Accept: text/html', or -H @file\n");
}

TEST(Arguments, OneOfSeveralIsNumbered) {
  const Arguments parsed =
      parse("http", {"-H", "A: 1", "--header", "bad", "-H", "B: 2", "--tag", "x"});
  EXPECT_EQ(problems(parsed.problems).substr(0, 72),
            "error: --header #2: the colon after the header's name is missing\n  hint:");
  EXPECT_NE(problems(parsed.problems).find("error: --tag: "), std::string::npos);
  EXPECT_EQ(parsed.layer.settings.at(0).origin, "-H #1");
  EXPECT_EQ(parsed.layer.settings.at(2).origin, "-H #3");
}

TEST(Arguments, CountOfPositionals) {
  EXPECT_EQ(problems(parse("http", {}).problems), "") << "URLs can come from a file, too";
  EXPECT_EQ(problems(parse("doctor", {"x"}).problems),
            "error: \"x\" is one argument too many\n  hint: onbeat doctor [options]\n");
}

TEST(Arguments, HelpAndVersionNeedNothingElse) {
  EXPECT_TRUE(parse("http", {"--help"}).help);
  EXPECT_TRUE(parse("http", {"-h"}).help);
  EXPECT_TRUE(parse("http", {"--version"}).version);
  EXPECT_EQ(problems(parse("http", {"-h"}).problems), "");
  EXPECT_FALSE(parse("http", {"--", "--help"}).help);
}

TEST(Invocation, FindsTheCommand) {
  const auto name = [](std::vector<std::string_view> args) {
    const Invocation invocation = find_invocation(args);
    if (invocation.command == nullptr) return problems(invocation.problems);
    return std::string(invocation.command->name) + " " + std::to_string(invocation.words);
  };
  EXPECT_EQ(name({"http", "u"}), "http 1");
  EXPECT_EQ(name({"target", "http", "--port", "1"}), "target http 2");
  EXPECT_EQ(name({"doctor"}), "doctor 1");
  EXPECT_EQ(name({"htp"}), "error: unknown command \"htp\"\n  hint: did you mean onbeat http?\n");
  EXPECT_EQ(name({"frobnicate"}),
            "error: unknown command \"frobnicate\"\n  hint: onbeat --help lists them all\n");
  EXPECT_EQ(name({"serve"}), "error: onbeat serve: not in this version\n");
  EXPECT_EQ(name({"grpc", "a.gctf"}), "grpc 1");
  EXPECT_EQ(name({"target"}),
            "error: onbeat target: a kind is missing\n"
            "  hint: onbeat target http [options], or onbeat target grpc [options]\n");
  EXPECT_EQ(name({"target", "grpc", "--port", "1"}), "target grpc 2");
  EXPECT_EQ(name({"target", "smtp"}),
            "error: onbeat target: unknown kind \"smtp\"\n"
            "  hint: onbeat target http [options], or onbeat target grpc [options]\n");
  EXPECT_EQ(name({"http://u"}),
            "error: a command is missing before the URL\n  hint: onbeat http URL\n");
  EXPECT_EQ(
      name({"-c", "10"}),
      "error: -c: a command comes before the flags\n  hint: onbeat http URL ... ; onbeat --help "
      "lists them all\n");
}

TEST(Invocation, HelpAndVersion) {
  EXPECT_TRUE(find_invocation({}).help);
  const auto invoke = [](std::vector<std::string_view> args) { return find_invocation(args); };
  EXPECT_TRUE(invoke({"--help"}).help);
  EXPECT_TRUE(invoke({"--version"}).version);
  EXPECT_TRUE(invoke({"target", "--help"}).help);
  EXPECT_TRUE(invoke({"help", "target", "http"}).help);
  EXPECT_EQ(invoke({"help", "target", "http"}).command->name, "target http");
}

TEST(Render, TheCaretStandsUnderTheCharacter) {
  EXPECT_EQ(render({"--x", "wrong", "right", "\u00b5\u00b5s", 5}),
            "error: --x: wrong\n  \u00b5\u00b5s\n    ^\n  hint: right\n");
  EXPECT_EQ(render({"", "wrong", "", "a\nb\x1b", 4}, "warning"),
            "warning: wrong\n  a b \n     ^\n");
}

}  // namespace
}  // namespace onbeat::options
