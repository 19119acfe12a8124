#include "report/line_file.hpp"

#include "report/golden.hpp"

#include <gtest/gtest.h>

namespace onbeat::report {
namespace {

TEST(LineFile, WritesEachLineAtOnce) {
  const testing::Scratch scratch;
  LineFile file;
  ASSERT_TRUE(file.open("stream", scratch.path("s.ndjson").string()));
  file.write("{}\n");
  EXPECT_EQ(testing::read_file(scratch.path("s.ndjson")), "{}\n");
  file.write("[]\n");
  EXPECT_EQ(testing::read_file(scratch.path("s.ndjson")), "{}\n[]\n");
  EXPECT_EQ(file.problem(), "");
}

TEST(LineFile, AFailureIsKeptAndEndsTheWriting) {
  LineFile full;
  ASSERT_TRUE(full.open("stream", "/dev/full"));
  full.write("{}\n");
  EXPECT_EQ(full.problem(), "cannot write the stream to /dev/full: No space left on device");
  LineFile nowhere;
  EXPECT_FALSE(nowhere.open("HDR log", "/nonexistent/s"));
  nowhere.write("{}\n");
  EXPECT_EQ(nowhere.problem(),
            "cannot write the HDR log to /nonexistent/s: No such file or directory");
}

}  // namespace
}  // namespace onbeat::report
