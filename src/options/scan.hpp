// A walk through one value with a column for every complaint. Private to the grammars of this
// folder.
#pragma once

#include "options/grammar.hpp"

#include <expected>
#include <string>
#include <string_view>

namespace onbeat::options {

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  [[nodiscard]] std::string_view text() const { return text_; }
  [[nodiscard]] std::size_t at() const { return at_; }
  void back_to(std::size_t at) { at_ = at; }
  [[nodiscard]] bool at_end() const { return at_ == text_.size(); }
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  [[nodiscard]] std::string_view rest() const { return text_.substr(at_); }
  void skip(std::size_t count) { at_ += count; }
  void skip_spaces();
  bool take(std::string_view expected);
  /// Letters, '_', '%' and non-ASCII bytes: a unit or a name without digits. May be empty.
  std::string_view word();
  /// Letters, digits and '_', beginning with a letter or '_'. May be empty.
  std::string_view name();

  /// A finite number >= 0: digits (with '_' between them), fraction, exponent. `what` names the
  /// value in messages, with its article: "a rate".
  Parsing<double> number(std::string_view what);
  /// A double-quoted text in which \" and \\ stand for themselves.
  Parsing<std::string> quoted();

  [[nodiscard]] std::unexpected<GrammarError> fail(std::string message,
                                                   std::string hint = {}) const {
    return fail_at(at_, std::move(message), std::move(hint));
  }
  [[nodiscard]] static std::unexpected<GrammarError> fail_at(std::size_t at, std::string message,
                                                             std::string hint = {}) {
    return std::unexpected(GrammarError{std::move(message), at + 1, std::move(hint)});
  }
  /// Fails when anything but spaces is left.
  Parsing<bool> expect_end(std::string_view after);

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

Parsing<Duration> scan_duration(Scanner& scan);
Parsing<double> scan_rate(Scanner& scan);
/// A number with an optional k, M or G.
Parsing<double> scan_scaled(Scanner& scan, std::string_view what);

/// For messages: in double quotes, with control characters and long tails left out.
std::string quote(std::string_view text);

}  // namespace onbeat::options
