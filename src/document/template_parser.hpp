// From a text to a Template. Private to this folder.
#pragma once

#include "document/template.hpp"

namespace onbeat::document {

class TemplateParser {
 public:
  TemplateParser(std::string_view text, Place place, Scope& scope)
      : text_(text), place_(place), scope_(scope) {}
  [[nodiscard]] std::expected<Template, Template::Errors> parse();

 private:
  using Piece = Template::Piece;
  using Kind = Template::Kind;
  struct Call {
    std::string_view name;
    std::size_t name_at = 0;
    std::vector<std::int64_t> numbers;
    std::optional<std::string> quoted;  // the last one
  };

  [[nodiscard]] bool opens(std::size_t at);
  [[nodiscard]] std::size_t closing(std::size_t at);
  void literal(std::string_view text);
  void placeholder();
  void named(std::string_view name, std::size_t at);
  void unknown_variable(std::string_view name, std::size_t at);
  [[nodiscard]] bool call(std::string_view name, std::size_t name_at);
  [[nodiscard]] bool arguments(Call& call);
  [[nodiscard]] bool argument(Call& call);
  [[nodiscard]] bool number(std::int64_t& value);
  [[nodiscard]] bool closed();
  void function(const Call& call);
  void random(const Call& call);
  void random_string(const Call& call);
  void environment(const Call& call);
  [[nodiscard]] Template::Guard guard() const;
  void add(Piece piece);
  void fail(std::size_t at, std::string message, std::string hint = {});

  void skip_blanks();
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  [[nodiscard]] std::string_view rest() const { return text_.substr(at_); }

  std::string_view text_;
  Place place_;
  Scope& scope_;
  std::size_t at_ = 0;
  std::size_t closing_ = 0;  // the first "}}" from where it was last looked for
  bool in_string_ = false;   // of JSON
  bool after_backslash_ = false;
  Template result_;
  Template::Errors errors_;
};

}  // namespace onbeat::document
