#include <onbeat/kernel/sample.hpp>

#include <gtest/gtest.h>

#include <set>

namespace onbeat::kernel {
namespace {

using namespace std::chrono_literals;

TEST(Sample, TimesAreAbsentWhereAnInstantIs) {
  Sample sample;
  EXPECT_FALSE(sample.service());
  EXPECT_FALSE(sample.behind_schedule());
  sample.started = Instant{} + 5s;
  EXPECT_FALSE(sample.service());
  sample.done = Instant{} + 7s;
  EXPECT_EQ(sample.service(), 2s);
  EXPECT_FALSE(sample.behind_schedule());
  sample.due = Instant{} + 6s;
  EXPECT_EQ(sample.behind_schedule(), -1s);
}

TEST(Sample, EachEndingIsStartedOrNot) {
  std::set<std::string_view> names;
  int started = 0;
  int censored = 0;
  for (int i = 0; i <= static_cast<int>(Ending::missed_at_end); ++i) {
    Sample sample;
    sample.ending = static_cast<Ending>(i);
    names.insert(to_string(sample.ending));
    started += sample.was_started() ? 1 : 0;
    censored += sample.censored() ? 1 : 0;
    EXPECT_EQ(sample.success(), sample.ending == Ending::ok);
    EXPECT_EQ(sample.saturated(), sample.ending == Ending::saturated);
  }
  EXPECT_EQ(names.size(), 9U);
  EXPECT_EQ(started, 5);
  EXPECT_EQ(censored, 3);
}

TEST(Sample, LabelsAreFoundByKey) {
  Sample sample;
  sample.labels = {{"endpoint", "login"}, {"region", "north"}};
  EXPECT_EQ(sample.label("region"), "north");
  EXPECT_EQ(sample.label("absent"), "");
}

}  // namespace
}  // namespace onbeat::kernel
