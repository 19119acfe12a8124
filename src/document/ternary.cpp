#include "document/ternary.hpp"

#include "document/gctf_sections.hpp"

#include <algorithm>
#include <vector>

namespace onbeat::document {
namespace {

constexpr std::size_t kDeepest = 256;

/// Behind the closing quote.
std::size_t quoted_end(std::string_view text, std::size_t at) {
  std::size_t end = at + 1;
  for (; end < text.size() && text[end] != text[at]; ++end) {
    if (text[end] == '\\') ++end;
  }
  return std::min(end + 1, text.size());
}

/// The matching bracket of each opening one, npos where there is none; or nothing when they are
/// nested too deeply.
bool match_brackets(std::string_view text, std::vector<std::size_t>& closing) {
  std::vector<std::size_t> open;
  closing.assign(text.size(), std::string_view::npos);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      i = quoted_end(text, i) - 1;
    } else if (c == '(' || c == '[' || c == '{') {
      open.push_back(i);
      if (open.size() > kDeepest) return false;
    } else if ((c == ')' || c == ']' || c == '}') && !open.empty()) {
      closing[open.back()] = i;
      open.pop_back();
    }
  }
  return true;
}

class Rewriter {
 public:
  Rewriter(std::string_view text, const std::vector<std::size_t>& closing)
      : text_(text), closing_(closing) {}

  std::string rewrite(std::size_t begin, std::size_t end, std::size_t depth = 0) {
    const std::size_t question = depth > kDeepest ? end : find_question(begin, end);
    const std::size_t colon = question < end ? find_colon(question + 1, end) : end;
    if (colon >= end) return groups(begin, end, depth);
    const auto part = [&](std::size_t from, std::size_t to) {
      return std::string(trimmed(rewrite(from, to, depth + 1)));
    };
    return "if " + part(begin, question) + " then " + part(question + 1, colon) + " else " +
           part(colon + 1, end) + " end";
  }

 private:
  /// What follows the piece at `at`, which stands for itself.
  [[nodiscard]] std::size_t next(std::size_t at) const {
    if (text_[at] == '"') return quoted_end(text_, at);
    const bool opens = text_[at] == '(' || text_[at] == '[' || text_[at] == '{';
    return opens && closing_[at] != std::string_view::npos ? closing_[at] + 1 : at + 1;
  }
  [[nodiscard]] bool is_question(std::size_t at, std::size_t begin) const {
    if (text_[at] != '?' || at == begin || text_.substr(at).starts_with("?//")) return false;
    const char before = text_[at - 1];
    return before == ' ' || before == '\t' || before == ')' || before == '"';
  }
  [[nodiscard]] std::size_t find_question(std::size_t begin, std::size_t end) const {
    for (std::size_t at = begin; at < end; at = next(at)) {
      if (is_question(at, begin)) return at;
    }
    return end;
  }
  [[nodiscard]] std::size_t find_colon(std::size_t begin, std::size_t end) const {
    int open = 1;
    for (std::size_t at = begin; at < end; at = next(at)) {
      if (is_question(at, begin)) ++open;
      if (text_[at] == ':' && --open == 0) return at;
    }
    return end;
  }

  /// No ternary of its own, but perhaps within parentheses.
  std::string groups(std::size_t begin, std::size_t end, std::size_t depth) {
    std::string out;
    for (std::size_t at = begin; at < end;) {
      const std::size_t behind = std::min(next(at), end);
      if ((text_[at] == '(' || text_[at] == '[') && behind > at + 1) {
        out += text_[at];
        out += rewrite(at + 1, behind - 1, depth + 1);
        out += text_[behind - 1];
      } else {
        out += text_.substr(at, behind - at);
      }
      at = behind;
    }
    return out;
  }

  std::string_view text_;
  const std::vector<std::size_t>& closing_;
};

}  // namespace

std::string rewrite_ternary(std::string_view expression) {
  std::vector<std::size_t> closing;
  const bool is_ternary = expression.find('?') != std::string_view::npos;
  if (!is_ternary || !match_brackets(expression, closing)) return std::string(expression);
  return Rewriter(expression, closing).rewrite(0, expression.size());
}

}  // namespace onbeat::document
