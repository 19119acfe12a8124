#include "options/shell_words.hpp"

#include "options/scan.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace onbeat::options {
namespace {

constexpr std::string_view kVariableHint = "write the value itself, in single quotes";

int digit_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 16;
}

void append_utf8(std::string& text, std::uint32_t code) {
  const auto add = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
  if (code < 0x80) return add(code);
  if (code < 0x800) {
    add(0xc0 | code >> 6);
  } else {
    if (code < 0x10000) {
      add(0xe0 | code >> 12);
    } else {
      add(0xf0 | (code >> 18 & 7));
      add(0x80 | (code >> 12 & 0x3f));
    }
    add(0x80 | (code >> 6 & 0x3f));
  }
  add(0x80 | (code & 0x3f));
}

class Splitter {
 public:
  explicit Splitter(std::string_view text) : scan_(text) {}

  Parsing<std::vector<ShellWord>> run() && {
    std::vector<ShellWord> words;
    while (true) {
      skip_blanks();
      if (scan_.at_end()) return words;
      ShellWord word{{}, scan_.at() + 1};
      if (auto done = read_word(word.text); !done) return std::unexpected(done.error());
      words.push_back(std::move(word));
    }
  }

 private:
  static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

  bool continued_line() { return scan_.take("\\\n") || scan_.take("\\\r\n"); }

  void skip_blanks() {
    while (!scan_.at_end() && (continued_line() || is_blank(scan_.peek()))) {
      if (is_blank(scan_.peek()) && !scan_.at_end()) scan_.skip(1);
    }
  }

  Parsing<bool> read_word(std::string& word) {
    while (!scan_.at_end() && !is_blank(scan_.peek())) {
      if (continued_line()) continue;
      Parsing<bool> done = true;
      if (scan_.take("$'")) {
        done = ansi_quoted(word);
      } else if (scan_.take("'")) {
        done = single_quoted(word);
      } else if (scan_.take("\"")) {
        done = double_quoted(word);
      } else {
        done = plain(word);
      }
      if (!done) return done;
    }
    return true;
  }

  Parsing<bool> plain(std::string& word) {
    const char c = scan_.peek();
    if (auto fine = no_variable(); !fine) return fine;
    if (std::string_view("|&;<>()").contains(c)) {
      return scan_.fail(fmt::format("a shell ends the command at \"{}\"", c),
                        "quote it, or leave out what follows");
    }
    if (c == '\\' && scan_.at() + 1 < scan_.text().size()) scan_.skip(1);
    word += scan_.peek();
    scan_.skip(1);
    return true;
  }

  Parsing<bool> no_variable() {
    const char c = scan_.peek();
    const char next = scan_.peek(1);
    const bool name = (next >= 'a' && next <= 'z') || (next >= 'A' && next <= 'Z') || next == '_' ||
                      (next >= '0' && next <= '9') || next == '{' || next == '(';
    if (c == '`' || (c == '$' && name)) {
      return scan_.fail("no shell replaces variables or commands here", std::string(kVariableHint));
    }
    return true;
  }

  Parsing<bool> single_quoted(std::string& word) {
    const std::size_t start = scan_.at() - 1;
    const auto end = scan_.rest().find('\'');
    if (end == std::string_view::npos) {
      return Scanner::fail_at(start, "the closing quote is missing");
    }
    word += scan_.rest().substr(0, end);
    scan_.skip(end + 1);
    return true;
  }

  Parsing<bool> double_quoted(std::string& word) {
    const std::size_t start = scan_.at() - 1;
    while (!scan_.at_end()) {
      if (scan_.take("\"")) return true;
      if (continued_line()) continue;
      if (auto fine = no_variable(); !fine) return fine;
      const bool escaped = scan_.peek() == '\\' && scan_.peek(1) != '\0' &&
                           std::string_view("$`\"\\").contains(scan_.peek(1));
      if (escaped) scan_.skip(1);
      word += scan_.peek();
      scan_.skip(1);
    }
    return Scanner::fail_at(start, "the closing quote is missing");
  }

  /// bash's manual, "ANSI-C Quoting".
  Parsing<bool> ansi_quoted(std::string& word) {
    const std::size_t start = scan_.at() - 2;
    while (!scan_.at_end()) {
      if (scan_.take("'")) return true;
      if (!scan_.take("\\")) {
        word += scan_.peek();
        scan_.skip(1);
        continue;
      }
      if (auto done = escape(word); !done) return done;
    }
    return Scanner::fail_at(start, "the closing quote is missing");
  }

  std::uint32_t digits(unsigned base, unsigned most) {
    std::uint32_t value = 0;
    for (unsigned i = 0; i < most; ++i) {
      const auto digit = static_cast<unsigned>(digit_value(scan_.peek()));
      if (digit >= base) break;
      value = value * base + digit;
      scan_.skip(1);
    }
    return value;
  }

  Parsing<bool> escape(std::string& word) {
    constexpr std::string_view kLetters = "abefnrtv\\'\"?";
    constexpr std::string_view kMeanings = "\a\b\x1b\f\n\r\t\v\\'\"?";
    const std::size_t start = scan_.at() - 1;
    const char c = scan_.peek();
    if (scan_.at_end()) return true;
    if (const auto found = kLetters.find(c); found != std::string_view::npos) {
      word += kMeanings[found];
      scan_.skip(1);
    } else if (digit_value(c) < 8) {
      word += static_cast<char>(digits(8, 3));
    } else if (c == 'x' || c == 'u' || c == 'U') {
      scan_.skip(1);
      if (digit_value(scan_.peek()) > 15) {
        return Scanner::fail_at(start, "hexadecimal digits are missing");
      }
      if (c == 'x') {
        word += static_cast<char>(digits(16, 2));
      } else {
        append_utf8(word, digits(16, c == 'u' ? 4 : 8));
      }
    } else {
      word += '\\';
      word += c;
      scan_.skip(1);
    }
    return true;
  }

  Scanner scan_;
};

bool is_safe(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         (c != '\0' && std::string_view("_-./:=@%+,").contains(c));
}

}  // namespace

Parsing<std::vector<ShellWord>> shell_words(std::string_view text) { return Splitter(text).run(); }

std::string shell_quoted(std::string_view text) {
  if (!text.empty() && std::ranges::all_of(text, is_safe)) return std::string(text);
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

}  // namespace onbeat::options
