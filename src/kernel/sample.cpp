#include <onbeat/kernel/sample.hpp>

namespace onbeat::kernel {

std::string_view to_string(Ending ending) noexcept {
  switch (ending) {
    case Ending::ok:
      return "ok";
    case Ending::failed:
      return "failed";
    case Ending::timed_out:
      return "timed_out";
    case Ending::cancelled:
      return "cancelled";
    case Ending::in_flight:
      return "in_flight";
    case Ending::saturated:
      return "saturated";
    case Ending::missed_late:
      return "missed_late";
    case Ending::missed_waited:
      return "missed_waited";
    case Ending::missed_at_end:
      return "missed_at_end";
  }
  return "unknown";
}

}  // namespace onbeat::kernel
