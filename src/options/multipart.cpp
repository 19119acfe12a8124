#include "options/multipart.hpp"

#include <onbeat/kernel/random.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace onbeat::options {
namespace {

constexpr std::size_t kLargestFile = std::size_t{256} << 20;

/// As browsers write names: what would end the quoted text is percent-encoded (HTML, "multipart
/// form data").
std::string quoted_name(std::string_view name) {
  std::string text = "\"";
  for (const char c : name) {
    if (c == '"') {
      text += "%22";
    } else if (c == '\r') {
      text += "%0D";
    } else if (c == '\n') {
      text += "%0A";
    } else {
      text += c;
    }
  }
  return text + "\"";
}

/// One that stands in none of the contents.
std::string make_boundary(std::span<const std::string> contents, std::uint64_t seed) {
  kernel::Random random(kernel::stream_seed(seed, kernel::Stream::data));
  while (true) {
    const std::uint64_t high = random.next();
    std::string boundary = fmt::format("onbeat-{:016x}{:016x}", high, random.next());
    if (std::ranges::none_of(contents, [&](const std::string& content) {
          return content.find(boundary) != std::string::npos;
        })) {
      return boundary;
    }
  }
}

}  // namespace

std::expected<Multipart, std::string> make_multipart(std::span<const FormPart> parts,
                                                     std::uint64_t seed,
                                                     const Surroundings& surroundings) {
  std::vector<std::string> contents;
  for (const FormPart& part : parts) {
    if (part.path.empty()) {
      contents.push_back(part.text);
      continue;
    }
    auto content = surroundings.read_file(part.path, kLargestFile);
    if (!content) {
      return std::unexpected(fmt::format("cannot read {}: {}", part.path, content.error()));
    }
    contents.push_back(std::move(*content));
  }
  const std::string boundary = make_boundary(contents, seed);
  Multipart result{"multipart/form-data; boundary=" + boundary, {}};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const FormPart& part = parts[i];
    result.body += fmt::format("--{}\r\nContent-Disposition: form-data; name={}", boundary,
                               quoted_name(part.name));
    if (!part.filename.empty()) {
      result.body += fmt::format("; filename={}", quoted_name(part.filename));
    }
    if (!part.type.empty()) result.body += fmt::format("\r\nContent-Type: {}", part.type);
    result.body += "\r\n\r\n" + contents[i] + "\r\n";
  }
  result.body += fmt::format("--{}--\r\n", boundary);
  return result;
}

}  // namespace onbeat::options
