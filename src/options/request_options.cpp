#include "options/request_options.hpp"

#include "options/file.hpp"

#include <fmt/format.h>

namespace onbeat::options {
namespace {

constexpr std::size_t kLargestBody = std::size_t{256} << 20;

void read_headers(const Settings& settings, const HeaderSources& sources, BuiltRequest& built) {
  const Settings::Value* value = settings.find("header");
  if (value == nullptr) return;
  for (std::size_t i = 0; i < value->texts.size(); ++i) {
    const std::string& text = value->texts[i];
    // Who read the settings has reported what is not even the form of a header.
    if (check_value(*find_option("header", kHttp), text)) continue;
    auto headers = parse_header(text, sources);
    if (headers) {
      built.options.headers.insert(built.options.headers.end(), headers->begin(), headers->end());
    } else {
      built.errors.push_back(
          {value->origins[i], headers.error().message, headers.error().hint, {}, 0});
    }
  }
}

void read_body(const Settings& settings, BuiltRequest& built) {
  if (settings.has("body")) built.options.body = settings.text("body");
  const Settings::Value* file = settings.find("body-file");
  if (file == nullptr) return;
  if (settings.has("body")) {
    built.errors.push_back(
        {file->origins.back(), "contradicts --body", "leave one of them out", {}, 0});
    return;
  }
  auto body = read_file(file->texts.back(), kLargestBody);
  if (body) {
    built.options.body = std::move(*body);
  } else {
    built.errors.push_back({file->origins.back(),
                            fmt::format("cannot read {}: {}", file->texts.back(), body.error()),
                            {},
                            {},
                            0});
  }
}

}  // namespace

BuiltRequest build_request_options(const Settings& settings, const HeaderSources& sources) {
  BuiltRequest built;
  read_headers(settings, sources, built);
  read_body(settings, built);
  built.options.method = settings.has("method") ? settings.text("method")
                         : built.options.body   ? "POST"
                                                : "GET";
  return built;
}

}  // namespace onbeat::options
