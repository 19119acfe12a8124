// The rows.
#include "options/table.hpp"

#include "options/table_rows.hpp"

#include <algorithm>

namespace onbeat::options {
namespace {

constexpr std::uint64_t kMostWorkers = 1'000'000;

std::vector<Option> load_rows() {
  return {
      {.name = "rate",
       .value = "RATE",
       .kind = Kind::rate_profile,
       .standard = "none, a closed run",
       .help =
           "Arrivals per second, whether or not earlier ones are answered: 5000, 5k, 300/m, "
           "100..500 over 30s, stages \"0..500 over 1m, 500 for 5m, 0 over 30s\", "
           "sine(mean=500, amplitude=200, period=60s), spike(base=100, peak=1000, at=10s, for=5s)",
       .group = Group::load,
       .commands = kLoading},
      {.name = "arrivals",
       .value = "even|poisson",
       .kind = Kind::choice,
       .standard = "even",
       .help = "How arrivals are spread over time",
       .group = Group::load,
       .commands = kLoading,
       .choices = {"even", "poisson"}},
      {.name = "mode",
       .value = "fixed|open|closed|adaptive",
       .kind = Kind::choice,
       .standard = "fixed",
       .help = "fixed: open with a rate, closed without; closed with a rate: workers take the next "
               "arrival when they are free; adaptive: find the highest rate that keeps the "
               "thresholds",
       .group = Group::load,
       .commands = kHttp,
       .choices = {"fixed", "open", "closed", "adaptive"},
       .later_choices = {"stepping"}},
      {.name = "max-rate",
       .value = "RATE",
       .kind = Kind::rate,
       .standard = "no limit",
       .help = "With --mode adaptive, the highest rate that is tried; --rate is the first one",
       .group = Group::load,
       .commands = kLoading},
      {.name = "concurrency",
       .letter = 'c',
       .value = "N",
       .kind = Kind::count,
       .standard = "closed 10; open 10,000 or what ports and descriptors allow",
       .help = "Closed: workers, each one request at a time; open: the most in flight",
       .group = Group::load,
       .commands = kHttp,
       .lowest = 1,
       .highest = kMostWorkers},
      {.name = "connections",
       .value = "N",
       .kind = Kind::count,
       .standard = "as many as needed",
       .help = "A fixed number of connections, opened before the measured part",
       .group = Group::load,
       .commands = kHttp,
       .lowest = 1,
       .highest = kMostWorkers},
      {.name = "duration",
       .letter = 'd',
       .value = "TIME",
       .kind = Kind::duration,
       .standard =
           "10s, or the length of the rate's ramps and stages; none with --requests; 1m with "
           "--mode adaptive",
       .help =
           "How long new requests are issued; of an adaptive run, the most that the whole search "
           "takes",
       .group = Group::load,
       .commands = kHttp,
       .family = "length"},
      {.name = "requests",
       .letter = 'n',
       .value = "N",
       .kind = Kind::count,
       .standard = "no limit",
       .help = "End after exactly N requests, or at --duration if that comes first",
       .group = Group::load,
       .commands = kHttp,
       .lowest = 1,
       .family = "length"},
      {.name = "warmup",
       .value = "TIME",
       .kind = Kind::duration,
       .standard = "0s",
       .help = "Load at the first rate before the measured part, counted apart",
       .group = Group::load,
       .commands = kLoading},
      {.name = "on-late",
       .value = "catch_up|skip|burst:N",
       .kind = Kind::on_late,
       .standard = "catch_up",
       .help = "Arrivals that this generator itself is late for: send at once, count as missed, or "
               "send at most N at once",
       .group = Group::load,
       .commands = kLoading},
      {.name = "late-after",
       .value = "TIME",
       .kind = Kind::duration,
       .standard = "1ms or the mean gap between arrivals, whichever is longer",
       .help = "From which lag on an arrival is late",
       .group = Group::load,
       .commands = kLoading},
      {.name = "catch-up-limit",
       .value = "TIME",
       .kind = Kind::duration,
       .standard = "1s",
       .help = "Arrivals later than this are missed instead of caught up with",
       .group = Group::load,
       .commands = kLoading},
      {.name = "on-saturation",
       .value = "queue|drop",
       .kind = Kind::choice,
       .standard = "queue",
       .help = "When as many are in flight as may be: wait, or count the arrival as saturated",
       .group = Group::load,
       .commands = kLoading,
       .choices = {"queue", "drop"}},
      {.name = "max-wait",
       .value = "TIME",
       .kind = Kind::duration,
       .standard = "the timeout",
       .help = "Arrivals that waited longer for their turn are missed",
       .group = Group::load,
       .commands = kLoading},
      {.name = "queue-limit",
       .value = "N",
       .kind = Kind::count,
       .standard = "no limit",
       .help = "How many arrivals may wait; more are saturated",
       .group = Group::load,
       .commands = kLoading,
       .lowest = 1},
      {.name = "timeout",
       .value = "TIME",
       .kind = Kind::duration,
       .standard = "30s",
       .help = "For one request, from its start; what takes longer is cut off and recorded as such",
       .group = Group::load,
       .commands = kHttp},
      {.name = "drain",
       .value = "TIME",
       .kind = Kind::duration,
       .standard = "the timeout, at most 10s",
       .help = "How long the run waits at its end for what is in flight",
       .group = Group::load,
       .commands = kLoading},
      {.name = "threads",
       .value = "N",
       .kind = Kind::count,
       .standard = "one per 100,000/s; closed half the cores",
       .help = "Event loops, one thread each",
       .group = Group::load,
       .commands = kLoading,
       .lowest = 1,
       .highest = kMostThreads,
       .alias = "cpus"},
      {.name = "spin",
       .kind = Kind::flag,
       .standard = "off",
       .help = "Never sleep between arrivals: less lag for whole cores of CPU",
       .group = Group::load,
       .commands = kLoading},
      {.name = "cpu-list",
       .value = "LIST",
       .kind = Kind::cpu_list,
       .standard = "all allowed",
       .help = "Pin the loops to these cores in turn: 0-3,6",
       .group = Group::load,
       .commands = kLoading},
      {.name = "seed",
       .value = "N",
       .kind = Kind::count,
       .standard = "1",
       .help = "The same seed gives the same arrivals and the same choices",
       .group = Group::load,
       .commands = kLoading},
  };
}

std::vector<Option> judging_rows() {
  return {
      {.name = "threshold",
       .value = "EXPR",
       .kind = Kind::threshold,
       .standard = "none",
       .help = "What must hold at the end, or the exit code is 1 (repeatable): 'p(99) < 25ms', "
               "'error_rate < 1%', 'rate > 4950/s'",
       .group = Group::judging,
       .commands = kLoading,
       .repeatable = true,
       .family = "threshold"},
      {.name = "abort-on",
       .value = "EXPR",
       .kind = Kind::abort_rule,
       .standard = "none",
       .help = "End the run when this comes true, exit code 6 (repeatable): "
               "'error_rate > 20% over 5s'",
       .group = Group::judging,
       .commands = kLoading,
       .repeatable = true},
      {.name = "strict",
       .kind = Kind::flag,
       .standard = "off",
       .help = "A degraded measurement, too, gives exit code 3",
       .group = Group::judging,
       .commands = kLoading},
      {.name = "allow-invalid",
       .kind = Kind::flag,
       .standard = "off",
       .help = "An invalid measurement does not give exit code 3",
       .group = Group::judging,
       .commands = kLoading | kCompare},
      {.name = "limit",
       .value = "CHECK.LEVEL=X",
       .kind = Kind::limit,
       .standard = "none changed",
       .help = "A limit of the verdict's checks (repeatable): lag_p99.degraded=2ms",
       .group = Group::judging,
       .commands = kLoading,
       .repeatable = true},
  };
}

std::vector<Option> output_rows() {
  return {
      {.name = "out",
       .value = "FORMAT=FILE",
       .kind = Kind::out,
       .standard = "none",
       .help = "Write the report to a file (repeatable): json, csv, html, text, markdown, junit, "
               "hgrm, hdr-log, prometheus, influx (a file, or a URL to post to), gctf-json and "
               "gctf-prometheus (for `bench`), samples (each request as a line of JSON; "
               "samples=FILE,1/100: one of 100)",
       .group = Group::output,
       .commands = kLoading | kReport,
       .choices = {"json", "csv", "html", "text", "markdown", "junit", "hgrm", "hdr-log",
                   "prometheus", "influx", "gctf-json", "gctf-prometheus", "samples"},
       .later_choices = {"benchstat"},
       .repeatable = true},
      {.name = "out",
       .value = "json=FILE",
       .kind = Kind::out,
       .standard = "none",
       .help = "Write the results to a file",
       .group = Group::output,
       .commands = kDoctor,
       .choices = {"json"}},
      {.name = "json",
       .kind = Kind::flag,
       .standard = "off",
       .help = "Print the report as JSON instead of text",
       .group = Group::output,
       .commands = kLoading | kDoctor | kCheck | kReport | kCompare},
      {.name = "stream",
       .value = "FILE",
       .kind = Kind::path,
       .standard = "none",
       .help = "Write each interval as a line of JSON while the run lasts",
       .group = Group::output,
       .commands = kLoading},
      {.name = "metrics",
       .value = "[HOST:]PORT",
       .kind = Kind::listen,
       .standard = "none",
       .help =
           "Serve the figures so far at http://HOST:PORT/metrics, for Prometheus, while the run "
           "lasts (0: a free port, printed)",
       .group = Group::output,
       .commands = kLoading},
      {.name = "percentiles",
       .value = "LIST",
       .kind = Kind::percentiles,
       .standard = "none more",
       .help = "Percentiles to report beside the usual ones: 97,99.5",
       .group = Group::output,
       .commands = kLoading | kReport,
       .alias = "latency-percentiles"},
      {.name = "name",
       .value = "TEXT",
       .kind = Kind::text,
       .standard = "none",
       .help = "A name for the run, kept in the report",
       .group = Group::output,
       .commands = kLoading},
      {.name = "tag",
       .value = "K=V",
       .kind = Kind::tag,
       .standard = "none",
       .help = "A label for the run, kept in the report (repeatable)",
       .group = Group::output,
       .commands = kLoading,
       .repeatable = true},
      {.name = "quiet",
       .kind = Kind::flag,
       .standard = "off",
       .help = "No live view and no progress: only the report",
       .group = Group::output,
       .commands = kLoading},
      {.name = "color",
       .value = "auto|always|never",
       .kind = Kind::choice,
       .standard = "auto",
       .help = "Colours on the terminal",
       .group = Group::output,
       .commands = kLoading | kDoctor | kReport | kCompare,
       .choices = {"auto", "always", "never"}},
      // Trying
      {.name = "calibrate",
       .kind = Kind::flag,
       .standard = "off",
       .help = "Send the load to the built-in target on a CPU of its own instead: what this host "
               "and the generator allow",
       .group = Group::trying,
       .commands = kLoading},
      {.name = "once",
       .kind = Kind::flag,
       .standard = "off",
       .help = "Send one request and print the whole exchange with its timings",
       .group = Group::trying,
       .commands = kHttp},
      {.name = "print-curl",
       .kind = Kind::flag,
       .standard = "off",
       .help = "Send nothing: print the curl command of the first request, with its secrets",
       .group = Group::trying,
       .commands = kHttp},
      {.name = "dry-run",
       .kind = Kind::flag,
       .standard = "off",
       .help = "Send nothing: print the resolved options, the planned arrivals and the preflight",
       .group = Group::trying,
       .commands = kLoading},
  };
}

std::vector<Option> other_rows() {
  return {
      // Doctor
      {.name = "quick",
       .kind = Kind::flag,
       .standard = "off",
       .help = "Shorter measurements, less exact",
       .group = Group::checks,
       .commands = kDoctor},
      // Documents
      {.name = "write",
       .letter = 'w',
       .kind = Kind::flag,
       .standard = "off",
       .help = "Write the canonical form into the files",
       .group = Group::output,
       .commands = kFormat},
      {.name = "check",
       .kind = Kind::flag,
       .standard = "off",
       .help = "Name the files that differ from their canonical form, and end with 1 if any does",
       .group = Group::output,
       .commands = kFormat},
      // Report
      {.name = "cut",
       .value = "TIME",
       .kind = Kind::duration,
       .standard = "as it was in the run",
       .help = "Leave out the intervals that begin before TIME, and judge the rest again (of a "
               "stream)",
       .group = Group::output,
       .commands = kReport},
      // Everywhere
      {.name = "help",
       .letter = 'h',
       .kind = Kind::flag,
       .standard = "off",
       .help = "Print this help",
       .group = Group::general,
       .commands = kEvery},
      {.name = "version",
       .kind = Kind::flag,
       .standard = "off",
       .help = "Print the version",
       .group = Group::general,
       .commands = kEvery},
  };
}

const std::vector<Option>& rows() {
  static const std::vector<Option> kRows = [] {
    std::vector<Option> all;
    for (auto* part :
         {&load_rows, &curve_rows, &schedule_rows, &http_rows, &bench_rows, &judging_rows,
          &output_rows, &source_rows, &target_rows, &compare_rows, &other_rows}) {
      std::vector<Option> more = (*part)();
      all.insert(all.end(), more.begin(), more.end());
    }
    for (Option& option : all)
      if (is_of_curves(option)) option.commands |= kCurve;
    return all;
  }();
  return kRows;
}

const std::vector<Command>& command_rows() {
  static const std::vector<Command> kCommands{
      {.id = kHttp,
       .name = "http",
       .synopsis = "URL... [options]",
       .summary = "Load an HTTP/1.1 server and report the truth about it",
       .examples =
           {"onbeat http http://127.0.0.1:8080/   # closed: 10 workers, 10 s",
            "onbeat http URL --rate 5000 -d 30s --threshold 'p(99) < 25ms'   # open, judged",
            "onbeat http URL --rate '0..500 over 1m, 500 for 5m' --out html=report.html   # stages",
            "onbeat http URL -X POST -H 'Content-Type: application/json' --body-file order.json "
            "--once   # try one request"},
       .positional = "a URL",
       .most = 10'000},
      {.id = kCurve,
       .name = "curve",
       .synopsis = "URL... --rates RATES [options]",
       .summary = "Measure the latency of an HTTP server at one rate after another, and its knee",
       .examples =
           {"onbeat curve http://127.0.0.1:8080/ --rates 1k..20k   # 8 steps of 5 s",
            "onbeat curve URL --rates 1k,2k,5k -d 30s --out html=curve.html   # as a chart"},
       .positional = "a URL",
       .most = 10'000},
      {.id = kBench,
       .name = "bench",
       .synopsis = "FILE.gctf... [options]",
       .summary = "Load a gRPC service with .gctf documents, and judge its answers",
       .examples =
           {"onbeat bench shop.gctf   # one worker, 100 requests or 30 s",
            "onbeat bench shop.gctf --rate 5000 -d 30s --threshold 'p(99) < 25ms'   # open, judged",
            "onbeat bench tests/ --tags load -c 50 -d 1m --profile-file ours.yaml   # a folder",
            "onbeat bench --call shop.Catalog/GetPrice --data '{sku: \"a-1\"}' --address "
            "localhost:50051   # without a document"},
       .positional = "a document",
       .most = 100'000,
       .fills = "file"},
      {.id = kBench,
       .name = "grpc",
       .synopsis = "FILE.gctf... [options]",
       .summary = "The same as bench",
       .examples = {"onbeat grpc shop.gctf -c 50 -d 1m   # 50 workers on shared connections"},
       .positional = "a document",
       .most = 100'000,
       .fills = "file"},
      {.id = kCall,
       .name = "call",
       .synopsis = "FILE.gctf... [options]",
       .summary = "Carry out a .gctf document once, show the exchange, and judge it",
       .examples = {"onbeat call shop.gctf   # exit code 0: passed, 1: not passed",
                    "onbeat call shop.gctf --address localhost:50051   # somewhere else"},
       .positional = "a document",
       .most = 10'000,
       .fills = "file"},
      {.id = kBenchCompare,
       .name = "bench-compare",
       .synopsis = "BASE CURRENT [options]",
       .summary = "Compare two reports of a bench by fixed tolerances",
       .examples =
           {"onbeat bench-compare base.json new.json   # exit code 1: something got worse",
            "onbeat bench-compare base.json new.json --max-latency-regression 25   # wider"},
       .positional = "a report",
       .most = 2,
       .fills = "report"},
      {.id = kReport,
       .name = "report",
       .synopsis = "RUN [options]",
       .summary = "Write a kept run again: its JSON report, or its stream, in any format",
       .examples = {"onbeat report run.json --out html=run.html   # another format",
                    "onbeat report run.ndjson --cut 5s --percentiles 99.5   # another cut"},
       .positional = "a report (--out json=FILE) or a stream (--stream FILE)",
       .most = 1},
      {.id = kCompare,
       .name = "compare",
       .synopsis = "BASE... --to NEW... [options]",
       .summary = "Compare runs by their JSON reports: what changed, how sure that is, and whether "
                  "it is a regression",
       .examples = {"onbeat compare base-*.json --to new-*.json   # exit code 1 on a regression",
                    "onbeat compare base-*.json --to new-*.json --gate p99.9 --out "
                    "markdown=diff.md   # another gate, a table for a CI summary"},
       .positional = "a JSON report",
       .most = 10'000},
      {.id = kProfiles,
       .name = "profiles",
       .synopsis = "[options]",
       .summary = "List the profiles that --profile knows, with their options",
       .examples = {"onbeat profiles   # the built-in ones",
                    "onbeat profiles --profile-file ours.yaml   # and one's own"}},
      {.id = kTarget,
       .name = "target http",
       .synopsis = "[options]",
       .summary = "Serve HTTP/1.1 and HTTP/2 as a test bench, with delays and faults on demand",
       .examples = {"onbeat target http --port 8080 --delay 5ms   # every answer takes 5 ms",
                    "onbeat target http --port 8080 --bytes 1k --threads 2   # as fast as it can"}},
      {.id = kGrpcTarget,
       .name = "target grpc",
       .synopsis = "[options]",
       .summary = "Answer any gRPC method as a test bench, with delays and faults on demand",
       .examples = {"onbeat target grpc --port 50051   # an empty reply to each message",
                    "onbeat target grpc --port 50051 --fault goaway:every=1000   # and faults"}},
      {.id = kCheck,
       .name = "check",
       .synopsis = "FILE... [options]",
       .summary = "Say all that is wrong with .gctf documents, and send nothing",
       .examples = {"onbeat check tests/   # every .gctf file in the folder",
                    "onbeat check order.gctf --json   # for an editor or a script"},
       .positional = "a file",
       .most = 100'000},
      {.id = kFormat,
       .name = "fmt",
       .synopsis = "FILE... [options]",
       .summary = "Print .gctf documents in their canonical form",
       .examples = {"onbeat fmt order.gctf   # to the terminal",
                    "onbeat fmt -w tests/   # in place",
                    "onbeat fmt --check tests/   # in CI: 1 when a file would change"},
       .positional = "a file",
       .most = 100'000},
      {.id = kDoctor,
       .name = "doctor",
       .synopsis = "[options]",
       .summary = "Measure what this host allows and how exactly it can measure",
       .examples = {"onbeat doctor   # within 45 s",
                    "onbeat doctor --out json=host.json   # for a script"}},
      {.id = kExplain,
       .name = "explain",
       .synopsis = "[CODE]...",
       .summary = "Explain the codes of a verdict: what is measured, why it matters, what to do",
       .examples = {"onbeat explain   # all codes",
                    "onbeat explain lag_p99 censored   # two of them at length"},
       .positional = "a code",
       .most = 100},
      {.id = kCompletion,
       .name = "completion",
       .synopsis = "bash|zsh|fish",
       .summary = "Print the script that completes this program's commands and options in a shell",
       .examples = {"onbeat completion bash > /etc/bash_completion.d/onbeat   # for all users",
                    "onbeat completion words -- http --ra   # what a script asks for"},
       .positional = "a shell",
       .most = 10'000},
      {.id = kManual,
       .name = "man",
       .synopsis = "[options]",
       .summary = "Print the manual page, for man -l -",
       .examples = {"onbeat man | man -l -   # read it"}},
  };
  return kCommands;
}

}  // namespace

namespace {

std::string key_of(std::string_view name) {
  std::string text(name);
  std::ranges::replace(text, '-', '_');
  return text;
}

}  // namespace

std::string Option::key() const { return key_of(name); }

std::string Option::alias_key() const { return key_of(alias); }

std::string Option::environment() const {
  std::string text = "ONBEAT_" + key();
  for (char& c : text) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - ('a' - 'A'));
  }
  return text;
}

std::span<const Option> options() { return rows(); }
std::span<const Command> commands() { return command_rows(); }

const Option* find_option(std::string_view name, std::uint32_t commands) {
  const auto found = std::ranges::find_if(rows(), [&](const Option& option) {
    const bool named = option.name == name || (!option.alias.empty() && option.alias == name);
    return named && (option.commands & commands) != 0;
  });
  return found == rows().end() ? nullptr : &*found;
}

const Option* find_key(std::string_view key, std::uint32_t commands) {
  const auto found = std::ranges::find_if(rows(), [&](const Option& option) {
    const bool named = option.key() == key || (!option.alias.empty() && option.alias_key() == key);
    return named && (option.commands & commands) != 0;
  });
  return found == rows().end() ? nullptr : &*found;
}

const Option* find_letter(char letter, std::uint32_t commands) {
  const auto found = std::ranges::find_if(rows(), [&](const Option& option) {
    return letter != 0 && option.letter == letter && (option.commands & commands) != 0;
  });
  return found == rows().end() ? nullptr : &*found;
}

const Command* find_command(std::string_view name) {
  const auto found = std::ranges::find(command_rows(), name, &Command::name);
  return found == command_rows().end() ? nullptr : &*found;
}

std::string_view title(Group group) {
  switch (group) {
    case Group::load:
      return "Load";
    case Group::schedule:
      return "Schedule";
    case Group::document:
      return "Documents";
    case Group::http:
      return "Request";
    case Group::connection:
      return "Connections";
    case Group::tls:
      return "TLS";
    case Group::expecting:
      return "Expecting";
    case Group::source:
      return "Configuration";
    case Group::judging:
      return "Judging";
    case Group::output:
      return "Output";
    case Group::trying:
      return "Trying";
    case Group::target:
      return "Target";
    case Group::checks:
      return "Checks";
    case Group::general:
      return "General";
  }
  return {};
}

}  // namespace onbeat::options
