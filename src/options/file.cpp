#include "options/file.hpp"

#include "options/format.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace onbeat::options {

std::expected<std::string, std::string> read_file(const std::string& path, std::size_t largest) {
  const auto close = [](std::FILE* stream) { return stream == stdin ? 0 : std::fclose(stream); };
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
      path == "-" ? stdin : std::fopen(path.c_str(), "rbe"), close);
  if (!file) return std::unexpected(std::strerror(errno));
  std::string text;
  std::array<char, 1 << 16> block{};
  while (const std::size_t size = std::fread(block.data(), 1, block.size(), file.get())) {
    text.append(block.data(), size);
    if (text.size() > largest) {
      return std::unexpected(fmt::format("larger than {}", format_size(largest)));
    }
  }
  if (std::ferror(file.get()) != 0) return std::unexpected(std::strerror(errno));
  return text;
}

}  // namespace onbeat::options
