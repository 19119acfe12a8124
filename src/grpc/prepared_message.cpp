#include "grpc/prepared_message.hpp"

#include "grpc/message_program.hpp"

#include <algorithm>
#include <array>

namespace onbeat::grpc {
namespace {

using Json = nlohmann::json;

/// The library's words without its own name before them.
std::string parse_fault(const Json::exception& error) {
  const std::string_view words = error.what();
  const std::size_t end = words.find("] ");
  return "not JSON: " + std::string(end == std::string_view::npos ? words : words.substr(end + 2));
}

}  // namespace

void MessageProgram::open() {
  Op op;
  op.kind = Op::Kind::open;
  op.literal_end = literals.size();
  ops.push_back(std::move(op));
}

void MessageProgram::close() {
  if (ops.back().kind == Op::Kind::open) {
    // Nothing varies within: its size is known.
    const std::size_t begin = ops.back().literal_end;
    ops.pop_back();
    std::string size;
    append_varint(size, literals.size() - begin);
    literals.insert(begin, size);
    return;
  }
  Op op;
  op.kind = Op::Kind::close;
  op.literal_end = literals.size();
  ops.push_back(std::move(op));
}

std::optional<JsonFault> MessageProgram::run(std::span<const HoleValue> values,
                                             std::string& out) const {
  std::array<std::size_t, 3 * kDeepest> begins;  // an Any or a map opens more than one a level
  std::size_t depth = 0;
  std::size_t at = 0;
  for (const Op& op : ops) {
    out.append(literals, at, op.literal_end - at);
    at = op.literal_end;
    switch (op.kind) {
      case Op::Kind::open:
        begins[depth++] = out.size();
        break;
      case Op::Kind::close: {
        const std::size_t begin = begins[--depth];
        std::string size;
        append_varint(size, out.size() - begin);
        out.insert(begin, size);
        break;
      }
      case Op::Kind::hole:
        if (auto fault = fill(op, values[op.hole], out)) return fault;
    }
  }
  out.append(literals, at);
  return {};
}

std::optional<JsonFault> MessageProgram::fill(const Op& op, const HoleValue& value,
                                              std::string& out) {
  if (value.is_json) return fill_json(op, value.text, out);
  if (op.json_only) return JsonFault{op.place, "a string cannot stand here"};
  if (op.tag != 0) append_varint(out, op.tag);
  const std::string_view expected = append_text(op.scalar, value.text, out);
  if (expected.empty()) return {};
  return JsonFault{op.place, "expected " + std::string(expected) + ", not \"" +
                                 std::string(value.text.substr(0, 40)) + "\""};
}

std::optional<JsonFault> MessageProgram::fill_json(const Op& op, std::string_view text,
                                                   std::string& out) {
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::exception& error) {
    return JsonFault{op.place, parse_fault(error)};
  }
  if (json.is_string() && !op.json_only) return fill(op, {json.get_ref<const std::string&>()}, out);
  MessageProgram piece;
  PreparedMessage::Faults faults;
  const PreparedMessage::FindHole no_holes;
  MessageCompiler compiler(piece, faults, no_holes, op.place);
  switch (op.json) {
    case Op::Json::field:
      compiler.field(json, *op.field);
      break;
    case Op::Json::element:
      compiler.single(json, *op.field);
      break;
    case Op::Json::value:
      compiler.value(json);
      break;
    case Op::Json::none:
      return fill(op, {json.dump()}, out);
  }
  if (!faults.empty()) return std::move(faults.front());
  out.append(piece.literals);
  return {};
}

PreparedMessage::PreparedMessage(std::unique_ptr<MessageProgram> program) noexcept
    : program_(std::move(program)) {}
PreparedMessage::PreparedMessage(PreparedMessage&&) noexcept = default;
PreparedMessage& PreparedMessage::operator=(PreparedMessage&&) noexcept = default;
PreparedMessage::~PreparedMessage() = default;

std::expected<PreparedMessage, PreparedMessage::Faults> PreparedMessage::compile(
    std::string_view json, const google::protobuf::Descriptor& type, const FindHole& find_hole) {
  Json parsed;
  try {
    parsed = Json::parse(json);
  } catch (const Json::exception& error) {
    return std::unexpected(Faults{{"", parse_fault(error)}});
  }
  auto program = std::make_unique<MessageProgram>();
  Faults faults;
  MessageCompiler(*program, faults, find_hole).root(parsed, type);
  if (!faults.empty()) return std::unexpected(std::move(faults));
  PreparedMessage prepared(std::move(program));
  if (prepared.is_constant()) append_message(prepared.framed_, prepared.program_->literals);
  return prepared;
}

bool PreparedMessage::is_constant() const noexcept { return program_->ops.empty(); }

const std::string& PreparedMessage::framed() const noexcept { return framed_; }

std::size_t PreparedMessage::holes() const noexcept {
  std::size_t count = 0;
  for (const MessageProgram::Op& op : program_->ops) {
    if (op.kind == MessageProgram::Op::Kind::hole)
      count = std::max<std::size_t>(count, op.hole + 1);
  }
  return count;
}

std::optional<JsonFault> PreparedMessage::append(std::span<const HoleValue> values,
                                                 std::string& out) const {
  if (is_constant()) {
    out.append(framed_);
    return {};
  }
  const std::size_t at = out.size();
  out.append(kPrefix, '\0');
  auto fault = program_->run(values, out);
  if (fault) {
    out.resize(at);
  } else {
    put_prefix(out, at);
  }
  return fault;
}

}  // namespace onbeat::grpc
