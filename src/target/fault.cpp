#include "target/fault.hpp"

#include "options/grammar.hpp"
#include "options/nearest.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace onbeat::target {
namespace {

using options::Parsing;

struct Kind {
  std::string_view name;
  FaultKind kind;
  std::string_view keys;  // its own, beside those that say which requests
};

constexpr std::array kKinds{
    Kind{"stall", FaultKind::stall, ""},
    Kind{"freeze", FaultKind::freeze, ""},
    Kind{"delay", FaultKind::delay, "time"},
    Kind{"capacity", FaultKind::capacity, "rate"},
    Kind{"status", FaultKind::status, "code"},
    Kind{"reset", FaultKind::reset, ""},
    Kind{"close", FaultKind::close, "mode wait"},
    Kind{"cut", FaultKind::cut, "bytes"},
    Kind{"slow-bytes", FaultKind::slow_bytes, "gap bytes"},
    Kind{"garbage", FaultKind::garbage, ""},
    Kind{"interim", FaultKind::interim, ""},
    Kind{"trailers", FaultKind::trailers, ""},
    Kind{"excess", FaultKind::excess, "bytes"},
    Kind{"refuse", FaultKind::refuse, "beyond"},
    Kind{"goaway", FaultKind::goaway, "code when wait"},
    Kind{"max-streams", FaultKind::max_streams, "limit"},
    Kind{"reset-stream", FaultKind::reset_stream, "code"},
    Kind{"window-stall", FaultKind::window_stall, "time"},
    Kind{"grpc-status", FaultKind::grpc_status, "code message form"},
    Kind{"no-grpc-status", FaultKind::no_grpc_status, ""},
};
// By their numbers, RFC 9113, 7.
constexpr std::array<std::string_view, 14> kErrorCodes{"no_error",
                                                       "protocol_error",
                                                       "internal_error",
                                                       "flow_control_error",
                                                       "settings_timeout",
                                                       "stream_closed",
                                                       "frame_size_error",
                                                       "refused_stream",
                                                       "cancel",
                                                       "compression_error",
                                                       "connect_error",
                                                       "enhance_your_calm",
                                                       "inadequate_security",
                                                       "http_1_1_required"};
constexpr std::uint64_t kMostExcess = 1'000'000;
constexpr std::uint64_t kHighestGrpcStatus = 999;
constexpr std::string_view kSelectors = "every request share seed at for";

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

template <class T>
std::string joined(const T& words) {
  std::string text;
  for (const std::string_view word : words) text += (text.empty() ? "" : ", ") + std::string(word);
  return text;
}

// Reads the values of one fault and gathers what is wrong with them.
class FaultReader {
 public:
  explicit FaultReader(Fault& fault) : fault_(fault) {}

  void set(std::string_view key, std::string_view value);
  void check(const Kind& kind);
  [[nodiscard]] bool has(std::string_view key) const {
    return std::ranges::find(seen_, key) != seen_.end();
  }
  void complain(const std::string& problem) {
    problems_ += (problems_.empty() ? "" : "; ") + problem;
  }
  [[nodiscard]] const std::string& problems() const { return problems_; }

 private:
  template <class T, class To>
  void take(std::string_view key, Parsing<T> value, To& to) {
    if (value) {
      to = *value;
    } else {
      complain(std::string(key) + ": " + value.error().message +
               (value.error().hint.empty() ? "" : " (" + value.error().hint + ")"));
    }
  }
  void set_rate(std::string_view value);
  void set_code(std::string_view value);
  void set_error_code(std::string_view value);
  // One of the words; its place among them.
  template <class T>
  void choose(std::string_view key, std::string_view value,
              std::initializer_list<const char*> words, T& to);

  Fault& fault_;
  std::vector<std::string_view> seen_;
  std::string problems_;
};

void FaultReader::set(std::string_view key, std::string_view value) {
  if (has(key)) return complain(std::string(key) + " is given twice");
  seen_.push_back(key);
  if (key == "every") return take(key, options::parse_count(value), fault_.every);
  if (key == "request") return take(key, options::parse_count(value), fault_.request);
  if (key == "seed") return take(key, options::parse_count(value), fault_.seed);
  if (key == "beyond" || key == "limit")
    return take(key, options::parse_count(value), fault_.beyond);
  if (key == "bytes") return take(key, options::parse_size(value), fault_.bytes);
  if (key == "at") return take(key, options::parse_duration(value), fault_.at);
  if (key == "for") return take(key, options::parse_duration(value), fault_.lasts);
  if (key == "time" || key == "gap" || key == "wait")
    return take(key, options::parse_duration(value), fault_.time);
  if (key == "share") {
    take(key, options::parse_percent(value), fault_.share);
    fault_.share /= 100;
    return;
  }
  if (key == "rate") return set_rate(value);
  if (key == "code") return set_code(value);
  if (key == "mode") return choose(key, value, {"silent", "said", "unanswered"}, fault_.mode);
  if (key == "when") return choose(key, value, {"request", "connect"}, fault_.on_connect);
  if (key == "form") return choose(key, value, {"headers", "trailers"}, fault_.in_trailers);
  if (key == "message") fault_.message = value;
}

void FaultReader::set_rate(std::string_view value) {
  double rate = 0;
  take("rate", options::parse_rate(value), rate);
  if (rate > 0) fault_.time = Duration(std::llround(1e9 / rate));
}

void FaultReader::set_code(std::string_view value) {
  const bool grpc = fault_.kind == FaultKind::grpc_status;
  if (!grpc && fault_.kind != FaultKind::status) return set_error_code(value);
  std::uint64_t code = 0;
  take("code", options::parse_count(value), code);
  if (!grpc && (code < 200 || code > 599)) return complain("code must be from 200 to 599");
  if (code > kHighestGrpcStatus) return complain("code: at most 999");
  fault_.code = static_cast<std::uint32_t>(code);
}

void FaultReader::set_error_code(std::string_view value) {
  if (const auto* const found = std::ranges::find(kErrorCodes, value); found != kErrorCodes.end()) {
    fault_.code = static_cast<std::uint32_t>(found - kErrorCodes.begin());
    return;
  }
  const auto number = options::parse_count(value);
  if (!number || *number > UINT32_MAX)
    return complain("code must be one of " + joined(kErrorCodes) + ", or a number, not " +
                    quoted(value));
  fault_.code = static_cast<std::uint32_t>(*number);
}

template <class T>
void FaultReader::choose(std::string_view key, std::string_view value,
                         std::initializer_list<const char*> words, T& to) {
  const auto* const found = std::ranges::find(words, value);
  if (found != words.end()) {
    to = static_cast<T>(found - words.begin());
    return;
  }
  std::string text;
  for (const auto* word = words.begin(); word != words.end(); ++word)
    text += std::string(word == words.begin()     ? ""
                        : word + 1 == words.end() ? " or "
                                                  : ", ") +
            *word;
  complain(std::string(key) + " must be " + text + ", not " + quoted(value));
}

void FaultReader::check(const Kind& kind) {
  if (!problems_.empty()) return;
  if (fault_.every == 0) complain("every counts from 1");
  if (fault_.request == 0U) complain("request counts from 1");
  switch (kind.kind) {
    case FaultKind::stall:
    case FaultKind::freeze:
      if (!has("for")) complain("needs for=DURATION");
      if (has("at") == (has("request") || has("every") || has("share")))
        complain("needs either at=DURATION, or request=, every= or share=: when it begins");
      break;
    case FaultKind::delay:
      if (!has("time")) complain("needs time=DURATION");
      break;
    case FaultKind::capacity:
      if (fault_.time <= Duration{0}) complain("needs rate=N over 0, requests per second");
      break;
    case FaultKind::slow_bytes:
      if (!has("gap")) fault_.time = std::chrono::milliseconds(1);
      if (fault_.bytes == 0U) complain("bytes counts from 1");
      break;
    case FaultKind::excess:
      if (fault_.bytes.value_or(0) > kMostExcess) complain("bytes: at most 1M");
      break;
    case FaultKind::refuse:
      if (!has("beyond")) complain("needs beyond=N");
      if (seen_.size() > 1) complain("strikes connections: only beyond=N applies");
      break;
    case FaultKind::goaway:
      if (!has("wait")) fault_.time = std::chrono::milliseconds(10);
      if (fault_.on_connect && seen_.size() > (has("code") ? 2U : 1U))
        complain("strikes connections: beside when=connect only code=NAME applies");
      break;
    case FaultKind::max_streams:
      if (!has("limit")) complain("needs limit=N");
      if (fault_.beyond > INT32_MAX) complain("limit: at most 2147483647");
      break;
    case FaultKind::window_stall:
      if (!has("time")) complain("needs time=DURATION");
      break;
    default:
      break;
  }
}

const Kind* find_kind(std::string_view name) {
  const auto* found = std::ranges::find(kKinds, name, &Kind::name);
  return found == kKinds.end() ? nullptr : found;
}

std::string unknown_kind(std::string_view name) {
  std::array<std::string_view, kKinds.size()> names{};
  std::ranges::transform(kKinds, names.begin(), &Kind::name);
  std::string text = "no such fault " + quoted(name);
  if (const auto near = options::nearest(name, names))
    return text + ": did you mean " + quoted(*near) + "?";
  return text + ": one of " + joined(names);
}

std::uint32_t standard_code(FaultKind kind) {
  switch (kind) {
    case FaultKind::status:
      return 503;
    case FaultKind::reset_stream:
      return 2;  // INTERNAL_ERROR
    case FaultKind::grpc_status:
      return 14;  // UNAVAILABLE
    default:
      return 0;
  }
}

// A fault that a request asks for itself strikes it: a stall then needs no beginning.
std::expected<Fault, std::string> parse(std::string_view text, bool by_request) {
  const std::size_t colon = text.find(':');
  const std::string_view name = trim(text.substr(0, colon));
  const Kind* kind = find_kind(name);
  if (kind == nullptr) return std::unexpected(unknown_kind(name));
  Fault fault;
  fault.kind = kind->kind;
  fault.code = standard_code(kind->kind);
  FaultReader reader(fault);
  std::vector<std::string_view> allowed = split(kind->keys, ' ');
  if (kind->keys.empty()) allowed.clear();
  for (const std::string_view key : split(kSelectors, ' ')) allowed.push_back(key);
  if (by_request) reader.set("every", "1");
  if (colon != std::string_view::npos) {
    for (const std::string_view pair : split(text.substr(colon + 1), ',')) {
      const std::size_t equals = pair.find('=');
      const std::string_view key = trim(pair.substr(0, equals));
      if (std::ranges::find(allowed, key) == allowed.end()) {
        reader.complain("no key " + quoted(key) + " (it has " + joined(allowed) + ")");
      } else if (equals == std::string_view::npos) {
        reader.complain(std::string(key) + " needs a value: " + std::string(key) + "=…");
      } else {
        reader.set(key, trim(pair.substr(equals + 1)));
      }
    }
  }
  reader.check(*kind);
  if (!reader.problems().empty())
    return std::unexpected(std::string(name) + ": " + reader.problems());
  return fault;
}

template <class Texts>
std::expected<std::vector<Fault>, std::string> parse_all(const Texts& texts, bool by_request) {
  std::vector<Fault> faults;
  std::string problems;
  for (const std::string_view text : texts) {
    if (auto fault = parse(text, by_request)) {
      faults.push_back(*fault);
    } else {
      problems += (problems.empty() ? "" : "\n") + fault.error();
    }
  }
  if (!problems.empty()) return std::unexpected(problems);
  return faults;
}

}  // namespace

std::expected<Fault, std::string> parse_fault(std::string_view text) { return parse(text, false); }

std::expected<std::vector<Fault>, std::string> parse_faults(std::span<const std::string> texts) {
  return parse_all(texts, false);
}

std::expected<std::vector<Fault>, std::string> parse_fault_header(std::string_view value) {
  return parse_all(split(value, ';'), true);
}

}  // namespace onbeat::target
