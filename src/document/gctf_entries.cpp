#include "document/gctf_entries.hpp"

#include "options/grammar.hpp"
#include "options/nearest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace onbeat::document {
namespace {

using Kind = GctfLine::Kind;

std::optional<Entry> read_entry(const GctfLine& line, std::string_view section, Diagnostics& out) {
  const std::string_view text = trimmed(line.text);
  const std::size_t colon = text.find(':');
  const std::string_view key = trimmed(text.substr(0, std::min(colon, text.size())));
  if (colon == std::string_view::npos || key.empty()) {
    out.error("not_key_value", line.position(text),
              fmt::format("{} has lines of key: value", section));
    return std::nullopt;
  }
  const std::string_view value = trimmed(text.substr(colon + 1));
  return Entry{std::string(key), std::string(value), line.position(key), line.position(value)};
}

const Entry* find_key(const std::vector<Entry>& entries, std::string_view key) {
  const auto found = std::ranges::find(entries, key, &Entry::key);
  return found == entries.end() ? nullptr : &*found;
}

bool repeats(const std::vector<Entry>& entries, const Entry& entry, Diagnostics& out) {
  const Entry* const first = find_key(entries, entry.key);
  if (first == nullptr) return false;
  out.error("repeated_key", entry.key_at, fmt::format("{} stands twice", entry.key),
            fmt::format("first in line {}", first->key_at.line));
  return true;
}

std::string without_separators(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto is_digit = [&](std::size_t at) { return text[at] >= '0' && text[at] <= '9'; };
    const bool between = i > 0 && i + 1 < text.size() && is_digit(i - 1) && is_digit(i + 1);
    if (text[i] != '_' || !between) out += text[i];
  }
  return out;
}

std::string resolved(std::string_view path, const std::filesystem::path& folder) {
  return path.empty() ? std::string() : (folder / path).lexically_normal().string();
}

std::vector<std::string> path_list(std::string_view text, const std::filesystem::path& folder) {
  std::vector<std::string> paths;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    if (const auto path = trimmed(text.substr(0, comma)); !path.empty()) {
      paths.push_back(resolved(path, folder));
    }
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return paths;
}

template <typename T>
void take(const std::optional<T>& value, T& into, const Entry& entry, std::string_view expected,
          Diagnostics& out) {
  if (value) {
    into = *value;
  } else {
    out.error("bad_value", entry.value_at, fmt::format("{}: {} is expected", entry.key, expected));
  }
}

template <typename T>
void take(const std::optional<T>& value, std::optional<T>& into, const Entry& entry,
          std::string_view expected, Diagnostics& out) {
  if (!value) {
    out.error("bad_value", entry.value_at, fmt::format("{}: {} is expected", entry.key, expected));
  }
  into = value;
}

void option(const Entry& entry, CallOptions& options, Diagnostics& out) {
  constexpr std::array<std::string_view, 6> kKeys{"timeout",  "retry",       "retry_delay",
                                                  "no_retry", "compression", "protocol"};
  const std::string_view value = entry.value;
  if (entry.key == "timeout") {
    auto timeout = parse_seconds(value);
    if (timeout && timeout->count() <= 0) timeout.reset();
    take(timeout, options.timeout, entry, "a time over 0, in seconds or with a unit", out);
  } else if (entry.key == "retry") {
    take(parse_whole(value), options.retry, entry, "a whole number", out);
  } else if (entry.key == "retry_delay") {
    take(parse_seconds(value), options.retry_delay, entry, "a time in seconds or with a unit", out);
  } else if (entry.key == "no_retry") {
    take(parse_switch(value), options.no_retry, entry, "true or false", out);
  } else if (entry.key == "compression") {
    take(parse_compression(value), options.compression, entry, "none or gzip", out);
  } else if (entry.key != "protocol") {
    unknown_key(out, entry.key_at, "unknown_option", "OPTIONS key", entry.key, kKeys);
  } else if (value == "grpc-web" || value == "connectrpc") {
    out.error("unsupported_protocol", entry.value_at,
              fmt::format("{} is not in this version", value), "protocol: grpc");
  } else if (value != "grpc") {
    out.error("bad_value", entry.value_at, "protocol: grpc is expected");
  }
}

}  // namespace

std::vector<Entry> read_entries(const RawSection& section, Diagnostics& out) {
  std::vector<Entry> entries;
  for (const GctfLine& line : section.body) {
    if (line.kind != Kind::content) continue;
    auto entry = read_entry(line, section.name, out);
    if (entry && !repeats(entries, *entry, out)) entries.push_back(std::move(*entry));
  }
  return entries;
}

std::vector<Entry> read_bench_entries(const RawSection& section, Diagnostics& out) {
  std::vector<Entry> entries;
  std::string skipped;  // blank lines and comments, kept when a continuation follows
  for (const GctfLine& line : section.body) {
    const bool indented = !line.text.empty() && (line.text[0] == ' ' || line.text[0] == '\t');
    if (line.kind != Kind::content) {
      skipped += fmt::format("\n{}", line.text);
    } else if (indented && !entries.empty()) {
      entries.back().value += fmt::format("{}\n{}", std::exchange(skipped, {}), line.text);
    } else if (auto entry = read_entry(line, section.name, out)) {
      skipped.clear();
      // The lines that go on with it are not those of another key.
      if (repeats(entries, *entry, out))
        std::erase_if(entries, [&](const Entry& other) { return other.key == entry->key; });
      entries.push_back(std::move(*entry));
    }
  }
  return entries;
}

std::optional<std::pair<std::string, Position>> read_single_line(const RawSection& section,
                                                                 Diagnostics& out) {
  std::optional<std::pair<std::string, Position>> result;
  for (const GctfLine& line : section.body) {
    if (line.kind != Kind::content) continue;
    const std::string_view text = trimmed(line.text);
    if (result) {
      out.error("more_lines", line.position(text), fmt::format("{} has one line", section.name));
      return std::nullopt;
    }
    result.emplace(std::string(text), line.position(text));
  }
  if (!result) {
    out.error("empty_section", section.header.position(section.name),
              fmt::format("{} is empty", section.name));
  }
  return result;
}

TlsSection read_tls(const RawSection& section, const std::filesystem::path& folder,
                    Diagnostics& out) {
  constexpr std::array<std::string_view, 10> kKeys{
      "ca_cert", "ca_file",    "cert",     "client_cert", "cert_file",
      "key",     "client_key", "key_file", "server_name", "insecure"};
  TlsSection tls{.at = section.header.position(section.name)};
  for (const Entry& entry : read_entries(section, out)) {
    const auto is = [&](std::initializer_list<std::string_view> names) {
      return std::ranges::find(names, entry.key) != names.end();
    };
    if (is({"ca_cert", "ca_file"})) {
      tls.ca_file = resolved(entry.value, folder);
    } else if (is({"cert", "client_cert", "cert_file"})) {
      tls.cert_file = resolved(entry.value, folder);
    } else if (is({"key", "client_key", "key_file"})) {
      tls.key_file = resolved(entry.value, folder);
    } else if (is({"server_name"})) {
      tls.server_name = entry.value;
    } else if (is({"insecure"})) {
      take(parse_switch(entry.value), tls.insecure, entry, "true or false", out);
    } else {
      unknown_key(out, entry.key_at, "unknown_tls_key", "TLS key", entry.key, kKeys);
    }
  }
  if (tls.cert_file.empty() != tls.key_file.empty()) {
    out.error("half_identity", tls.at,
              "a client certificate needs its key, and a key its certificate",
              "cert_file and key_file");
  }
  return tls;
}

ProtoSection read_proto(const RawSection& section, const std::filesystem::path& folder,
                        Diagnostics& out) {
  constexpr std::array<std::string_view, 3> kKeys{"descriptor", "files", "import_paths"};
  ProtoSection proto{.descriptor = {},
                     .files = {},
                     .import_paths = {},
                     .at = section.header.position(section.name)};
  for (const Entry& entry : read_entries(section, out)) {
    if (entry.key == "descriptor") {
      proto.descriptor = resolved(entry.value, folder);
    } else if (entry.key == "files") {
      proto.files = path_list(entry.value, folder);
    } else if (entry.key == "import_paths") {
      proto.import_paths = path_list(entry.value, folder);
    } else {
      unknown_key(out, entry.key_at, "unknown_proto_key", "PROTO key", entry.key, kKeys);
    }
  }
  return proto;
}

CallOptions read_options(const RawSection& section, Diagnostics& out) {
  CallOptions options;
  for (const Entry& entry : read_entries(section, out)) option(entry, options, out);
  if (options.no_retry && options.retry > 0) {
    out.warning("retry_ignored", section.header.position(section.name),
                "no_retry makes retry meaningless");
  }
  return options;
}

std::optional<bool> parse_switch(std::string_view text) noexcept {
  if (text == "true" || text == "1" || text == "yes" || text == "on") return true;
  if (text == "false" || text == "0" || text == "no" || text == "off") return false;
  return std::nullopt;
}

std::optional<std::uint64_t> parse_whole(std::string_view text) noexcept {
  const std::string digits = without_separators(text);
  std::uint64_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value);
  if (digits.empty() || stop != end || error != std::errc{}) return std::nullopt;
  return value;
}

std::optional<double> parse_decimal(std::string_view text) noexcept {
  const std::string digits = without_separators(text);
  double value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value);
  if (digits.empty() || stop != end || error != std::errc{} || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

std::optional<Duration> parse_seconds(std::string_view text) {
  if (const auto seconds = parse_decimal(text)) {
    if (*seconds < 0 || *seconds > 1e9) return std::nullopt;
    return Duration(std::llround(*seconds * 1e9));
  }
  const auto duration = options::parse_duration(text);
  if (!duration) return std::nullopt;
  return *duration;
}

std::optional<Compression> parse_compression(std::string_view text) noexcept {
  if (text == "none") return Compression::none;
  if (text == "gzip") return Compression::gzip;
  return std::nullopt;
}

void unknown_key(Diagnostics& out, Position at, std::string_view code, std::string_view what,
                 std::string_view name, std::span<const std::string_view> known) {
  const auto nearest = options::nearest(name, known);
  out.error(code, at, fmt::format("unknown {} {}", what, name),
            nearest ? fmt::format("did you mean {}?", *nearest)
                    : fmt::format("known are {}", fmt::join(known, ", ")));
}

}  // namespace onbeat::document
