#include "report/kept_run.hpp"

#include "options/format.hpp"
#include "options/threshold.hpp"
#include "report/json_reader.hpp"
#include "report/stream_reader.hpp"
#include "run/audit.hpp"
#include "run/figures.hpp"
#include "run/series.hpp"
#include "run/thresholds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>

namespace onbeat::report {
namespace {

using kernel::Duration;
using run::Report;

std::string option_of(const Report& report, std::string_view key) {
  const auto option = std::ranges::find(report.options, key, &run::OptionValue::key);
  return option == report.options.end() ? "" : option->value;
}

/// As the run was to be judged: its limits and switches are among its options.
run::Judging judging_of(const Report& report, const std::vector<std::string>& thresholds) {
  run::Judging judging;
  for (const std::string& text : thresholds)
    if (auto threshold = options::parse_threshold(text)) judging.thresholds.push_back(*threshold);
  options::Limits limits;
  std::string rest = option_of(report, "limit");
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(", "), rest.size());
    if (const auto limit = options::parse_limit(rest.substr(0, end)))
      limits.set(limit->first, limit->second);
    rest.erase(0, end + 2);
  }
  judging.limits = run::AuditLimits::from(limits);
  judging.strict = option_of(report, "strict") == "true";
  judging.allow_invalid = option_of(report, "allow_invalid") == "true";
  return judging;
}

void add_percentiles(Report& report, const std::vector<double>& more) {
  for (const double p : more)
    if (std::ranges::find(report.percentiles, p) == report.percentiles.end())
      report.percentiles.push_back(p);
  std::ranges::sort(report.percentiles);
}

/// A stream as it is read, line by line.
class Rereading {
 public:
  Rereading(const Reread& reread, RunOutputs& outputs) : reread_(reread), outputs_(outputs) {}

  /// False for a line that is not whole. Throws Unreadable.
  bool line(const std::string& text);
  KeptRun finish(bool broken_off);

 private:
  void interval(kernel::Interval interval);
  void leave_out(Report& report);
  void break_off(Report& report);
  void replace_figures(Report& report) const;

  const Reread& reread_;
  RunOutputs& outputs_;
  StreamReader reader_;
  std::optional<Report> report_;
  bool begun_ = false;
  kernel::Interval left_out_, kept_;
  std::uint64_t intervals_left_out_ = 0, intervals_ = 0;
  std::vector<run::SeriesRow> series_;
  std::vector<std::string> notes_;
};

bool Rereading::line(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return false;
  const Place place(json);
  const std::string type = place["type"].text();
  if (type == "header") reader_.header(place);
  if (type == "interval") interval(reader_.interval(place));
  if (type == "report") report_ = read_report(place["report"]);
  return true;
}

void Rereading::interval(kernel::Interval interval) {
  ++intervals_;
  if (interval.start < reread_.cut) {
    ++intervals_left_out_;
    left_out_.merge_next(interval);
    return;
  }
  if (!begun_) outputs_.begin(reader_.known(), reader_.names(), reader_.shape());
  begun_ = true;
  series_.push_back(run::series_row(interval, reader_.known().open, reader_.names().errors));
  outputs_.on_interval(interval, {});
  kept_.merge_next(interval);
}

void Rereading::replace_figures(Report& report) const {
  report.total = kept_;
  run::name_figures(report, reader_.names(), reader_.shape().histograms);
  report.observed.in_flight_peak = kept_.in_flight_max;
  report.observed.busiest_loop = run::busiest_loop(kept_.loops);
}

// Only the books need care: what was in flight at the cut, or waited there, ends in what is kept,
// and so belongs to it.
void Rereading::leave_out(Report& report) {
  const Duration cut = left_out_.end;
  if (kept_.counts == kernel::Counts()) {
    throw Unreadable(fmt::format("--cut {} leaves nothing of a run of {}",
                                 options::duration_text(reread_.cut),
                                 options::format_duration(report.issue)));
  }
  const auto in_flight = static_cast<std::uint64_t>(left_out_.counts.unaccounted_started());
  const auto waiting = static_cast<std::uint64_t>(left_out_.counts.unaccounted_planned());
  const run::Connections whole_run = report.connections;
  std::erase_if(report.series, [&](const run::SeriesRow& row) { return row.t <= cut; });
  for (run::SeriesRow& row : report.series) row.t -= cut;
  if (report.series.empty()) throw Unreadable("the rows of the report are not its intervals");
  for (kernel::Counts* counts : {&kept_.counts, &report.series.front().counts}) {
    counts->started += in_flight;
    counts->planned += in_flight + waiting;
  }
  replace_figures(report);
  report.connections = run::connections_of(reader_.shape().counters, kept_, left_out_);
  report.connections.asked = whole_run.asked;
  report.connections.opened = whole_run.opened;
  report.connections.open_peak = whole_run.open_peak;
  report.connections.failed = whole_run.failed;
  report.connections.by_address = whole_run.by_address;
  report.issue = std::max(report.issue - cut, Duration{});
  report.warmup_excluded += left_out_.counts.planned - in_flight - waiting;
  report.observed.in_flight_mean.reset();
  report.load_text += fmt::format(", without the first {} ({} whole intervals)",
                                  options::format_duration(cut), intervals_left_out_);
  notes_.push_back(fmt::format(
      "the first {} are left out, {} whole intervals; {} requests that were in flight then count "
      "with what follows; cost and connections opened are those of the whole run",
      options::format_duration(cut), intervals_left_out_,
      options::format_count(in_flight + waiting)));
}

/// Takes `count` off the newest rows.
void take_off(std::vector<run::SeriesRow>& series, std::uint64_t kernel::Counts::* member,
              std::uint64_t count) {
  for (auto row = series.rbegin(); row != series.rend() && count != 0; ++row) {
    const std::uint64_t part = std::min(row->counts.*member, count);
    row->counts.*member -= part;
    count -= part;
  }
}

// What was not over when the stream ended has left no sample: it is not in the report.
void Rereading::break_off(Report& report) {
  report = reader_.known();
  const auto in_flight = static_cast<std::uint64_t>(kept_.counts.unaccounted_started());
  const auto waiting = static_cast<std::uint64_t>(kept_.counts.unaccounted_planned());
  kept_.counts.started -= in_flight;
  kept_.counts.planned -= in_flight + waiting;
  take_off(series_, &kernel::Counts::started, in_flight);
  take_off(series_, &kernel::Counts::planned, in_flight + waiting);
  replace_figures(report);
  report.series = series_;
  report.connections = run::connections_of(reader_.shape().counters, kept_, {});
  report.issue = kept_.end;
  report.end_reason = "unknown";
  report.load_text += fmt::format(", broken off after {}", options::format_duration(kept_.end));
  notes_.push_back(fmt::format(
      "the stream breaks off after {}: {} requests that were in flight or due then are not in the "
      "report, nor is the cost of the process",
      options::format_duration(kept_.end), options::format_count(in_flight + waiting)));
}

KeptRun Rereading::finish(bool broken_off) {
  std::vector<std::string> thresholds = reader_.thresholds();
  const bool whole = report_.has_value();
  Report report = whole ? std::move(*report_) : reader_.known();
  if (!whole) {
    if (!broken_off && intervals_ == 0) throw Unreadable("no interval is in the stream");
    break_off(report);
  }
  kernel::Counts all = left_out_.counts;
  all += kept_.counts;
  if (whole && all != report.total.counts)
    throw Unreadable("the intervals do not add up to the report: lines are missing");
  if (whole && intervals_left_out_ != 0) leave_out(report);
  add_percentiles(report, reread_.percentiles);
  if (!whole || intervals_left_out_ != 0) run::judge(report, judging_of(report, thresholds));
  if (!whole) {
    report.verdict.status = std::max(report.verdict.status, run::Status::degraded);
    report.verdict.reasons.push_back(
        {.code = "broken_off",
         .status = run::Status::degraded,
         .message = "The stream of the run breaks off before its report: what was in flight then "
                    "is not in the figures.",
         .figures = {"response", "service", "rates"},
         .remedy = "Repeat the run, or read the figures as those of what had ended by then."});
  }
  return {std::move(report), std::move(notes_)};
}

std::expected<KeptRun, std::string> read_stream(std::istream& file, std::string line,
                                                const Reread& reread, RunOutputs& outputs) {
  Rereading rereading(reread, outputs);
  std::size_t number = 1;
  try {
    bool broken_off = false;
    do {
      if (line.empty()) continue;
      if (broken_off)
        return std::unexpected(fmt::format("line {} is not JSON, and others follow", number - 1));
      broken_off = !rereading.line(line);
    } while (++number, std::getline(file, line));
    number = 0;
    return rereading.finish(broken_off);
  } catch (const Unreadable& error) {
    return std::unexpected(number == 0 ? error.what()
                                       : fmt::format("line {}: {}", number, error.what()));
  }
}

std::expected<KeptRun, std::string> read_json_report(const std::string& text,
                                                     const Reread& reread) {
  auto report = from_json(text);
  if (!report) return std::unexpected(report.error());
  if (reread.cut > Duration{}) {
    return std::unexpected(
        "a report has no histograms of its intervals to leave out: --cut needs the stream of "
        "the "
        "run (--stream FILE)");
  }
  add_percentiles(*report, reread.percentiles);
  return KeptRun{std::move(*report), {}};
}

}  // namespace

std::expected<KeptRun, std::string> read_kept_run(const std::string& path, const Reread& reread,
                                                  RunOutputs& outputs) {
  std::ifstream file(path, std::ios::binary);
  std::string first;
  if (!file || !std::getline(file, first)) {
    return std::unexpected(file.eof() ? "the file is empty"
                                      : std::generic_category().message(errno));
  }
  const Json json = Json::parse(first, nullptr, false);
  const bool stream = json.is_object() && json.contains("type");
  if (stream) return read_stream(file, std::move(first), reread, outputs);
  std::string text = std::move(first);
  text.append("\n").append(std::istreambuf_iterator<char>(file), {});
  return read_json_report(text, reread);
}

}  // namespace onbeat::report
