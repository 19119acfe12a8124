// From URLs and request options to an HttpPlan.
#pragma once

#include "bench/http_load.hpp"
#include "http/url.hpp"
#include "options/request_options.hpp"
#include "options/settings.hpp"

#include <expected>
#include <string>
#include <vector>

namespace onbeat::bench {

struct HttpTarget {
  HttpPlan plan;
  std::vector<http::Url> urls;  // as given, in order
  std::string text;             // for people, without passwords
  bool local = false;  // every address is this host's loopback; known after resolve_origins()
};

/// Parses the URLs and makes the requests ready; one endpoint a URL, the same share of the arrivals
/// each. No name is resolved yet. Adds all that is wrong to `problems`; the result is of use only
/// without any.
[[nodiscard]] HttpTarget make_http_target(const options::RequestOptions& request,
                                          const std::vector<std::string>& urls,
                                          std::vector<options::Problem>& problems);

/// Resolves the name of every origin. Blocks. The error: the first name that does not resolve, with
/// the resolver's words.
[[nodiscard]] std::expected<void, std::string> resolve_origins(HttpTarget& target);

}  // namespace onbeat::bench
