#include "document/expression_evaluator.hpp"

#include "document/gctf_yaml.hpp"
#include "document/json5.hpp"
#include "document/json_schema.hpp"
#include "document/text_forms.hpp"
#include "options/grammar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace onbeat::document {
namespace {

constexpr double kNanos = 1e9;

bool is_empty(const JsonView& value) {
  switch (value.kind()) {
    case JsonKind::null:
      return true;
    case JsonKind::text:
      return value.text().empty();
    case JsonKind::array:
    case JsonKind::object:
      return value.size() == 0;
    default:
      return false;
  }
}

std::string_view piece(std::string_view text, const ExpressionNode& node) {
  return text.substr(node.begin, node.end - node.begin);
}

std::string shown(const JsonView& value) {
  constexpr std::size_t kLongest = 120;
  std::string text;
  append_json(value, text);
  if (text.size() <= kLongest) return text;
  std::size_t end = kLongest;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

/// "1.5s" as protobuf writes it, or any of the option grammar's.
std::optional<std::int64_t> nanoseconds(std::string_view text) {
  const bool negative = text.starts_with('-');
  const auto duration = options::parse_duration(negative ? text.substr(1) : text);
  if (!duration) return std::nullopt;
  return negative ? -duration->count() : duration->count();
}

}  // namespace

JsonView ExpressionEvaluator::evaluate(const Expression& expression, const Answer& answer,
                                       const Variables& variables) {
  expression_ = &expression;
  answer_ = &answer;
  variables_ = &variables;
  scratch_.clear();
  scratch_.begin_array();
  return value(expression.root);
}

JsonView ExpressionEvaluator::boolean(bool value) {
  scratch_.boolean(value);
  return scratch_.last();
}
JsonView ExpressionEvaluator::integer(std::int64_t value) {
  scratch_.integer(value);
  return scratch_.last();
}
JsonView ExpressionEvaluator::text(std::string_view value) {
  scratch_.text(value);
  return scratch_.last();
}

JsonView ExpressionEvaluator::value(std::uint32_t index) {
  const ExpressionNode& node = expression_->nodes[index];
  switch (node.operation) {
    case Operation::constant:
      return expression_->constants[node.slot].root();
    case Operation::message:
      return answer_->message;
    case Operation::variable:
      return variable(node);
    case Operation::member:
      return value(node.a).find(node.key);
    case Operation::item: {
      const JsonView array = value(node.a);
      const std::int64_t at = node.index < 0 ? node.index + array.size() : node.index;
      return at < 0 ? missing() : array.item(static_cast<std::uint32_t>(at));
    }
    case Operation::negation:
      return boolean(!truth(node.a));
    case Operation::conjunction:
      return boolean(truth(node.a) && truth(node.b));
    case Operation::disjunction:
      return boolean(truth(node.a) || truth(node.b));
    case Operation::exclusive:
      return boolean(truth(node.a) != truth(node.b));
    case Operation::choice:
      return value(truth(node.a) ? node.b : node.c);
    case Operation::cast:
      return cast(node.cast, value(node.a));
    case Operation::call:
      return call(node);
    default:
      return boolean(compare(node));
  }
}

bool ExpressionEvaluator::compare(const ExpressionNode& node) {
  const JsonView left = value(node.a);
  if (node.operation == Operation::matches) return matches(left, node.b);
  const JsonView right = value(node.b);
  switch (node.operation) {
    case Operation::equal:
      return equal_values(left, right);
    case Operation::unequal:
      return !equal_values(left, right);
    case Operation::less:
      return compare_numbers(left, right) == -1;
    case Operation::less_equal:
      return compare_numbers(left, right) <= 0;
    case Operation::greater:
      return compare_numbers(left, right) == 1;
    case Operation::greater_equal: {
      const int order = compare_numbers(left, right);
      return order == 0 || order == 1;
    }
    case Operation::contains:
      return contains(left, right);
    case Operation::starts_with:
      return left.is(JsonKind::text) && right.is(JsonKind::text) &&
             left.text().starts_with(right.text());
    case Operation::ends_with:
      return left.is(JsonKind::text) && right.is(JsonKind::text) &&
             left.text().ends_with(right.text());
    default:
      return false;
  }
}

bool ExpressionEvaluator::contains(const JsonView& whole, const JsonView& part) {
  if (whole.is(JsonKind::text)) {
    return part.is(JsonKind::text) && whole.text().find(part.text()) != std::string_view::npos;
  }
  if (whole.is(JsonKind::object)) return part.is(JsonKind::text) && whole.find(part.text());
  if (!whole.is(JsonKind::array)) return false;
  for (JsonView item = whole.first(); item; item = whole.after(item)) {
    if (equal_values(item, part)) return true;
  }
  return false;
}

bool ExpressionEvaluator::matches(const JsonView& subject, std::uint32_t pattern) {
  if (!subject.is(JsonKind::text)) return false;
  const ExpressionNode& node = expression_->nodes[pattern];
  if (node.regex) return node.regex->found_in(subject.text());
  const std::string copy(subject.text());  // what follows may use scratch_
  const auto regex = Regex::compile(value(pattern).text());
  return regex && regex->found_in(copy);
}

JsonView ExpressionEvaluator::variable(const ExpressionNode& node) {
  const std::size_t rows = variables_->row_slots();
  if (node.slot >= rows) return variables_->tree(node.slot - rows).root();
  const std::string_view value = variables_->values()[node.slot];
  return value.data() == nullptr ? missing() : text(value);
}

JsonView ExpressionEvaluator::cast(CastType type, const JsonView& value) {
  const std::string_view text = value.text();
  const auto keep_if = [&](bool fits) { return fits ? value : JsonView(); };
  switch (type) {
    case CastType::boolean:
      if (value.is(JsonKind::boolean)) return value;
      if (text == "true" || text == "false") return boolean(text == "true");
      return missing();
    case CastType::natural:
    case CastType::number:
      return cast_number(type, value);
    case CastType::text: {
      if (!value || value.is(JsonKind::null) || value.is(JsonKind::text)) return value;
      std::string plain;
      append_plain(value, plain);
      return this->text(plain);
    }
    case CastType::uuid:
      return keep_if(is_uuid(text));
    case CastType::email:
      return keep_if(is_email(text));
    case CastType::url:
      return keep_if(url_parts(text).has_value());
    case CastType::ip:
      return keep_if(ip_version(text) != 0);
    case CastType::regex:
      return keep_if(value.is(JsonKind::text) && Regex::compile(text).has_value());
    case CastType::time:
    case CastType::timestamp:
    case CastType::duration:
      return cast_instant(type, value);
    case CastType::json:
    case CastType::yaml:
      return cast_parsed(type, value);
  }
  return missing();
}

JsonView ExpressionEvaluator::cast_number(CastType type, const JsonView& value) {
  const bool whole = type == CastType::natural;
  JsonView number = value;
  if (value.is(JsonKind::text)) {
    const std::string_view text = value.text();
    const char* const end = text.data() + text.size();
    std::int64_t integer = 0;
    std::uint64_t natural = 0;
    double real = 0;
    if (const auto [stop, error] = std::from_chars(text.data(), end, integer);
        error == std::errc{} && stop == end) {
      scratch_.integer(integer);
    } else if (const auto [last, fault] = std::from_chars(text.data(), end, natural);
               fault == std::errc{} && last == end) {
      scratch_.natural(natural);
    } else if (const auto [behind, wrong] = std::from_chars(text.data(), end, real);
               wrong == std::errc{} && behind == end && std::isfinite(real)) {
      scratch_.real(real);
    } else {
      return missing();
    }
    number = scratch_.last();
  }
  if (!number.is_number()) return missing();
  if (!whole) return number;
  if (number.is(JsonKind::natural) || number.integer() > 0) return number;
  if (number.is(JsonKind::integer)) return number.integer() == 0 ? number : missing();
  const double real = number.real();
  if (real < 0 || std::trunc(real) != real || real >= 0x1p64) return missing();
  scratch_.natural(static_cast<std::uint64_t>(real));
  return scratch_.last();
}

/// As nanoseconds: of a time since 1970, of a duration. Plain numbers are seconds.
JsonView ExpressionEvaluator::cast_instant(CastType type, const JsonView& value) {
  if (value.is_number()) {
    const double nanos = value.real() * kNanos;
    return std::fabs(nanos) < 0x1p63 ? integer(std::llround(nanos)) : missing();
  }
  const auto nanos =
      type == CastType::duration ? nanoseconds(value.text()) : parse_timestamp(value.text(), true);
  return nanos ? integer(*nanos) : missing();
}

JsonView ExpressionEvaluator::cast_parsed(CastType type, const JsonView& value) {
  if (!value.is(JsonKind::text)) return missing();
  JsonTree parsed;
  if (type == CastType::yaml) {
    const auto node = options::parse_yaml(value.text(), "");
    if (!node) return missing();
    append_yaml(*node, parsed);
  } else {
    Json5Body body = parse_json5(value.text());
    if (!body.faults.empty() || body.values.size() != 1) return missing();
    parsed = std::move(body.values[0]);
  }
  scratch_.copy(parsed.root());
  return scratch_.last();
}

JsonView ExpressionEvaluator::call(const ExpressionNode& node) {
  switch (node.function) {
    case Function::elapsed_ms:
      scratch_.real(static_cast<double>(answer_->elapsed.count()) / 1e6);
      return scratch_.last();
    case Function::total_elapsed_ms:
      scratch_.real(static_cast<double>(answer_->total_elapsed.count()) / 1e6);
      return scratch_.last();
    case Function::message_count:
      scratch_.natural(answer_->message_count);
      return scratch_.last();
    case Function::index:
      scratch_.natural(answer_->index);
      return scratch_.last();
    case Function::header:
      return metadata(answer_->headers, value(node.a), false);
    case Function::has_header:
      return metadata(answer_->headers, value(node.a), true);
    case Function::trailer:
      return metadata(answer_->trailers, value(node.a), false);
    case Function::has_trailer:
      return metadata(answer_->trailers, value(node.a), true);
    case Function::regex:
      return boolean(matches(value(node.a), node.b));
    case Function::schema: {
      const bool whole = node.b == ExpressionNode::kNone;
      const JsonView instance = whole ? answer_->message : value(node.a);
      return boolean(fits_schema(instance, value(whole ? node.a : node.b)));
    }
    case Function::json_key: {
      const JsonView parsed = cast_parsed(CastType::json, value(node.a));
      const std::string key(value(node.b).text());
      return parsed.find(key);
    }
    case Function::len: {
      const JsonView of = value(node.a);
      if (of.is(JsonKind::text)) return integer(static_cast<std::int64_t>(code_points(of.text())));
      if (of.is(JsonKind::array) || of.is(JsonKind::object)) return integer(of.size());
      return missing();
    }
    default:
      break;
  }
  const JsonView argument = value(node.a);
  return node.function <= Function::has_value ? boolean(predicate(node.function, argument))
                                              : part(node.function, argument);
}

bool ExpressionEvaluator::predicate(Function function, const JsonView& value) {
  const std::string_view text = value.text();
  switch (function) {
    case Function::is_empty:
      return is_empty(value);
    case Function::has_value:
      return !is_empty(value);
    case Function::is_uuid:
      return is_uuid(text);
    case Function::is_email:
      return is_email(text);
    case Function::is_ip:
      return ip_version(text) != 0;
    case Function::is_url:
      return url_parts(text).has_value();
    case Function::is_timestamp:
      return parse_timestamp(text).has_value();
    case Function::is_base64:
      return value.is(JsonKind::text) && is_base64(text);
    case Function::is_json: {
      if (!value.is(JsonKind::text)) return false;
      const Json5Body body = parse_json5(text);
      return body.faults.empty() && body.values.size() == 1;
    }
    default:
      return false;
  }
}

JsonView ExpressionEvaluator::part(Function function, const JsonView& value) {
  const std::string whole(value.text());  // the parts are put beside it
  const std::string_view view = whole;
  const auto maybe = [&](std::string_view found) {
    return found.data() == nullptr ? missing() : text(found);
  };
  if (function == Function::ip_version || function == Function::uuid_version) {
    const int version = function == Function::ip_version ? ip_version(view) : uuid_version(view);
    return version == 0 ? missing() : integer(version);
  }
  if (function == Function::email_local_part || function == Function::email_domain) {
    if (!is_email(view)) return missing();
    const std::size_t at = view.rfind('@');
    return text(function == Function::email_domain ? view.substr(at + 1) : view.substr(0, at));
  }
  const auto url = url_parts(view);
  if (!url) return missing();
  switch (function) {
    case Function::url_scheme:
      return maybe(url->scheme);
    case Function::url_host:
      return maybe(url->host);
    case Function::url_port: {
      std::int64_t port = 0;
      std::from_chars(url->port.data(), url->port.data() + url->port.size(), port);
      return url->port.empty() ? missing() : integer(port);
    }
    case Function::url_path:
      return maybe(url->path);
    case Function::url_query:
      return maybe(url->query);
    default:
      return maybe(url->fragment);
  }
}

JsonView ExpressionEvaluator::metadata(std::span<const MetadataItem> items, const JsonView& name,
                                       bool presence) {
  constexpr std::string_view kHex = "0123456789abcdef";
  const auto same = [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a + 32) : a) ==
           (b >= 'A' && b <= 'Z' ? static_cast<char>(b + 32) : b);
  };
  const std::string_view wanted = name.text();
  const auto found = std::ranges::find_if(
      items, [&](const MetadataItem& item) { return std::ranges::equal(item.name, wanted, same); });
  if (presence) return boolean(found != items.end());
  if (found == items.end()) return missing();
  if (!found->name.ends_with("-bin")) return text(found->value);
  hex_.clear();
  for (const char c : found->value) {
    hex_ += kHex[static_cast<unsigned char>(c) >> 4];
    hex_ += kHex[static_cast<unsigned char>(c) & 15];
  }
  return text(hex_);
}

std::string ExpressionEvaluator::explain(std::string_view text) {
  return explain(expression_->root, text);
}

std::string ExpressionEvaluator::explain(std::uint32_t index, std::string_view text) {
  const ExpressionNode& node = expression_->nodes[index];
  switch (node.operation) {
    case Operation::conjunction:
      return explain(truth(node.a) ? node.b : node.a, text);
    case Operation::disjunction:
      return fmt::format("{}; {}", explain(node.a, text), explain(node.b, text));
    case Operation::negation:
    case Operation::exclusive:
    case Operation::choice:
    case Operation::call:
    case Operation::constant:
      break;
    case Operation::message:
    case Operation::variable:
    case Operation::member:
    case Operation::item:
    case Operation::cast:
      return fmt::format("{} is {}", piece(text, node), shown(value(index)));
    default: {
      const ExpressionNode& left = expression_->nodes[node.a];
      const ExpressionNode& right = expression_->nodes[node.b];
      std::string said;
      if (left.operation != Operation::constant) {
        said = fmt::format("{} is {}", piece(text, left), shown(value(node.a)));
      }
      if (right.operation != Operation::constant && !right.regex) {
        said += fmt::format("{}{} is {}", said.empty() ? "" : ", ", piece(text, right),
                            shown(value(node.b)));
      }
      return said.empty() ? std::string("it never holds") : said;
    }
  }
  return fmt::format("{} is {}", piece(text, node), shown(value(index)));
}

}  // namespace onbeat::document
