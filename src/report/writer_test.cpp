#include "report/writer.hpp"

#include "report/golden.hpp"
#include "report/json.hpp"
#include "report/output.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <thread>

namespace onbeat::report {
namespace {

using testing::read_file;
using testing::Scratch;

class Writer : public ::testing::Test {
 protected:
  void SetUp() override { old_ = std::signal(SIGPIPE, SIG_IGN); }
  void TearDown() override { std::signal(SIGPIPE, old_); }
  Scratch scratch_;
  run::Report report_ = testing::troubled();

 private:
  sighandler_t old_ = SIG_DFL;
};

TEST_F(Writer, C6_EveryFormatOfEveryReportIsWritten) {
  for (const run::Report& report :
       {report_, run::Report{}, testing::hostile_without_data(), testing::hostile()}) {
    std::vector<options::Output> outputs;
    for (const std::string_view format : kFormats) {
      outputs.push_back({std::string(format), scratch_.path(std::string(format)).string()});
    }
    EXPECT_TRUE(write_outputs(report, outputs).empty());
    for (const options::Output& output : outputs)
      EXPECT_EQ(read_file(output.path), render(report, output.format));
    // No temporary file is left; hgrm has a second file of an open run.
    EXPECT_LE(scratch_.files(), kFormats.size() + 1);
  }
}

TEST_F(Writer, AFailureLosesNoOtherOutput) {
  const std::string last = scratch_.path("last.json").string();
  const std::vector<options::Output> outputs{{"json", "/dev/full"},
                                             {"csv", scratch_.path("no/such/folder").string()},
                                             {"html", scratch_.path("").string()},
                                             {"json", last}};
  const std::vector<std::string> problems = write_outputs(report_, outputs);
  ASSERT_EQ(problems.size(), 3u);
  EXPECT_EQ(problems[0], "cannot write the json report to /dev/full: No space left on device");
  EXPECT_TRUE(problems[1].contains("No such file or directory")) << problems[1];
  EXPECT_TRUE(problems[2].contains("Is a directory")) << problems[2];
  EXPECT_EQ(read_file(last), to_json(report_));
}

TEST_F(Writer, ABrokenPipeIsAProblemAndNoEnd) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  const auto written = write_all(ends[1], "text");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error(), "Broken pipe");
  ::close(ends[1]);
}

TEST_F(Writer, PipesAndDevicesAreWrittenToDirectly) {
  const std::string fifo = scratch_.path("fifo").string();
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  std::string received;
  std::thread reader([&] { received = read_file(fifo); });
  EXPECT_TRUE(
      write_file(fifo, std::string(200'000, 'x')));  // more than a pipe holds: several writes
  reader.join();
  EXPECT_EQ(received, std::string(200'000, 'x'));
  struct stat status{};
  ASSERT_EQ(::stat(fifo.c_str(), &status), 0);
  EXPECT_TRUE(S_ISFIFO(status.st_mode));
}

TEST_F(Writer, ARegularFileIsReplacedWholeAndKeepsItsPermissions) {
  const auto path = scratch_.path("report.json");
  std::ofstream(path) << "old";
  ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
  const int held = ::open(path.c_str(), O_RDONLY);
  ASSERT_TRUE(write_file(path.string(), "new"));
  char old[4] = {};
  EXPECT_EQ(::read(held, old, 3), 3);
  EXPECT_STREQ(old, "old");  // who had it open sees the old file whole
  ::close(held);
  EXPECT_EQ(read_file(path), "new");
  struct stat status{};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
}

TEST_F(Writer, SymbolicLinksStay) {
  const auto link = scratch_.path("latest.json"), target = scratch_.path("run.json");
  std::ofstream(target) << "old";
  std::filesystem::create_symlink(target, link);
  ASSERT_TRUE(write_file(link.string(), "new"));
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(read_file(target), "new");
}

TEST_F(Writer, UnknownFormatsAreABug) {
  EXPECT_THROW((void)render(report_, "pdf"), std::invalid_argument);
}

}  // namespace
}  // namespace onbeat::report
