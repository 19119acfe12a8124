// The table of functions.
#include "document/expression.hpp"

#include <algorithm>
#include <array>

namespace onbeat::document {
namespace {

using enum Function;

constexpr std::array kFunctions{
    FunctionRow{"is_uuid", is_uuid, 1, 1, false},
    FunctionRow{"is_email", is_email, 1, 1, false},
    FunctionRow{"is_ip", is_ip, 1, 1, false},
    FunctionRow{"is_url", is_url, 1, 1, false},
    FunctionRow{"is_timestamp", is_timestamp, 1, 1, false},
    FunctionRow{"is_base64", is_base64, 1, 1, false},
    FunctionRow{"is_json", is_json, 1, 1, false},
    FunctionRow{"is_empty", is_empty, 1, 1, false},
    FunctionRow{"has_value", has_value, 1, 1, false},
    FunctionRow{"len", len, 1, 1, false},
    FunctionRow{"regex", regex, 2, 2, false},
    FunctionRow{"env", env, 1, 2, false},
    FunctionRow{"header", header, 1, 1, true},
    FunctionRow{"trailer", trailer, 1, 1, true},
    FunctionRow{"has_header", has_header, 1, 1, true},
    FunctionRow{"has_trailer", has_trailer, 1, 1, true},
    FunctionRow{"elapsed_ms", elapsed_ms, 0, 0, true},
    FunctionRow{"total_elapsed_ms", total_elapsed_ms, 0, 0, true},
    FunctionRow{"scope.message_count", message_count, 0, 0, true},
    FunctionRow{"scope.index", index, 0, 0, true},
    FunctionRow{"schema", schema, 1, 2, true},
    FunctionRow{"url.scheme", url_scheme, 1, 1, false},
    FunctionRow{"url.host", url_host, 1, 1, false},
    FunctionRow{"url.port", url_port, 1, 1, false},
    FunctionRow{"url.path", url_path, 1, 1, false},
    FunctionRow{"url.query", url_query, 1, 1, false},
    FunctionRow{"url.fragment", url_fragment, 1, 1, false},
    FunctionRow{"email.local_part", email_local_part, 1, 1, false},
    FunctionRow{"email.domain", email_domain, 1, 1, false},
    FunctionRow{"ip.version", ip_version, 1, 1, false},
    FunctionRow{"uuid.version", uuid_version, 1, 1, false},
    FunctionRow{"json.key", json_key, 2, 2, false},
    FunctionRow{"uuid", is_uuid, 1, 1, false, "is_uuid"},
    FunctionRow{"email", is_email, 1, 1, false, "is_email"},
    FunctionRow{"ip", is_ip, 1, 1, false, "is_ip"},
    FunctionRow{"url", is_url, 1, 1, false, "is_url"},
    FunctionRow{"timestamp", is_timestamp, 1, 1, false, "is_timestamp"},
    FunctionRow{"empty", is_empty, 1, 1, false, "is_empty"},
    FunctionRow{"scope_message_count", message_count, 0, 0, true, "scope.message_count"},
    FunctionRow{"scope_index", index, 0, 0, true, "scope.index"},
};

}  // namespace

const FunctionRow* find_function(std::string_view name) noexcept {
  const auto found = std::ranges::find(kFunctions, name, &FunctionRow::name);
  return found == kFunctions.end() ? nullptr : &*found;
}

std::vector<std::string_view> function_names() {
  std::vector<std::string_view> names;
  for (const FunctionRow& row : kFunctions) {
    if (row.instead.empty()) names.push_back(row.name);
  }
  return names;
}

}  // namespace onbeat::document
