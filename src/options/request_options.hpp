// The request that an HTTP load sends, from its settings: method, headers, body.
#pragma once

#include "options/grammar.hpp"
#include "options/settings.hpp"

#include <optional>
#include <string>
#include <vector>

namespace onbeat::options {

struct RequestOptions {
  std::string method;           // as given; GET, or POST with a body
  std::vector<Header> headers;  // in the order given
  std::optional<std::string> body;
};

struct BuiltRequest {
  RequestOptions options;  // of use only without errors
  std::vector<Problem> errors;
};

/// Reads the environment and files that the settings name. Errors never quote a header's value.
BuiltRequest build_request_options(const Settings& settings, const HeaderSources& sources);

}  // namespace onbeat::options
