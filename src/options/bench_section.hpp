// The keys of a BENCH section as settings: any option of `bench` under its key or its alias, beside
// thresholds.METRIC and sources.
#pragma once

#include "options/settings.hpp"

#include <span>
#include <string>
#include <vector>

namespace onbeat::options {

/// One `key: value` of a section; the lines that continue a value are joined by line breaks.
struct SectionEntry {
  std::string key;
  std::string value;
  std::string where;  // "shop.gctf:5:1"
};

struct BenchSection {
  Layer layer{Source::bench_section, {}};
  std::vector<Problem> problems, warnings;
};

/// Unknown keys, keys that are there twice, values that their grammar refuses: all at once.
BenchSection read_bench_section(std::span<const SectionEntry> entries);

}  // namespace onbeat::options
