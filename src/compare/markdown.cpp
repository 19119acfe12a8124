#include "compare/table.hpp"
#include "compare/writer.hpp"
#include "report/escape.hpp"

#include <fmt/format.h>

namespace onbeat::compare {

using report::for_markdown;

std::string to_markdown(const Comparison& comparison) {
  const bool good = comparison.exit_code() == run::ExitCode::passed;
  std::string out = fmt::format("## {} {}\n\n", good ? (comparison.conclusive ? "✅" : "⚠️") : "❌",
                                for_markdown(comparison.summary()));
  for (const std::string& refusal : comparison.refusals)
    out += fmt::format("- **refused** {}\n", for_markdown(refusal));
  if (!comparison.refusals.empty()) return out;
  out += fmt::format("Base: {}. New: {}.\n\n",
                     for_markdown(side_text(comparison.base_runs, comparison.base_name)),
                     for_markdown(side_text(comparison.next_runs, comparison.next_name)));
  for (const std::string& warning : comparison.warnings)
    out += fmt::format("- **warning** {}\n", for_markdown(warning));
  out += comparison.warnings.empty() ? "" : "\n";
  out +=
      "| metric | base | new | change | 95% interval | p | |\n"
      "| :-- | --: | --: | --: | :-- | --: | :-- |\n";
  for (const Cells& row : cells_of(comparison))
    out += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", for_markdown(row.metric),
                       for_markdown(row.base), for_markdown(row.next), for_markdown(row.change),
                       for_markdown(row.interval), row.p, for_markdown(row.verdict));
  return out + "\n" + for_markdown(how_judged(comparison)) + "\n";
}

}  // namespace onbeat::compare
