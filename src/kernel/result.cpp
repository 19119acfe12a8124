#include <onbeat/kernel/result.hpp>

#include <functional>
#include <map>
#include <mutex>

namespace onbeat::kernel {

std::string_view to_string(Outcome outcome) noexcept {
  switch (outcome) {
    case Outcome::ok:
      return "ok";
    case Outcome::failed:
      return "failed";
    case Outcome::timed_out:
      return "timed_out";
    case Outcome::cancelled:
      return "cancelled";
    case Outcome::in_flight:
      return "in_flight";
  }
  return "unknown";
}

struct NameTable::State {
  const std::uint16_t limit;
  std::mutex mutex;
  std::map<std::string, std::uint16_t, std::less<>> ids;
  std::vector<std::string> names;
};

NameTable::NameTable(std::uint16_t limit)
    : state_(new State{.limit = limit, .mutex = {}, .ids = {}, .names = {}}) {}
NameTable::~NameTable() = default;

std::uint16_t NameTable::id(std::string_view name) {
  std::lock_guard lock(state_->mutex);
  auto& names = state_->names;
  if (const auto known = state_->ids.find(name); known != state_->ids.end()) return known->second;
  if (names.size() >= state_->limit) {
    if (names.size() == state_->limit) names.emplace_back("__overflow__");
    return state_->limit;
  }
  const auto id = static_cast<std::uint16_t>(names.size());
  names.emplace_back(name);
  state_->ids.emplace(name, id);
  return id;
}

std::string NameTable::name(std::uint16_t id) const {
  std::lock_guard lock(state_->mutex);
  return id < state_->names.size() ? state_->names[id] : std::string();
}

std::vector<std::string> NameTable::names() const {
  std::lock_guard lock(state_->mutex);
  return state_->names;
}

}  // namespace onbeat::kernel
