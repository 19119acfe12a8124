#include "document/template.hpp"

#include "document/json_tree.hpp"
#include "document/template_parser.hpp"
#include <onbeat/kernel/random.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace onbeat::document {
namespace {

constexpr std::string_view kHex = "0123456789abcdef";
constexpr std::string_view kUpperHex = "0123456789ABCDEF";
constexpr std::string_view kLetters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/// Bytes that may stand in a request target (RFC 3986, without '#', which ends it; '%' is taken
/// for the beginning of what is encoded already).
constexpr std::array<bool, 256> kTargetBytes = [] {
  std::array<bool, 256> allowed{};
  for (const char c : kLetters) allowed[static_cast<unsigned char>(c)] = true;
  for (const char c : std::string_view("-._~:/?[]@!$&'()*+,;=%")) {
    allowed[static_cast<unsigned char>(c)] = true;
  }
  return allowed;
}();

void append_target(std::string_view value, std::string& out) {
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (kTargetBytes[byte]) {
      out += c;
    } else {
      out += '%';
      out += kUpperHex[byte >> 4];
      out += kUpperHex[byte & 15];
    }
  }
}

bool forbidden_in_field(std::string_view value) noexcept {
  return std::ranges::any_of(value, [](char c) { return c == '\r' || c == '\n' || c == '\0'; });
}

void append_uuid(kernel::Random random, std::string& out) {
  std::uint64_t high = random.next();
  std::uint64_t low = random.next();
  high = (high & 0xffffffffffff0fffULL) | 0x4000;               // version 4
  low = (low & 0x3fffffffffffffffULL) | 0x8000000000000000ULL;  // RFC 9562 variant
  std::array<char, 36> text{};
  std::size_t at = 0;
  for (int shift = 124; shift >= 0; shift -= 4) {
    const std::uint64_t half = shift >= 64 ? high >> (shift - 64) : low >> shift;
    text[at++] = kHex[half & 15];
    if (at == 8 || at == 13 || at == 18 || at == 23) text[at++] = '-';
  }
  out.append(text.data(), text.size());
}

void append_letters(kernel::Random random, std::uint64_t count, std::string& out) {
  constexpr int kPerDraw = 6;  // 62^6 of 2^64: no letter is likelier by more than 4e-9
  std::uint64_t draw = 0;
  int left = 0;
  for (std::uint64_t i = 0; i < count; ++i, --left) {
    if (left == 0) {
      draw = random.next();
      left = kPerDraw;
    }
    out += kLetters[draw % kLetters.size()];
    draw /= kLetters.size();
  }
}

void append_number(kernel::Random random, std::int64_t low, std::uint64_t range, std::string& out) {
  const std::uint64_t offset = range == 0 ? random.next() : random.below(range);
  const fmt::format_int text(static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + offset));
  out.append(text.data(), text.size());
}

}  // namespace

std::string_view to_string(RenderFault fault) noexcept {
  switch (fault) {
    case RenderFault::none:
      return "none";
    case RenderFault::absent_value:
      return "template_absent_value";
    case RenderFault::forbidden:
      return "template_forbidden_byte";
  }
  return "template";
}

std::expected<Template, Template::Errors> Template::compile(std::string_view text, Place place,
                                                            Scope& scope) {
  return TemplateParser(text, place, scope).parse();
}

bool Template::uses_clock() const noexcept {
  return std::ranges::any_of(pieces_,
                             [](const Piece& piece) { return piece.kind == Kind::now_ms; });
}

std::vector<std::uint32_t> Template::slots() const {
  std::vector<std::uint32_t> slots;
  for (const Piece& piece : pieces_) {
    if (piece.kind == Kind::variable) slots.push_back(piece.slot);
  }
  std::ranges::sort(slots);
  slots.erase(std::ranges::unique(slots).begin(), slots.end());
  return slots;
}

RenderFault Template::render(const RenderContext& context, std::string& out) const {
  const std::size_t before = out.size();
  std::size_t at = 0;
  for (const Piece& piece : pieces_) {
    out.append(literals_, at, piece.literal_end - at);
    at = piece.literal_end;
    if (piece.kind != Kind::variable) {
      append_function(piece, context, out);
      continue;
    }
    const std::string_view value =
        piece.slot < context.values.size() ? context.values[piece.slot] : std::string_view{};
    const RenderFault fault = value.data() == nullptr ? RenderFault::absent_value
                                                      : append_guarded(value, piece.guard, out);
    if (fault != RenderFault::none) {
      out.resize(before);
      return fault;
    }
  }
  out.append(literals_, at);
  return RenderFault::none;
}

RenderFault Template::append_guarded(std::string_view value, Guard guard, std::string& out) {
  switch (guard) {
    case Guard::none:
      out += value;
      break;
    case Guard::json_string:
      append_json_escaped(value, out);
      break;
    case Guard::field:
      if (forbidden_in_field(value)) return RenderFault::forbidden;
      out += value;
      break;
    case Guard::target:
      append_target(value, out);
      break;
  }
  return RenderFault::none;
}

void Template::append_function(const Piece& piece, const RenderContext& context, std::string& out) {
  const std::uint64_t of_run = kernel::stream_seed(context.seed, kernel::Stream::data);
  const kernel::Random random(
      kernel::splitmix64(kernel::splitmix64(of_run, context.arrival), piece.position));
  switch (piece.kind) {
    case Kind::seq: {
      const fmt::format_int text(context.arrival);
      out.append(text.data(), text.size());
      break;
    }
    case Kind::now_ms: {
      const fmt::format_int text(context.unix_ms);
      out.append(text.data(), text.size());
      break;
    }
    case Kind::uuid:
      append_uuid(random, out);
      break;
    case Kind::random:
      append_number(random, piece.low, piece.range, out);
      break;
    case Kind::random_string:
      append_letters(random, piece.range, out);
      break;
    case Kind::variable:
      std::unreachable();
  }
}

}  // namespace onbeat::document
