// The native grammar of assertions as a small tree. Private to this folder; see assertion.hpp.
#pragma once

#include "document/assertion.hpp"
#include "document/json_tree.hpp"
#include "document/regex.hpp"

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace onbeat::document {

enum class Operation : std::uint8_t {
  constant,     // `constant`
  message,      // the answer
  variable,     // `slot`
  member,       // a.key
  item,         // a[index]
  negation,     // not a
  conjunction,  // a and b
  disjunction,  // a or b
  exclusive,    // a xor b
  equal,
  unequal,
  less,
  less_equal,
  greater,
  greater_equal,
  contains,
  matches,
  starts_with,
  ends_with,
  choice,  // if a then b else c
  cast,    // a:type
  call,    // @function(a, b)
};

enum class CastType : std::uint8_t {
  boolean,
  natural,
  number,
  text,
  uuid,
  email,
  url,
  ip,
  regex,
  time,
  timestamp,
  duration,
  json,
  yaml,
};

enum class Function : std::uint8_t {
  is_uuid,
  is_email,
  is_ip,
  is_url,
  is_timestamp,
  is_base64,
  is_json,
  is_empty,
  has_value,
  len,
  regex,
  env,
  header,
  trailer,
  has_header,
  has_trailer,
  elapsed_ms,
  total_elapsed_ms,
  message_count,
  index,
  schema,
  url_scheme,
  url_host,
  url_port,
  url_path,
  url_query,
  url_fragment,
  email_local_part,
  email_domain,
  ip_version,
  uuid_version,
  json_key,
};

struct FunctionRow {
  std::string_view name;  // "url.host"
  Function function;
  std::uint8_t least, most;       // arguments
  bool reads_answer;              // even without arguments
  std::string_view instead = {};  // of a deprecated name: the one to use
};
[[nodiscard]] const FunctionRow* find_function(std::string_view name) noexcept;
[[nodiscard]] std::vector<std::string_view> function_names();

struct ExpressionNode {
  static constexpr std::uint32_t kNone = UINT32_MAX;
  Operation operation = Operation::constant;
  CastType cast = CastType::boolean;
  Function function = Function::len;
  std::uint32_t a = kNone, b = kNone, c = kNone;
  std::uint32_t slot = 0;          // of a variable; of a constant: its index
  std::int64_t index = 0;          // of an item; below 0: from the end
  std::string key;                 // of a member
  std::optional<Regex> regex;      // compiled beforehand when it is constant
  std::size_t begin = 0, end = 0;  // in the line
};

/// Immutable; any thread may evaluate it.
struct Expression {
  std::vector<ExpressionNode> nodes;
  std::vector<JsonTree> constants;
  std::uint32_t root = 0;
  bool reads_answer = false;  // or a variable
};

struct ExpressionFault {
  std::size_t offset = 0;
  std::string message;
  std::string hint;
  /// It cannot be meant as jq either: an unknown @function, a malformed regex.
  bool final = false;
};

/// Notes a use of a deprecated name.
struct ExpressionRemark {
  std::size_t offset = 0;
  std::string message;
  std::string hint;
};

[[nodiscard]] std::expected<Expression, ExpressionFault> parse_expression(
    std::string_view text, const AssertionScope& scope, std::vector<ExpressionRemark>& remarks);

}  // namespace onbeat::document
