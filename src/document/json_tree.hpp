// A JSON value in two flat buffers: nodes in the order in which they are written, and their texts.
// Cheap to build from anything (no text needed), to compare and to print; cleared, it keeps its
// memory, so that a loop which builds one tree after another in the same place allocates nothing
// once warm. Integers are exact within 64 bits.
//
//   JsonTree tree;
//   tree.begin_object();
//   tree.key("id");
//   tree.integer(7);
//   tree.end();
//   tree.root().find("id").integer();   // 7
//
// One owner; views are valid until the tree changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace onbeat::document {

class JsonView;

enum class JsonKind : std::uint8_t {
  null,
  boolean,
  integer,  // fits int64_t
  natural,  // above INT64_MAX, fits uint64_t
  real,
  text,
  array,
  object,
};
/// "null", "boolean", "number" (of any of the three), "string", "array", "object".
[[nodiscard]] std::string_view to_string(JsonKind kind) noexcept;

class JsonTree {
 public:
  /// Forgets the value, keeps the memory.
  void clear() noexcept;
  /// No value has been added.
  [[nodiscard]] bool empty() const noexcept { return nodes_.empty(); }
  /// The value; it must be whole. A missing view when empty().
  [[nodiscard]] JsonView root() const noexcept;

  // One value is added to an empty tree, any number within an array, each after a key() within an
  // object. Whatever was begun must be ended before root().
  void key(std::string_view name);
  void null();
  void boolean(bool value);
  void integer(std::int64_t value);
  void natural(std::uint64_t value);  // of any size
  void real(double value);
  void text(std::string_view value);
  void begin_array();
  void begin_object();
  void end();
  /// The value that was added last and is whole. The view stays good while more is added within an
  /// array that is still open; its text() only until then.
  [[nodiscard]] JsonView last() const noexcept;
  /// A copy of a value of another tree.
  void copy(const JsonView& value);

  /// Where the next value, or the next key with its value, stands in its source: an offset in
  /// bytes.
  void set_offset(std::uint32_t offset) noexcept { offset_ = offset; }

 private:
  friend class JsonView;
  struct Text {
    std::uint32_t at = 0, size = 0;
  };
  struct Node {
    JsonKind kind = JsonKind::null;
    std::uint32_t count = 0;  // of an array's items, an object's members
    std::uint32_t next = 0;   // behind what belongs to this node; while it is open, its parent
    std::uint32_t offset = 0;
    Text key;
    union {
      std::int64_t integer = 0;
      std::uint64_t natural;
      double real;
      Text text;
    };
  };
  Node& add(JsonKind kind);
  void begin(JsonKind kind);
  [[nodiscard]] Text store(std::string_view text);
  [[nodiscard]] std::string_view text_of(Text text) const noexcept {
    return std::string_view(texts_).substr(text.at, text.size);
  }

  static constexpr std::uint32_t kNoNode = UINT32_MAX;
  std::uint32_t last_ = 0;
  std::vector<Node> nodes_;
  std::string texts_;
  std::uint32_t open_ = kNoNode;
  Text key_;
  std::uint32_t offset_ = 0;
};

/// A value within a tree, or none ("missing"). What does not fit its kind answers 0, "" or missing.
class JsonView {
 public:
  JsonView() = default;

  [[nodiscard]] explicit operator bool() const noexcept { return tree_ != nullptr; }
  /// Of a missing value: null.
  [[nodiscard]] JsonKind kind() const noexcept {
    return tree_ == nullptr ? JsonKind::null : node().kind;
  }
  [[nodiscard]] bool is(JsonKind kind) const noexcept {
    return tree_ != nullptr && node().kind == kind;
  }
  [[nodiscard]] bool is_number() const noexcept {
    return is(JsonKind::integer) || is(JsonKind::natural) || is(JsonKind::real);
  }
  [[nodiscard]] bool boolean() const noexcept {
    return is(JsonKind::boolean) && node().integer != 0;
  }
  [[nodiscard]] std::int64_t integer() const noexcept {
    return is(JsonKind::integer) ? node().integer : 0;
  }
  [[nodiscard]] std::uint64_t natural() const noexcept;
  /// Any number, rounded.
  [[nodiscard]] double real() const noexcept;
  [[nodiscard]] std::string_view text() const noexcept {
    return is(JsonKind::text) ? tree_->text_of(node().text) : std::string_view{};
  }
  /// Of an array's items or an object's members.
  [[nodiscard]] std::uint32_t size() const noexcept { return tree_ == nullptr ? 0 : node().count; }
  /// Of a member of an object.
  [[nodiscard]] std::string_view key() const noexcept {
    return tree_ == nullptr ? std::string_view{} : tree_->text_of(node().key);
  }
  [[nodiscard]] std::uint32_t offset() const noexcept {
    return tree_ == nullptr ? 0 : node().offset;
  }

  /// The first item or member, and the one after this: for (v = a.first(); v; v = a.after(v)).
  [[nodiscard]] JsonView first() const noexcept {
    return size() == 0 ? JsonView() : JsonView(tree_, index_ + 1);
  }
  [[nodiscard]] JsonView after(const JsonView& child) const noexcept;
  [[nodiscard]] JsonView find(std::string_view key) const noexcept;
  [[nodiscard]] JsonView item(std::uint32_t index) const noexcept;

 private:
  friend class JsonTree;
  JsonView(const JsonTree* tree, std::uint32_t index) noexcept : tree_(tree), index_(index) {}
  [[nodiscard]] const JsonTree::Node& node() const noexcept { return tree_->nodes_[index_]; }
  const JsonTree* tree_ = nullptr;
  std::uint32_t index_ = 0;
};

/// -1, 0, 1: numbers by value, exactly, whatever their kinds. 2 when either is NaN or no number.
[[nodiscard]] int compare_numbers(const JsonView& a, const JsonView& b) noexcept;

/// Numbers by value, objects in any order of their keys; a missing value equals null.
[[nodiscard]] bool equal_values(const JsonView& a, const JsonView& b) noexcept;

/// Appends strict JSON (RFC 8259) on one line; what is not finite becomes "NaN", "Infinity" or
/// "-Infinity", as protobuf writes it. A missing value is null.
void append_json(const JsonView& value, std::string& out);
/// Appends what stands between the quotes of a string literal, or all of the literal.
void append_json_escaped(std::string_view text, std::string& out);
void append_json_text(std::string_view text, std::string& out);
/// A text as it is, anything else as JSON.
void append_plain(const JsonView& value, std::string& out);

}  // namespace onbeat::document
