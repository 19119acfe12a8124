// The rows of comparing runs.
#include "options/table_rows.hpp"

namespace onbeat::options {

std::vector<Option> compare_rows() {
  return {
      {.name = "to",
       .value = "NEW...",
       .kind = Kind::path,
       .standard = "none",
       .help = "The JSON reports to compare with the base, as many as follow (repeatable)",
       .group = Group::judging,
       .commands = kCompare,
       .repeatable = true,
       .many = true},
      {.name = "gate",
       .value = "METRIC",
       .kind = Kind::text,
       .standard = "ok_rate, error_rate and p99 of the headline",
       .help = "What must not become worse (repeatable): rate, ok_rate, error_rate, "
               "cpu_per_request, p50 to p99.9 and mean, also response.p99 or service.p99",
       .group = Group::judging,
       .commands = kCompare,
       .repeatable = true},
      {.name = "min-effect",
       .value = "PERCENT",
       .kind = Kind::percent,
       .standard = "5%",
       .help = "A change must be larger than this to count, however significant it is",
       .group = Group::judging,
       .commands = kCompare},
      {.name = "out",
       .value = "FORMAT=FILE",
       .kind = Kind::out,
       .standard = "none",
       .help = "Write the comparison to a file as json, html, markdown or text (repeatable)",
       .group = Group::output,
       .commands = kCompare,
       .choices = {"json", "html", "markdown", "text"},
       .repeatable = true},
  };
}

}  // namespace onbeat::options
