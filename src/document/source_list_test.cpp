#include "document/source_list.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace onbeat::document {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Read {
  std::vector<SourceDescription> sources;
  std::vector<std::string> said;
};
Read read(const std::string& sources) {
  const Parsed parsed =
      parse_gctf("dir/x.gctf", "--- BENCH ---\nsources:" + sources +
                                   "\n--- ENDPOINT ---\na.B/C\n--- RESPONSE ---\n{}\n");
  std::vector<Diagnostic> diagnostics = parsed.diagnostics;
  Read result{.sources = read_sources(parsed.chain, diagnostics), .said = {}};
  for (const Diagnostic& one : diagnostics)
    result.said.push_back(std::to_string(one.at.line) + ":" + std::to_string(one.at.column) + " " +
                          one.message);
  return result;
}

TEST(SourceList, ReadsEveryField) {
  const Read got = read(R"(
  - file: data/users.csv
    delimiter: ";"
    header: false
    on_end: stop
    order: random
    filter:
      - { field: country, in: [DE, FR] }
      - { field: age, gte: 18, lt: 65 }
  - file: regions.ndjson
    name: region
    format: ndjson
    indexed_by: country, year
    index_mode: build_once
    memory_budget: 64mb
    join_type: inner
  - { file: days.tsv, delimiter: 9, join_type: cross })");
  EXPECT_THAT(got.said, IsEmpty());
  ASSERT_EQ(got.sources.size(), 3U);
  const SourceDescription& users = got.sources[0];
  EXPECT_EQ(users.data.path, "dir/data/users.csv");
  EXPECT_EQ(users.data.name, "users");
  EXPECT_EQ(users.data.delimiter, ';');
  EXPECT_FALSE(users.data.header);
  EXPECT_EQ(users.data.on_end, OnEnd::stop);
  EXPECT_EQ(users.data.order, RowOrder::random);
  ASSERT_EQ(users.filters.size(), 3U);
  EXPECT_TRUE(users.filters[0].accepts("FR"));
  EXPECT_FALSE(users.filters[0].accepts("US"));
  EXPECT_FALSE(users.filters[0].accepts({})) << "a missing field fits nothing";
  EXPECT_TRUE(users.filters[1].accepts("100")) << "by number, not by letter";
  EXPECT_FALSE(users.filters[1].accepts("9"));
  EXPECT_FALSE(users.filters[2].accepts("65"));
  const SourceDescription& region = got.sources[1];
  EXPECT_EQ(region.data.name, "region");
  EXPECT_EQ(region.data.format, DataFormat::ndjson);
  EXPECT_THAT(region.indexed_by, ElementsAre("country", "year"));
  EXPECT_EQ(region.memory_budget, 64U << 20);
  EXPECT_EQ(region.join, JoinType::inner);
  EXPECT_EQ(got.sources[2].data.delimiter, '\t');
  EXPECT_EQ(got.sources[2].join, JoinType::cross);
}

TEST(SourceList, SaysWhatIsWrong) {
  EXPECT_THAT(read(" users.csv").said, ElementsAre("2:1 sources is a list of data files"));
  EXPECT_THAT(read("\n  - fil: a.csv\n").said,
              ElementsAre("3:5 unknown field of a source fil", "3:5 a source names its file"));
  EXPECT_THAT(read("\n  - file: a.csv\n    join_type: outer\n    on_end: x\n    memory_budget: "
                   "much\n    delimiter: ab\n")
                  .said,
              ElementsAre("4:16 join_type: unknown outer", "5:13 on_end: unknown x",
                          "6:20 memory_budget: a size is expected",
                          "7:16 delimiter: one character is expected"));
  EXPECT_THAT(read("\n  - file: a.csv\n  - file: b/a.csv\n").said,
              ElementsAre("4:5 a dimension is joined by a column", "4:5 two sources are named a"));
  EXPECT_THAT(
      read("\n  - file: a.csv\n    filter:\n      - { equals: 1 }\n      - { field: a }\n      - { "
           "field: a, gt: 1 }\n")
          .said,
      ElementsAre(HasSubstr("5:9 a filter names its field"),
                  HasSubstr("6:9 a filter has a condition"), HasSubstr("unknown condition gt"),
                  HasSubstr("7:9 a filter has a condition")));
  EXPECT_THAT(read("\n  - [").said, ElementsAre(HasSubstr("3:")));
}

}  // namespace
}  // namespace onbeat::document
