// --out samples=FILE: each logged arrival as a line of JSON (docs/formats.md has the fields).
#pragma once

#include "report/line_file.hpp"
#include "run/sample_ring.hpp"
#include <onbeat/kernel/result.hpp>

#include <expected>
#include <string>
#include <vector>

namespace onbeat::report {

class SampleFile {
 public:
  std::expected<void, std::string> open(const std::string& path) {
    return file_.open("samples", path);
  }
  /// `names` are those of the ids; times are since `t0`. Does nothing unless open.
  void write(const std::vector<run::LoggedSample>& samples, const kernel::Names& names,
             kernel::Instant t0);
  /// Empty, or why the file is incomplete.
  [[nodiscard]] const std::string& problem() const { return file_.problem(); }

 private:
  /// Quoted names by id; a table that has grown is read again.
  class Quoted {
   public:
    const std::string& of(std::uint16_t id, const kernel::NameTable& table);

   private:
    std::vector<std::string> quoted_;
  };
  std::string line(const run::LoggedSample& sample, const kernel::Names& names, kernel::Instant t0);

  LineFile file_;
  Quoted endpoints_, codes_, errors_;
  std::string lines_;
};

}  // namespace onbeat::report
