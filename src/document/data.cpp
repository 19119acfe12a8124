#include "document/data.hpp"

#include "document/data_check.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

namespace onbeat::document {
namespace {

/// Why rows cannot be read from what `path` is, or nothing.
std::optional<options::Problem> unfit(const std::string& path) {
  const std::string why =
      "rows are read more than once, by several threads: save them to a file first";
  const auto problem = [&](std::string message, std::string hint) {
    return options::Problem{.where = path, .message = std::move(message), .hint = std::move(hint)};
  };
  struct stat status{};
  if (path == "-") return problem("data cannot come from standard input", why);
  if (::stat(path.c_str(), &status) != 0) {
    return problem(std::strerror(errno), "a data file is expected");
  }
  if (S_ISDIR(status.st_mode)) return problem("is a folder", "a data file is expected");
  if (!S_ISREG(status.st_mode)) return problem("is a pipe or a device, not a file", why);
  return std::nullopt;
}

}  // namespace

std::optional<DataFormat> data_format(std::string_view name) {
  if (name == "csv") return DataFormat::csv;
  if (name == "tsv") return DataFormat::tsv;
  if (name == "ndjson" || name == "json" || name == "jsonl") return DataFormat::ndjson;
  return std::nullopt;
}

std::string_view to_string(DataFault fault) noexcept {
  switch (fault) {
    case DataFault::ended:
      return "data_ended";
    case DataFault::changed:
      return "data_changed";
    case DataFault::unreadable:
      return "data_unreadable";
  }
  return "data";
}

std::expected<std::unique_ptr<const DataSource>, std::vector<options::Problem>> DataSource::open(
    const DataOptions& options) {
  using Problems = std::vector<options::Problem>;
  if (auto problem = unfit(options.path)) return std::unexpected(Problems{std::move(*problem)});
  std::unique_ptr<DataSource> source(new DataSource(options));
  if (source->options_.name.empty()) {
    source->options_.name = std::filesystem::path(options.path).stem().string();
  }
  source->descriptor_ = ::open(options.path.c_str(), O_RDONLY | O_CLOEXEC);
  if (source->descriptor_ < 0) {
    return std::unexpected(Problems{{.where = options.path, .message = std::strerror(errno)}});
  }
  const auto state = file_state(source->descriptor_);
  if (!state) {
    return std::unexpected(Problems{{.where = options.path, .message = "the file cannot be read"}});
  }
  source->state_ = *state;
  if (Problems problems = DataCheck(*source).run(); !problems.empty()) {
    return std::unexpected(std::move(problems));
  }
  return source;
}

DataSource::~DataSource() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::vector<std::string> DataSource::variables() const {
  std::vector<std::string> names;
  names.reserve(columns_.size());
  for (const std::string& column : columns_) names.push_back(options_.name + "." + column);
  return names;
}

std::optional<std::uint64_t> DataSource::row_of(std::uint64_t n) const noexcept {
  return document::row_of(n, rows(), options_.order, options_.on_end, options_.seed);
}

}  // namespace onbeat::document
