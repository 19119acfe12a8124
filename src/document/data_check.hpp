// The pass over a whole data file before the run: finds its columns, checks each row, notes where
// rows begin. Private to this folder.
#pragma once

#include "document/data.hpp"
#include "document/delimited.hpp"

namespace onbeat::document {

class DataCheck {
 public:
  explicit DataCheck(DataSource& source);
  /// Fills in the source; its file is open. What it returns is empty when all is well.
  [[nodiscard]] std::vector<options::Problem> run();

 private:
  void begin();
  void detect_format();
  [[nodiscard]] bool find_row(std::size_t& length);
  void skip_leading();
  [[nodiscard]] bool extend();
  void too_long();

  void check_row(std::string_view row);
  bool check_text(std::string_view row);
  void check_delimited(std::string_view row);
  void take_fields(std::string_view row, std::vector<Field>& fields);
  void take_header(std::string_view row, const std::vector<Field>& fields);
  void check_json(std::string_view row);
  void take_keys(std::string_view row, std::vector<std::pair<std::string, std::size_t>> keys);
  void report_unclosed(std::string_view row);

  void add_row(std::size_t length);
  void problem(std::string_view row, std::size_t at, std::string message, std::string hint = {});
  void problem(std::string message, std::string hint = {});

  DataSource& source_;
  FileWindow window_;
  std::uint64_t line_ = 1;  // of the window's position
  bool has_columns_ = false;
  bool multi_line_ = false;
  bool ended_ = false;
  std::vector<Field> fields_;
  std::vector<options::Problem> problems_;
};

}  // namespace onbeat::document
