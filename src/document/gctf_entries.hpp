// The bodies of sections that are lists of "key: value", and the values in them. Private to this
// folder.
#pragma once

#include "document/diagnostics.hpp"
#include "document/gctf_sections.hpp"

#include <filesystem>
#include <optional>
#include <span>

namespace onbeat::document {

/// TLS, PROTO, OPTIONS, REQUEST_HEADERS: a repeated key is an error.
[[nodiscard]] std::vector<Entry> read_entries(const RawSection& section, Diagnostics& out);
/// BENCH: an indented line continues the value before it; the last one of a repeated key counts.
[[nodiscard]] std::vector<Entry> read_bench_entries(const RawSection& section, Diagnostics& out);
/// ADDRESS, ENDPOINT: the one line, trimmed; nothing and an error when there is none or more.
[[nodiscard]] std::optional<std::pair<std::string, Position>> read_single_line(
    const RawSection& section, Diagnostics& out);

[[nodiscard]] TlsSection read_tls(const RawSection& section, const std::filesystem::path& folder,
                                  Diagnostics& out);
[[nodiscard]] ProtoSection read_proto(const RawSection& section,
                                      const std::filesystem::path& folder, Diagnostics& out);
[[nodiscard]] CallOptions read_options(const RawSection& section, Diagnostics& out);

/// "true", "false", "1", "0", "yes", "no", "on", "off".
[[nodiscard]] std::optional<bool> parse_switch(std::string_view text) noexcept;
/// "1_000": a whole number.
[[nodiscard]] std::optional<std::uint64_t> parse_whole(std::string_view text) noexcept;
/// "1_000.5", "-2".
[[nodiscard]] std::optional<double> parse_decimal(std::string_view text) noexcept;
/// "2" and "0.5" are seconds; "250ms".
[[nodiscard]] std::optional<Duration> parse_seconds(std::string_view text);
[[nodiscard]] std::optional<Compression> parse_compression(std::string_view text) noexcept;

/// "unknown KIND key NAME", with the nearest of the known ones, or all of them.
void unknown_key(Diagnostics& out, Position at, std::string_view code, std::string_view what,
                 std::string_view name, std::span<const std::string_view> known);

}  // namespace onbeat::document
