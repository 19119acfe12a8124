#include "run/audit.hpp"

#include "options/format.hpp"
#include "run/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <tuple>
#include <utility>

namespace onbeat::run {
namespace {

using options::format_count;
using options::format_duration;
using State = Check::State;
using Figures = std::vector<std::string>;

double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

std::string percent(double share) { return options::format_percent(share * 100); }

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

double ratio(Duration part, Duration whole) {
  return ratio(static_cast<double>(part.count()), static_cast<double>(whole.count()));
}

double total_of(const Histogram& histogram) {
  return histogram.empty() ? 0 : histogram.mean() * static_cast<double>(histogram.count()) / 1e9;
}

// Two significant digits, rounded up: "about 32", "about 2,500".
std::uint64_t about(double number) {
  const double scale = number < 100 ? 1 : std::pow(10, std::floor(std::log10(number)) - 1);
  return static_cast<std::uint64_t>(std::ceil(number / scale - 1e-9) * scale);
}

class Auditor {
 public:
  Auditor(const Report& report, const AuditLimits& limits)
      : report_(report), limits_(limits), counts_(report.total.counts) {}

  Verdict run() {
    bookkeeping();
    clock();
    lag();
    missed_late();
    sustained();
    busiest_loop();
    loop_turn();
    stalls();
    few_samples();
    censored();
    connections();
    littles_law();
    target_on_same_cores();
    calibration();
    other_load();
    steal();
    first_tenth();
    search();
    untrusted_threshold();
    return finish();
  }

 private:
  void check(std::string name, State state, std::string actual, std::string limit) {
    verdict_.checks.push_back({std::move(name), state, std::move(actual), std::move(limit)});
  }
  void not_applicable(std::string name) { check(std::move(name), State::not_applicable, "", ""); }

  // The reason of the check that was added last; nothing when that check is at rest.
  void because(std::string message, Figures figures, std::string remedy) {
    const Check& last = verdict_.checks.back();
    if (last.state < State::note) return;
    const Status status = last.state == State::invalid    ? Status::invalid
                          : last.state == State::degraded ? Status::degraded
                                                          : Status::valid;
    verdict_.reasons.push_back(
        {last.name, status, std::move(message), std::move(figures), std::move(remedy)});
  }

  // The figures of the last check are not to be trusted when it is more than a note.
  void distrust(const Figures& figures) {
    if (verdict_.checks.back().state < State::degraded) return;
    for (const std::string& figure : figures) {
      if (std::ranges::find(verdict_.untrusted, figure) == verdict_.untrusted.end()) {
        verdict_.untrusted.push_back(figure);
      }
    }
  }

  void bookkeeping();
  [[nodiscard]] std::string bookkeeping_fault() const;
  void clock();
  void lag();
  void missed_late();
  void sustained();
  void explain_held_back(std::uint64_t held_back);
  [[nodiscard]] double peak_planned_rate() const;
  void busiest_loop();
  void loop_turn();
  void stalls();
  void few_samples();
  void censored();
  void connections();
  void littles_law();
  void target_on_same_cores();
  void calibration();
  void other_load();
  void steal();
  void first_tenth();
  void search();
  void untrusted_threshold();
  Verdict finish();

  const Report& report_;
  const AuditLimits& limits_;
  const kernel::Counts& counts_;
  Verdict verdict_;
};

const Figures kEverything{"counts", "rates", "response", "service", "wait", "lag"};

std::string Auditor::bookkeeping_fault() const {
  if (counts_.unaccounted_planned() != 0) {
    return fmt::format("{} planned arrivals are unaccounted for", counts_.unaccounted_planned());
  }
  if (counts_.unaccounted_started() != 0) {
    return fmt::format("{} started units are unaccounted for", counts_.unaccounted_started());
  }
  kernel::Counts rows, endpoints;
  for (const SeriesRow& row : report_.series) rows += row.counts;
  for (const Endpoint& endpoint : report_.endpoints)
    if (!endpoint.part) endpoints += endpoint.counts;
  if (!report_.series.empty() && !(rows == counts_)) {
    return "the intervals do not add up to the totals";
  }
  const auto outcomes = [](const kernel::Counts& counts) {
    return std::tuple(counts.ok, counts.failed, counts.timed_out, counts.cancelled,
                      counts.in_flight_at_end);
  };
  if (!report_.endpoints.empty() && outcomes(endpoints) != outcomes(counts_)) {
    return "the endpoints do not add up to the totals";
  }
  const std::uint64_t traces =
      report_.total.response.count() + report_.total.failed.count() + counts_.untimed;
  const std::uint64_t wanted = counts_.started + counts_.missed_waited + counts_.missed_at_end;
  if (traces != wanted) {
    return fmt::format("{} samples were recorded for {} arrivals", traces, wanted);
  }
  return {};
}

void Auditor::bookkeeping() {
  const std::string fault = bookkeeping_fault();
  check("bookkeeping", fault.empty() ? State::ok : State::invalid,
        fault.empty() ? "adds up" : fault, "adds up exactly");
  because(fmt::format("The books do not balance: {}.", fault), kEverything,
          "This is a defect of the generator: report it with the JSON report.");
  distrust(kEverything);
}

void Auditor::clock() {
  check("clock", report_.observed.clock_stepped ? State::invalid : State::ok,
        report_.observed.clock_stepped ? "stepped" : "steady", "steady");
  because("The monotonic clock stepped, or the host was suspended during the run.", kEverything,
          "Check the host's clock source (onbeat doctor) and repeat the run.");
  distrust(kEverything);
}

void Auditor::lag() {
  const Histogram& lag = report_.total.lag;
  const Histogram& answers =
      report_.total.response.empty() ? report_.total.failed : report_.total.response;
  if (!report_.open || lag.empty() || answers.empty()) return not_applicable("lag_p99");
  const Duration p99 = lag.percentile(99);
  const double share = ratio(p99, answers.percentile(99));
  State state = State::ok;
  if (p99 > limits_.lag_invalid && share > limits_.lag_invalid_share) {
    state = State::invalid;
  } else if (p99 > limits_.lag_degraded && share > limits_.lag_degraded_share) {
    state = State::degraded;
  } else if (p99 <= limits_.lag_degraded && share > limits_.lag_note_share) {
    state = State::note;
  }
  check("lag_p99", state,
        fmt::format("{} ({} of the response p99)", format_duration(p99), percent(share)),
        fmt::format("{} and {}", format_duration(limits_.lag_degraded),
                    percent(limits_.lag_degraded_share)));
  because(fmt::format("The generator was late: 1 % of the arrivals were taken up {} or more after "
                      "they were due, {} of the response p99.",
                      format_duration(p99), percent(share)),
          state == State::invalid ? Figures{"response", "rates"} : Figures{"response"},
          "Give the generator more CPU: --threads, --cpu-list, a host of its own, or --spin.");
  distrust(state == State::invalid ? Figures{"response", "rates"} : Figures{"response"});
}

void Auditor::missed_late() {
  if (!report_.open || counts_.planned == 0) return not_applicable("missed_late");
  const double share =
      ratio(static_cast<double>(counts_.missed_late), static_cast<double>(counts_.planned));
  const State state = share > limits_.missed_late_invalid    ? State::invalid
                      : share > limits_.missed_late_degraded ? State::degraded
                                                             : State::ok;
  check("missed_late", state, percent(share), percent(limits_.missed_late_degraded));
  because(fmt::format("The generator missed {} of {} arrivals because it was too late for them.",
                      format_count(counts_.missed_late), format_count(counts_.planned)),
          {"response", "rates"},
          "Give the generator more CPU (--threads, a host of its own), or ask for a lower rate.");
  distrust({"response", "rates"});
}

// The highest rate that was asked for: of whole intervals where there are some, else of the whole
// run.
double Auditor::peak_planned_rate() const {
  double peak = per_second(counts_.planned, report_.issue).value_or(0);
  Duration begin{};
  for (std::size_t i = 0; i + 1 < report_.series.size(); ++i) {
    const SeriesRow& row = report_.series[i];
    peak = std::max(peak, per_second(row.counts.planned, row.t - begin).value_or(0));
    begin = row.t;
  }
  return peak;
}

void Auditor::explain_held_back(std::uint64_t held_back) {
  const std::string held =
      held_back == 0 ? "arrivals waited for a free worker"
                     : fmt::format("{} of {} arrivals were never started", format_count(held_back),
                                   format_count(counts_.planned));
  const Histogram& service = report_.total.service;
  const bool ceiling =
      report_.concurrency != 0 && report_.observed.in_flight_peak >= report_.concurrency;
  if (!ceiling || service.empty()) {
    return because(fmt::format("The target did not sustain the rate: {}.", held), {"response"},
                   "Lower the rate, or look for what holds the target back.");
  }
  const double mean = service.mean();
  const auto quickest = static_cast<double>(service.min().count());
  const std::uint64_t needed = std::max(about(peak_planned_rate() * mean / 1e9),
                                        about(static_cast<double>(report_.concurrency) * 1.2));
  const Duration rounded_mean{std::llround(mean)};
  // A target that slows down under load would want ever more; one of steady service time wants
  // exactly this many.
  if (mean > 3 * quickest) {
    return because(
        fmt::format("The target did not sustain the rate: {}; with all {} in flight its service "
                    "time was {} on average and {} at best.",
                    held, format_count(report_.concurrency), format_duration(rounded_mean),
                    format_duration(service.min())),
        {"response"},
        fmt::format("Lower the rate; where such service times are usual, --concurrency {}.",
                    needed));
  }
  because(fmt::format("The ceiling of {} in flight was the limit ({}); this rate needs about {}.",
                      format_count(report_.concurrency), held, format_count(needed)),
          {"response"}, fmt::format("Ask for --concurrency {}.", needed));
}

void Auditor::sustained() {
  const bool at_a_rate = report_.open || !report_.arrivals.empty();  // or paced
  if (!at_a_rate || counts_.planned == 0) return not_applicable("sustained");
  const std::uint64_t held_back = counts_.missed_waited + counts_.missed_at_end + counts_.saturated;
  const double share = ratio(static_cast<double>(held_back), static_cast<double>(counts_.planned));
  const Histogram& wait = report_.total.wait;
  const Histogram& response = report_.total.response;
  const Duration wait_p99 = wait.percentile(99);
  const double wait_share = ratio(wait_p99, response.percentile(99));
  const bool waited = !wait.empty() && !response.empty() && wait_p99 > limits_.wait_degraded &&
                      wait_share > limits_.wait_degraded_share;
  check("sustained", share > limits_.held_back_share || waited ? State::degraded : State::ok,
        fmt::format("{} not started, wait p99 {}", percent(share), format_duration(wait_p99)),
        fmt::format("{}, {} and {} of the response p99", percent(limits_.held_back_share),
                    format_duration(limits_.wait_degraded), percent(limits_.wait_degraded_share)));
  explain_held_back(held_back);
}

void Auditor::busiest_loop() {
  if (report_.total.loops.empty() && report_.observed.busiest_loop <= 0) {
    return not_applicable("busiest_loop");
  }
  const double share = report_.observed.busiest_loop;
  check("busiest_loop", share > limits_.busiest_loop ? State::degraded : State::ok,
        percent(share) + " of a core", percent(limits_.busiest_loop));
  if (!report_.open) {
    return because(
        fmt::format("The generator itself was busy ({} of a core): the rate is a lower bound of "
                    "what the target can do.",
                    percent(share)),
        {"rates"}, "Use more --threads, or a host of its own, to find the target's own limit.");
  }
  because(fmt::format("A thread of the generator used {} of a core: it may have added to the "
                      "response times.",
                      percent(share)),
          {"response"}, "Use more --threads, or a host of its own.");
  distrust({"response"});
}

void Auditor::loop_turn() {
  const auto turn = report_.breakdown.find("turn");
  const Histogram& service = report_.total.service;
  if (turn == report_.breakdown.end() || turn->second.empty() || service.empty()) {
    return not_applicable("loop_turn");
  }
  const Duration p99 = turn->second.percentile(99);
  const double share = ratio(p99, service.percentile(50));
  const Figures figures =
      report_.open ? Figures{"service", "wait", "response"} : Figures{"service", "response"};
  check("loop_turn",
        p99 > limits_.loop_turn && share > limits_.loop_turn_share ? State::degraded : State::ok,
        fmt::format("{} ({} of the service p50)", format_duration(p99), percent(share)),
        fmt::format("{} and {}", format_duration(limits_.loop_turn),
                    percent(limits_.loop_turn_share)));
  because(fmt::format("One turn of the generator's loop took up to {} (p99), {} of the median "
                      "service time: answers waited that long to be noticed.",
                      format_duration(p99), percent(share)),
          figures, "Use more --threads, or fewer connections a thread.");
  distrust(figures);
}

void Auditor::stalls() {
  kernel::LoopUsage usage;
  for (const kernel::LoopUsage& loop : report_.total.loops) usage += loop;
  if (usage.wall <= Duration::zero()) return not_applicable("stalls");
  const double share = ratio(usage.stalled, usage.wall);
  const State state = share > limits_.stalls ? State::degraded
                      : usage.stalls != 0    ? State::note
                                             : State::ok;
  const Figures figures{"response", "service", "wait"};
  check("stalls", state, fmt::format("{}, {}", format_count(usage.stalls), percent(share)),
        percent(limits_.stalls));
  because(fmt::format("The generator was held up {} {} for more than 10 ms, {} in all.",
                      format_count(usage.stalls), usage.stalls == 1 ? "time" : "times",
                      format_duration(usage.stalled)),
          figures, "Look for other load on the host, CPU quotas, and swapping.");
  distrust(figures);
}

void Auditor::few_samples() {
  const Histogram& histogram = headline(report_);
  std::string hidden;
  for (const double p : report_.percentiles) {
    if (histogram.count() < samples_needed(p, limits_.tail_samples)) {
      hidden += fmt::format("{}p{:g}", hidden.empty() ? "" : ", ", p);
    }
  }
  std::string thresholds;
  for (const ThresholdResult& threshold : report_.thresholds) {
    if (!threshold.too_few_samples) continue;
    thresholds += fmt::format("{}{}", thresholds.empty() ? "" : ", ", threshold.expr);
  }
  check("few_samples",
        !thresholds.empty() ? State::degraded
        : !hidden.empty()   ? State::note
                            : State::ok,
        hidden.empty() ? format_count(histogram.count()) : "not shown: " + hidden,
        fmt::format("{:g} / (1 - p)", limits_.tail_samples));
  // A percentile that is not shown is seen in the table; it needs no sentence.
  if (thresholds.empty()) return;
  because(fmt::format("A threshold uses a percentile of too few samples: {}.", thresholds),
          {"thresholds"}, "Run longer, or judge a lower percentile.");
}

void Auditor::censored() {
  const Histogram& histogram = headline(report_);
  if (histogram.empty()) return not_applicable("censored");
  std::string marked;
  for (const double p : report_.percentiles) {
    if (!histogram.percentile_is_lower_bound(p)) continue;
    if (!shown_percentile(histogram, p, limits_.tail_samples)) continue;
    marked += fmt::format("{}p{:g}", marked.empty() ? "at least: " : ", ", p);
  }
  check("censored", marked.empty() ? State::ok : State::note,
        marked.empty() ? format_count(histogram.censored()) + " censored" : marked, "");
}

void Auditor::connections() {
  const Connections& connections = report_.connections;
  if (connections.asked == 0) return not_applicable("connections");
  const double share =
      ratio(static_cast<double>(connections.open_peak), static_cast<double>(connections.asked));
  const std::string open = connections_text(connections) + " open";
  check("connections", share < limits_.connections ? State::degraded : State::ok, open,
        percent(limits_.connections));
  because(fmt::format("Not all connections that were asked for could be opened: {}.", open),
          {"connections", "rates", "response"},
          "Look at the errors of connecting: the target's limits, ports, descriptors.");
}

// What was in flight on average is the time that all units spent in service, over the time of
// observation.
void Auditor::littles_law() {
  const auto& observed = report_.observed;
  const Histogram& service = report_.total.service;
  const Histogram& failed = report_.total.failed;
  const double window = seconds(report_.issue + report_.drain);
  const bool comparable =
      observed.in_flight_mean && observed.in_flight_error && window > 0 &&
      static_cast<double>(observed.in_flight_samples) >= limits_.littles_law_samples &&
      !observed.clock_stepped && counts_.started != 0 &&
      service.count() + failed.count() == counts_.started;
  if (!comparable) return not_applicable("littles_law");
  // Failures are kept by their response time, which in an open run holds their lag and wait too:
  // they may have been in flight for anything between nothing and that.
  const double least = total_of(service) / window;
  const double most = least + total_of(failed) / window;
  const double sampled = *observed.in_flight_mean;
  const double nearest = std::clamp(sampled, report_.open ? least : most, most);
  const double difference = std::abs(sampled - nearest);
  const bool mismatch = difference > limits_.littles_law * nearest &&
                        difference > limits_.littles_law_errors * *observed.in_flight_error;
  check(
      "littles_law", mismatch ? State::degraded : State::ok,
      fmt::format("{:.4g} in flight sampled, {:.4g} from rate and service time", sampled, nearest),
      fmt::format("{} and {:g} standard errors", percent(limits_.littles_law),
                  limits_.littles_law_errors));
  because(fmt::format("The work in flight ({:.4g} on average) does not fit rate times service time "
                      "({:.4g}): one of them is measured wrong.",
                      sampled, nearest),
          {"service", "in_flight"},
          "Repeat the run; if it persists, report it with the JSON report.");
}

void Auditor::target_on_same_cores() {
  const bool same = report_.observed.target_on_same_cores;
  check("target_on_same_cores", same ? State::note : State::ok, same ? "yes" : "no", "no");
  because("The target runs on this host, and its cores are shared with the generator's.",
          {"response", "service"}, "Keep them apart with --cpu-list, or use two hosts.");
}

void Auditor::calibration() {
  if (!report_.observed.calibration) return not_applicable("calibration");
  check("calibration", State::note, "built-in target", "");
  because("The built-in target answered: the figures are of the generator and this host.",
          {"rates", "response", "service"}, "Leave --calibrate out to load the real target.");
}

void Auditor::other_load() {
  if (!report_.observed.other_load_share) return not_applicable("other_load");
  const double share = *report_.observed.other_load_share;
  check("other_load", share > limits_.other_load ? State::note : State::ok, percent(share),
        percent(limits_.other_load));
  because(fmt::format("Other processes used {} of the generator's cores.", percent(share)),
          {"response", "service"}, "Use a quiet host, or keep cores free with --cpu-list.");
}

void Auditor::steal() {
  if (!report_.observed.steal_share) return not_applicable("steal");
  const double share = *report_.observed.steal_share;
  const State state = share > limits_.steal_degraded ? State::degraded
                      : share > limits_.steal_note   ? State::note
                                                     : State::ok;
  const Figures figures{"response", "service", "wait", "lag"};
  check("steal", state, percent(share), percent(limits_.steal_degraded));
  because(
      fmt::format("The hypervisor gave {} of this machine's CPU time to others.", percent(share)),
      figures, "Use a machine with CPUs of its own.");
  distrust(figures);
}

Duration median(std::vector<Duration> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

void Auditor::first_tenth() {
  if (report_.curve) return not_applicable("first_tenth");  // its steps are meant to differ
  const std::size_t rows = report_.series.size();
  std::vector<Duration> first, rest;
  for (std::size_t i = 0; i < rows; ++i) {
    if (report_.series[i].p50) (i < rows / 10 ? first : rest).push_back(*report_.series[i].p50);
  }
  if (first.empty() || rest.empty()) return not_applicable("first_tenth");
  const Duration a = median(std::move(first)), b = median(std::move(rest));
  const Duration difference = a > b ? a - b : b - a;
  const double share = ratio(difference, b);
  const bool unlike = share > limits_.first_tenth_share && difference > limits_.first_tenth_floor;
  check("first_tenth", unlike ? State::note : State::ok,
        fmt::format("p50 {}, then {}", format_duration(a), format_duration(b)),
        fmt::format("{} and {}", percent(limits_.first_tenth_share),
                    format_duration(limits_.first_tenth_floor)));
  because(fmt::format("The first tenth of the run was unlike the rest: its median was {}, then {}.",
                      format_duration(a), format_duration(b)),
          {std::string(headline_name(report_))}, "Use --warmup to leave the start out.");
}

void Auditor::search() {
  if (!report_.search) return not_applicable("search");
  const SearchReport& search = *report_.search;
  const bool short_of = !search.converged;
  check("search", short_of || !search.generator.empty() ? State::degraded : State::ok,
        short_of                    ? search.shortfall
        : !search.generator.empty() ? "ended by the generator"
                                    : "confirmed",
        "confirmed, and bounded by the target");
  if (short_of)
    return because(fmt::format("The search did not reach its end: {}.", search.shortfall),
                   {"rates"},
                   "Give it more time (--duration), or a --rate to begin with that is near what "
                   "you expect.");
  because(fmt::format("The generator, not the target, kept the search from higher rates: {}",
                      search.generator),
          {"rates"}, "Give the generator more CPU, or a host of its own.");
}

void Auditor::untrusted_threshold() {
  if (report_.thresholds.empty()) return not_applicable("untrusted_threshold");
  std::string which;
  for (const ThresholdResult& threshold : report_.thresholds) {
    if (threshold.on_untrusted) which += (which.empty() ? "" : ", ") + threshold.expr;
  }
  check("untrusted_threshold", which.empty() ? State::ok : State::invalid,
        which.empty() ? "none" : which, "none");
  because(fmt::format("A threshold rests on a figure that is not to be trusted: {}.", which),
          {"thresholds"}, "Mend what the other reasons name, and repeat the run.");
}

Verdict Auditor::finish() {
  for (const Reason& reason : verdict_.reasons) {
    verdict_.status = std::max(verdict_.status, reason.status);
  }
  std::vector<Reason> sorted;
  for (const Status status : {Status::invalid, Status::degraded, Status::valid}) {
    std::ranges::copy_if(verdict_.reasons, std::back_inserter(sorted),
                         [&](const Reason& reason) { return reason.status == status; });
  }
  verdict_.reasons = std::move(sorted);
  return std::move(verdict_);
}

}  // namespace

Verdict audit(const Report& report, const AuditLimits& limits) {
  return Auditor(report, limits).run();
}

}  // namespace onbeat::run
