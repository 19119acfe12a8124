#include "document/json5_format.hpp"

#include "document/gctf_sections.hpp"
#include "document/json5.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace onbeat::document {
namespace {

using Kind = Json5Token::Kind;

struct Element;

/// A value with the comments around it; or comments alone, at the end of what holds them.
struct Element {
  bool blank_before = false;
  std::vector<std::string> before;  // each on a line of its own
  std::vector<std::string> behind;  // on the line of its end
  std::string key;                  // with its quotes; empty: none
  std::string scalar;
  char open = 0;  // of an array or object
  std::vector<Element> children;
  bool broken = false;  // over several lines
  [[nodiscard]] bool is_comment() const { return open == 0 && scalar.empty(); }
};

bool is_json_text(std::string_view text) {
  if (text[0] != '"') return false;
  for (std::size_t i = 1; i + 1 < text.size(); ++i) {
    if (static_cast<unsigned char>(text[i]) < 0x20) return false;
    if (text[i] != '\\') continue;
    if (std::string_view("\"\\/bfnrtu").find(text[++i]) == std::string_view::npos) return false;
  }
  return true;
}

std::string requoted(std::string_view token) {
  if (is_json_text(token)) return std::string(token);
  const Json5Body body = parse_json5(token);
  std::string out;
  append_json_text(body.values.empty() ? token : body.values[0].root().text(), out);
  return out;
}

std::string tidy(std::string_view comment) {
  std::string out;
  while (!comment.empty()) {
    const std::size_t end = std::min(comment.find('\n'), comment.size());
    std::string_view line = comment.substr(0, end);
    while (!line.empty() && (line.back() == ' ' || line.back() == '\t')) line.remove_suffix(1);
    out += line;
    if (end < comment.size()) out += '\n';
    comment.remove_prefix(std::min(end + 1, comment.size()));
  }
  return out;
}

class Reader {
 public:
  explicit Reader(std::string_view text) : lexer_(text) { advance(); }

  std::vector<Element> body() {
    Element all;
    children(all, 0);
    return std::move(all.children);
  }

 private:
  /// To the next token with a meaning; comments are gathered on the way.
  void advance() {
    breaks_ = 0;
    while (true) {
      token_ = lexer_.next();
      if (token_.kind == Kind::line_break) {
        breaks_ += static_cast<int>(std::ranges::count(token_.text, '\n'));
      } else if (token_.kind == Kind::comment) {
        const bool same_line = breaks_ == 0 && comments_.empty();
        comments_.push_back({tidy(token_.text), same_line, breaks_ > 1});
        breaks_ = 0;
      } else {
        return;
      }
    }
  }

  struct Comment {
    std::string text;
    bool same_line = false;
    bool blank_before = false;
  };

  /// The comments so far go before what comes next.
  void take_before(Element& element) {
    element.blank_before = comments_.empty() ? breaks_ > 1 : comments_.front().blank_before;
    for (Comment& comment : comments_) element.before.push_back(std::move(comment.text));
    comments_.clear();
  }
  /// Those on the line of what has just ended go behind it.
  void take_behind(Element& element) {
    const auto end = std::ranges::find(comments_, false, &Comment::same_line);
    for (auto it = comments_.begin(); it != end; ++it)
      element.behind.push_back(std::move(it->text));
    comments_.erase(comments_.begin(), end);
  }

  void children(Element& parent, char close) {
    while (true) {
      const bool at_end = token_.kind == Kind::end || token_.kind == Kind::fault ||
                          (close != 0 && token_.is(close));
      if (breaks_ > 0 || !comments_.empty()) parent.broken = true;
      Element child;
      take_before(child);
      if (at_end) {
        if (!child.before.empty()) parent.children.push_back(std::move(child));
        return;
      }
      value(child, close == '}');
      if (!child.before.empty()) parent.broken = true;
      if (close != 0) {
        if (breaks_ > 0 || !comments_.empty()) parent.broken = true;
        take_behind(child);
        if (token_.is(',')) {
          advance();
          take_behind(child);
        }
      } else {
        take_behind(child);
      }
      parent.broken = parent.broken || child.broken || !child.behind.empty();
      parent.children.push_back(std::move(child));
    }
  }

  void value(Element& element, bool has_key) {
    if (has_key) {
      element.key = token_.kind == Kind::text ? requoted(token_.text)
                                              : "\"" + std::string(token_.text) + "\"";
      advance();  // the key
      advance();  // the colon
      for (Comment& comment : comments_) element.before.push_back(std::move(comment.text));
      comments_.clear();
    }
    if (!token_.is('{') && !token_.is('[')) {
      element.scalar = token_.kind == Kind::text ? requoted(token_.text) : std::string(token_.text);
      advance();
      return;
    }
    element.open = token_.text[0];
    advance();
    children(element, element.open == '{' ? '}' : ']');
    advance();
  }

  Json5Lexer lexer_;
  Json5Token token_;
  int breaks_ = 0;  // lines since the last token or comment
  std::vector<Comment> comments_;
};

class Writer {
 public:
  std::string write(const std::vector<Element>& elements) {
    lines(elements, 0, false);
    return std::move(out_);
  }

 private:
  void indent(int depth) { out_.append(static_cast<std::size_t>(depth) * 2, ' '); }

  void lines(const std::vector<Element>& elements, int depth, bool commas) {
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const Element& element = elements[i];
      if (i > 0 || depth > 0) out_ += '\n';
      if (i > 0 && element.blank_before) out_ += '\n';
      for (std::size_t k = 0; k < element.before.size(); ++k) {
        if (k > 0) out_ += '\n';
        indent(depth);
        out_ += element.before[k];
      }
      if (element.is_comment()) continue;
      if (!element.before.empty()) out_ += '\n';
      indent(depth);
      value(element, depth);
      const bool more = i + 1 < elements.size() && !elements[i + 1].is_comment();
      if (commas && more) out_ += ',';
      for (const std::string& comment : element.behind) out_ += "  " + comment;
    }
  }

  void value(const Element& element, int depth) {
    if (!element.key.empty()) out_ += element.key + ": ";
    if (element.open == 0) {
      out_ += element.scalar;
      return;
    }
    const bool is_object = element.open == '{';
    const char close = is_object ? '}' : ']';
    out_ += element.open;
    if (element.broken && !element.children.empty()) {
      lines(element.children, depth + 1, true);
      out_ += '\n';
      indent(depth);
    } else if (!element.children.empty()) {
      if (is_object) out_ += ' ';
      for (std::size_t i = 0; i < element.children.size(); ++i) {
        if (i > 0) out_ += ", ";
        value(element.children[i], depth);
      }
      if (is_object) out_ += ' ';
    }
    out_ += close;
  }

  std::string out_;
};

}  // namespace

std::string format_json5(std::string_view text) { return Writer().write(Reader(text).body()); }

}  // namespace onbeat::document
