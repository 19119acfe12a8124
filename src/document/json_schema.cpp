#include "document/json_schema.hpp"

#include "document/regex.hpp"
#include "document/text_forms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace onbeat::document {
namespace {

constexpr int kDeepest = 256;
constexpr int kMostSteps =
    1'000'000;  // a schema that refers to itself twice doubles its work at each level
constexpr std::array<std::string_view, 48> kKeywords{"$schema",
                                                     "$id",
                                                     "$ref",
                                                     "$defs",
                                                     "$comment",
                                                     "definitions",
                                                     "title",
                                                     "description",
                                                     "default",
                                                     "examples",
                                                     "deprecated",
                                                     "readOnly",
                                                     "writeOnly",
                                                     "type",
                                                     "enum",
                                                     "const",
                                                     "minimum",
                                                     "maximum",
                                                     "exclusiveMinimum",
                                                     "exclusiveMaximum",
                                                     "multipleOf",
                                                     "minLength",
                                                     "maxLength",
                                                     "pattern",
                                                     "format",
                                                     "items",
                                                     "prefixItems",
                                                     "minItems",
                                                     "maxItems",
                                                     "uniqueItems",
                                                     "contains",
                                                     "properties",
                                                     "required",
                                                     "additionalProperties",
                                                     "patternProperties",
                                                     "minProperties",
                                                     "maxProperties",
                                                     "allOf",
                                                     "anyOf",
                                                     "oneOf",
                                                     "not",
                                                     "if",
                                                     "then",
                                                     "else",
                                                     "propertyNames",
                                                     "minContains",
                                                     "maxContains",
                                                     "contentEncoding"};
constexpr std::array<std::string_view, 8> kSubschemas{
    "items", "contains", "additionalProperties", "not", "if", "then", "else", "propertyNames"};
constexpr std::array<std::string_view, 4> kSchemaLists{"allOf", "anyOf", "oneOf", "prefixItems"};
constexpr std::array<std::string_view, 4> kSchemaMaps{"properties", "patternProperties", "$defs",
                                                      "definitions"};

/// "#", "#/$defs/a~1b".
JsonView resolve(const JsonView& root, std::string_view reference) {
  if (!reference.starts_with('#')) return {};
  reference.remove_prefix(1);
  JsonView at = root;
  while (at && !reference.empty()) {
    if (reference[0] != '/') return {};
    reference.remove_prefix(1);
    const std::size_t end = std::min(reference.find('/'), reference.size());
    std::string key;
    for (std::size_t i = 0; i < end; ++i) {
      const bool escape = reference[i] == '~' && i + 1 < end;
      key += !escape ? reference[i] : reference[++i] == '0' ? '~' : '/';
    }
    reference.remove_prefix(end);
    if (at.is(JsonKind::array)) {
      std::uint32_t index = 0;
      for (const char c : key) index = index * 10 + static_cast<std::uint32_t>(c - '0');
      at = at.item(index);
    } else {
      at = at.find(key);
    }
  }
  return at;
}

std::optional<std::string> fault_of(const JsonView& schema, const JsonView& root) {
  if (schema.is(JsonKind::boolean)) return std::nullopt;
  if (!schema.is(JsonKind::object)) return "a schema is an object, true or false";
  for (JsonView member = schema.first(); member; member = schema.after(member)) {
    const std::string_view key = member.key();
    const auto is_in = [&](const auto& names) {
      return std::ranges::find(names, key) != names.end();
    };
    if (!is_in(kKeywords)) return fmt::format("the schema's keyword {} is not known here", key);
    if (is_in(kSubschemas)) {
      if (auto fault = fault_of(member, root)) return fault;
    } else if (is_in(kSchemaLists) || is_in(kSchemaMaps)) {
      for (JsonView child = member.first(); child; child = member.after(child)) {
        if (auto fault = fault_of(child, root)) return fault;
        if (key == "patternProperties" && !Regex::compile(child.key())) {
          return fmt::format("the pattern {} is malformed", child.key());
        }
      }
    } else if (key == "pattern" && !Regex::compile(member.text())) {
      return fmt::format("the pattern {} is malformed", member.text());
    } else if (key == "$ref" && !resolve(root, member.text())) {
      return fmt::format("$ref {} leads nowhere", member.text());
    }
  }
  return std::nullopt;
}

bool is_type(const JsonView& value, std::string_view type) {
  if (type == "integer") {
    return value.is_number() &&
           (!value.is(JsonKind::real) || std::trunc(value.real()) == value.real());
  }
  return to_string(value.kind()) == type;
}

bool has_format(std::string_view text, std::string_view format) {
  if (format == "uuid") return is_uuid(text);
  if (format == "email") return is_email(text);
  if (format == "ipv4") return ip_version(text) == 4;
  if (format == "ipv6") return ip_version(text) == 6;
  if (format == "uri" || format == "url") return url_parts(text).has_value();
  if (format == "date-time") return parse_timestamp(text).has_value();
  if (format == "date") return text.size() == 10 && parse_timestamp(text, true).has_value();
  return true;
}

class Validation {
 public:
  explicit Validation(const JsonView& root) : root_(root) {}

  bool fits(const JsonView& value, const JsonView& schema) {
    if (schema.is(JsonKind::boolean)) return schema.boolean();
    if (++depth_ > kDeepest || ++steps_ > kMostSteps) return false;
    const bool fit =
        (!schema.find("$ref") || fits(value, resolve(root_, schema.find("$ref").text()))) &&
        general(value, schema) && combined(value, schema) && special(value, schema);
    --depth_;
    return fit;
  }

 private:
  bool special(const JsonView& value, const JsonView& schema) {
    if (value.is_number()) return number(value, schema);
    if (value.is(JsonKind::text)) return text(value, schema);
    if (value.is(JsonKind::array)) return array(value, schema);
    return !value.is(JsonKind::object) || object(value, schema);
  }

  bool general(const JsonView& value, const JsonView& schema) {
    if (const JsonView type = schema.find("type")) {
      bool fit = type.is(JsonKind::text) && is_type(value, type.text());
      for (JsonView one = type.first(); one && !fit; one = type.after(one)) {
        fit = is_type(value, one.text());
      }
      if (!fit) return false;
    }
    if (const JsonView wanted = schema.find("const"); wanted && !equal_values(value, wanted))
      return false;
    if (const JsonView choices = schema.find("enum")) {
      bool found = false;
      for (JsonView one = choices.first(); one && !found; one = choices.after(one)) {
        found = equal_values(value, one);
      }
      if (!found) return false;
    }
    return true;
  }

  int count_fitting(const JsonView& value, const JsonView& schemas) {
    int count = 0;
    for (JsonView one = schemas.first(); one; one = schemas.after(one))
      count += fits(value, one) ? 1 : 0;
    return count;
  }

  bool combined(const JsonView& value, const JsonView& schema) {
    if (const JsonView all = schema.find("allOf");
        all && count_fitting(value, all) != static_cast<int>(all.size())) {
      return false;
    }
    if (const JsonView any = schema.find("anyOf"); any && count_fitting(value, any) == 0)
      return false;
    if (const JsonView one = schema.find("oneOf"); one && count_fitting(value, one) != 1)
      return false;
    if (const JsonView none = schema.find("not"); none && fits(value, none)) return false;
    if (const JsonView condition = schema.find("if")) {
      const JsonView then = schema.find(fits(value, condition) ? "then" : "else");
      return !then || fits(value, then);
    }
    return true;
  }

  static bool number(const JsonView& value, const JsonView& schema) {
    const auto order = [&](std::string_view key, int fallback) {
      const JsonView limit = schema.find(key);
      return limit ? compare_numbers(value, limit) : fallback;
    };
    if (order("minimum", 0) < 0 || order("maximum", 0) > 0) return false;
    if (order("exclusiveMinimum", 1) <= 0 || order("exclusiveMaximum", -1) >= 0) return false;
    const double unit = schema.find("multipleOf").real();
    if (unit <= 0) return true;
    const double times = value.real() / unit;
    return std::fabs(times - std::round(times)) <= 1e-9 * std::max(1.0, std::fabs(times));
  }

  static bool within(std::size_t size, const JsonView& least, const JsonView& most) {
    return (!least || size >= least.natural()) && (!most || size <= most.natural());
  }

  static bool text(const JsonView& value, const JsonView& schema) {
    if (!within(code_points(value.text()), schema.find("minLength"), schema.find("maxLength"))) {
      return false;
    }
    if (const JsonView format = schema.find("format");
        format && !has_format(value.text(), format.text())) {
      return false;
    }
    const JsonView pattern = schema.find("pattern");
    if (!pattern) return true;
    const auto regex = Regex::compile(pattern.text());
    return regex && regex->found_in(value.text());
  }

  bool array(const JsonView& value, const JsonView& schema) {
    if (!within(value.size(), schema.find("minItems"), schema.find("maxItems"))) return false;
    const JsonView prefix = schema.find("prefixItems");
    const JsonView items = schema.find("items");
    const JsonView contains = schema.find("contains");
    JsonView first = prefix.first();
    std::uint64_t containing = 0;
    for (JsonView item = value.first(); item; item = value.after(item)) {
      const JsonView wanted = first ? first : items;
      if (first) first = prefix.after(first);
      if (wanted && !fits(item, wanted)) return false;
      if (contains && fits(item, contains)) ++containing;
    }
    const JsonView least = schema.find("minContains");
    if (contains && !within(containing, least, schema.find("maxContains"))) return false;
    if (contains && !least && containing == 0) return false;
    return !schema.find("uniqueItems").boolean() || unique(value);
  }

  static bool unique(const JsonView& array) {
    for (JsonView item = array.first(); item; item = array.after(item)) {
      for (JsonView later = array.after(item); later; later = array.after(later)) {
        if (equal_values(item, later)) return false;
      }
    }
    return true;
  }

  bool object(const JsonView& value, const JsonView& schema) {
    if (!within(value.size(), schema.find("minProperties"), schema.find("maxProperties")))
      return false;
    const JsonView required = schema.find("required");
    for (JsonView name = required.first(); name; name = required.after(name)) {
      if (!value.find(name.text())) return false;
    }
    for (JsonView member = value.first(); member; member = value.after(member)) {
      if (!this->member(member, schema)) return false;
    }
    return true;
  }

  bool member(const JsonView& member, const JsonView& schema) {
    bool known = false;
    if (const JsonView names = schema.find("propertyNames")) {
      JsonTree name;
      name.text(member.key());
      if (!fits(name.root(), names)) return false;
    }
    if (const JsonView wanted = schema.find("properties").find(member.key())) {
      known = true;
      if (!fits(member, wanted)) return false;
    }
    const JsonView patterns = schema.find("patternProperties");
    for (JsonView wanted = patterns.first(); wanted; wanted = patterns.after(wanted)) {
      const auto regex = Regex::compile(wanted.key());
      if (!regex || !regex->found_in(member.key())) continue;
      known = true;
      if (!fits(member, wanted)) return false;
    }
    const JsonView additional = schema.find("additionalProperties");
    return known || !additional || fits(member, additional);
  }

  JsonView root_;
  int depth_ = 0;
  int steps_ = 0;
};

}  // namespace

std::optional<std::string> schema_fault(const JsonView& schema) { return fault_of(schema, schema); }

bool fits_schema(const JsonView& value, const JsonView& schema) {
  return Validation(schema).fits(value, schema);
}

}  // namespace onbeat::document
