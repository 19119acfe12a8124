#include "document/row_order.hpp"

#include "document/row_index.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace onbeat::document {
namespace {

std::vector<std::uint64_t> order(std::uint64_t count, std::uint64_t key) {
  std::vector<std::uint64_t> rows;
  for (std::uint64_t i = 0; i < count; ++i) rows.push_back(shuffled(i, count, key));
  return rows;
}

TEST(RowOrder, AShuffleTakesEachRowOnce) {
  for (std::uint64_t count = 1; count <= 300; ++count) {
    for (std::uint64_t key = 0; key < 3; ++key) {
      std::vector<bool> seen(count, false);
      for (const std::uint64_t row : order(count, key)) {
        ASSERT_LT(row, count);
        ASSERT_FALSE(seen[row]) << count;
        seen[row] = true;
      }
    }
  }
}

TEST(RowOrder, ItIsNotTheOrderOfTheFileAndDependsOnTheKey) {
  EXPECT_NE(order(100, 1), order(100, 2));
  EXPECT_EQ(order(100, 1), order(100, 1));
  std::uint64_t in_place = 0;
  std::uint64_t followed = 0;
  const auto rows = order(10'000, 5);
  for (std::uint64_t i = 0; i + 1 < rows.size(); ++i) {
    in_place += rows[i] == i ? 1 : 0;
    followed += rows[i + 1] == rows[i] + 1 ? 1 : 0;
  }
  EXPECT_LT(in_place, 10U);
  EXPECT_LT(followed, 10U);
}

TEST(RowOrder, EachRowIsFirstEquallyOften) {
  std::vector<int> first(5, 0);
  for (std::uint64_t key = 0; key < 5000; ++key) ++first[shuffled(0, 5, key * 0x9e37)];
  for (const int count : first) EXPECT_NEAR(count, 1000, 150);
}

TEST(RowOrder, HugeCounts) {
  const std::uint64_t count = (std::uint64_t{1} << 63) + 12345;
  for (std::uint64_t i = 0; i < 1000; ++i) EXPECT_LT(shuffled(i, count, 9), count);
}

TEST(RowIndex, ItThinsOutAndNeverPassesTheRow) {
  RowIndex index;
  const std::uint64_t rows = 5 * RowIndex::kEntries + 3;
  for (std::uint64_t row = 0; row < rows; ++row) index.add(10 + 7 * row);
  EXPECT_EQ(index.rows(), rows);
  EXPECT_EQ(index.stride(), 8U);
  for (std::uint64_t row = 0; row < rows; ++row) {
    const RowIndex::Entry entry = index.before(row);
    ASSERT_LE(entry.row, row);
    ASSERT_LT(row - entry.row, index.stride());
    ASSERT_EQ(entry.offset, 10 + 7 * entry.row);
  }
}

TEST(RowIndex, FewRowsHaveAnEntryEach) {
  RowIndex index;
  for (std::uint64_t row = 0; row < RowIndex::kEntries; ++row) index.add(row * 2);
  EXPECT_EQ(index.stride(), 1U);
  index.add(RowIndex::kEntries * 2);
  EXPECT_EQ(index.stride(), 2U);
  EXPECT_EQ(index.before(RowIndex::kEntries).offset, RowIndex::kEntries * 2);
}

}  // namespace
}  // namespace onbeat::document
