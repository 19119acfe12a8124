#include "report/csv.hpp"

#include "report/golden.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace onbeat::report {
namespace {

using Table = std::vector<std::vector<std::string>>;

// RFC 4180, strictly: a quote inside an unquoted field, or an open one at the end, is a failure.
Table parse(const std::string& text) {
  Table table(1);
  table.back().emplace_back();
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string& field = table.back().back();
    if (quoted) {
      if (text[i] != '"') {
        field += text[i];
      } else if (text[i + 1] == '"') {
        field += text[++i];
      } else {
        quoted = false;
      }
    } else if (text[i] == '"') {
      EXPECT_TRUE(field.empty());
      quoted = true;
    } else if (text[i] == ',') {
      table.back().emplace_back();
    } else if (text[i] == '\r' && text[i + 1] == '\n') {
      ++i;
      if (i + 1 < text.size()) table.push_back({""});
    } else {
      EXPECT_TRUE(text[i] != '\n' && text[i] != '\r');
      field += text[i];
    }
  }
  EXPECT_FALSE(quoted);
  return table;
}

std::size_t column(const Table& table, const std::string& name) {
  return static_cast<std::size_t>(std::ranges::find(table[0], name) - table[0].begin());
}

TEST(CsvReport, RowsAddUpToTheTotal) {
  const Table table = parse(to_csv(testing::troubled()));
  ASSERT_EQ(table.size(), 1u + 10 + 1 + 2);
  for (const char* name : {"planned", "started", "ok", "failed", "timed_out", "bytes_sent"}) {
    const std::size_t at = column(table, name);
    const auto sum = std::accumulate(
        table.begin() + 1, table.begin() + 11, 0LL,
        [&](long long so_far, const auto& row) { return so_far + std::stoll(row[at]); });
    EXPECT_EQ(table[11][0], "total");
    EXPECT_EQ(std::stoll(table[11][at]), sum) << name;
  }
  EXPECT_EQ(table[10][column(table, "events")], "rate 900/s");
  EXPECT_EQ(table[11][column(table, "at_least")], "99 max");
  EXPECT_EQ(table[13][column(table, "name")], "/search?q=1");
}

TEST(CsvReport, C5_HostileLabelsStayInTheirCells) {
  const Table table = parse(to_csv(testing::hostile()));
  ASSERT_EQ(table.size(), 14u);
  for (const auto& row : table) EXPECT_EQ(row.size(), table[0].size());
  EXPECT_TRUE(table[12][1].starts_with("'=a\"b',c\n<script>")) << table[12][1];
}

TEST(CsvReport, C6_NoDataIsATableToo) {
  for (const run::Report& report : {run::Report{}, testing::hostile_without_data()}) {
    const Table table = parse(to_csv(report));
    ASSERT_EQ(table.size(), 2u);
    EXPECT_EQ(table[1].size(), table[0].size());
    EXPECT_EQ(table[1][column(table, "p50_ns")], "");
  }
}

TEST(CsvReport, Golden) { testing::expect_golden("report.csv", to_csv(testing::troubled())); }

}  // namespace
}  // namespace onbeat::report
