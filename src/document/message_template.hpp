// A whole message of any protocol: parts in order, some of which vary, and a body whose size may
// stand among them (Content-Length).
//
//   Scope scope{.variables = source.variables(), .environment = environment};
//   MessageTemplate message(*Template::compile(body, Place::json, scope));
//   message.add("POST ");
//   message.add(*Template::compile("/users/{{user.id}}", Place::target, scope));
//   message.add(" HTTP/1.1\r\nContent-Length: ");
//   message.add_body_size();
//   message.add("\r\n\r\n");
//   DataReader reader(source, message.slots());                       // one a loop
//   const auto row = reader.row(n);                                   // !row: row.error()
//   out.clear();
//   fault = message.render({seed, n, unix_ms, *row}, scratch, out);   // none: out is the message
#pragma once

#include "document/template.hpp"

namespace onbeat::document {

/// Immutable once built; any thread may render it.
class MessageTemplate {
 public:
  explicit MessageTemplate(Template body) : body_(std::move(body)) {}

  void add(std::string_view literal);
  void add(const Template& part);
  /// The size of the rendered body, in decimal.
  void add_body_size();

  /// Nothing varies: rendered once, it is the same for each arrival.
  [[nodiscard]] bool is_literal() const noexcept { return parts_.empty() && body_.is_literal(); }
  [[nodiscard]] bool uses_clock() const noexcept;
  /// The slots of all its variables, rising, each once.
  [[nodiscard]] std::vector<std::uint32_t> slots() const;

  /// Appends the parts and then the body. `scratch` is the caller's, one a loop: it keeps its
  /// capacity, so that nothing is allocated once warm. After a fault `out` is as it was.
  [[nodiscard]] RenderFault render(const RenderContext& context, std::string& scratch,
                                   std::string& out) const;

 private:
  /// What varies, and how much of literals_ precedes it; without a text, the body's size.
  struct Part {
    std::size_t literal_end = 0;
    std::optional<Template> text;
  };
  std::string literals_;
  std::vector<Part> parts_;
  Template body_;
};

}  // namespace onbeat::document
