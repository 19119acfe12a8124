#include "document/data_check.hpp"

#include "document/json_line.hpp"
#include "document/utf8.hpp"
#include "options/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace onbeat::document {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 18;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

std::uint64_t line_breaks(std::string_view text) {
  return static_cast<std::uint64_t>(std::ranges::count(text, '\n'));
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::optional<DataFormat> format_by_extension(const std::string& path) {
  std::string extension = std::filesystem::path(path).extension().string();
  for (char& c : extension) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (extension == ".csv") return DataFormat::csv;
  if (extension == ".tsv" || extension == ".tab") return DataFormat::tsv;
  if (extension == ".ndjson" || extension == ".jsonl") return DataFormat::ndjson;
  return std::nullopt;
}

DataFormat format_by_content(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  if (line.starts_with('{')) return DataFormat::ndjson;
  return line.contains('\t') && !line.contains(',') ? DataFormat::tsv : DataFormat::csv;
}

std::string fields_text(std::size_t count) {
  return fmt::format("{} field{}", count, count == 1 ? "" : "s");
}

/// What a file that is no text most likely is.
std::string encoding_hint(std::string_view text) {
  if (text.starts_with("\x1f\x8b")) return "the file is compressed (gzip): unpack it first";
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) {
    return "the file is UTF-16: save it as UTF-8";
  }
  return "save the file as UTF-8";
}

}  // namespace

DataCheck::DataCheck(DataSource& source)
    : source_(source), window_(source.descriptor_, source.state_, kBlock) {}

std::vector<options::Problem> DataCheck::run() {
  begin();
  std::size_t length = 0;
  while (!ended_ && find_row(length)) {
    const std::string_view row = window_.text().substr(0, length);
    check_row(row);
    // The last row may have no line break at its end, and one within.
    multi_line_ = multi_line_ || line_breaks(row.substr(0, row.size() - 1)) > 0;
    line_ += line_breaks(row);
    window_.skip(length);
  }
  if (problems_.empty() && !has_columns_) {
    problem("the file is empty");
  } else if (problems_.empty() && source_.index_.rows() == 0) {
    problem("the file has a header row but no rows of values");
  }
  source_.shape_.multi_line = multi_line_;
  return std::move(problems_);
}

void DataCheck::begin() {
  while (!window_.last() && window_.text().size() < kBlock && extend()) {
  }
  const std::string_view text = window_.text().substr(0, 64);
  if (invalid_utf8(text) <= 1) {
    // Such a file holds no rows at all: one complaint is enough.
    check_text(text);
    ended_ = true;
    return;
  }
  if (text.starts_with(kByteOrderMark)) window_.skip(kByteOrderMark.size());
  detect_format();
}

void DataCheck::detect_format() {
  DataOptions& options = source_.options_;
  if (!options.format) options.format = format_by_extension(options.path);
  if (!options.format) options.format = format_by_content(window_.text());
  RowShape& shape = source_.shape_;
  shape.format = *options.format;
  shape.delimiter = shape.format == DataFormat::tsv ? '\t' : options.delimiter.value_or(',');
  if (options.delimiter && shape.format != DataFormat::csv) {
    problem("a delimiter is for CSV files only");
  }
  if (options.delimiter && std::string_view("\"\r\n#").contains(*options.delimiter)) {
    problem("the delimiter cannot be a double quote, a line break or #");
  }
  ended_ = ended_ || !problems_.empty();
}

/// False at the end of the file or when reading cannot go on.
bool DataCheck::find_row(std::size_t& length) {
  while (true) {
    skip_leading();
    if (window_.last() && window_.text().empty()) return false;
    length = source_.shape_.length(window_.text(), window_.last());
    if (length <= DataSource::kLongestRow) return true;
    if (length != std::string_view::npos || window_.text().size() > DataSource::kLongestRow) {
      too_long();
      return false;
    }
    if (!extend()) return false;
  }
}

void DataCheck::skip_leading() {
  const std::size_t size = source_.shape_.leading(window_.text(), window_.last());
  line_ += line_breaks(window_.text().substr(0, size));
  source_.longest_row_ = std::max(source_.longest_row_, size);
  window_.skip(size);
}

bool DataCheck::extend() {
  const auto read = window_.extend();
  if (read) return true;
  problem(read.error() == ReadFault::changed ? "the file changed while it was read"
                                             : "the file cannot be read");
  ended_ = true;
  return false;
}

void DataCheck::too_long() {
  const std::string_view text = window_.text();
  take_fields(text, fields_);
  if (fields_.back().fault == FieldFault::open_quote) {
    report_unclosed(text);
  } else {
    problem(
        text, 0,
        fmt::format("the row is longer than {}", options::format_size(DataSource::kLongestRow)));
  }
}

void DataCheck::check_row(std::string_view row) {
  if (!check_text(row)) return;
  if (source_.shape_.format == DataFormat::ndjson) {
    check_json(row);
  } else {
    check_delimited(row);
  }
}

bool DataCheck::check_text(std::string_view row) {
  const std::size_t at = invalid_utf8(row);
  if (at == std::string_view::npos) return true;
  const auto byte = static_cast<unsigned char>(row[at]);
  problem(row, at, fmt::format("byte 0x{:02x} is not UTF-8", byte), encoding_hint(row));
  return false;
}

void DataCheck::take_fields(std::string_view row, std::vector<Field>& fields) {
  fields.clear();
  do {
    const std::size_t at = fields.empty() ? 0 : fields.back().next;
    fields.push_back(next_field(row, at, source_.shape_.delimiter));
  } while (!fields.back().ends_row);
}

void DataCheck::check_delimited(std::string_view row) {
  take_fields(row, fields_);
  for (const Field& field : fields_) {
    if (field.fault == FieldFault::open_quote) {
      report_unclosed(row);
      return;
    }
    if (field.fault == FieldFault::text_after_quote) {
      problem(row, field.fault_at, "text after the closing quote of a field",
              "a quote inside a quoted field is written twice: \"\"");
      return;
    }
  }
  if (!has_columns_) {
    take_header(row, fields_);
    if (source_.options_.header) return;
  }
  const std::size_t expected = source_.columns_.size();
  if (fields_.size() == expected) {
    add_row(row.size());
    return;
  }
  const bool more = fields_.size() > expected;
  const std::size_t at = more ? fields_[expected - 1].next : row.find_last_not_of("\r\n") + 1;
  problem(row, at,
          fmt::format("{}, but {} has {}", fields_text(fields_.size()),
                      source_.options_.header ? "the header" : "the first row", expected),
          more ? "a field that holds the delimiter stands in double quotes" : "");
}

void DataCheck::report_unclosed(std::string_view row) {
  problem(row, fields_.back().fault_at, "the quoted field that begins here is not closed",
          "a quote inside a quoted field is written twice: \"\"");
  ended_ = true;
}

void DataCheck::take_header(std::string_view row, const std::vector<Field>& fields) {
  has_columns_ = true;
  std::vector<std::string>& columns = source_.columns_;
  for (const Field& field : fields) {
    const auto at = static_cast<std::size_t>(field.text.data() - row.data());
    std::string name = std::to_string(columns.size() + 1);
    if (source_.options_.header) {
      name.clear();
      append_value(field, name);
      name = trimmed(name);
    }
    if (name.empty()) {
      problem(row, at, fmt::format("column {} has no name", columns.size() + 1));
    } else if (std::ranges::find(columns, name) != columns.end()) {
      problem(row, at, fmt::format("column \"{}\" is there twice", name));
    }
    columns.push_back(std::move(name));
  }
}

void DataCheck::check_json(std::string_view row) {
  const std::size_t length = row.size();
  while (row.ends_with('\n') || row.ends_with('\r')) row.remove_suffix(1);
  std::vector<std::pair<std::string, std::size_t>> keys;
  JsonWalk walk(row);
  JsonMember member;
  while (walk.next(member)) {
    if (has_columns_) continue;
    keys.emplace_back(std::string(), member.key_at);
    append_unescaped(member.key, keys.back().first);
  }
  if (!walk.fault().empty()) {
    problem(row, walk.fault_at(), std::string(walk.fault()),
            row.starts_with('[')
                ? "NDJSON has one object a line; jq -c '.[]' FILE makes it from an array"
                : "");
    has_columns_ = true;
    return;
  }
  if (!has_columns_) take_keys(row, std::move(keys));
  add_row(length);
}

void DataCheck::take_keys(std::string_view row,
                          std::vector<std::pair<std::string, std::size_t>> keys) {
  has_columns_ = true;
  if (keys.empty()) {
    problem(row, 0, "the first object has no keys; they name the columns");
  }
  std::ranges::sort(keys);
  for (auto& [name, at] : keys) {
    if (!source_.columns_.empty() && source_.columns_.back() == name) {
      problem(row, at, fmt::format("key \"{}\" is there twice", name));
    }
    source_.columns_.push_back(std::move(name));
  }
}

void DataCheck::add_row(std::size_t length) {
  source_.index_.add(window_.position());
  source_.longest_row_ = std::max(source_.longest_row_, length);
}

void DataCheck::problem(std::string_view row, std::size_t at, std::string message,
                        std::string hint) {
  const std::string_view before = row.substr(0, at);
  const std::size_t line_begin = before.rfind('\n') + 1;  // 0 when there is none
  const std::string where = fmt::format("{}:{}:{}", source_.options_.path,
                                        line_ + line_breaks(before), at - line_begin + 1);
  problems_.push_back({.where = where, .message = std::move(message), .hint = std::move(hint)});
  if (problems_.size() == DataSource::kMostProblems && !ended_) {
    problem("there may be more problems; checking ended here");
    ended_ = true;
  }
}

void DataCheck::problem(std::string message, std::string hint) {
  problems_.push_back(
      {.where = source_.options_.path, .message = std::move(message), .hint = std::move(hint)});
}

}  // namespace onbeat::document
