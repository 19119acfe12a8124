#include "report/wall_time.hpp"

#include <cstdio>

namespace onbeat::report {

std::optional<kernel::Duration> unix_time(const std::string& rfc3339) {
  int year = 0, ms = 0;
  unsigned month = 0, day = 0, hour = 0, minute = 0, second = 0;
  char zone = 0;
  if (std::sscanf(rfc3339.c_str(), "%4d-%2u-%2uT%2u:%2u:%2u.%3d%c", &year, &month, &day, &hour,
                  &minute, &second, &ms, &zone) != 8 ||
      zone != 'Z') {
    return std::nullopt;
  }
  using namespace std::chrono;
  const year_month_day date{std::chrono::year(year), std::chrono::month(month),
                            std::chrono::day(day)};
  if (!date.ok() || hour > 23 || minute > 59 || second > 60 || ms < 0) return std::nullopt;
  return duration_cast<kernel::Duration>(sys_days(date).time_since_epoch() + hours(hour) +
                                         minutes(minute) + seconds(second) + milliseconds(ms));
}

}  // namespace onbeat::report
