// For tests and benchmarks: a data file that is gone with its scope.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace onbeat::document {

class DataFile {
 public:
  /// `name`: its name in a folder of its own.
  explicit DataFile(std::string_view content, const std::string& name = "users.csv")
      : folder_(make_folder()), path_(folder_ + "/" + name) {
    write(content, "wb");
  }
  ~DataFile() {
    ::unlink(path_.c_str());
    ::rmdir(folder_.c_str());
  }
  DataFile(const DataFile&) = delete;
  DataFile& operator=(const DataFile&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  void append(std::string_view content) const { write(content, "ab"); }
  void replace(std::string_view content) const { write(content, "r+b"); }

 private:
  static std::string make_folder() {
    std::string folder = "/tmp/onbeat-data-XXXXXX";
    if (::mkdtemp(folder.data()) == nullptr) std::abort();
    return folder;
  }
  void write(std::string_view content, const char* mode) const {
    std::FILE* const file = std::fopen(path_.c_str(), mode);
    if (file == nullptr) std::abort();
    std::fwrite(content.data(), 1, content.size(), file);
    std::fclose(file);
  }

  std::string folder_;
  std::string path_;
};

}  // namespace onbeat::document
