#include <onbeat/cache/config.hpp>

#include <fmt/core.h>

#include <array>
#include <cmath>
#include <utility>

namespace onbeat::cache {
namespace {

template <typename Kind>
using Word = std::pair<Kind, std::string_view>;

constexpr std::array kEvictions{
    Word<Eviction>{Eviction::lru, "lru"},       Word<Eviction>{Eviction::wtinylfu, "wtinylfu"},
    Word<Eviction>{Eviction::s3fifo, "s3fifo"}, Word<Eviction>{Eviction::sieve, "sieve"},
    Word<Eviction>{Eviction::fifo, "fifo"},     Word<Eviction>{Eviction::clock, "clock"}};
constexpr std::array kAdmissions{Word<Admission>{Admission::always, "always"},
                                 Word<Admission>{Admission::never, "never"},
                                 Word<Admission>{Admission::probabilistic, "probabilistic"},
                                 Word<Admission>{Admission::tinylfu, "tinylfu"}};
constexpr std::array kCompressions{Word<Compression>{Compression::off, "off"},
                                   Word<Compression>{Compression::zstd, "zstd"},
                                   Word<Compression>{Compression::lz4, "lz4"}};

template <typename Kind, std::size_t N>
std::optional<Kind> kind_of(const std::array<Word<Kind>, N>& words, std::string_view text) {
  for (const auto& [kind, word] : words) {
    if (word == text) return kind;
  }
  return std::nullopt;
}

template <typename Kind, std::size_t N>
std::string_view word_of(const std::array<Word<Kind>, N>& words, Kind wanted) {
  for (const auto& [kind, word] : words) {
    if (kind == wanted) return word;
  }
  std::unreachable();
}

constexpr std::uint32_t kMaxShards = 65'536;
constexpr std::uint64_t kMaxEntries = 4'000'000'000;  // of one shard: a slot has 32 bits
constexpr std::uint64_t kManyEntries = 10'000'000;

std::uint64_t estimate(const Config& config) {
  const bool short_values = config.max_value_size > 0 && config.max_value_size < 1000;
  return config.max_entries * (short_values ? config.max_value_size + 50 : 200);
}

void suggest_shards(const Config& config, unsigned cores, std::vector<std::string>& suggestions) {
  const auto say = [&](unsigned better) {
    suggestions.push_back(
        fmt::format("{} shards on {} cores: {} would do better", config.shards, cores, better));
  };
  if (config.shards > 4 * cores) {
    say(4 * cores);
  } else if (config.max_entries >= 1'000'000 && config.shards < 2 * cores) {
    say(2 * cores);
  } else if (config.max_entries > 10'000 && config.shards < cores) {
    say(cores);
  }
}

}  // namespace

std::optional<Eviction> eviction_of(std::string_view word) noexcept {
  return kind_of(kEvictions, word);
}
std::optional<Admission> admission_of(std::string_view word) noexcept {
  return kind_of(kAdmissions, word);
}
std::optional<Compression> compression_of(std::string_view word) noexcept {
  return kind_of(kCompressions, word);
}
std::string_view to_string(Eviction eviction) noexcept { return word_of(kEvictions, eviction); }
std::string_view to_string(Admission admission) noexcept { return word_of(kAdmissions, admission); }
std::string_view to_string(Compression compression) noexcept {
  return word_of(kCompressions, compression);
}

Advice advise(const Config& config, unsigned cores) {
  Advice advice{.estimated_bytes = estimate(config)};
  if (config.shards == 0 || config.shards > kMaxShards) {
    advice.errors.push_back(
        fmt::format("shards: {} is not between 1 and {}", config.shards, kMaxShards));
  }
  if (config.max_entries > kMaxEntries) {
    advice.errors.push_back(
        fmt::format("max_entries: {} is more than {}", config.max_entries, kMaxEntries));
  }
  if (config.max_bytes > INT64_MAX) {
    advice.errors.push_back(
        fmt::format("max_bytes: {} is more than {}", config.max_bytes, INT64_MAX));
  }
  if (std::isnan(config.admission_probability)) {
    advice.errors.emplace_back("admission_probability: not a number");
  }
  if (config.ttl.count() < 0) {
    advice.errors.emplace_back("ttl: negative (0: entries live for ever)");
  }
  if (config.max_entries == 0 && config.max_bytes == 0) {
    advice.warnings.emplace_back(
        "neither max_entries nor max_bytes: the cache grows for ever, and evicts nothing");
  }
  if (config.max_entries > kManyEntries) {
    advice.warnings.push_back(fmt::format("{} entries need about {:.1f} GB", config.max_entries,
                                          static_cast<double>(advice.estimated_bytes) / 1e9));
  }
  suggest_shards(config, cores, advice.suggestions);
  if (config.ttl > std::chrono::hours(24)) {
    advice.suggestions.emplace_back("ttl: more than 24 h is much like none");
  }
  if (config.compression == Compression::off && advice.estimated_bytes > 100ULL << 20) {
    advice.suggestions.emplace_back("more than 100 MiB: compression may save memory");
  }
  return advice;
}

}  // namespace onbeat::cache
