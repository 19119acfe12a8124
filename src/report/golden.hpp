// What the tests of reports share: golden files, hostile labels, scratch folders. Not part of the
// product.
#pragma once

#include "run/sample_report.hpp"
#include "run/thresholds.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace onbeat::report::testing {

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Compares with src/report/testdata/NAME; with ONBEAT_UPDATE_GOLDEN=1 in the environment it writes
/// it instead.
inline void expect_golden(const std::string& name, const std::string& text) {
  const auto path = std::filesystem::path(ONBEAT_SOURCE_DIR) / "src/report/testdata" / name;
  if (std::getenv("ONBEAT_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  EXPECT_EQ(text, read_file(path))
      << name << ": after a wanted change run with ONBEAT_UPDATE_GOLDEN=1";
}

/// A folder that vanishes with the test.
class Scratch {
 public:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "onbeat-report-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~Scratch() { std::filesystem::remove_all(path_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  [[nodiscard]] std::filesystem::path path(const std::string& name) const { return path_ / name; }
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }

 private:
  std::filesystem::path path_;
};

inline options::Threshold threshold(const char* text) {
  return options::parse_threshold(text).value();
}

/// Two endpoints, failures of two classes, timeouts at the end.
inline run::Report troubled() {
  using namespace std::chrono_literals;
  run::Report report = run::testing::healthy_open();
  for (kernel::Counts* counts : {&report.total.counts, &report.series[9].counts}) {
    counts->ok -= 300;
    counts->failed += 200;
    counts->timed_out += 100;
  }
  report.series[9].events = {"rate 900/s"};
  report.total.response = run::testing::spread(4ms, 6ms, 9'700);
  report.total.response.record_censored(2s, 100);
  report.total.service = report.total.response;
  report.total.failed = run::testing::always(1ms, 200);
  report.codes = {{"200", 9'700}, {"503", 150}};
  report.errors = {{"status", 150}, {"reset", 50}, {"timeout", 100}};
  report.series[9].errors = report.errors;
  report.series[9].max = 2s;
  report.series[9].at_least = {"max"};
  report.error_samples = {{"reset", "127.0.0.1:8080: connection reset by peer"}};
  report.observed.target_on_same_cores = true;
  report.observed.in_flight_mean.reset();
  run::Endpoint login{.name = "/login"}, search{.name = "/search?q=1"};
  login.counts.started = login.counts.ok = 4'700;
  login.response = login.service = run::testing::spread(4ms, 6ms, 4'700);
  login.codes = {{"200", 4'700}};
  search.counts.started = 5'300;
  search.counts.ok = 5'000;
  search.counts.failed = 200;
  search.counts.timed_out = 100;
  search.response = run::testing::spread(4ms, 6ms, 5'000);
  search.response.record_censored(2s, 100);
  search.service = search.response;
  search.failed = report.total.failed;
  search.codes = {{"200", 5'000}, {"503", 150}};
  search.errors = report.errors;
  report.endpoints = {login, search};
  return report;
}

/// C5: what a label may hold, everywhere that a label may stand.
inline const std::string kHostile = "a\"b',c\n<script>alert(1)</script>&\x1b[31m\xff\xc0\xaf";
inline run::Report hostile() {
  run::Report report = troubled();
  report.name = report.target = report.load_text = kHostile;
  report.tags = {{kHostile, kHostile}};
  report.options.push_back({kHostile, kHostile, "cli"});
  report.endpoints[0].name = "=" + kHostile;
  report.endpoints[1].name = kHostile;
  report.codes[kHostile] = 1;
  report.errors[kHostile] = 1;
  report.error_samples[kHostile] = kHostile;
  report.series[0].events = {kHostile};
  report.series[0].errors = {{kHostile, 1}};
  report.connections.by_address[kHostile] = 1;
  report.verdict.reasons.push_back({"code", run::Status::degraded, kHostile, {kHostile}, kHostile});
  report.thresholds.push_back({.metric = kHostile, .expr = kHostile, .reason = kHostile});
  return report;
}

/// C6 and C7: a run that ended before anything was sent, and one in which nothing at all happened.
inline run::Report hostile_without_data() {
  run::Report report = run::testing::without_data();
  report.error->message = report.error->hint = kHostile;
  return report;
}

}  // namespace onbeat::report::testing
