#include "document/row_set.hpp"

#include "document/data_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace onbeat::document {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

SourceDescription source(const DataFile& file, std::string name) {
  SourceDescription description;
  description.data.path = file.path();
  description.data.name = std::move(name);
  return description;
}
SourceDescription dimension(const DataFile& file, std::string name, std::string key,
                            JoinType join) {
  SourceDescription description = source(file, std::move(name));
  if (!key.empty()) description.indexed_by = {std::move(key)};
  description.join = join;
  return description;
}

std::vector<std::uint32_t> all(std::size_t count) {
  std::vector<std::uint32_t> columns(count);
  for (std::size_t i = 0; i < count; ++i) columns[i] = static_cast<std::uint32_t>(i);
  return columns;
}

std::vector<std::string> rows(const std::vector<SourceDescription>& sources, std::uint64_t count,
                              const RowSetOptions& options = {}) {
  const auto set = RowSet::open(sources, options);
  if (!set) return {set.error()[0].message};
  RowReader reader(**set, all((*set)->variables().size()));
  std::vector<std::string> lines;
  for (std::uint64_t n = 0; n < count; ++n) {
    const auto row = reader.row(n);
    if (!row) {
      lines.emplace_back(to_string(row.error()));
      continue;
    }
    std::string& line = lines.emplace_back();
    for (const std::string_view value : *row)
      line += (line.empty() ? "" : "|") + std::string(value);
  }
  return lines;
}

const DataFile& users() {
  static const DataFile file("id,country\n1,DE\n2,XX\n3,FR\n4,DE\n");
  return file;
}
const DataFile& countries() {
  static const DataFile file("country,name\nFR,\"France, la\"\nDE,Germany\nDE,twice\n");
  return file;
}

TEST(RowSet, ThePrimaryAloneIsItsRows) {
  EXPECT_THAT(rows({source(users(), "user")}, 5),
              ElementsAre("1|DE", "2|XX", "3|FR", "4|DE", "1|DE"));
  auto once = source(users(), "user");
  once.data.on_end = OnEnd::stop;
  EXPECT_THAT(rows({once}, 5), ElementsAre("1|DE", "2|XX", "3|FR", "4|DE", "data_ended"));
}

TEST(RowSet, ALeftJoinWithoutAMatchIsEmpty) {
  const auto set = RowSet::open(
      {source(users(), "user"), dimension(countries(), "c", "country", JoinType::left)}, {});
  EXPECT_THAT((*set)->variables(), ElementsAre("user.id", "user.country", "c.country", "c.name"));
  EXPECT_THAT(
      rows({source(users(), "user"), dimension(countries(), "c", "country", JoinType::left)}, 3),
      ElementsAre("1|DE|DE|Germany", "2|XX||", "3|FR|FR|France, la"));
}

TEST(RowSet, AnInnerJoinSkipsRowsWithoutAMatch) {
  EXPECT_THAT(
      rows({source(users(), "user"), dimension(countries(), "c", "country", JoinType::inner)}, 5),
      ElementsAre("1|DE|DE|Germany", "3|FR|FR|France, la", "4|DE|DE|Germany", "1|DE|DE|Germany",
                  "3|FR|FR|France, la"));
  const DataFile none("country,name\nUS,x\n");
  EXPECT_THAT(rows({source(users(), "user"), dimension(none, "c", "country", JoinType::inner)}, 1),
              ElementsAre(HasSubstr("no row passes")));
}

TEST(RowSet, ACrossJoinHasEachCombination) {
  const DataFile one("id\n7\n");
  EXPECT_THAT(rows({source(one, "one"), dimension(countries(), "c", "", JoinType::cross)}, 4),
              ElementsAre("7|FR|France, la", "7|DE|Germany", "7|DE|twice", "7|FR|France, la"));
  const auto set =
      RowSet::open({source(users(), "u"), dimension(countries(), "c", "", JoinType::cross),
                    dimension(one, "o", "", JoinType::cross)},
                   {});
  EXPECT_EQ((*set)->rows(), 12U);
}

TEST(RowSet, FiltersLeaveRowsOut) {
  auto filtered = source(users(), "user");
  filtered.filters = {{RowFilter::Kind::at_least, "id", {"3"}}};
  EXPECT_THAT(rows({filtered}, 3), ElementsAre("3|FR", "4|DE", "3|FR"));
  auto countries_of = dimension(countries(), "c", "country", JoinType::inner);
  countries_of.filters = {{RowFilter::Kind::contains, "name", {"w"}}};
  EXPECT_THAT(rows({source(users(), "user"), countries_of}, 2),
              ElementsAre("1|DE|DE|twice", "4|DE|DE|twice"));
  filtered.filters = {{RowFilter::Kind::equals, "nope", {"3"}}};
  EXPECT_THAT(rows({filtered}, 1), ElementsAre("filter: there is no column nope"));
}

TEST(RowSet, ReadFromTheFileAreTheSameRowsAsFromMemory) {
  const DataFile tsv("country\tyear\tname\nDE\t1\ta,\"b\nFR\t2\tc\n", "c.tsv");
  const DataFile json(
      "{\"country\":\"DE\",\"year\":1,\"name\":\"a,\\\"b\"}\n{\"country\":\"FR\",\"year\":2,"
      "\"name\":\"c\"}\n",
      "c.ndjson");
  const DataFile csv("country,year,name\nDE,1,\"a,\"\"b\"\nFR,2,c\n", "c.csv");
  const DataFile primary("country,year\nDE,1\nFR,1\nFR,2\n");
  for (const DataFile* file : {&tsv, &json, &csv}) {
    auto joined = dimension(*file, "c", "country", JoinType::left);
    joined.indexed_by.emplace_back("year");
    const auto memory = rows({source(primary, "p"), joined}, 4);
    EXPECT_THAT(memory[0], HasSubstr("a,\"b")) << file->path();
    EXPECT_THAT(memory[1], HasSubstr("FR|1||")) << file->path();
    joined.memory_budget = 32;  // the index of two rows
    const auto set = RowSet::open({source(primary, "p"), joined}, {});
    ASSERT_TRUE(set) << set.error()[0].message;
    EXPECT_FALSE((*set)->dimensions()[0]->in_memory());
    EXPECT_EQ(rows({source(primary, "p"), joined}, 4), memory) << file->path();
  }
}

TEST(RowSet, TheBudgetBounds) {
  auto joined = dimension(countries(), "c", "country", JoinType::left);
  joined.memory_budget = 47;
  EXPECT_THAT(rows({source(users(), "user"), joined}, 1),
              ElementsAre(HasSubstr("its index needs 48 bytes, the budget is 47")));
  EXPECT_EQ(default_memory_budget("64mb"), 64U << 20);
  EXPECT_GE(default_memory_budget({}), 32U << 20);
  EXPECT_LE(default_memory_budget("much"), 512U << 20);
}

TEST(RowSet, KeysMustBeColumnsOfBoth) {
  EXPECT_THAT(
      rows({source(users(), "user"), dimension(countries(), "c", "contry", JoinType::left)}, 1),
      ElementsAre(HasSubstr("there is no column contry")));
  const DataFile other("code,name\nDE,x\n");
  EXPECT_THAT(rows({source(users(), "user"), dimension(other, "c", "code", JoinType::left)}, 1),
              ElementsAre("there is no column code to join c by"));
}

TEST(RowSet, LoopsAgreeOnTheRows) {
  std::string text = "id,country\n";
  for (int i = 0; i < 1000; ++i) text += std::to_string(i) + (i % 3 == 0 ? ",DE\n" : ",XX\n");
  const DataFile file(text);
  for (const RowOrder order : {RowOrder::sequential, RowOrder::random}) {
    auto primary = source(file, "user");
    primary.data.order = order;
    const auto set = RowSet::open(
        {primary, dimension(countries(), "c", "country", JoinType::inner)}, {.seed = 5});
    ASSERT_TRUE(set);
    EXPECT_EQ((*set)->rows(), 334U);
    RowReader together(**set, all(4));
    std::vector<std::string> expected;
    for (std::uint64_t n = 0; n < 334; ++n) expected.emplace_back((*together.row(n))[0]);
    EXPECT_EQ(std::set<std::string>(expected.begin(), expected.end()).size(), 334U)
        << "each row once";
    for (std::uint64_t loop = 0; loop < 3; ++loop) {
      RowReader reader(**set, all(4));
      for (std::uint64_t n = loop; n < 334; n += 3) EXPECT_EQ((*reader.row(n))[0], expected[n]);
    }
    EXPECT_EQ(together.counts().lookups, 334U);
    EXPECT_EQ(together.counts().hits, 334U);
  }
}

}  // namespace
}  // namespace onbeat::document
