#include "compare/writer.hpp"
#include "report/json_parts.hpp"

namespace onbeat::compare {
namespace {

using report::Json;
using report::number_json;

Json side_json(const Side& side) {
  return {{"runs", side.values.size()},   {"median", number_json(side.median)},
          {"min", number_json(side.low)}, {"max", number_json(side.high)},
          {"values", side.values},        {"lower_bounds", side.lower_bounds},
          {"untrusted", side.untrusted}};
}

Json difference_json(const Difference& difference) {
  const Shift& shift = difference.shift;
  return {{"metric", difference.metric->name},
          {"unit", to_string(difference.metric->unit)},
          {"better", difference.metric->lower_is_better ? "lower" : "higher"},
          {"gated", difference.gated},
          {"base", side_json(difference.base)},
          {"new", side_json(difference.next)},
          {"difference", number_json(shift.estimate)},
          {"interval", shift.low ? Json{{"low", number_json(shift.low)},
                                        {"high", number_json(shift.high)},
                                        {"confidence", number_json(shift.confidence)}}
                                 : Json(nullptr)},
          {"effect_percent", number_json(difference.effect)},
          {"p_worse", number_json(difference.p)},
          {"p_better", number_json(difference.p_better)},
          {"adjusted_p_worse", number_json(difference.adjusted)},
          {"adjusted_p_better", number_json(difference.adjusted_better)},
          {"change", to_string(difference.change)},
          {"reason",
           difference.why_undecided.empty() ? Json(nullptr) : Json(difference.why_undecided)}};
}

}  // namespace

std::string to_json(const Comparison& comparison) {
  Json differences = Json::array();
  for (const Difference& difference : comparison.differences)
    differences.push_back(difference_json(difference));
  Json json;
  json["schema"] = "onbeat.compare/1";
  json["summary"] = comparison.summary();
  json["exit_code"] = static_cast<int>(comparison.exit_code());
  json["regressed"] = comparison.regressed();
  json["conclusive"] = comparison.conclusive;
  json["base"] = {{"name", comparison.base_name}, {"runs", comparison.base_runs}};
  json["new"] = {{"name", comparison.next_name}, {"runs", comparison.next_runs}};
  json["settings"] = {{"min_effect_percent", comparison.settings.min_effect},
                      {"significance", comparison.settings.significance},
                      {"allow_invalid", comparison.settings.allow_invalid}};
  json["refusals"] = comparison.refusals;
  json["warnings"] = comparison.warnings;
  json["differences"] = std::move(differences);
  return report::dump(json, 2);
}

}  // namespace onbeat::compare
