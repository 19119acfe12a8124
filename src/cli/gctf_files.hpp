// The `.gctf` files that a command line names.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace onbeat::cli {

struct GctfFile {
  std::string path, text;
};

/// A folder stands for the `.gctf` files in it, at any depth, in the order of their names; "-" is
/// standard input. Nothing, with all problems on stderr, when one cannot be read or there is none.
[[nodiscard]] std::optional<std::vector<GctfFile>> read_gctf_files(
    const std::vector<std::string>& paths);

}  // namespace onbeat::cli
