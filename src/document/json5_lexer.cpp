#include "document/json5.hpp"

namespace onbeat::document {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }

/// Ends a word.
bool is_stop(char c) {
  return is_blank(c) || c == '\n' ||
         std::string_view("{}[]:,\"'#").find(c) != std::string_view::npos;
}

}  // namespace

Json5Token Json5Lexer::take(Json5Token::Kind kind, std::size_t size) {
  const Json5Token token{kind, text_.substr(at_, size)};
  at_ += token.text.size();
  return token;
}

Json5Token Json5Lexer::fail(std::string_view fault, std::size_t size) {
  fault_ = fault;
  return take(Json5Token::Kind::fault, size);
}

Json5Token Json5Lexer::next() {
  while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  if (at_ >= text_.size()) return take(Json5Token::Kind::end, 0);
  const char c = text_[at_];
  if (c == '\n') return breaks();
  if (c == '"' || c == '\'') return quoted();
  if (c == '#' || text_.substr(at_, 2) == "//" || text_.substr(at_, 2) == "/*") return comment();
  if (std::string_view("{}[]:,").find(c) != std::string_view::npos) {
    return take(Json5Token::Kind::punctuation, 1);
  }
  std::size_t end = at_;
  while (end < text_.size() && !is_stop(text_[end]) && text_.substr(end, 2) != "//" &&
         text_.substr(end, 2) != "/*") {
    ++end;
  }
  return take(Json5Token::Kind::word, end - at_);
}

Json5Token Json5Lexer::breaks() {
  std::size_t end = at_;
  std::size_t last = at_;
  while (end < text_.size() && (text_[end] == '\n' || is_blank(text_[end]))) {
    if (text_[end] == '\n') last = end;
    ++end;
  }
  return take(Json5Token::Kind::line_break, last + 1 - at_);
}

Json5Token Json5Lexer::quoted() {
  const char quote = text_[at_];
  for (std::size_t end = at_ + 1; end < text_.size(); ++end) {
    if (text_[end] == '\\') {
      ++end;
    } else if (text_[end] == quote) {
      return take(Json5Token::Kind::text, end + 1 - at_);
    } else if (text_[end] == '\n') {
      return fail("the text is not closed on its line", end - at_);
    }
  }
  return fail("the text is not closed", text_.size() - at_);
}

Json5Token Json5Lexer::comment() {
  if (text_.substr(at_, 2) == "/*") {
    const std::size_t close = text_.find("*/", at_ + 2);
    if (close == std::string_view::npos) {
      return fail("the comment is not closed", text_.size() - at_);
    }
    return take(Json5Token::Kind::comment, close + 2 - at_);
  }
  const std::size_t end = std::min(text_.find('\n', at_), text_.size());
  return take(Json5Token::Kind::comment, end - at_);
}

}  // namespace onbeat::document
