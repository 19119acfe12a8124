#include "document/jq_program.hpp"

extern "C" {
#include <jq.h>
}

#include <algorithm>
#include <cmath>
#include <utility>

namespace onbeat::document {

struct JqProgram::State {
  jq_state* jq = nullptr;
  std::string said;  // errors of the compiler
  JsonTree output;
};

namespace {

jv to_jv(const JsonView& value) {
  switch (value.kind()) {
    case JsonKind::null:
      return jv_null();
    case JsonKind::boolean:
      return jv_bool(value.boolean() ? 1 : 0);
    case JsonKind::integer:
    case JsonKind::natural:
    case JsonKind::real:
      return jv_number(value.real());
    case JsonKind::text:
      return jv_string_sized(value.text().data(), static_cast<int>(value.text().size()));
    case JsonKind::array: {
      jv array = jv_array_sized(static_cast<int>(value.size()));
      for (JsonView item = value.first(); item; item = value.after(item)) {
        array = jv_array_append(array, to_jv(item));
      }
      return array;
    }
    case JsonKind::object:
      break;
  }
  jv object = jv_object();
  for (JsonView member = value.first(); member; member = value.after(member)) {
    const std::string_view key = member.key();
    object = jv_object_set(object, jv_string_sized(key.data(), static_cast<int>(key.size())),
                           to_jv(member));
  }
  return object;
}

void append_number(double number, JsonTree& out) {
  constexpr double kExact = 0x1p53;
  if (std::trunc(number) == number && std::fabs(number) <= kExact) {
    out.integer(static_cast<std::int64_t>(number));
  } else {
    out.real(number);
  }
}

std::string_view text_of(jv text) {
  return {jv_string_value(text), static_cast<std::size_t>(jv_string_length_bytes(jv_copy(text)))};
}

/// Consumes the value.
void append_jv(jv value, JsonTree& out) {
  switch (jv_get_kind(value)) {
    case JV_KIND_TRUE:
    case JV_KIND_FALSE:
      out.boolean(jv_get_kind(value) == JV_KIND_TRUE);
      break;
    case JV_KIND_NUMBER:
      append_number(jv_number_value(value), out);
      break;
    case JV_KIND_STRING:
      out.text(text_of(value));
      break;
    case JV_KIND_ARRAY: {
      out.begin_array();
      const int count = jv_array_length(jv_copy(value));
      for (int i = 0; i < count; ++i) append_jv(jv_array_get(jv_copy(value), i), out);
      out.end();
      break;
    }
    case JV_KIND_OBJECT:
      out.begin_object();
      for (int at = jv_object_iter(value); jv_object_iter_valid(value, at);
           at = jv_object_iter_next(value, at)) {
        const jv key = jv_object_iter_key(value, at);
        out.key(text_of(key));
        jv_free(key);
        append_jv(jv_object_iter_value(value, at), out);
      }
      out.end();
      break;
    default:
      out.null();
  }
  jv_free(value);
}

/// Consumes the message.
std::string message_text(jv message) {
  if (jv_get_kind(message) != JV_KIND_STRING) message = jv_dump_string(message, 0);
  std::string text(text_of(message));
  jv_free(message);
  std::ranges::replace(text, '\n', ' ');
  return text;
}

}  // namespace

void JqProgram::Free::operator()(State* state) const noexcept {
  if (state->jq != nullptr) jq_teardown(&state->jq);
  delete state;
}

std::expected<JqProgram, std::string> JqProgram::compile(const std::string& program) {
  std::unique_ptr<State, Free> state(new State);
  state->jq = jq_init();
  if (state->jq == nullptr) return std::unexpected("jq cannot be started");
  jq_set_error_cb(
      state->jq,
      [](void* said, jv message) {
        std::string& text = *static_cast<std::string*>(said);
        if (text.empty()) {
          text = message_text(message);
        } else {
          jv_free(message);
        }
      },
      &state->said);
  if (program.find('\0') != std::string::npos || jq_compile(state->jq, program.c_str()) == 0) {
    std::string said = state->said.empty() ? "not a jq program" : state->said;
    constexpr std::string_view kPrefix = "jq: error: ";
    if (said.starts_with(kPrefix)) said.erase(0, kPrefix.size());
    if (const std::size_t tail = said.find(" (Unix shell quoting issues?)"); tail != said.npos) {
      said.erase(tail);
    }
    return std::unexpected(said.substr(0, said.find(" at <top-level>")));
  }
  return JqProgram(std::move(state));
}

std::expected<void, std::string> JqProgram::run(
    const JsonView& input, const std::function<bool(const JsonTree&)>& output) {
  jq_start(state_->jq, to_jv(input), 0);
  jv result = jq_next(state_->jq);
  for (; jv_is_valid(result) != 0; result = jq_next(state_->jq)) {
    state_->output.clear();
    append_jv(result, state_->output);
    if (!output(state_->output)) return {};
  }
  if (jv_invalid_has_msg(jv_copy(result)) == 0) {
    jv_free(result);
    return {};
  }
  return std::unexpected(message_text(jv_invalid_get_msg(result)));
}

}  // namespace onbeat::document
