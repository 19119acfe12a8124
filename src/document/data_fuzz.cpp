// Any file: no crash; what is refused says where; what is accepted gives the same rows to a reader
// that goes through them and to one that jumps, under either order. Input: one byte of choices,
// then the file.
#include "document/data.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace onbeat::document;

void require(bool condition) {
  if (!condition) std::abort();
}

std::vector<std::string> copy(DataReader& reader, std::uint64_t n) {
  const auto row = reader.row(n);
  require(row.has_value());
  return {row->begin(), row->end()};
}

void read(const DataSource& source) {
  std::vector<std::uint32_t> all(source.columns().size());
  std::iota(all.begin(), all.end(), 0);
  DataReader forward(source, all);
  DataReader backward(source, all);
  DataReader last_column(source, {all.back()});
  const std::uint64_t count = std::min<std::uint64_t>(2 * source.rows(), 64);
  std::vector<std::vector<std::string>> rows;
  for (std::uint64_t n = 0; n < count; ++n) rows.push_back(copy(forward, n));
  for (std::uint64_t n = count; n-- > 0;) {
    require(copy(backward, n) == rows[n]);
    require(last_column.row(n)->back() == rows[n].back());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static const int file = ::memfd_create("data", 0);
  const unsigned choices = data[0];
  require(::ftruncate(file, 0) == 0);
  require(::pwrite(file, data + 1, size - 1, 0) == static_cast<ssize_t>(size - 1));
  DataOptions options{.path = "/proc/self/fd/" + std::to_string(file), .name = "d"};
  if (choices % 4 != 3) options.format = static_cast<DataFormat>(choices % 4);
  options.header = (choices & 4) == 0;
  options.order = (choices & 8) == 0 ? RowOrder::sequential : RowOrder::random;
  const auto source = DataSource::open(options);
  if (source) {
    require((*source)->rows() >= 1 && !(*source)->columns().empty());
    read(**source);
  } else {
    require(!source.error().empty());
    for (const auto& problem : source.error()) {
      require(problem.where.starts_with(options.path) && !problem.message.empty());
    }
  }
  return 0;
}
