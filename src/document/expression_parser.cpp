#include "document/expression.hpp"
#include "document/gctf_entries.hpp"
#include "document/json5.hpp"
#include "document/json_schema.hpp"
#include "options/nearest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

namespace onbeat::document {
namespace {

constexpr int kDeepest = 256;

constexpr std::array<std::pair<std::string_view, CastType>, 14> kCasts{{
    {"bool", CastType::boolean},
    {"uint", CastType::natural},
    {"number", CastType::number},
    {"string", CastType::text},
    {"uuid", CastType::uuid},
    {"email", CastType::email},
    {"url", CastType::url},
    {"ip", CastType::ip},
    {"regex", CastType::regex},
    {"time", CastType::time},
    {"timestamp", CastType::timestamp},
    {"duration", CastType::duration},
    {"json", CastType::json},
    {"yaml", CastType::yaml},
}};

constexpr std::array<std::pair<std::string_view, Operation>, 6> kWordOperators{{
    {"contains", Operation::contains},
    {"matches", Operation::matches},
    {"startsWith", Operation::starts_with},
    {"startswith", Operation::starts_with},
    {"endsWith", Operation::ends_with},
    {"endswith", Operation::ends_with},
}};

constexpr std::array<std::pair<std::string_view, Operation>, 6> kSymbolOperators{{
    {"==", Operation::equal},
    {"!=", Operation::unequal},
    {"<=", Operation::less_equal},
    {">=", Operation::greater_equal},
    {"<", Operation::less},
    {">", Operation::greater},
}};

bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_instant(CastType cast) {
  return cast == CastType::time || cast == CastType::timestamp || cast == CastType::duration;
}

class Parser {
 public:
  Parser(std::string_view text, const AssertionScope& scope, std::vector<ExpressionRemark>& remarks)
      : text_(text), scope_(scope), remarks_(remarks) {}

  std::expected<Expression, ExpressionFault> parse() {
    auto root = disjunction();
    skip_blanks();
    while (!failed_ && peek() == '|') {
      ++at_;
      if (!word("not")) fail("not is expected");
      root = add(Operation::negation, node(root).begin, root);
      skip_blanks();
    }
    if (!failed_ && at_ < text_.size()) fail("an operator is expected");
    if (failed_) return std::unexpected(std::move(fault_));
    result_.root = root;
    return std::move(result_);
  }

 private:
  using Index = std::uint32_t;

  ExpressionNode& node(Index index) { return result_.nodes[index]; }
  Index add(Operation operation, std::size_t begin, Index a = ExpressionNode::kNone,
            Index b = ExpressionNode::kNone) {
    ExpressionNode& added = result_.nodes.emplace_back();
    added.operation = operation;
    added.a = a;
    added.b = b;
    added.begin = begin;
    added.end = at_;
    return static_cast<Index>(result_.nodes.size() - 1);
  }

  Index fail(std::string message, std::string hint = {}, bool final = false) {
    return fail_at(at_, std::move(message), std::move(hint), final);
  }
  Index fail_at(std::size_t offset, std::string message, std::string hint = {},
                bool final = false) {
    if (!failed_) fault_ = {offset, std::move(message), std::move(hint), final};
    failed_ = true;
    at_ = text_.size();
    if (result_.nodes.empty()) result_.nodes.emplace_back();
    return 0;
  }

  void skip_blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  }
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  [[nodiscard]] std::string_view name_at(std::size_t at) const {
    std::size_t end = at;
    while (end < text_.size() && (is_letter(text_[end]) || (end > at && is_digit(text_[end]))))
      ++end;
    return text_.substr(at, end - at);
  }
  /// Takes a whole word.
  bool word(std::string_view wanted) {
    skip_blanks();
    if (name_at(at_) != wanted) return false;
    at_ += wanted.size();
    return true;
  }
  bool symbol(std::string_view wanted) {
    skip_blanks();
    if (!text_.substr(at_).starts_with(wanted)) return false;
    at_ += wanted.size();
    return true;
  }

  using Level = Index (Parser::*)();
  Index binary(Level below, std::string_view name, Operation operation) {
    Index left = (this->*below)();
    while (!failed_ && word(name)) {
      const Index right = (this->*below)();
      left = add(operation, node(left).begin, left, right);
    }
    return left;
  }
  Index disjunction() { return binary(&Parser::exclusive, "or", Operation::disjunction); }
  Index exclusive() { return binary(&Parser::conjunction, "xor", Operation::exclusive); }
  Index conjunction() { return binary(&Parser::comparison, "and", Operation::conjunction); }

  Index comparison() {
    const Index left = prefix();
    if (failed_) return left;
    const auto operation = comparison_operator();
    if (!operation) return left;
    const Index right = prefix();
    if (failed_) return right;
    return compare(*operation, left, right);
  }

  std::optional<Operation> comparison_operator() {
    skip_blanks();
    const std::string_view name = name_at(at_);
    for (const auto& [spelling, operation] : kWordOperators) {
      if (name == spelling) {
        at_ += name.size();
        return operation;
      }
    }
    for (const auto& [spelling, operation] : kSymbolOperators) {
      if (symbol(spelling)) return operation;
    }
    if (peek() == '=') {
      fail("= is no comparison", "== compares", true);
    }
    return std::nullopt;
  }

  Index compare(Operation operation, Index left, Index right) {
    if (operation == Operation::matches && !constant_regex(right)) return right;
    // A text beside a time is a time.
    for (const auto [one, other] : {std::pair(left, right), std::pair(right, left)}) {
      if (node(one).operation != Operation::cast || !is_instant(node(one).cast)) continue;
      if (node(other).operation == Operation::cast) break;
      const CastType cast = node(one).cast;
      const Index wrapped = add(Operation::cast, node(other).begin, other);
      node(wrapped).end = node(other).end;
      node(wrapped).cast = cast;
      (other == left ? left : right) = wrapped;
      break;
    }
    return add(operation, node(left).begin, left, right);
  }

  /// Compiles the text that stands for a regular expression, if it does not vary.
  bool constant_regex(Index index) {
    if (node(index).operation != Operation::constant || node(index).regex) return true;
    const JsonView value = result_.constants[node(index).slot].root();
    if (!value.is(JsonKind::text)) {
      fail_at(node(index).begin, "a regular expression is expected",
              "matches \"^a\" or matches /^a/i", true);
      return false;
    }
    return compile_regex(index, value.text(), {});
  }
  bool compile_regex(Index index, std::string_view pattern, std::string_view flags) {
    auto regex = Regex::compile(pattern, flags);
    if (!regex) {
      fail_at(node(index).begin, std::move(regex.error()), {}, true);
      return false;
    }
    node(index).regex = std::move(*regex);
    return true;
  }

  Index prefix() {
    skip_blanks();
    const std::size_t begin = at_;
    if (++depth_ > kDeepest) return fail("nested deeper than 256 levels", {}, true);
    Index result = 0;
    if ((peek() == '!' && peek(1) != '=') || name_at(at_) == "not") {
      at_ += peek() == '!' ? 1 : 3;
      const Index inner = prefix();
      result = failed_ ? inner : add(Operation::negation, begin, inner);
    } else {
      result = postfix();
    }
    --depth_;
    return result;
  }

  Index postfix() {
    Index value = atom();
    while (!failed_ && peek() == ':' && is_letter(peek(1))) {
      const std::string_view name = name_at(at_ + 1);
      const auto cast =
          std::ranges::find(kCasts, name, &std::pair<std::string_view, CastType>::first);
      if (cast == kCasts.end()) {
        std::vector<std::string_view> names;
        for (const auto& row : kCasts) names.push_back(row.first);
        return fail_at(at_ + 1, fmt::format("unknown type {}", name),
                       fmt::format("types are {}", fmt::join(names, ", ")));
      }
      at_ += 1 + name.size();
      value = add(Operation::cast, node(value).begin, value);
      node(value).cast = cast->second;
    }
    return value;
  }

  Index atom() {
    skip_blanks();
    const std::size_t begin = at_;
    const char c = peek();
    if (c == '.') return path(begin);
    if (c == '$') return variable(begin);
    if (c == '@') return call(begin);
    if (c == '(') return parenthesis();
    if (c == '"' || c == '\'') return literal(begin, text_end());
    if (c == '[' || c == '{') return literal(begin, bracket_end());
    if (c == '/') return regex_literal(begin);
    if (is_digit(c) || (c == '-' && (is_digit(peek(1)) || peek(1) == '.'))) {
      return literal(begin, number_end());
    }
    const std::string_view name = name_at(at_);
    if (name == "true" || name == "false" || name == "null")
      return literal(begin, at_ + name.size());
    if (name == "if") return choice(begin);
    if (at_ == text_.size()) return fail("a value is expected, the line ends");
    return fail("a value is expected");
  }

  std::size_t text_end() const {
    std::size_t end = at_ + 1;
    for (; end < text_.size() && text_[end] != text_[at_]; ++end) {
      if (text_[end] == '\\') ++end;
    }
    return std::min(end + 1, text_.size());
  }
  std::size_t number_end() const {
    std::size_t end = at_ + 1;
    while (end < text_.size() &&
           (is_digit(text_[end]) || is_letter(text_[end]) || text_[end] == '.' ||
            ((text_[end] == '+' || text_[end] == '-') &&
             (text_[end - 1] == 'e' || text_[end - 1] == 'E')))) {
      ++end;
    }
    return end;
  }
  std::size_t bracket_end() const {
    Json5Lexer lexer(text_.substr(at_));
    int depth = 0;
    while (true) {
      const Json5Token token = lexer.next();
      if (token.kind == Json5Token::Kind::end || token.kind == Json5Token::Kind::fault)
        return text_.size();
      if (token.is('[') || token.is('{')) ++depth;
      if (token.is(']') || token.is('}')) --depth;
      if (depth == 0) return at_ + lexer.offset_of(token) + 1;
    }
  }

  Index literal(std::size_t begin, std::size_t end) {
    Json5Body body = parse_json5(text_.substr(begin, end - begin));
    if (!body.faults.empty()) {
      return fail_at(begin + body.faults[0].offset, std::move(body.faults[0].message));
    }
    if (body.values.size() != 1) return fail("a value is expected");
    at_ = end;
    const Index index = add(Operation::constant, begin);
    node(index).slot = static_cast<std::uint32_t>(result_.constants.size());
    result_.constants.push_back(std::move(body.values[0]));
    return index;
  }

  Index regex_literal(std::size_t begin) {
    std::string pattern;
    std::size_t end = at_ + 1;
    for (; end < text_.size() && text_[end] != '/'; ++end) {
      if (text_[end] == '\\' && end + 1 < text_.size()) {
        if (text_[end + 1] != '/') pattern += '\\';
        ++end;
      }
      pattern += text_[end];
    }
    if (end >= text_.size()) return fail("the regular expression is not closed");
    const std::string_view flags = name_at(end + 1);
    at_ = end + 1 + flags.size();
    const Index index = add(Operation::constant, begin);
    node(index).slot = static_cast<std::uint32_t>(result_.constants.size());
    result_.constants.emplace_back().text(pattern);
    compile_regex(index, pattern, flags);
    return index;
  }

  Index parenthesis() {
    ++at_;
    const Index inner = disjunction();
    if (failed_) return inner;
    if (!symbol(")")) return fail("a closing parenthesis is expected");
    return segments(inner);
  }

  Index choice(std::size_t begin) {
    at_ += 2;
    const Index condition = disjunction();
    if (failed_ || !word("then")) return fail("then is expected");
    const Index yes = disjunction();
    if (failed_ || !word("else")) return fail("else is expected");
    const Index no = disjunction();
    if (failed_ || !word("end")) return fail("end is expected");
    const Index index = add(Operation::choice, begin, condition, yes);
    node(index).c = no;
    return index;
  }

  Index path(std::size_t begin) {
    result_.reads_answer = true;
    ++at_;
    Index base = add(Operation::message, begin);
    if (is_letter(peek()) || peek() == '"') {
      --at_;
      return segments(base);
    }
    return peek() == '[' ? segments(base) : base;
  }

  /// ".a", ".\"a b\"", "[0]", "[\"a\"]", "?".
  Index segments(Index base) {
    const std::size_t begin = node(base).begin;
    while (!failed_) {
      if (peek() == '.' && is_letter(peek(1))) {
        const std::string_view name = name_at(at_ + 1);
        at_ += 1 + name.size();
        base = member(base, begin, std::string(name));
      } else if (peek() == '.' && peek(1) == '"') {
        ++at_;
        base = quoted_member(base, begin);
      } else if (peek() == '[') {
        base = subscript(base, begin);
      } else if (peek() == '?') {
        ++at_;  // a path that does not fit is null anyway
      } else {
        break;
      }
    }
    return base;
  }

  Index member(Index base, std::size_t begin, std::string key) {
    const Index index = add(Operation::member, begin, base);
    node(index).key = std::move(key);
    return index;
  }
  Index quoted_member(Index base, std::size_t begin) {
    const std::size_t end = text_end();
    const Json5Body body = parse_json5(text_.substr(at_, end - at_));
    if (!body.faults.empty() || body.values.size() != 1) return fail("the key is malformed");
    at_ = end;
    return member(base, begin, std::string(body.values[0].root().text()));
  }
  Index subscript(Index base, std::size_t begin) {
    ++at_;
    skip_blanks();
    if (peek() == '"' || peek() == '\'') {
      base = quoted_member(base, begin);
    } else {
      const bool negative = peek() == '-';
      if (negative) ++at_;
      const std::size_t digits = at_;
      while (is_digit(peek())) ++at_;
      const auto number = parse_whole(text_.substr(digits, at_ - digits));
      if (!number || *number > UINT32_MAX) return fail("an index or a key is expected");
      base = add(Operation::item, begin, base);
      const auto value = static_cast<std::int64_t>(*number);
      node(base).index = negative ? -value : value;
    }
    if (failed_ || !symbol("]")) return fail("] is expected");
    node(base).end = at_;
    return base;
  }

  Index variable(std::size_t begin) {
    ++at_;
    const std::string_view name = name_at(at_);
    if (name.empty()) return fail("a variable's name is expected", "$token");
    // A row's variable has a dot in its name.
    std::size_t end = at_ + name.size();
    const auto find = [&](std::string_view wanted) {
      return std::ranges::find(scope_.variables, wanted);
    };
    auto found = find(name);
    if (end < text_.size() && text_[end] == '.') {
      const std::size_t dotted = end + 1 + name_at(end + 1).size();
      if (const auto longer = find(text_.substr(at_, dotted - at_));
          longer != scope_.variables.end()) {
        found = longer;
        end = dotted;
      }
    }
    if (found == scope_.variables.end()) {
      const std::vector<std::string_view> known(scope_.variables.begin(), scope_.variables.end());
      const auto nearest = options::nearest(name, known);
      return fail(fmt::format("unknown variable ${}", name),
                  nearest ? fmt::format("did you mean ${}?", *nearest)
                          : "variables come from EXTRACT of an earlier answer, and from rows");
    }
    result_.reads_answer = true;
    at_ = end;
    const Index index = add(Operation::variable, begin);
    node(index).slot = static_cast<std::uint32_t>(found - scope_.variables.begin());
    return segments(index);
  }

  Index call(std::size_t begin) {
    ++at_;
    const std::size_t name_begin = at_;
    std::size_t end = at_ + name_at(at_).size();
    if (end < text_.size() && text_[end] == '.') end += 1 + name_at(end + 1).size();
    const std::string_view name = text_.substr(name_begin, end - name_begin);
    at_ = end;
    skip_blanks();
    if (name.empty() || peek() != '(')
      return fail_at(begin, "a function needs parentheses", "@len(.items)");
    const FunctionRow* const row = find_function(name);
    if (row == nullptr) {
      const std::vector<std::string_view> names = function_names();
      const auto nearest = options::nearest(name, names);
      return fail_at(begin, fmt::format("unknown function @{}", name),
                     nearest ? fmt::format("did you mean @{}?", *nearest)
                             : fmt::format("functions are @{}", fmt::join(names, ", @")),
                     true);
    }
    if (!row->instead.empty()) {
      remarks_.push_back(
          {begin, fmt::format("@{} is deprecated", name), fmt::format("@{}", row->instead)});
    }
    ++at_;
    std::vector<Index> arguments;
    while (!failed_ && !symbol(")")) {
      if (!arguments.empty() && !symbol(",")) return fail("a comma or ) is expected");
      arguments.push_back(disjunction());
    }
    if (failed_) return 0;
    return finish_call(begin, *row, arguments);
  }

  Index finish_call(std::size_t begin, const FunctionRow& row,
                    const std::vector<Index>& arguments) {
    if (arguments.size() < row.least || arguments.size() > row.most) {
      return fail_at(begin,
                     row.least == row.most ? fmt::format("@{} takes {} argument{}", row.name,
                                                         row.least, row.least == 1 ? "" : "s")
                                           : fmt::format("@{} takes {} or {} arguments", row.name,
                                                         row.least, row.most),
                     {}, true);
    }
    if (row.function == Function::env) return environment(begin, arguments);
    if (row.function == Function::regex && !constant_regex(arguments[1])) return 0;
    if (row.function == Function::schema && !check_schema(arguments.back())) return 0;
    result_.reads_answer = result_.reads_answer || row.reads_answer;
    const Index index = add(Operation::call, begin);
    node(index).function = row.function;
    if (!arguments.empty()) node(index).a = arguments[0];
    if (arguments.size() > 1) node(index).b = arguments[1];
    return segments(index);
  }

  bool check_schema(Index index) {
    if (node(index).operation != Operation::constant) return true;
    if (const auto fault = schema_fault(result_.constants[node(index).slot].root())) {
      fail_at(node(index).begin, *fault, {}, true);
      return false;
    }
    return true;
  }

  /// Read once, now.
  Index environment(std::size_t begin, const std::vector<Index>& arguments) {
    for (const Index argument : arguments) {
      if (node(argument).operation != Operation::constant) {
        return fail_at(begin, "@env takes texts", R"(@env("NAME", "default"))", true);
      }
    }
    const JsonView name = result_.constants[node(arguments[0]).slot].root();
    const auto value =
        scope_.environment ? scope_.environment(std::string(name.text())) : std::nullopt;
    const Index index = add(Operation::constant, begin);
    node(index).slot = static_cast<std::uint32_t>(result_.constants.size());
    JsonTree tree;
    if (value) {
      tree.text(*value);
    } else if (arguments.size() > 1) {
      tree.copy(result_.constants[node(arguments[1]).slot].root());
    } else {
      tree.null();
    }
    result_.constants.push_back(std::move(tree));
    return index;
  }

  std::string_view text_;
  const AssertionScope& scope_;
  std::vector<ExpressionRemark>& remarks_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool failed_ = false;
  ExpressionFault fault_;
  Expression result_;
};

}  // namespace

std::expected<Expression, ExpressionFault> parse_expression(
    std::string_view text, const AssertionScope& scope, std::vector<ExpressionRemark>& remarks) {
  return Parser(text, scope, remarks).parse();
}

}  // namespace onbeat::document
