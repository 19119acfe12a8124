#include "run/audit.hpp"

#include <algorithm>

namespace onbeat::run {
namespace {

struct Explanation {
  std::string_view code, text;
};

constexpr Explanation kExplanations[] = {
    {"bookkeeping",
     "Every planned arrival must leave exactly one trace: planned = started + missed + saturated, "
     "and started = ok + "
     "failed + timed out + cancelled + in flight at the end. The intervals, the endpoints and the "
     "histograms must add "
     "up to the same totals. When they do not, the generator has a defect and no figure of the run "
     "can be trusted: the "
     "verdict is invalid. Please report it with the JSON report."},
    {"clock",
     "All times are read from the monotonic clock. If it went back or stood still during the run, "
     "intervals are wrong "
     "by an unknown amount, so the verdict is invalid. It happens on virtual machines with a "
     "broken clock source and "
     "after a suspend; onbeat doctor shows the clock source. Steps of the wall clock (NTP) do no "
     "harm."},
    {"lag_p99",
     "Lag is the time from when an arrival was due to when the generator took it up: the "
     "generator's own lateness, never "
     "the target's. It is part of the response time, so a lag that is large beside the response "
     "p99 distorts it. Over "
     "10 % of it and over 1 ms the response figures are degraded; over 50 % and 10 ms the schedule "
     "was not kept and the "
     "verdict is invalid. Give the generator more CPU: --threads, --cpu-list, a host of its own, "
     "or --spin."},
    {"missed_late",
     "An arrival that the generator could not take up within the catch-up limit (one second by "
     "default, or by the policy "
     "of --on-late) is missed: it was planned and never sent. The target then had a lighter load "
     "than the report would "
     "claim: over 0.1 % degrades the response and the rates, over 1 % makes the verdict invalid. "
     "The cause is a generator "
     "that was starved or suspended, or a rate beyond what its threads can do."},
    {"sustained",
     "In a run at a rate the arrivals come at their own pace. When no worker was free, they "
     "waited, "
     "and some were never "
     "started. Either the target did not sustain the rate, or the ceiling of work in flight "
     "(--concurrency) was too low "
     "for it: rate times service time is what must be in flight. The measurement itself is sound: "
     "the waiting is in the "
     "response times, and thresholds are judged on them as they are."},
    {"busiest_loop",
     "The busiest thread of the generator used more than 80 % of a core. In an open run its work "
     "may have queued behind "
     "itself, so response times are degraded. In a closed run the rate is a lower bound of what "
     "the target can do: the "
     "generator may have been the limit. Use more --threads, or a host of its own."},
    {"loop_turn",
     "A turn is the time that one pass of a thread's event loop takes, from waking up to sleeping "
     "again. An answer that "
     "arrives during a turn is noticed at its end at the latest, so a long turn is added to the "
     "service time. Over 100 us "
     "and 10 % of the median service time it matters. Use more --threads, or fewer connections a "
     "thread."},
    {"stalls",
     "A stall is a turn, or a late wake-up, of more than 10 ms: the generator's thread was not "
     "running. Other load, CPU "
     "quotas, swapping and hypervisors cause it. Each is counted; over 1 % of the run in all, "
     "response, service and wait "
     "are degraded."},
    {"few_samples",
     "A percentile p says something when about ten samples lie beyond it: it needs 10 / (1 - p) "
     "samples, 1,000 for the "
     "p99. With fewer it is not shown. A threshold on such a percentile is judged as it stands, "
     "and the verdict is "
     "degraded. Run longer, or judge a lower percentile."},
    {"censored",
     "What timed out, was still in flight at the end, or was due and never started has no final "
     "time, only a time that it "
     "lasted at least. Such samples stay in the histograms as lower bounds. A percentile at or "
     "above the smallest of them "
     "is a lower bound too and reads \">=\". A \"<\" threshold on it fails, for the true value may "
     "be anything larger."},
    {"connections",
     "A number of connections was asked for with --connections and fewer were open at any time. "
     "The load came over fewer "
     "connections than the report would claim. The errors of connecting say why: the target's "
     "limits, local ports, or "
     "descriptors."},
    {"littles_law",
     "Little's law: the mean number in flight equals the rate of starts times the mean service "
     "time. The number in "
     "flight is sampled on its own, at random instants, so that the two check each other. A "
     "difference over 5 % and over "
     "four standard errors of the sampled mean says that one of them is measured wrong. With fewer "
     "than 1,000 samples, "
     "or when the run is not comparable, the check does not apply."},
    {"target_on_same_cores",
     "The target ran on the cores of the generator, so the two took time from each other: its "
     "service times would be "
     "better on cores of its own. This is said and does not change the verdict. Keep them apart "
     "with --cpu-list, or use "
     "two hosts."},
    {"calibration",
     "The load went to the built-in target (--calibrate), which answers at once and runs on a CPU "
     "of its own where there is one: the figures say what the generator and this host can do, and "
     "nothing of a real target. Neither an upper nor a lower bound of another run: a target that "
     "answers later, or with more, costs the generator more or less for each request. This is "
     "said and does not change the verdict."},
    {"other_load",
     "Other processes used the generator's cores during the run. This is said and does not change "
     "the verdict; when it "
     "hurt, lag and stalls show it. Use a quiet host, or keep cores free with --cpu-list."},
    {"steal",
     "Steal is CPU time that the hypervisor gave to other machines while this one wanted to run. "
     "Nothing on this machine "
     "can see what was late because of it. Over 5 % the times are degraded. Use a machine with "
     "CPUs of its own."},
    {"first_tenth",
     "The median of the first tenth of the run differs from that of the rest by more than half: "
     "caches, pools and "
     "compilers were still warming up, or the load was ramped. This is said and does not change "
     "the verdict. --warmup "
     "leaves the start out of the figures."},
    {"search",
     "An adaptive search ends when three holds in a row have confirmed a rate that is within 5 % "
     "of "
     "one that did not keep the thresholds. When its time was over before that, the rate it names "
     "was held, but a higher one may hold too, or this one not for long: give it more --duration, "
     "or begin near the expected rate with --rate. When the generator itself was late in the steps "
     "that did not hold, the target may well sustain more: the rate is a lower bound."},
    {"untrusted_threshold",
     "A threshold was asked for on a figure that another reason calls untrusted because of the "
     "generator or the host "
     "(lag, missed for lateness, a busy loop in an open run, long turns, stalls, steal, the "
     "clock). Whatever it says, it "
     "would say it about the generator, so it fails and the verdict is invalid. --allow-invalid "
     "waives the exit code 3."},
};

/// No check of a run: what reads a kept one says it.
constexpr Explanation kBrokenOff{
    .code = "broken_off",
    .text =
        "The stream of the run (--stream) ends before its report: the process was killed, or the "
        "disk was full. What had ended by then is in the figures, what was in flight is not, and "
        "that may be the slowest of all: the verdict is degraded. Repeat the run, or read the "
        "figures as those of what had ended."};

}  // namespace

std::vector<std::string_view> check_codes() {
  std::vector<std::string_view> codes;
  for (const Explanation& explanation : kExplanations) codes.push_back(explanation.code);
  return codes;
}

std::string_view explain(std::string_view code) {
  if (code == kBrokenOff.code) return kBrokenOff.text;
  const auto* found = std::ranges::find(kExplanations, code, &Explanation::code);
  return found == std::end(kExplanations) ? std::string_view{} : found->text;
}

}  // namespace onbeat::run
