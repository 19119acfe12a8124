#include "document/json_tree.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace onbeat::document {

std::string_view to_string(JsonKind kind) noexcept {
  switch (kind) {
    case JsonKind::null:
      return "null";
    case JsonKind::boolean:
      return "boolean";
    case JsonKind::integer:
    case JsonKind::natural:
    case JsonKind::real:
      return "number";
    case JsonKind::text:
      return "string";
    case JsonKind::array:
      return "array";
    case JsonKind::object:
      return "object";
  }
  return "value";
}

void JsonTree::clear() noexcept {
  nodes_.clear();
  texts_.clear();
  open_ = kNoNode;
  key_ = {};
  offset_ = 0;
}

JsonView JsonTree::root() const noexcept { return nodes_.empty() ? JsonView() : JsonView(this, 0); }

JsonTree::Text JsonTree::store(std::string_view text) {
  const Text stored{static_cast<std::uint32_t>(texts_.size()),
                    static_cast<std::uint32_t>(text.size())};
  texts_ += text;
  return stored;
}

JsonTree::Node& JsonTree::add(JsonKind kind) {
  Node& node = nodes_.emplace_back();
  node.kind = kind;
  node.key = key_;
  node.offset = offset_;
  node.next = static_cast<std::uint32_t>(nodes_.size());
  key_ = {};
  last_ = static_cast<std::uint32_t>(nodes_.size() - 1);
  if (open_ != kNoNode) ++nodes_[open_].count;
  return node;
}

void JsonTree::key(std::string_view name) { key_ = store(name); }
void JsonTree::null() { add(JsonKind::null); }
void JsonTree::boolean(bool value) { add(JsonKind::boolean).integer = value ? 1 : 0; }
void JsonTree::integer(std::int64_t value) { add(JsonKind::integer).integer = value; }
void JsonTree::real(double value) { add(JsonKind::real).real = value; }

void JsonTree::natural(std::uint64_t value) {
  if (value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    integer(static_cast<std::int64_t>(value));
  } else {
    add(JsonKind::natural).natural = value;
  }
}

void JsonTree::text(std::string_view value) {
  const Text stored = store(value);
  add(JsonKind::text).text = stored;
}

void JsonTree::begin(JsonKind kind) {
  add(kind).next = open_;
  open_ = static_cast<std::uint32_t>(nodes_.size() - 1);
}

void JsonTree::begin_array() { begin(JsonKind::array); }
void JsonTree::begin_object() { begin(JsonKind::object); }

JsonView JsonTree::last() const noexcept {
  return nodes_.empty() ? JsonView() : JsonView(this, last_);
}

void JsonTree::end() {
  last_ = open_;
  Node& node = nodes_[open_];
  open_ = node.next;
  node.next = static_cast<std::uint32_t>(nodes_.size());
}

void JsonTree::copy(const JsonView& value) {
  set_offset(value.offset());
  switch (value.kind()) {
    case JsonKind::null:
      return null();
    case JsonKind::boolean:
      return boolean(value.boolean());
    case JsonKind::integer:
      return integer(value.integer());
    case JsonKind::natural:
      return natural(value.natural());
    case JsonKind::real:
      return real(value.real());
    case JsonKind::text:
      return text(value.text());
    case JsonKind::array:
      begin_array();
      break;
    case JsonKind::object:
      begin_object();
      break;
  }
  for (JsonView child = value.first(); child; child = value.after(child)) {
    if (value.is(JsonKind::object)) key(child.key());
    copy(child);
  }
  end();
}

std::uint64_t JsonView::natural() const noexcept {
  if (is(JsonKind::natural)) return node().natural;
  return is(JsonKind::integer) && node().integer > 0 ? static_cast<std::uint64_t>(node().integer)
                                                     : 0;
}

double JsonView::real() const noexcept {
  if (is(JsonKind::real)) return node().real;
  if (is(JsonKind::natural)) return static_cast<double>(node().natural);
  return static_cast<double>(integer());
}

JsonView JsonView::after(const JsonView& child) const noexcept {
  const std::uint32_t next = child.node().next;
  return next == node().next ? JsonView() : JsonView(tree_, next);
}

JsonView JsonView::find(std::string_view key) const noexcept {
  if (!is(JsonKind::object)) return {};
  for (JsonView member = first(); member; member = after(member)) {
    if (member.key() == key) return member;
  }
  return {};
}

JsonView JsonView::item(std::uint32_t index) const noexcept {
  if (!is(JsonKind::array) || index >= size()) return {};
  JsonView child = first();
  while (index-- > 0) child = after(child);
  return child;
}

int compare_numbers(const JsonView& a, const JsonView& b) noexcept {
  constexpr int kNone = 2;
  const auto order = [](auto x, auto y) { return x < y ? -1 : x > y ? 1 : x == y ? 0 : kNone; };
  if (!a.is_number() || !b.is_number()) return kNone;
  if (a.kind() == b.kind()) {
    if (a.is(JsonKind::integer)) return order(a.integer(), b.integer());
    if (a.is(JsonKind::natural)) return order(a.natural(), b.natural());
    return order(a.real(), b.real());
  }
  if (!a.is(JsonKind::real) && !b.is(JsonKind::real)) return a.is(JsonKind::natural) ? 1 : -1;
  // A long double holds any 64-bit integer and any double.
  static_assert(std::numeric_limits<long double>::digits >= 64);
  const auto exact = [](const JsonView& number) -> long double {
    if (number.is(JsonKind::integer)) return static_cast<long double>(number.integer());
    if (number.is(JsonKind::natural)) return static_cast<long double>(number.natural());
    return number.real();
  };
  return order(exact(a), exact(b));
}

bool equal_values(const JsonView& a, const JsonView& b) noexcept {
  if (a.is_number() || b.is_number()) return compare_numbers(a, b) == 0;
  if (a.kind() != b.kind() || a.size() != b.size()) return false;
  switch (a.kind()) {
    case JsonKind::boolean:
      return a.boolean() == b.boolean();
    case JsonKind::text:
      return a.text() == b.text();
    case JsonKind::array: {
      JsonView other = b.first();
      for (JsonView item = a.first(); item; item = a.after(item), other = b.after(other)) {
        if (!equal_values(item, other)) return false;
      }
      return true;
    }
    case JsonKind::object:
      for (JsonView member = a.first(); member; member = a.after(member)) {
        const JsonView other = b.find(member.key());
        if (!other || !equal_values(member, other)) return false;
      }
      return true;
    default:
      return true;
  }
}

void append_json_escaped(std::string_view text, std::string& out) {
  constexpr std::string_view kHex = "0123456789abcdef";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte >= 0x20) {
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\r') {
      out += "\\r";
    } else {
      out += "\\u00";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
}

void append_json_text(std::string_view text, std::string& out) {
  out += '"';
  append_json_escaped(text, out);
  out += '"';
}

namespace {

void append_real(double value, std::string& out) {
  if (std::isnan(value)) {
    out += "\"NaN\"";
  } else if (std::isinf(value)) {
    out += value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  } else {
    fmt::format_to(std::back_inserter(out), "{}", value);
  }
}

}  // namespace

void append_json(const JsonView& value, std::string& out) {
  switch (value.kind()) {
    case JsonKind::null:
      out += "null";
      return;
    case JsonKind::boolean:
      out += value.boolean() ? "true" : "false";
      return;
    case JsonKind::integer: {
      const fmt::format_int text(value.integer());
      out.append(text.data(), text.size());
      return;
    }
    case JsonKind::natural: {
      const fmt::format_int text(value.natural());
      out.append(text.data(), text.size());
      return;
    }
    case JsonKind::real:
      return append_real(value.real(), out);
    case JsonKind::text:
      return append_json_text(value.text(), out);
    case JsonKind::array:
    case JsonKind::object:
      break;
  }
  const bool is_object = value.is(JsonKind::object);
  out += is_object ? '{' : '[';
  bool first = true;
  for (JsonView child = value.first(); child; child = value.after(child)) {
    if (!first) out += ',';
    first = false;
    if (is_object) {
      append_json_text(child.key(), out);
      out += ':';
    }
    append_json(child, out);
  }
  out += is_object ? '}' : ']';
}

void append_plain(const JsonView& value, std::string& out) {
  if (value.is(JsonKind::text)) {
    out += value.text();
  } else {
    append_json(value, out);
  }
}

}  // namespace onbeat::document
