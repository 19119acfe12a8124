// The limits of the verdict's checks, each of which --limit can set: `--limit
// lag_p99.degraded=2ms`.
#pragma once

#include "options/grammar.hpp"

#include <map>
#include <span>
#include <string>
#include <string_view>

namespace onbeat::options {

enum class LimitUnit : std::uint8_t { time, percent, number };

struct Limit {
  std::string_view name;  // check.level; the check's name is the stable code of its reason
  LimitUnit unit = LimitUnit::time;
  double standard = 0;  // ns, percent, or a number
  std::string_view help;
};

/// All of them, in the order of the verdict table.
std::span<const Limit> limits();

/// "lag_p99.degraded=2ms".
Parsing<std::pair<std::string, double>> parse_limit(std::string_view text);

/// The limits of a run: those that were set, over the standard ones.
class Limits {
 public:
  void set(std::string name, double value) { set_.insert_or_assign(std::move(name), value); }
  /// ns, percent or a number. The name must be in limits().
  [[nodiscard]] double of(std::string_view name) const;
  [[nodiscard]] const std::map<std::string, double, std::less<>>& changed() const { return set_; }

 private:
  std::map<std::string, double, std::less<>> set_;
};

}  // namespace onbeat::options
