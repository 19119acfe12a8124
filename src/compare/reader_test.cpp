#include "compare/reader.hpp"

#include "report/json.hpp"
#include "run/sample_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace onbeat::compare {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(SplitDocuments, FindsWhereEachEnds) {
  EXPECT_THAT(split_documents(R"({"a":1})"), ElementsAre(R"({"a":1})"));
  EXPECT_THAT(split_documents("{\"a\":{}}\n{\"b\":2}\n"), ElementsAre("{\"a\":{}}", "\n{\"b\":2}"));
  EXPECT_THAT(split_documents(R"({"a":"}\"}{"}{})"), ElementsAre(R"({"a":"}\"}{"})", "{}"));
  EXPECT_THAT(split_documents("{} x"), ElementsAre("{}", " x")) << "rubbish is not lost";
  EXPECT_THAT(split_documents("}{"), ElementsAre("}{"));
  EXPECT_THAT(split_documents(""), ElementsAre(""));
}

class ReadRuns : public testing::Test {
 protected:
  ReadRuns()
      : path_(std::filesystem::temp_directory_path() /
              ("onbeat-runs-" + std::to_string(::getpid()))) {}
  ~ReadRuns() override { std::filesystem::remove(path_); }
  auto read(const std::string& text) {
    std::ofstream(path_, std::ios::binary) << text;
    return read_runs(path_.string());
  }
  std::filesystem::path path_;
};

TEST_F(ReadRuns, OneReportOrSeveral) {
  const std::string text = report::to_json(run::testing::healthy_open());
  const auto one = read(text);
  ASSERT_TRUE(one) << one.error();
  ASSERT_EQ(one->size(), 1U);
  EXPECT_EQ(one->front().source, path_.string());
  const auto two = read(text + text);
  ASSERT_TRUE(two) << two.error();
  ASSERT_EQ(two->size(), 2U);
  EXPECT_EQ((*two)[1].source, path_.string() + ", run 2");
  EXPECT_EQ((*two)[1].report.total.counts.ok, 10'000U);
}

TEST_F(ReadRuns, WhatIsWrongIsSaid) {
  EXPECT_THAT(read("{}").error(), HasSubstr("schema: is missing"));
  EXPECT_THAT(read("").error(), HasSubstr("not JSON"));
  EXPECT_THAT(read(report::to_json(run::testing::healthy_open()) + "{\"a\":").error(),
              HasSubstr(", run 2: no report of a run"));
  EXPECT_THAT(read_runs("/no/such/file").error(), HasSubstr("No such file"));
}

}  // namespace
}  // namespace onbeat::compare
