#include "report/escape.hpp"

#include <algorithm>
#include <cstdint>

namespace onbeat::report {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// The length of the well-formed sequence at the start of the text, or 0. No overlong forms,
// surrogates, or code points beyond U+10FFFF (RFC 3629).
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto continues = [&](std::size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return continues(1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    const unsigned low = lead == 0xE0 ? 0xA0 : 0x80, high = lead == 0xED ? 0x9F : 0xBF;
    return byte(1) >= low && byte(1) <= high && continues(2) ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    const unsigned low = lead == 0xF0 ? 0x90 : 0x80, high = lead == 0xF4 ? 0x8F : 0xBF;
    return byte(1) >= low && byte(1) <= high && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

// Applies `each` to every well-formed sequence; what is malformed is replaced byte by byte.
template <typename Each>
std::string map_sequences(std::string_view text, Each each) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    out += length == 0 ? kReplacement : each(text.substr(0, length));
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

bool is_control(std::string_view sequence) {
  const auto first = static_cast<unsigned char>(sequence[0]);
  if (sequence.size() == 1) return first < 0x20 || first == 0x7F;
  return first == 0xC2 && static_cast<unsigned char>(sequence[1]) < 0xA0;
}

// The 66 code points that are no characters: U+FDD0 to U+FDEF, and the last two of each plane.
bool is_noncharacter(std::string_view sequence) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(sequence[i]); };
  if (sequence.size() == 3 && byte(0) == 0xEF && byte(1) == 0xB7)
    return byte(2) >= 0x90 && byte(2) <= 0xAF;
  const std::size_t n = sequence.size();
  if (n < 3 || byte(n - 1) < 0xBE || byte(n - 2) != 0xBF) return false;
  return n == 3 ? byte(0) == 0xEF : (byte(1) & 0x0F) == 0x0F;
}

}  // namespace

std::string valid_utf8(std::string_view text) {
  return map_sequences(text, [](std::string_view sequence) { return sequence; });
}

std::string for_terminal(std::string_view text) {
  return map_sequences(text, [](std::string_view sequence) {
    return is_control(sequence) ? kReplacement : sequence;
  });
}

std::string for_html(std::string_view text) {
  return map_sequences(text, [](std::string_view sequence) -> std::string_view {
    switch (sequence[0]) {
      case '&':
        return "&amp;";
      case '<':
        return "&lt;";
      case '>':
        return "&gt;";
      case '"':
        return "&quot;";
      case '\'':
        return "&#39;";
      case '\t':
      case '\n':
        return sequence;
      default:
        return is_control(sequence) || is_noncharacter(sequence) ? kReplacement : sequence;
    }
  });
}

std::string for_xml(std::string_view text) {
  std::string out;
  for (const char c : for_html(text)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n' || c == '\t' || c == '\r') {
      out += c == '\n' ? "&#10;" : c == '\t' ? "&#9;" : "&#13;";
    } else if (byte < 0x20) {
      out += kReplacement;
    } else {
      out += c;
    }
  }
  // The two noncharacters that XML excludes (XML 1.0, 2.2).
  for (const std::string_view excluded : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"})
    for (auto at = out.find(excluded); at != std::string::npos; at = out.find(excluded, at))
      out.replace(at, excluded.size(), kReplacement);
  return out;
}

std::string for_markdown(std::string_view text) {
  std::string out;
  for (const char c : for_terminal(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '\\':
      case '`':
      case '*':
      case '_':
      case '[':
      case ']':
      case '|':
      case '~':
      case '#':
      case '!':
        out += '\\';
        [[fallthrough]];
      default:
        out += c;
    }
  }
  return out;
}

std::string for_csv(std::string_view text) {
  std::string field = map_sequences(text, [](std::string_view sequence) -> std::string_view {
    return sequence == "\"" ? "\"\"" : sequence[0] == '\0' ? kReplacement : sequence;
  });
  const bool formula = !field.empty() && std::string_view("=+-@\t\r").contains(field[0]);
  if (formula) field.insert(0, "'");
  if (field.find_first_of("\",\r\n") == std::string::npos) return field;
  return "\"" + field + "\"";
}

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string shortened(std::string_view text, std::size_t width) {
  if (width_of(text) <= width) return std::string(text);
  std::size_t end = 0;
  for (std::size_t columns = 0; columns + 3 < width; ++columns)
    end += sequence_length(text.substr(end));
  return std::string(text.substr(0, end)) + std::string(std::min<std::size_t>(3, width), '.');
}

}  // namespace onbeat::report
