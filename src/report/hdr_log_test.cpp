// The HDR formats against what HdrHistogram makes of them. testdata/hdr_peer.* were made by
// testdata/HdrPeer.java, which says how; with ONBEAT_HDR_INPUTS=FOLDER in the environment the test
// writes what it reads.
#include "report/hdr_log.hpp"

#include "report/golden.hpp"
#include "report/hdr_encoding.hpp"
#include "report/hgrm.hpp"
#include "report/wall_time.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

namespace onbeat::report {
namespace {

using namespace std::chrono_literals;
using kernel::Duration;
using kernel::Histogram;

/// Values over seven decades, some alone in their bucket, some many.
Histogram wide() {
  Histogram histogram;
  std::int64_t value = 21;
  for (int i = 0; i < 5'000; ++i) {
    histogram.record(Duration{value % 400'000'000 + 900}, 1 + static_cast<std::uint64_t>(i % 7));
    value = value * 48'271 % 2'147'483'647;
  }
  return histogram;
}

kernel::Interval interval_at(int second) {
  kernel::Interval interval;
  interval.start = std::chrono::seconds(second);
  interval.end = interval.start + 1s;
  interval.response = run::testing::spread(4ms, Duration(6ms) * (second + 1), 1'000);
  interval.service = run::testing::spread(3ms, 5ms, 1'000);
  interval.lag = run::testing::always(20us, 1'000);
  if (second == 1) interval.failed = run::testing::always(1s, 3);
  interval.extra = {run::testing::always(8us, 20), {}};
  return interval;
}

std::string log_text() {
  const testing::Scratch scratch;
  const std::string path = scratch.path("run.hlog").string();
  run::Report known = run::testing::healthy_open();
  HdrLog log;
  EXPECT_TRUE(log.open(path));
  log.begin(known);
  kernel::RecorderShape shape;
  shape.histograms = {"turn", "first byte,"};
  for (const int second : {0, 1}) {
    kernel::Interval interval = interval_at(second);
    if (second == 1) interval.extra[1] = run::testing::always(2ms, 5);
    log.interval(interval, kernel::Names(), shape);
  }
  log.end(known);
  EXPECT_EQ(log.problem(), "");
  return testing::read_file(path);
}

void offer(const char* name, const std::string& text) {
  if (const char* folder = std::getenv("ONBEAT_HDR_INPUTS"); folder != nullptr)
    std::ofstream(std::filesystem::path(folder) / name) << text;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string peer(const char* name) {
  return testing::read_file(std::filesystem::path(ONBEAT_SOURCE_DIR) / "src/report/testdata" /
                            name);
}

// Equal but for the max, which we have exactly and the peer to its bucket, and what follows from
// it.
TEST(Hgrm, IsWhatHdrHistogramWrites) {
  offer("hdr_peer.payload", encode_hdr(wide()));
  const auto ours = lines_of(to_hgrm(wide())), theirs = lines_of(peer("hdr_peer.hgrm"));
  ASSERT_EQ(ours.size(), theirs.size());
  ASSERT_GT(ours.size(), 60u);
  for (std::size_t i = 0; i < ours.size(); ++i) {
    if (ours[i].starts_with("#[Mean") || ours[i].starts_with("#[Max")) continue;
    std::istringstream a(ours[i]), b(theirs[i]);
    double value = 0, peers = 0;
    if (!(a >> value) || !(b >> peers)) {
      EXPECT_EQ(ours[i], theirs[i]);
      continue;
    }
    EXPECT_NEAR(value, peers, peers / 1000) << theirs[i];
    EXPECT_EQ(ours[i].substr(12), theirs[i].substr(12));
    if (i < ours.size() / 2) EXPECT_EQ(ours[i], theirs[i]);
  }
  double mean = 0, deviation = 0, mean_of_peer = 0, deviation_of_peer = 0;
  const auto foot = [](const std::vector<std::string>& lines, double& a, double& b) {
    EXPECT_EQ(std::sscanf(lines[lines.size() - 3].c_str(), "#[Mean    = %lf, StdDeviation   = %lf]",
                          &a, &b),
              2);
  };
  foot(ours, mean, deviation);
  foot(theirs, mean_of_peer, deviation_of_peer);
  EXPECT_NEAR(mean, mean_of_peer, mean / 1000);
  EXPECT_NEAR(deviation, deviation_of_peer, deviation / 1000);
}

TEST(Hgrm, NothingIsADistributionToo) {
  const auto lines = lines_of(to_hgrm(Histogram()));
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_TRUE(lines[3].contains("Total count    =            0")) << lines[3];
}

TEST(HdrLog, HdrHistogramReadsEveryLine) {
  const std::string text = log_text();
  offer("hdr_peer.hlog", text);
  std::string read;
  for (const std::string& line : lines_of(text)) {
    if (!line.starts_with("Tag=")) continue;
    const auto part = [&, at = std::size_t{4}]() mutable {
      const std::size_t end = std::min(line.find(',', at), line.size());
      const std::string found = line.substr(at, end - at);
      at = end + 1;
      return found;
    };
    auto next = part;
    const std::string tag = next();
    const double start = std::stod(next()), length = std::stod(next());
    (void)next();
    const Histogram histogram = decode_hdr(next()).value();
    const Duration base = unix_time("2024-01-02T03:04:05.000Z").value();
    const auto ms = [&](double seconds) { return std::llround(seconds * 1000) + base / 1ms; };
    const auto edge = [&](double p) {
      return histogram.layout().highest_of(
          histogram.layout().index_of(histogram.percentile(p).count()));
    };
    read += tag + " start=" + std::to_string(ms(start)) +
            " ms end=" + std::to_string(ms(start + length)) +
            " ms count=" + std::to_string(histogram.count()) + " p50=" + std::to_string(edge(50)) +
            " p99=" + std::to_string(edge(99)) + " max=" + std::to_string(edge(100)) + "\n";
  }
  EXPECT_EQ(read, peer("hdr_peer.log.txt"));
}

TEST(HdrLog, AReportWithoutIntervalsIsOneInterval) {
  const testing::Scratch scratch;
  const std::string path = scratch.path("run.hlog").string();
  run::Report report = run::testing::healthy_closed();
  HdrLog log;
  ASSERT_TRUE(log.open(path));
  log.begin(report);
  log.end(report);
  const auto lines = lines_of(testing::read_file(path));
  ASSERT_EQ(lines.size(), 4u + 2);
  EXPECT_TRUE(lines[4].starts_with("Tag=service,0.000,10.006,11.000,HISTFAAA")) << lines[4];
  EXPECT_TRUE(lines[5].starts_with("Tag=turn,")) << lines[5];
}

TEST(WallTime, IsRfc3339InUtcAndNothingElse) {
  EXPECT_EQ(unix_time("1970-01-01T00:00:01.500Z"), Duration(1500ms));
  EXPECT_EQ(unix_time("2024-02-29T23:59:59.999Z"), Duration(1709251199999ms));
  for (const char* text : {"", "2024-02-30T00:00:00.000Z", "2024-01-02T03:04:05.000+01:00",
                           "2024-01-02T24:04:05.000Z", "2024-01-02 03:04:05"}) {
    EXPECT_EQ(unix_time(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace onbeat::report
