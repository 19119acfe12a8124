// The small languages of HTTP's options on every input: no crash, columns within the text, and what
// is written reads back.
#include "options/curl.hpp"
#include "options/endpoint_text.hpp"
#include "options/http_grammar.hpp"
#include "options/http_options.hpp"
#include "options/shell_words.hpp"

#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace onbeat::options;

void require(bool condition) {
  if (!condition) std::abort();
}

template <typename T>
bool accepted(std::string_view text, const Parsing<T>& parsed) {
  if (parsed) return true;
  require(!parsed.error().message.empty());
  require(parsed.error().column >= 1 && parsed.error().column <= text.size() + 1);
  return false;
}

void http_values(std::string_view text) {
  accepted(text, parse_status_list(text));
  accepted(text, parse_header_expectation(text));
  accepted(text, parse_connect_to(text));
  accepted(text, parse_resolve(text));
  accepted(text, parse_ip(text));
  accepted(text, parse_tls_versions(text));
  accepted(text, parse_alpn(text));
  accepted(text, parse_user(text));
  accepted(text, parse_data_file(text));
  accepted(text, parse_form_part(text));
  if (const auto bytes = base64_decode(text); accepted(text, bytes)) {
    require(base64_decode(base64_encode(*bytes)) == *bytes);
  }
  require(base64_decode(base64_encode(text)) == text);
}

/// Nothing outside: files hold their names.
Surroundings nowhere() {
  return {.environment = [](const std::string& name) { return std::optional(name); },
          .variables = [] { return std::vector<std::string>(); },
          .read_file = [](const std::string& path,
                          std::size_t) -> std::expected<std::string, std::string> { return path; }};
}

void endpoints(std::string_view text) {
  if (const auto endpoint = parse_endpoint(text); accepted(text, endpoint)) {
    require(endpoint->weight >= 1);
    // What is written reads back, but for bytes that JSON cannot hold.
    require(parse_endpoint(endpoint_json(*endpoint)).has_value());
  }
  const UrlFile file = parse_url_file(text, "f");
  for (const UrlFile::Entry& entry : file.entries) require(!entry.endpoint.url.empty());
  for (const Problem& problem : file.problems) require(!render(problem).empty());
}

void curl(std::string_view text) {
  accepted(text, shell_words(text));
  if (!text.contains('\0')) {
    const auto words = shell_words(shell_quoted(text));
    require(words && words->size() == 1 && words->front().text == text);
  }
  for (const std::string& command : {std::string(text), "curl " + std::string(text)}) {
    if (!accepted(command, parse_curl(command))) continue;
    Layer layer{Source::cli, {{find_option("curl", kHttp), command, "--curl"}}};
    std::vector<Problem> errors, warnings;
    expand_curl(layer, nowhere(), errors, warnings);
    const BuiltHttp built = build_http_options(resolve(kHttp, std::span(&layer, 1)), nowhere());
    for (const HttpEndpoint& endpoint : built.options.endpoints) {
      const std::string back = curl_text(built.options, endpoint);
      if (!back.starts_with("printf") && !back.contains('\0'))
        require(shell_words(back).has_value());
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  http_values(text);
  endpoints(text);
  curl(text);
  return 0;
}
