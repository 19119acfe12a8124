#include "bench/renderer.hpp"

#include <algorithm>
#include <ctime>

namespace onbeat::bench {
namespace {

std::int64_t unix_ms() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

}  // namespace

Renderer::Renderer(const HttpPlan& plan) : plan_(plan) {
  std::vector<bool> used;
  for (const HttpItem& item : plan.items) {
    if (!item.message) continue;
    clock_ = clock_ || item.message->uses_clock();
    for (const std::uint32_t slot : item.message->slots()) {
      used.resize(std::max<std::size_t>(used.size(), slot + 1));
      used[slot] = true;
    }
  }
  std::size_t first = 0;
  for (const auto& source : plan.data) {
    std::vector<std::uint32_t> columns;
    for (std::uint32_t column = 0; column < source->columns().size(); ++column)
      if (first + column < used.size() && used[first + column]) columns.push_back(column);
    readers_.push_back({document::DataReader(*source, std::move(columns)), first});
    first += source->columns().size();
  }
  values_.resize(first);
}

std::string_view Renderer::render(const HttpItem& item, std::uint64_t arrival, std::string& out) {
  for (Reader& each : readers_) {
    const auto row = each.reader.row(arrival);
    if (!row) return to_string(row.error());
    std::ranges::copy(*row, values_.begin() + static_cast<std::ptrdiff_t>(each.first_slot));
  }
  out.clear();
  const auto fault = item.message->render({.seed = plan_.seed,
                                           .arrival = arrival,
                                           .unix_ms = clock_ ? unix_ms() : 0,
                                           .values = values_},
                                          scratch_, out);
  return fault == document::RenderFault::none ? std::string_view{} : to_string(fault);
}

std::expected<http::Request, std::string> first_request(const HttpPlan& plan,
                                                        const HttpItem& item) {
  if (!item.message) return item.request;
  http::Request request;
  request.is_head = item.request.is_head;
  const auto fault = Renderer(plan).render(item, 0, request.bytes);
  if (!fault.empty()) return std::unexpected(std::string(fault));
  return request;
}

}  // namespace onbeat::bench
