#include "document/data.hpp"

#include "document/data_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <numeric>
#include <random>
#include <set>
#include <thread>

namespace onbeat::document {
namespace {

using Rows = std::vector<std::string>;

std::unique_ptr<const DataSource> opened(const DataOptions& options) {
  auto source = DataSource::open(options);
  EXPECT_TRUE(source) << (source ? "" : render(source.error().front()));
  return source ? std::move(*source) : nullptr;
}

std::vector<std::uint32_t> all_columns(const DataSource& source) {
  std::vector<std::uint32_t> columns(source.columns().size());
  std::iota(columns.begin(), columns.end(), 0);
  return columns;
}

/// The values of arrival n's row with '|' between, or the fault.
std::string row_text(DataReader& reader, std::uint64_t n) {
  const auto row = reader.row(n);
  if (!row) return std::string(to_string(row.error()));
  std::string text;
  for (std::size_t column = 0; column < row->size(); ++column) {
    const std::string_view value = (*row)[column];
    text += column == 0 ? "" : "|";
    text += value.data() == nullptr ? std::string_view("absent") : value;
  }
  return text;
}

/// The rows of the first `count` arrivals.
Rows rows(const DataOptions& options, std::uint64_t count) {
  const auto source = opened(options);
  if (source == nullptr) return {};
  DataReader reader(*source, all_columns(*source));
  Rows result;
  for (std::uint64_t n = 0; n < count; ++n) result.push_back(row_text(reader, n));
  return result;
}

Rows rows_of(std::string_view content, std::uint64_t count, const std::string& name = "users.csv") {
  const DataFile file(content, name);
  return rows({.path = file.path()}, count);
}

/// "line:column: message | hint; ..." for the file's content.
std::string refusal(std::string_view content, const std::string& name = "users.csv",
                    DataOptions options = {}) {
  const DataFile file(content, name);
  options.path = file.path();
  const auto source = DataSource::open(options);
  if (source) return "accepted";
  std::string all;
  for (const options::Problem& problem : source.error()) {
    EXPECT_TRUE(problem.where.starts_with(file.path())) << problem.where;
    std::string where = problem.where.substr(file.path().size());
    if (where.starts_with(':')) where = where.substr(1) + ": ";
    all += (all.empty() ? "" : "; ") + where + problem.message +
           (problem.hint.empty() ? "" : " | " + problem.hint);
  }
  return all;
}

TEST(Data, ArrivalNTakesRowNAndBeginsAgain) {
  EXPECT_EQ(rows_of("id,name\n1,Ann\n2,Bob\n3,Cy\n", 5),
            (Rows{"1|Ann", "2|Bob", "3|Cy", "1|Ann", "2|Bob"}));
}

TEST(Data, NamesOfVariables) {
  const DataFile file("id, first-name \n1,A\n");
  EXPECT_EQ(opened({.path = file.path()})->variables(), (Rows{"users.id", "users.first-name"}));
  EXPECT_EQ(opened({.path = file.path(), .name = "u"})->variables(),
            (Rows{"u.id", "u.first-name"}));
}

TEST(Data, Case74_TheHeaderIsNotARow) {
  const DataFile file("id\n1\n");
  EXPECT_EQ(rows({.path = file.path()}, 2), (Rows{"1", "1"}));
  EXPECT_EQ(rows({.path = file.path(), .header = false}, 2), (Rows{"id", "1"}));
  EXPECT_EQ(opened({.path = file.path(), .header = false})->columns(), (Rows{"1"}));
}

TEST(Data, StopEndsAfterTheLastRow) {
  const DataFile file("id\n1\n2\n");
  EXPECT_EQ(rows({.path = file.path(), .on_end = OnEnd::stop}, 4),
            (Rows{"1", "2", "data_ended", "data_ended"}));
}

TEST(Data, RandomOrderTakesEachRowOnceAPass) {
  std::string content = "id\n";
  for (int i = 0; i < 100; ++i) content += std::to_string(i) + "\n";
  const DataFile file(content);
  const DataOptions options{.path = file.path(), .order = RowOrder::random, .seed = 3};
  const Rows taken = rows(options, 200);
  const Rows first(taken.begin(), taken.begin() + 100);
  const Rows second(taken.begin() + 100, taken.end());
  EXPECT_EQ(std::set<std::string>(first.begin(), first.end()).size(), 100U);
  EXPECT_EQ(std::set<std::string>(second.begin(), second.end()).size(), 100U);
  EXPECT_NE(first, second);
  EXPECT_EQ(taken, rows(options, 200));
  DataOptions other = options;
  other.seed = 4;
  EXPECT_NE(taken, rows(other, 200));
  other.on_end = OnEnd::stop;
  EXPECT_EQ(rows(other, 101).back(), "data_ended");
}

TEST(Data, Csv) {
  EXPECT_EQ(rows_of("\xef\xbb\xbfid,b\r\n1,\"x, \"\"y\"\"\"\r\n\r\n# no\r\n2,\"a\r\nb\"\r\n", 2),
            (Rows{"1|x, \"y\"", "2|a\r\nb"}));
  EXPECT_EQ(rows_of("a,b\n1,2", 1), (Rows{"1|2"})) << "no line break at the end";
  EXPECT_EQ(rows_of("a,b\n1,\"2\n3\"", 1), (Rows{"1|2\n3"})) << "one within, none at the end";
  EXPECT_EQ(rows_of("a\n\"\"\n\n", 2), (Rows{"", ""})) << "an empty value, not a blank line";
  EXPECT_EQ(rows_of("a,b\n\u00e9,\u20ac\n# tail", 1), (Rows{"\u00e9|\u20ac"}));
}

TEST(Data, Tsv) {
  EXPECT_EQ(rows_of("a\tb\n1,5\t2\n", 1, "x.tsv"), (Rows{"1,5|2"}));
  EXPECT_EQ(rows_of("a\tb\n1,5\t2\n", 1, "x.TAB"), (Rows{"1,5|2"}));
}

TEST(Data, Delimiter) {
  const DataFile file("a;b\n1,5;2\n");
  EXPECT_EQ(rows({.path = file.path(), .delimiter = ';'}, 1), (Rows{"1,5|2"}));
}

TEST(Data, Ndjson) {
  EXPECT_EQ(
      rows_of("{\"b\":\"x\\ny\",\"a\":1.50}\n\n  \n{\"a\":null,\"c\":3}\r\n{\"\\u0061\":[1, 2]}", 3,
              "x.ndjson"),
      (Rows{"1.50|x\ny", "|", "[1, 2]|"}));
}

TEST(Data, TheFormatIsSeenInTheFirstLine) {
  EXPECT_EQ(rows_of("{\"a\":1}\n", 1, "data"), (Rows{"1"}));
  EXPECT_EQ(rows_of("a\tb\n1\t2\n", 1, "data"), (Rows{"1|2"}));
  EXPECT_EQ(rows_of("a,b\tc\n1,2\n", 1, "data"), (Rows{"1|2"}));
  const DataFile file("{\"a\":1}\n");
  EXPECT_EQ(rows({.path = file.path(), .format = DataFormat::ndjson}, 1), (Rows{"1"}));
}

TEST(Data, FormatNames) {
  EXPECT_EQ(data_format("csv"), DataFormat::csv);
  EXPECT_EQ(data_format("tsv"), DataFormat::tsv);
  for (const std::string_view name : {"ndjson", "json", "jsonl"}) {
    EXPECT_EQ(data_format(name), DataFormat::ndjson);
  }
  EXPECT_EQ(data_format("xml"), std::nullopt);
}

TEST(Data, OnlyTheColumnsAskedForAreThere) {
  for (const auto& [content, name] : {std::pair{"a,b,c\n1,2,3\n", "x.csv"},
                                      std::pair{"{\"a\":1,\"b\":2,\"c\":3}\n", "x.jsonl"}}) {
    const DataFile file(content, name);
    const auto source = opened({.path = file.path()});
    DataReader reader(*source, {1});
    EXPECT_EQ(row_text(reader, 0), "absent|2|absent");
  }
}

TEST(Data, Refused) {
  const std::pair<std::string_view, std::string> cases[] = {
      {"", "the file is empty"},
      {"\xef\xbb\xbf\n# only a comment\n", "the file is empty"},
      {"a,b\n", "the file has a header row but no rows of values"},
      {"a,b\n1,2,3\n1,2\n",
       "2:5: 3 fields, but the header has 2 | a field that holds the delimiter stands in double "
       "quotes"},
      {"a,b\n1,2\n\n1\r\n", "4:2: 1 field, but the header has 2"},
      {"a,a\n1,2\n", "1:3: column \"a\" is there twice"},
      {"a,\n1,2\n", "1:3: column 2 has no name"},
      {"a,b\n\"x\"y,2\n",
       "2:4: text after the closing quote of a field | a quote inside a quoted field is written "
       "twice: \"\""},
      {"a,b\n\"x\ny\",\"z\n1,2\n",
       "3:4: the quoted field that begins here is not closed | a quote inside a quoted field is "
       "written twice: \"\""},
      {"a\n1\n\xe9t\xe9\n", "3:1: byte 0xe9 is not UTF-8 | save the file as UTF-8"},
      {"\x1f\x8b\x08\n\n\n",
       "1:2: byte 0x8b is not UTF-8 | the file is compressed (gzip): unpack it first"},
      {std::string_view("\xff\xfe"
                        "a\0\n\0",
                        6),
       "1:1: byte 0xff is not UTF-8 | the file is UTF-16: save it as UTF-8"}};
  for (const auto& [content, expected] : cases) EXPECT_EQ(refusal(content), expected) << content;
}

TEST(Data, RefusedNdjson) {
  const std::pair<std::string_view, std::string> cases[] = {
      {"", "the file is empty"},
      {"{\"a\":1}\n{\"a\":}\n3\n", "2:6: a value is expected; 3:1: an object is expected"},
      {"[{\"a\":1}]\n",
       "1:1: an array stands where an object is expected | NDJSON has one object a line; jq -c "
       "'.[]' FILE makes it from an array"},
      {"{}\n", "1:1: the first object has no keys; they name the columns"},
      {"{\"a\":1,\"a\":2}\n", "1:8: key \"a\" is there twice"}};
  for (const auto& [content, expected] : cases) {
    EXPECT_EQ(refusal(content, "x.ndjson"), expected) << content;
  }
}

TEST(Data, AllProblemsUpToALimit) {
  std::string content = "a,b\n";
  for (int i = 0; i < 100; ++i) content += "1\n";
  const std::string all = refusal(content);
  EXPECT_TRUE(all.starts_with("2:2: 1 field, but the header has 2; 3:2: "));
  EXPECT_TRUE(
      all.ends_with("21:2: 1 field, but the header has 2; "
                    "there may be more problems; checking ended here"))
      << all;
}

TEST(Data, RefusedOptions) {
  EXPECT_EQ(refusal("a\tb\n1\t2\n", "x.tsv", {.delimiter = ';'}),
            "a delimiter is for CSV files only");
  EXPECT_EQ(refusal("a\n1\n", "x.csv", {.delimiter = '"'}),
            "the delimiter cannot be a double quote, a line break or #");
}

TEST(Data, OnlyRegularFiles) {
  const auto problem = [](const std::string& path) {
    const auto source = DataSource::open({.path = path});
    return source ? "accepted" : render(source.error().front());
  };
  const DataFile file("a\n1\n");
  const std::string pipe = file.path() + ".pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const std::string of_pipe = problem(pipe);
  ::unlink(pipe.c_str());
  constexpr std::string_view kHint =
      "rows are read more than once, by several threads: save them to a file first";
  EXPECT_EQ(of_pipe, render(options::Problem{.where = pipe,
                                             .message = "is a pipe or a device, not a file",
                                             .hint = std::string(kHint)}));
  EXPECT_TRUE(problem("-").contains("data cannot come from standard input"));
  EXPECT_TRUE(problem("/").contains("is a folder"));
  EXPECT_TRUE(problem(file.path() + ".none").contains("No such file or directory"));
}

TEST(Data, ARowLongerThanTheLimit) {
  const std::string longest(DataSource::kLongestRow - 1, 'x');
  EXPECT_EQ(refusal("a\n" + longest + "\n"), "accepted");
  EXPECT_EQ(refusal("a\n" + longest + "x\n"), "2:1: the row is longer than 16 MiB");
  EXPECT_EQ(refusal("a\n\"" + longest + "\n" + longest + longest),
            "2:1: the quoted field that begins here is not closed | a quote inside a quoted field "
            "is written twice: \"\"");
}

TEST(Data, LongRowsAcrossBlocks) {
  std::string content = "a,b\n";
  Rows expected;
  for (std::size_t i = 0; i < 40; ++i) {
    const std::string value(i * 9973 % 150'000, static_cast<char>('a' + i % 26));
    content += std::to_string(i) + "," + value + "\n";
    expected.push_back(std::to_string(i) + "|" + value);
  }
  EXPECT_EQ(rows_of(content, expected.size()), expected);
}

TEST(Data, AFileThatChangesDuringTheRunIsNoticed) {
  std::string content = "a\n";
  for (int i = 0; i < 50'000; ++i) content += std::to_string(1'000'000 + i) + "\n";
  for (const bool shrinks : {false, true}) {
    const DataFile file(content);
    const auto source = opened({.path = file.path()});
    DataReader reader(*source, {0});
    EXPECT_EQ(row_text(reader, 0), "1000000");
    if (shrinks) {
      ASSERT_EQ(::truncate(file.path().c_str(), 100), 0);
    } else {
      file.append("x\n");
    }
    EXPECT_EQ(row_text(reader, 49'999), "data_changed");
    EXPECT_EQ(row_text(reader, 40'000), "data_changed") << "and stays so";
  }
}

/// Any loop finds the row of any arrival, whatever it read before.
TEST(Data, EveryReaderAgrees) {
  std::mt19937 random(11);
  std::string content = "id,text\n";
  Rows expected;
  for (int i = 0; i < 3000; ++i) {
    std::string value(random() % 90, 'v');
    if (random() % 3 == 0) value += "\n\"\"";
    if (random() % 5 == 0) content += random() % 2 == 0 ? "\n" : "# \"comment\n";
    content += std::to_string(i) + ",\"" + value + "\"" + (random() % 2 == 0 ? "\n" : "\r\n");
    const std::size_t doubled = value.find("\"\"");
    if (doubled != std::string::npos) value.erase(doubled, 1);
    expected.push_back(std::to_string(i) + "|" + value);
  }
  const DataFile file(content);
  for (const RowOrder order : {RowOrder::sequential, RowOrder::random}) {
    const auto source = opened({.path = file.path(), .order = order});
    ASSERT_EQ(source->rows(), 3000U);
    for (const std::uint64_t loops : {1, 3, 7}) {
      for (std::uint64_t loop = 0; loop < loops; ++loop) {
        DataReader reader(*source, {0, 1});
        for (std::uint64_t n = loop; n < 7000; n += loops) {
          ASSERT_EQ(row_text(reader, n), expected[*source->row_of(n)]) << n;
        }
      }
    }
    DataReader reader(*source, {0, 1});
    for (int i = 0; i < 5000; ++i) {
      const std::uint64_t n = random() % 10'000;
      ASSERT_EQ(row_text(reader, n), expected[*source->row_of(n)]) << n;
    }
  }
}

TEST(Data, ReadersOnThreads) {
  std::string content = "id\n";
  for (int i = 0; i < 20'000; ++i) content += std::to_string(i) + "\n";
  const DataFile file(content);
  const auto source = opened({.path = file.path()});
  std::vector<std::uint64_t> wrong(4, 0);
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t loop = 0; loop < wrong.size(); ++loop) {
      threads.emplace_back([&, loop] {
        DataReader reader(*source, {0});
        for (std::uint64_t n = loop; n < 50'000; n += wrong.size()) {
          const auto row = reader.row(n);
          wrong[loop] += row && row->front() == std::to_string(n % 20'000) ? 0 : 1;
        }
      });
    }
  }
  EXPECT_EQ(wrong, std::vector<std::uint64_t>(4, 0));
}

std::uint64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t size = 0;
  std::uint64_t resident = 0;
  file >> size >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

TEST(MeasuredData, AMillionRowsTakeAFewMegabytes) {
  const DataFile file("id,name,note\n");
  std::string block;
  for (int i = 0; i < 1'000'000; ++i) {
    block += std::to_string(i) + ",name of user " + std::to_string(i * 7) + ",some more text\n";
    if (block.size() > 1 << 20) {
      file.append(block);
      block.clear();
    }
  }
  file.append(block);
  block = std::string();
  const std::uint64_t before = resident_bytes();
  const auto source = opened({.path = file.path()});
  DataReader reader(*source, {0, 1});
  std::uint64_t sum = 0;
  for (std::uint64_t n = 0; n < 1'000'000; ++n) sum += (*reader.row(n))[0].size();
  const std::uint64_t after = resident_bytes();
  EXPECT_EQ(sum, 5'888'890U);
  RecordProperty("grown_bytes", std::to_string(after - before));
  EXPECT_LT(after - before, 4U << 20);
}

}  // namespace
}  // namespace onbeat::document
