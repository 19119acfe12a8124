#include "cli/completion.hpp"

#include "options/table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace onbeat::cli {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

std::vector<std::string> texts(std::vector<std::string_view> words) {
  std::vector<std::string> found;
  for (const Candidate& candidate : complete(words).candidates) found.push_back(candidate.text);
  return found;
}

TEST(Completion, OfCommands) {
  EXPECT_THAT(texts({"ht"}), ElementsAre("http"));
  EXPECT_THAT(texts({""}), Contains("target"));
  EXPECT_THAT(texts({}), Contains("http"));
  EXPECT_THAT(texts({"--v"}), ElementsAre("--version"));
  EXPECT_THAT(texts({"target", ""}), Contains("http"));
  EXPECT_THAT(texts({"nothing", ""}), IsEmpty());
}

TEST(Completion, OfFlagsOfTheCommand) {
  EXPECT_THAT(texts({"http", "--on-"}), ElementsAre("--on-late", "--on-saturation"));
  EXPECT_THAT(texts({"target", "http", "--de"}), ElementsAre("--delay"));
  EXPECT_THAT(texts({"http", "--"}), Not(Contains("--delay")));
  EXPECT_THAT(texts({"http", "-"}), Contains("-c"));
  EXPECT_THAT(texts({"http", "--"}), Each(StartsWith("--")));
  for (const options::Option& option : options::options()) {
    if ((option.commands & options::kHttp) == 0) continue;
    EXPECT_THAT(texts({"http", "--"}), Contains("--" + std::string(option.name)));
  }
}

TEST(Completion, OfValues) {
  EXPECT_THAT(texts({"http", "--arrivals", ""}), ElementsAre("even", "poisson"));
  EXPECT_THAT(texts({"http", "--arrivals=po"}), ElementsAre("--arrivals=poisson"));
  EXPECT_THAT(texts({"http", "--profile", "s"}), ElementsAre("stress", "spike", "soak"));
  EXPECT_THAT(texts({"http", "--limit", "lag_p99.d"}), Contains("lag_p99.degraded="));
  EXPECT_THAT(texts({"http", "--strict=t"}), ElementsAre("--strict=true"));
  EXPECT_THAT(texts({"http", "--strict", "http"}), ElementsAre("http://", "https://"));
  EXPECT_THAT(texts({"http", "-c", "--on"}), IsEmpty()) << "the value of -c";
  EXPECT_THAT(texts({"http", "--out", "ht"}), ElementsAre("html="));
  EXPECT_THAT(texts({"http", "--rate", ""}), IsEmpty());
}

TEST(Completion, OfFiles) {
  EXPECT_EQ(complete({"http", "--config", "a"}).files_after, "");
  EXPECT_EQ(complete({"http", "--config=a"}).files_after, "--config=");
  EXPECT_EQ(complete({"http", "--out", "html=re"}).files_after, "html=");
  EXPECT_EQ(complete({"http", "--out=html=re"}).files_after, "--out=html=");
  EXPECT_EQ(complete({"http", "--out", "ht"}).files_after, std::nullopt);
  EXPECT_EQ(complete({"target", "http", "--address", ""}).files_after, std::nullopt);
  for (const char* reads_files : {"check", "fmt", "report"})
    EXPECT_EQ(complete({reads_files, "a"}).files_after, "") << reads_files;
  EXPECT_EQ(complete({"http", "a"}).files_after, std::nullopt);
}

TEST(Completion, OfWhatIsNoOption) {
  EXPECT_THAT(texts({"http", "ht"}), ElementsAre("http://", "https://"));
  EXPECT_THAT(texts({"http", "--", "--on"}), IsEmpty());
  EXPECT_THAT(texts({"explain", "lag"}), ElementsAre("lag_p99"));
  EXPECT_THAT(texts({"completion", ""}), ElementsAre("bash", "zsh", "fish"));
}

TEST(Completion, LinesForScripts) {
  EXPECT_EQ(words_text({.candidates = {{"a", "what"}, {"b", ""}}, .files_after = "x="}),
            "a\twhat\nb\n*x=\n");
  EXPECT_EQ(words_text({}), "");
  EXPECT_EQ(completion_script("tcsh"), std::nullopt);
}

}  // namespace
}  // namespace onbeat::cli
