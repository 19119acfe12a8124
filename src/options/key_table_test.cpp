#include "options/key_table.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace onbeat::options {
namespace {

constexpr std::string_view kBegin = "<!-- keys: written by options_test -->\n";
constexpr std::string_view kEnd = "<!-- end of keys -->\n";

TEST(KeyTable, OfTheDocumentIsCurrent) {
  const std::string path = std::string(ONBEAT_SOURCE_DIR) + "/docs/grpc.md";
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::size_t begin = text.find(kBegin);
  const std::size_t end = text.find(kEnd);
  ASSERT_NE(begin, std::string::npos);
  ASSERT_NE(end, std::string::npos);
  const std::size_t first = begin + kBegin.size();
  if (std::getenv("ONBEAT_UPDATE_GOLDEN") != nullptr) {
    text.replace(first, end - first, bench_key_table());
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  EXPECT_EQ(text.substr(first, end - first), bench_key_table())
      << "after a wanted change run with ONBEAT_UPDATE_GOLDEN=1";
}

TEST(KeyTable, HoldsKeysAndAliases) {
  const std::string table = bench_key_table();
  EXPECT_NE(table.find("| `timeout`, `request_timeout` | `--timeout` |"), std::string::npos);
  EXPECT_NE(table.find("| `thresholds.METRIC` |  |"), std::string::npos);
  EXPECT_NE(table.find("| `concurrency` | `--concurrency`, `-c` |"), std::string::npos);
  EXPECT_EQ(table.find("`config`"), std::string::npos);
}

}  // namespace
}  // namespace onbeat::options
