#include "document/prepared.hpp"

#include "document/diagnostics.hpp"
#include "document/gctf_sections.hpp"
#include "document/json5.hpp"

#include <algorithm>

namespace onbeat::document {
namespace {

/// The slot's other form, "token:json"; empty when the text is not one bound variable and no more.
std::string typed_variable(std::string_view text, const Scope& scope) {
  if (!text.starts_with("{{") || !text.ends_with("}}") || text.size() < 5) return {};
  std::string name(trimmed(text.substr(2, text.size() - 4)));
  name += ":json";
  const bool known = std::ranges::find(scope.variables, name) != scope.variables.end();
  return known ? "{{" + name + "}}" : std::string();
}

bool has_placeholder(std::string_view text) { return text.find("{{") != std::string_view::npos; }

/// A message as JSON in which strings vary.
class MessageWriter {
 public:
  MessageWriter(const Chain& chain, Scope& scope, Diagnostics& out)
      : chain_(chain),
        scope_(scope),
        out_(out),
        message_(*Template::compile("", Place::text, scope)) {}

  MessageTemplate write(const JsonView& value) {
    append(value);
    if (!varies_) return MessageTemplate(*Template::compile(literal_, Place::text, scope_));
    flush();
    return std::move(message_);
  }

 private:
  void flush() {
    message_.add(literal_);
    literal_.clear();
  }

  void append(const JsonView& value) {
    if (value.is(JsonKind::text) && has_placeholder(value.text())) return text(value);
    if (!value.is(JsonKind::array) && !value.is(JsonKind::object))
      return append_json(value, literal_);
    const bool is_object = value.is(JsonKind::object);
    literal_ += is_object ? '{' : '[';
    bool first = true;
    for (JsonView child = value.first(); child; child = value.after(child)) {
      if (!first) literal_ += ',';
      first = false;
      if (is_object) {
        append_json_text(child.key(), literal_);
        literal_ += ':';
      }
      append(child);
    }
    literal_ += is_object ? '}' : ']';
  }

  void text(const JsonView& value) {
    const std::string typed = typed_variable(value.text(), scope_);
    const auto compiled = typed.empty() ? Template::compile(value.text(), Place::json_text, scope_)
                                        : Template::compile(typed, Place::text, scope_);
    if (!compiled) {
      for (const options::GrammarError& error : compiled.error()) {
        out_.error("bad_placeholder", chain_.position(value.offset()), error.message, error.hint);
      }
      return;
    }
    varies_ = true;
    if (typed.empty()) literal_ += '"';
    flush();
    message_.add(*compiled);
    if (typed.empty()) literal_ += '"';
  }

  const Chain& chain_;
  Scope& scope_;
  Diagnostics& out_;
  MessageTemplate message_;
  std::string literal_;
  bool varies_ = false;
};

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
  return out;
}

}  // namespace

Expectation::Expectation(const JsonTree& tree, const MatchOptions& match, bool is_error,
                         Scope& scope)
    : tree_(&tree), match_(&match), is_error_(is_error) {
  collect(tree.root(), scope);
  const bool varies =
      std::ranges::any_of(texts_, [](const auto& text) { return text.has_value(); });
  if (!varies) texts_.clear();
}

void Expectation::collect(const JsonView& value, Scope& scope) {
  if (value.is(JsonKind::text)) {
    std::optional<Template> text;
    const std::string typed = typed_variable(value.text(), scope);
    if (has_placeholder(value.text())) {
      auto compiled = Template::compile(typed.empty() ? value.text() : typed, Place::text, scope);
      if (compiled) text = std::move(*compiled);
    }
    texts_.push_back(std::move(text));
    typed_.push_back(!typed.empty());
    return;
  }
  for (JsonView child = value.first(); child; child = value.after(child)) collect(child, scope);
}

void Expectation::add_slots(std::vector<std::uint32_t>& slots) const {
  for (const auto& text : texts_) {
    if (!text) continue;
    const auto own = text->slots();
    slots.insert(slots.end(), own.begin(), own.end());
  }
}

bool Expectation::uses_clock() const noexcept {
  return std::ranges::any_of(texts_, [](const auto& text) { return text && text->uses_clock(); });
}

void Expectation::fill(const JsonView& value, const RenderContext& context, JsonTree& out,
                       std::size_t& next) const {
  if (value.is(JsonKind::text)) {
    const std::size_t index = next++;
    std::string rendered;
    if (!texts_[index] || texts_[index]->render(context, rendered) != RenderFault::none) {
      return out.text(value.text());
    }
    if (!typed_[index]) return out.text(rendered);
    const Json5Body body = parse_json5(rendered);
    return body.values.size() == 1 ? out.copy(body.values[0].root()) : out.text(rendered);
  }
  if (!value.is(JsonKind::array) && !value.is(JsonKind::object)) return out.copy(value);
  if (value.is(JsonKind::array)) {
    out.begin_array();
  } else {
    out.begin_object();
  }
  for (JsonView child = value.first(); child; child = value.after(child)) {
    if (value.is(JsonKind::object)) out.key(child.key());
    fill(child, context, out, next);
  }
  out.end();
}

std::optional<Difference> Expectation::difference(const JsonView& actual,
                                                  const RenderContext& context,
                                                  JsonTree& scratch) const {
  JsonView expected = tree_->root();
  if (!texts_.empty()) {
    scratch.clear();
    std::size_t next = 0;
    fill(expected, context, scratch, next);
    expected = scratch.root();
  }
  return is_error_ ? find_error_difference(expected, actual, *match_)
                   : find_difference(expected, actual, *match_);
}

/// Goes through a chain in its order, so that a variable is known from where it is bound on.
class ChainPreparation {
 public:
  ChainPreparation(const Chain& chain, std::vector<std::string> row_variables,
                   const std::function<std::optional<std::string>(const std::string&)>& environment)
      : chain_(chain), out_(diagnostics_) {
    result_->rows_ = row_variables.size();
    expressions_.row_slots = row_variables.size();
    expressions_.variables = row_variables;
    expressions_.environment = environment;
    scope_.variables = std::move(row_variables);
    scope_.environment = environment;
  }

  std::expected<std::unique_ptr<const PreparedChain>, std::vector<Diagnostic>> run() {
    for (const Document& document : chain_.documents) prepare(document);
    if (has_errors(diagnostics_)) return std::unexpected(std::move(diagnostics_));
    std::erase_if(slots_, [&](std::uint32_t slot) { return slot >= result_->rows_; });
    // Assertions may read any of the row.
    if (reads_row_) {
      for (std::uint32_t slot = 0; slot < result_->rows_; ++slot) slots_.push_back(slot);
    }
    std::ranges::sort(slots_);
    slots_.erase(std::ranges::unique(slots_).begin(), slots_.end());
    result_->used_ = std::move(slots_);
    return std::move(result_);
  }

  std::vector<Diagnostic> diagnostics() && {
    for (const Document& document : chain_.documents) prepare(document);
    return std::move(diagnostics_);
  }

 private:
  void prepare(const Document& document) {
    PreparedDocument prepared{.document = &document, .headers = {}, .steps = {}};
    for (const Entry& header : document.headers) this->header(header, prepared);
    for (const Step& step : document.steps) prepared.steps.push_back(prepare(step));
    result_->documents_.push_back(std::move(prepared));
  }

  void header(const Entry& header, PreparedDocument& prepared) {
    auto value = Template::compile(header.value, Place::field, scope_);
    if (value) {
      note(value->slots(), value->uses_clock());
      prepared.headers.emplace_back(lower(header.key), std::move(*value));
      return;
    }
    for (const options::GrammarError& error : value.error()) {
      Position at = header.value_at;
      at.column += static_cast<std::uint32_t>(error.column - 1);
      out_.error("bad_placeholder", at, error.message, error.hint);
    }
  }

  PreparedStep prepare(const Step& step) {
    PreparedStep prepared;
    prepared.step = &step;
    for (const JsonTree& message : step.messages) {
      if (step.kind == Step::Kind::request) {
        auto request = MessageWriter(chain_, scope_, out_).write(message.root());
        note(request.slots(), request.uses_clock());
        prepared.requests.push_back(std::move(request));
      } else {
        Expectation expected(message, step.match, step.kind == Step::Kind::error, scope_);
        expected.add_slots(slots_);
        result_->uses_clock_ = result_->uses_clock_ || expected.uses_clock();
        prepared.expected.push_back(std::move(expected));
      }
    }
    prepared.assertions = Assertions::compile(step.assertions, expressions_, diagnostics_);
    for (const AssertionLine& line : step.assertions) note_row(line.text);
    extract(step, prepared);
    return prepared;
  }

  void extract(const Step& step, PreparedStep& prepared) {
    std::vector<std::size_t> bound;
    std::vector<std::string> added;
    for (const ExtractLine& line : step.extractions) {
      note_row(line.expression);
      const auto found = std::ranges::find(bound_, line.name);
      bound.push_back(static_cast<std::size_t>(found - bound_.begin()));
      if (found == bound_.end()) {
        bound_.push_back(line.name);
        added.push_back(line.name);
      }
    }
    prepared.extractions =
        Extractions::compile(step.extractions, bound, expressions_, diagnostics_);
    for (const std::string& name : added) {
      scope_.variables.push_back(name);
      scope_.variables.push_back(name + ":json");
      expressions_.variables.push_back(name);
    }
    result_->bound_ = bound_.size();
  }

  void note(const std::vector<std::uint32_t>& slots, bool uses_clock) {
    slots_.insert(slots_.end(), slots.begin(), slots.end());
    result_->uses_clock_ = result_->uses_clock_ || uses_clock;
  }
  void note_row(std::string_view text) {
    reads_row_ = reads_row_ || text.find('$') != std::string_view::npos;
  }

  const Chain& chain_;
  std::vector<Diagnostic> diagnostics_;
  Diagnostics out_;
  std::unique_ptr<PreparedChain> result_{new PreparedChain};
  Scope scope_;
  AssertionScope expressions_;
  std::vector<std::string> bound_;
  std::vector<std::uint32_t> slots_;
  bool reads_row_ = false;
};

std::expected<std::unique_ptr<const PreparedChain>, std::vector<Diagnostic>> PreparedChain::prepare(
    const Chain& chain, std::vector<std::string> row_variables,
    const std::function<std::optional<std::string>(const std::string&)>& environment) {
  return ChainPreparation(chain, std::move(row_variables), environment).run();
}

std::vector<Diagnostic> PreparedChain::examine(
    const Chain& chain, std::vector<std::string> row_variables,
    const std::function<std::optional<std::string>(const std::string&)>& environment) {
  return ChainPreparation(chain, std::move(row_variables), environment).diagnostics();
}

Variables PreparedChain::make_variables() const { return {rows_, bound_}; }

}  // namespace onbeat::document
