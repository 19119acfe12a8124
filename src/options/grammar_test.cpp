#include "options/grammar.hpp"

#include "options/on_late.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace onbeat::options {
namespace {

using namespace std::chrono_literals;

/// "column: message | hint", so that a table of refusals reads like what a person sees.
template <typename T>
std::string refusal(const Parsing<T>& parsed) {
  if (parsed) return "accepted";
  const GrammarError& error = parsed.error();
  return std::to_string(error.column) + ": " + error.message +
         (error.hint.empty() ? "" : " | " + error.hint);
}

using Refused = std::pair<std::string_view, std::string_view>;

TEST(ParseDuration, Valid) {
  const std::pair<std::string_view, Duration> cases[] = {
      {"10s", 10s},
      {"5ms", 5ms},
      {"1m30s", 90s},
      {"250us", 250us},
      {"1h", 1h},
      {"0", 0s},
      {"0s", 0s},
      {"1.5s", 1500ms},
      {"0.5ms", 500us},
      {"7ns", 7ns},
      {"3\u00b5s", 3us},
      {"3\u03bcs", 3us},
      {"1d", 24h},
      {"1h2m3s4ms5us6ns", 1h + 2min + 3s + 4ms + 5us + 6ns},
      {" 10s ", 10s},
      {"10 s", 10s},
      {"1_000ms", 1s},
      {"1e3ms", 1s},
      {"3650d", kLongestDuration}};
  for (const auto& [text, duration] : cases) EXPECT_EQ(parse_duration(text), duration) << text;
}

TEST(ParseDuration, Refused) {
  constexpr std::string_view kUnits = " | units are ns, us, ms, s, m, h, d: 10s, 5ms, 1m30s";
  const std::pair<std::string_view, std::string> cases[] = {
      {"", "1: a duration is missing"},
      {"10", "3: a duration needs a unit | 10s or 10ms"},
      {"1m30", "5: a duration needs a unit | 30s or 30ms"},
      {"10x", "3: unknown unit \"x\"" + std::string(kUnits)},
      {"10S", "3: unknown unit \"S\"" + std::string(kUnits)},
      {"10min", "3: unknown unit \"min\"" + std::string(kUnits)},
      {"-5s", "1: a duration cannot be negative"},
      {"nan", "1: a duration must be a finite number, not nan"},
      {"infs", "1: a duration starts with a digit, not with \"i\""},
      {"inf", "1: a duration must be a finite number, not inf"},
      {"s", "1: a duration starts with a digit, not with \"s\""},
      {"30s1m", "5: the parts of a duration go from large to small | for example 1h30m or 1m30s"},
      {"1s1s", "4: the parts of a duration go from large to small | for example 1h30m or 1m30s"},
      {"3651d", "1: a duration of more than ten years"},
      {"1e999s", "1: a duration of \"1e999\" is out of range"},
      {"10s,", "4: \",\" does not belong after a duration"},
      {"10s x", "5: \"x\" does not belong after a duration"},
      {".5s", "1: a duration starts with a digit, not with \".\""}};
  for (const auto& [text, message] : cases)
    EXPECT_EQ(refusal(parse_duration(text)), message) << text;
}

TEST(ParseRate, Valid) {
  const std::pair<std::string_view, double> cases[] = {
      {"5000", 5000}, {"5k", 5000},   {"5K", 5000},     {"300/m", 5},   {"2.5k/s", 2500},
      {"1M", 1e6},    {"36/h", 0.01}, {"0", 0},         {"0.5", 0.5},   {"1_000", 1000},
      {"1G", 1e9},    {"1e3", 1000},  {"1.5e-1", 0.15}, {"60k/m", 1000}};
  for (const auto& [text, rate] : cases) {
    ASSERT_TRUE(parse_rate(text)) << text;
    EXPECT_DOUBLE_EQ(*parse_rate(text), rate) << text;
  }
}

TEST(ParseRate, Refused) {
  constexpr std::string_view kScale = " | k is a thousand, M a million, G a billion";
  const std::pair<std::string_view, std::string> cases[] = {
      {"", "1: a rate is missing"},
      {"-5", "1: a rate cannot be negative"},
      {"NaN", "1: a rate must be a finite number, not NaN"},
      {"-nan", "1: a rate must be a finite number, not -nan"},
      {"inf", "1: a rate must be a finite number, not inf"},
      {"+Infinity", "1: a rate must be a finite number, not +Infinity"},
      {"unlimited", "1: a rate must be a finite number, not unlimited"},
      {"1e400", "1: a rate of \"1e400\" is out of range"},
      {"5x", "2: unknown suffix \"x\"" + std::string(kScale)},
      {"5m", "2: unknown suffix \"m\"" + std::string(kScale)},
      {"500rps", "4: unknown suffix \"rps\" | rates are per second already; 300/m is per minute"},
      {"500/d", "5: unknown unit \"d\" | a rate is per s, m or h: 300/m"},
      {"500/", "5: unknown unit \"\" | a rate is per s, m or h: 300/m"},
      {"2G",
       "1: a rate of more than one arrival a nanosecond | without --rate the run goes as fast as "
       "its workers can"},
      {"5,000", "2: \",000\" does not belong after a rate"}};
  for (const auto& [text, message] : cases) EXPECT_EQ(refusal(parse_rate(text)), message) << text;
}

TEST(ParseCount, ValidAndRefused) {
  EXPECT_EQ(parse_count("1000"), 1000U);
  EXPECT_EQ(parse_count("10k"), 10'000U);
  EXPECT_EQ(parse_count("1.5k"), 1500U);
  EXPECT_EQ(parse_count("1M"), 1'000'000U);
  EXPECT_EQ(parse_count("0"), 0U);
  EXPECT_EQ(parse_count("9007199254740992"), 9007199254740992U);
  const Refused cases[] = {
      {"1.5", "1: a number must be whole"},
      {"-1", "1: a number cannot be negative"},
      {"1e17", "1: a number of more than 2^53"},
      {"", "1: a number is missing"},
      {"10s", "3: unknown suffix \"s\" | k is a thousand, M a million, G a billion"}};
  for (const auto& [text, message] : cases) EXPECT_EQ(refusal(parse_count(text)), message) << text;
}

TEST(ParseSize, ValidAndRefused) {
  const std::pair<std::string_view, std::uint64_t> cases[] = {{"512", 512},
                                                              {"1k", 1000},
                                                              {"1kB", 1000},
                                                              {"1KiB", 1024},
                                                              {"10MiB", 10 << 20},
                                                              {"1MB", 1000000},
                                                              {"1.5MiB", 1572864},
                                                              {"0", 0},
                                                              {"1 GiB", 1 << 30},
                                                              {"2T", 2'000'000'000'000},
                                                              {"7b", 7}};
  for (const auto& [text, size] : cases) EXPECT_EQ(parse_size(text), size) << text;
  const Refused refused[] = {
      {"1x", "2: unknown unit \"x\" | 1k and 1kB are 1000 bytes, 1KiB is 1024; also M, G, T"},
      {"0.5", "1: a size in bytes must be whole"},
      {"-1", "1: a size cannot be negative"},
      {"1e6T", "1: a size in bytes of more than 2^53"}};
  for (const auto& [text, message] : refused) EXPECT_EQ(refusal(parse_size(text)), message) << text;
}

TEST(ParsePercent, ValidAndRefused) {
  EXPECT_EQ(parse_percent("20%"), 20);
  EXPECT_EQ(parse_percent("0.1 %"), 0.1);
  EXPECT_EQ(parse_percent("100%"), 100);
  EXPECT_EQ(refusal(parse_percent("20")), "3: a percentage needs its sign | 20%");
  EXPECT_EQ(refusal(parse_percent("101%")), "1: a percentage of more than 100");
}

TEST(ParsePercentiles, SortsAndRefuses) {
  EXPECT_EQ(parse_percentiles("99,50, p99.9,50"), (std::vector<double>{50, 99, 99.9}));
  EXPECT_EQ(parse_percentiles("0.95"), (std::vector<double>{0.95}));
  constexpr std::string_view kHint =
      ": a percentile lies between 0 and 100 | the smallest and the largest value are always in "
      "the "
      "report";
  EXPECT_EQ(refusal(parse_percentiles("50,150")), "4" + std::string(kHint));
  EXPECT_EQ(refusal(parse_percentiles("0")), "1" + std::string(kHint));
  EXPECT_EQ(refusal(parse_percentiles("100")), "1" + std::string(kHint));
  EXPECT_EQ(refusal(parse_percentiles("nan")), "1: a percentile must be a finite number, not nan");
  EXPECT_EQ(refusal(parse_percentiles("50,")), "4: a percentile is missing");
}

TEST(ParseCpuList, ValidAndRefused) {
  EXPECT_EQ(parse_cpu_list("0-3,6"), (std::vector<unsigned>{0, 1, 2, 3, 6}));
  EXPECT_EQ(parse_cpu_list("6,6,2"), (std::vector<unsigned>{2, 6}));
  EXPECT_EQ(refusal(parse_cpu_list("3-1")), "1: a range goes from small to large");
  EXPECT_EQ(refusal(parse_cpu_list("1.5")), "1: not the number of a core | for example 0-3,6");
  EXPECT_EQ(refusal(parse_cpu_list("99999999")), "1: not the number of a core | for example 0-3,6");
  EXPECT_EQ(refusal(parse_cpu_list("0;1")), "2: \";1\" does not belong after a core");
  EXPECT_EQ(refusal(parse_cpu_list("0-")), "3: a core is missing");
}

TEST(ParseTag, ValidAndRefused) {
  EXPECT_EQ(parse_tag("build=12=3"), (std::pair<std::string, std::string>("build", "12=3")));
  EXPECT_EQ(parse_tag("k="), (std::pair<std::string, std::string>("k", "")));
  EXPECT_EQ(refusal(parse_tag("x")), "2: a tag is written key=value | for example build=1234");
  EXPECT_EQ(refusal(parse_tag("=v")), "1: the key before '=' is missing");
  EXPECT_EQ(refusal(parse_tag("a b=v")), "2: a tag's key is letters, digits, '.', '_' and '-'");
}

TEST(ParseOut, ValidAndRefused) {
  constexpr std::array<std::string_view, 2> kFormats{"json", "csv"};
  const auto output = parse_out("json=a=b.json", kFormats);
  ASSERT_TRUE(output);
  EXPECT_EQ(output->format, "json");
  EXPECT_EQ(output->path, "a=b.json");
  EXPECT_EQ(refusal(parse_out("jsn=f", kFormats)),
            "1: unknown format \"jsn\" | did you mean json? Formats are json, csv");
  EXPECT_EQ(refusal(parse_out("f", kFormats)), "1: unknown format \"f\" | formats are json, csv");
  EXPECT_EQ(refusal(parse_out("json", kFormats)), "5: the file is missing | json=report.json");
  EXPECT_EQ(refusal(parse_out("json=", kFormats)), "6: the file is missing | json=report.json");
  EXPECT_EQ(
      refusal(parse_out("json=-", kFormats)),
      "6: a file is needed, not \"-\" | --json writes the JSON report to the standard output");
}

TEST(ParseOut, SamplesHaveAShare) {
  constexpr std::array<std::string_view, 2> kFormats{"json", "samples"};
  EXPECT_EQ(parse_out("samples=f", kFormats)->one_of, 1u);
  const auto output = parse_out("samples=a,1/b,1/100", kFormats);
  ASSERT_TRUE(output);
  EXPECT_EQ(output->path, "a,1/b");
  EXPECT_EQ(output->one_of, 100u);
  EXPECT_EQ(parse_out("json=f,1/100", kFormats)->path, "f,1/100");
  EXPECT_EQ(refusal(parse_out("samples=f,1/0", kFormats)),
            "13: not a share of the samples | samples=FILE,1/100");
  EXPECT_EQ(refusal(parse_out("samples=,1/2", kFormats)),
            "9: the file is missing | samples=FILE,1/100");
}

TEST(WithoutSecrets, UrlsLoseUserAndQuery) {
  EXPECT_EQ(without_secrets("a/b?c@d"), "a/b?c@d");
  EXPECT_EQ(without_secrets("http://h:1/write"), "http://h:1/write");
  EXPECT_EQ(without_secrets("http://u:p@h/w?db=x&p=y"), "http://h/w?...");
  EXPECT_EQ(without_secrets("influx=https://u:p/q@h/w?p=a@b"), "influx=https://h/w?...");
}

TEST(ParseOnLate, ValidAndRefused) {
  EXPECT_EQ(parse_on_late("catch_up")->on_late, kernel::OnLate::catch_up);
  EXPECT_EQ(parse_on_late("skip")->on_late, kernel::OnLate::skip);
  EXPECT_EQ(parse_on_late("burst:12")->on_late, kernel::OnLate::burst);
  EXPECT_EQ(parse_on_late("burst:12")->burst, 12U);
  EXPECT_EQ(refusal(parse_on_late("catch-up")),
            "1: not one of catch_up, skip, burst:N | did you mean catch_up?");
  EXPECT_EQ(refusal(parse_on_late("burst")),
            "1: not one of catch_up, skip, burst:N | for example burst:10");
  EXPECT_EQ(refusal(parse_on_late("burst:0")), "7: a burst is 1 to 1,000,000 arrivals");
  EXPECT_EQ(refusal(parse_on_late("burst:x")), "7: a number starts with a digit, not with \"x\"");
}

class ParseHeader : public testing::Test {
 protected:
  HeaderSources sources_{
      .environment = [](const std::string& name) -> std::optional<std::string> {
        if (name == "TOKEN") return "s3cret";
        if (name == "BROKEN") return "a\r\nX: b";
        return std::nullopt;
      },
      .read_file = [](const std::string& path) -> std::expected<std::string, std::string> {
        if (path == "good") return "A: 1\r\n\nCookie: $TOKEN\n";
        if (path == "bad") return "A: 1\nno colon here s3cret\n";
        if (path == "empty") return "\n";
        return std::unexpected("No such file or directory");
      }};

  std::string refused(std::string_view text) const { return refusal(parse_header(text, sources_)); }
};

TEST_F(ParseHeader, NameAndValue) {
  EXPECT_EQ(parse_header("Accept:  text/html ", sources_),
            (std::vector<Header>{{"Accept", "text/html"}}));
  EXPECT_EQ(parse_header("X:", sources_), (std::vector<Header>{{"X", ""}}));
  EXPECT_EQ(parse_header("Host: a:80", sources_), (std::vector<Header>{{"Host", "a:80"}}));
}

TEST_F(ParseHeader, FromTheEnvironment) {
  EXPECT_EQ(parse_header("Authorization: Bearer $TOKEN!", sources_),
            (std::vector<Header>{{"Authorization", "Bearer s3cret!"}}));
  EXPECT_EQ(parse_header("X: ${TOKEN}x$$TOKEN $5 $", sources_),
            (std::vector<Header>{{"X", "s3cretx$TOKEN $5 $"}}));
  EXPECT_EQ(refused("X: $NOPE"),
            "3: the environment has no NOPE | a dollar sign itself is written $$");
  EXPECT_EQ(refused("X: $BROKEN"), "3: a line break comes in from the environment");
}

TEST_F(ParseHeader, FromAFileTakenLiterally) {
  EXPECT_EQ(parse_header("@good", sources_),
            (std::vector<Header>{{"A", "1"}, {"Cookie", "$TOKEN"}}));
  EXPECT_EQ(refused("@nope"), "2: cannot read nope: No such file or directory");
  EXPECT_EQ(refused("@empty"), "2: empty has no header");
}

TEST_F(ParseHeader, Refused) {
  constexpr std::string_view kHint = " | for example -H 'Accept: text/html', or -H @file";
  EXPECT_EQ(refused("Accept"),
            "7: the colon after the header's name is missing" + std::string(kHint));
  EXPECT_EQ(refused(": x"), "1: not the name of a header" + std::string(kHint));
  EXPECT_EQ(refused("A b: x"), "2: not the name of a header" + std::string(kHint));
  EXPECT_EQ(refused("A: x\r\nB: y"), "5: a control character in the header's value");
}

TEST_F(ParseHeader, C8_ErrorsNeverQuoteAValue) {
  for (const std::string_view text : {"Bearer s3cret", "A: s3cret\n", "@bad", "A: $TOKEN $NOPE"}) {
    EXPECT_EQ(refused(text).find("s3cret"), std::string::npos) << refused(text);
    EXPECT_NE(refused(text), "accepted");
  }
}

}  // namespace
}  // namespace onbeat::options
