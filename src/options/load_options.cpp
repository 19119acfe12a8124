#include "options/load_options.hpp"

#include "options/bench_threshold.hpp"
#include "options/format.hpp"
#include "options/rate_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace onbeat::options {
namespace {

using kernel::Model;
using kernel::OnLate;
using kernel::OnSaturation;

class Builder {
 public:
  Builder(const Command& command, const Settings& settings, const Vocabulary& vocabulary)
      : command_(command), settings_(settings), vocabulary_(vocabulary) {}

  BuiltOptions run() && {
    read_load();
    read_length();
    read_rate();
    read_levels();
    read_waiting();
    read_judging();
    read_output();
    check_model();
    check_search();
    check_length();
    check_numbers();
    check_output();
    resolve_rows();
    return std::move(built_);
  }

 private:
  void error(std::string_view name, std::string message, std::string hint = {}) {
    built_.errors.push_back({origin(name), std::move(message), std::move(hint), {}, 0});
  }
  void warn(std::string_view name, std::string message, std::string hint = {}) {
    built_.warnings.push_back({origin(name), std::move(message), std::move(hint), {}, 0});
  }
  std::string origin(std::string_view name) const {
    const auto* value = settings_.find(name);
    return value != nullptr ? value->origins.back() : fmt::format("--{}", name);
  }

  /// The value of `name` by its grammar, when it is set and right.
  template <typename Parse>
  auto read(std::string_view name, Parse parse) const
      -> std::optional<typename decltype(parse(std::string_view{}))::value_type> {
    if (!settings_.has(name)) return std::nullopt;
    auto parsed = parse(settings_.text(name));
    if (!parsed) return std::nullopt;
    return std::move(*parsed);
  }
  template <typename Number>
  void read_count(std::string_view name, Number& number) const {
    if (const auto count = read(name, parse_count)) number = static_cast<Number>(*count);
  }
  void read_count(std::string_view name, std::optional<std::uint32_t>& number) const {
    if (const auto count = read(name, parse_count)) number = static_cast<std::uint32_t>(*count);
  }
  void read_time(std::string_view name, Duration& time) const {
    if (const auto duration = read(name, parse_duration)) time = *duration;
  }

  void read_load() {
    options_.closed_concurrency = closed_concurrency(command_.id);
    options_.adaptive = settings_.text("mode") == "adaptive";
    options_.max_rate = read("max-rate", parse_rate);
    if (settings_.text("arrivals") == "poisson") options_.arrivals = kernel::Arrivals::poisson;
    read_count("concurrency", options_.concurrency);
    read_count("connections", options_.connections);
    read_count("threads", options_.threads);
    read_time("warmup", options_.warmup);
    options_.spin = settings_.flag("spin");
    options_.cpu_list = read("cpu-list", parse_cpu_list).value_or(std::vector<unsigned>{});
    read_count("seed", options_.seed);
    options_.once = settings_.flag("once");
    options_.dry_run = settings_.flag("dry-run");
    options_.calibrate = settings_.flag("calibrate");
    const std::string stop = settings_.text("duration-stop");
    if (stop == "close") options_.duration_stop = DurationStop::close;
    if (stop == "ignore") options_.duration_stop = DurationStop::ignore;
    options_.progress_interval = std::chrono::seconds(command_.id == kBench ? 5 : 1);
    read_time("progress-interval", options_.progress_interval);
  }

  void read_length() {
    options_.requests = read("requests", parse_count);
    options_.duration = read("duration", parse_duration);
    length_is_given_ = settings_.has("duration") || settings_.has("requests");
    if (!length_is_given_ && command_.id == kCurve) {
      options_.duration = kStandardStep;
    } else if (!length_is_given_ && options_.adaptive) {
      options_.duration = kStandardSearch;
    } else if (!length_is_given_ && command_.id == kBench) {
      options_.requests = kBenchRequests;
      options_.duration = kBenchDuration;
    }
    const auto most = read("max-duration", parse_duration);
    if (!most) return;
    if (!options_.requests) {
      return warn("max-duration", "has no effect: --duration ends the run",
                  "it ends a run by a number of requests");
    }
    options_.duration = std::min(*most, options_.duration.value_or(*most));
  }

  /// The keys that make a rate, but for the overlays.
  static constexpr std::array<std::string_view, 14> kShapeKeys{
      "max-rps",          "load-schedule",      "load-start",    "load-step",
      "load-end",         "load-step-duration", "load-midpoint", "load-max-duration",
      "load-amplitude",   "load-frequency",     "load-profile",  "load-spike-target",
      "load-spike-after", "load-spike-duration"};

  void read_curve() {
    options_.model = Model::open;
    if (!settings_.has("rates"))
      error("rates", "a curve needs the rates to be tried", "--rates 1k..20k, or --rates 1k,2k,5k");
    const auto list = read("rates", parse_rate_list);
    if (!list) return;
    if (!list->range && settings_.has("steps")) {
      error("steps", "cuts a range: a list of rates says by itself how many there are",
            "--rates 1k..20k");
    }
    std::size_t steps = kStandardSteps;
    read_count("steps", steps);
    options_.curve = spread(*list, std::clamp<std::size_t>(steps, 2, kMostCurveRates));
    if (auto highest = parse_rate_profile(rate_text(options_.curve.back())))
      options_.rate = *highest;
  }

  /// Of --rate and the keys of a schedule, those count that the higher source sets.
  void read_rate() {
    if (command_.id == kCurve) return read_curve();
    const std::string_view* highest = nullptr;
    for (const std::string_view& key : kShapeKeys) {
      if (!settings_.has(key)) continue;
      if (highest == nullptr || settings_.source(key) < settings_.source(*highest)) highest = &key;
    }
    const bool rate = settings_.has("rate");
    if (rate && highest != nullptr && settings_.source("rate") == settings_.source(*highest)) {
      error("rate", fmt::format("contradicts {}", origin(*highest)), "leave one of them out");
    }
    const bool shaped =
        highest != nullptr && (!rate || settings_.source(*highest) < settings_.source("rate"));
    if (shaped || overlaid()) {
      shaped_rate(shaped);
    } else {
      options_.rate = read("rate", parse_rate_profile);
    }
    if (!length_is_given_ && command_.id != kBench && !options_.duration) {
      const bool ends = options_.rate && options_.rate->length.count() > 0;
      options_.duration = ends ? options_.rate->length : kStandardDuration;
    }
    const std::string mode = settings_.text("mode");
    const bool paced = mode == "closed" || mode == "closed-loop";
    if (options_.rate || (rate && !shaped) || options_.adaptive)
      options_.model = paced ? Model::paced : Model::open;
  }

  [[nodiscard]] bool overlaid() const {
    Duration time{};
    read_time("ramp-up", time);
    if (time.count() == 0) read_time("cool-down", time);
    return time.count() != 0;
  }

  void shaped_rate(bool keys) {
    LoadShape shape = keys ? read_shape() : LoadShape();
    const bool stepping = settings_.text("mode") == "stepping";
    using enum LoadShape::Schedule;
    if (stepping && shape.schedule != step && shape.schedule != line) {
      error("mode", "stepping needs load_schedule step or line",
            "with load_start, load_step and load_end");
    }
    if (!keys) {
      const auto rate = read("rate", parse_rate_profile);
      const std::string_view overlay = settings_.has("ramp-up") ? "ramp-up" : "cool-down";
      if (!rate) {
        if (!settings_.has("rate")) error(overlay, "needs a rate", "--max-rps 500, say");
        return;
      }
      if (!rate->constant) {
        return error(overlay, "goes with a constant --rate or with load_schedule",
                     "write the ramp into --rate: '0..500 over 10s, 500 for 1m'");
      }
      shape.max_rps = rate->peak;
    }
    // No rate at all: as fast as the workers can.
    if (shape.schedule == constant && shape.max_rps.value_or(shape.start.value_or(0)) == 0) return;
    read_time("ramp-up", shape.ramp_up);
    read_time("cool-down", shape.cool_down);
    if (!length_is_given_ && command_.id != kBench && !options_.duration)
      options_.duration = kStandardDuration;
    auto made = make_rate(shape, {options_.duration, options_.requests});
    if (!made)
      return error(shape.cool_down.count() > 0 ? "cool-down" : "load-schedule", made.error());
    options_.rate = std::move(*made);
    if (options_.duration) *options_.duration += shape.cool_down;
  }

  LoadShape read_shape() const {
    LoadShape shape;
    shape.schedule = load_schedule_named(settings_.text("load-schedule"))
                         .value_or(LoadShape::Schedule::constant);
    shape.max_rps = read("max-rps", parse_rate);
    shape.start = read("load-start", parse_rate);
    shape.step = read("load-step", parse_number).value_or(0);
    shape.end = read("load-end", parse_rate);
    read_time("load-step-duration", shape.step_duration);
    shape.max_duration = read("load-max-duration", parse_duration);
    shape.midpoint = read("load-midpoint", parse_rate);
    shape.amplitude = read("load-amplitude", parse_number);
    shape.frequency = read("load-frequency", parse_number).value_or(shape.frequency);
    shape.spike_target = read("load-spike-target", parse_rate);
    shape.spike_after = read("load-spike-after", parse_seconds).value_or(shape.spike_after);
    shape.spike_duration =
        read("load-spike-duration", parse_seconds).value_or(shape.spike_duration);
    shape.points = read("load-profile", parse_load_points).value_or(shape.points);
    return shape;
  }

  void read_levels() {
    if (command_.id != kBench) return;
    const std::string schedule = settings_.text("concurrency-schedule");
    const bool sweeps = schedule == "step" || schedule == "line";
    for (const std::string_view name : {"concurrency-start", "concurrency-end", "concurrency-step",
                                        "concurrency-step-duration"}) {
      if (!sweeps && settings_.has(name)) error(name, "needs concurrency_schedule step or line");
    }
    if (!sweeps) return;
    const std::uint32_t usual = options_.concurrency.value_or(options_.closed_concurrency);
    std::uint32_t from = usual, to = usual;
    read_count("concurrency-start", from);
    read_count("concurrency-end", to);
    std::uint32_t step = schedule == "line" ? 1 : std::max(from, to) - std::min(from, to);
    read_count("concurrency-step", step);
    options_.level_duration = read("concurrency-step-duration", parse_duration);
    step = std::max(step, 1U);
    for (std::uint64_t level = from; options_.levels.size() <= kMostLevels;) {
      options_.levels.push_back(static_cast<std::uint32_t>(level));
      if (level == to) break;
      level = from < to ? std::min<std::uint64_t>(level + step, to)
                        : (level > to + std::uint64_t{step} ? level - step : to);
    }
    if (options_.levels.size() > kMostLevels) {
      error("concurrency-step", fmt::format("more than {} levels", kMostLevels),
            "take larger steps");
    }
  }

  void read_waiting() {
    options_.late = read("on-late", parse_on_late).value_or(LatePolicy{});
    read_time("late-after", options_.late_after);
    read_time("catch-up-limit", options_.catch_up_limit);
    if (settings_.text("on-saturation") == "drop") options_.on_saturation = OnSaturation::drop;
    read_count("queue-limit", options_.queue_limit);
    options_.timeout = kStandardTimeout;
    if (command_.id == kBench && settings_.has("duration") && options_.duration)
      options_.timeout = read("duration", parse_duration).value_or(kStandardTimeout);
    read_time("timeout", options_.timeout);
    options_.max_wait = options_.timeout;
    read_time("max-wait", options_.max_wait);
    options_.drain = std::min(options_.timeout, kLongestStandardDrain);
    // Asked for in so many words, they may take as long as they may.
    if (settings_.has("duration-stop")) options_.drain = options_.timeout;
    read_time("drain", options_.drain);
  }

  void read_judging() {
    for (const std::string& text : settings_.all("threshold")) {
      if (auto threshold = parse_threshold(text, vocabulary_))
        options_.thresholds.push_back(*threshold);
    }
    if (command_.id == kBench) {
      for (const std::string& text : settings_.all("thresholds"))
        if (auto threshold = parse_bench_threshold(text)) options_.thresholds.push_back(*threshold);
    }
    for (const std::string& text : settings_.all("abort-on")) {
      if (auto rule = parse_abort(text, vocabulary_)) options_.aborts.push_back(*rule);
    }
    for (const std::string& text : settings_.all("limit")) {
      const auto limit = parse_limit(text);
      if (!limit) continue;
      if (options_.limits.changed().contains(limit->first)) {
        error("limit", fmt::format("{} is set twice", limit->first), "only one of them can count");
      }
      options_.limits.set(limit->first, limit->second);
    }
    options_.strict = settings_.flag("strict");
    options_.allow_invalid = settings_.flag("allow-invalid");
  }

  void read_output() {
    const Option& out = *find_option("out", command_.id);
    for (const std::string& text : settings_.all("out")) {
      if (auto output = parse_out(text, out.choices)) options_.outs.push_back(*output);
    }
    for (const std::string& text : settings_.all("tag")) {
      if (auto tag = parse_tag(text)) options_.tags.push_back(*tag);
    }
    options_.percentiles = read("percentiles", parse_percentiles).value_or(std::vector<double>{});
    options_.stream = settings_.text("stream");
    options_.metrics = read("metrics", parse_listen);
    options_.name = settings_.text("name");
    options_.json = settings_.flag("json");
    options_.quiet = settings_.flag("quiet");
    const std::string color = settings_.text("color");
    if (color == "always") options_.color = Color::always;
    if (color == "never") options_.color = Color::never;
  }

  /// Options that say something about a model which this run is not.
  void check_model() {
    const std::string mode = settings_.text("mode");
    if (options_.model == Model::closed) {
      if (mode == "open") error("mode", "an open run needs --rate");
      for (const std::string_view name : {"arrivals", "on-late", "late-after", "catch-up-limit",
                                          "on-saturation", "max-wait", "queue-limit", "spin"}) {
        if (settings_.has(name) && settings_.text(name) != "false") {
          error(name, "needs --rate: without one, workers never wait for an arrival");
        }
      }
      return;
    }
    const bool drops = options_.on_saturation == OnSaturation::drop;
    if (options_.model == Model::paced && drops) {
      error("on-saturation",
            "drop needs an open run: with --mode closed, arrivals wait for a worker");
    }
    if (options_.model == Model::paced && settings_.has("queue-limit")) {
      error("queue-limit", "needs an open run: with --mode closed, arrivals wait for a worker");
    }
    if (drops && settings_.has("max-wait"))
      error("max-wait", "nothing waits with --on-saturation drop");
    if (drops && options_.model == Model::open && settings_.has("queue-limit")) {
      error("queue-limit", "nothing waits with --on-saturation drop");
    }
    if (options_.late.on_late == OnLate::skip && settings_.has("catch-up-limit")) {
      error("catch-up-limit", "nothing is caught up with: --on-late is skip");
    }
    if (options_.late.on_late != OnLate::skip && settings_.has("late-after")) {
      warn("late-after", "has no effect unless --on-late is skip");
    }
  }

  void check_search() {
    if (!options_.adaptive) {
      if (options_.max_rate) error("max-rate", "needs --mode adaptive", "--rate sets the rate");
      return;
    }
    if (std::ranges::none_of(options_.thresholds, &Threshold::limits_rate) &&
        settings_.all("threshold").size() == options_.thresholds.size()) {
      error("mode", "adaptive needs a --threshold that a rate can be too high for",
            "--threshold 'p(99) < 25ms', or 'error_rate < 1%'");
    }
    if (settings_.has("requests")) {
      error("requests", "contradicts --mode adaptive: the search takes as many as it needs",
            "--duration bounds it");
    }
    if (options_.rate && !options_.rate->constant) {
      error("rate", "is the first rate of an adaptive run: one number", "--rate 500");
    }
    if (options_.max_rate && *options_.max_rate == 0) error("max-rate", "must be more than 0");
    if (options_.rate && options_.max_rate && options_.rate->peak > *options_.max_rate) {
      error("max-rate", "is lower than the first rate, --rate");
    }
    if (options_.once) error("mode", "adaptive contradicts --once", "leave one of them out");
  }

  void check_length() {
    for (const std::string_view name : {"duration", "timeout", "late-after"}) {
      const auto time = read(name, parse_duration);
      if (time && time->count() == 0) error(name, "must be longer than 0");
    }
    if (!options_.rate) return;
    const RateSpec& rate = *options_.rate;
    const Duration window = options_.duration.value_or(kLongestDuration);
    if (rate.peak == 0 || (window.count() > 0 && !(rate.profile.arrivals_by(window) > 0))) {
      error("rate", "the rate is 0 throughout the run: nothing would be sent",
            "without --rate the run goes as fast as its workers can");
    }
    if (options_.duration && *options_.duration < rate.length) {
      warn("duration", fmt::format("the run ends after {}, the rate's shape only after {}",
                                   duration_text(*options_.duration), duration_text(rate.length)));
    }
  }

  void check_numbers() {
    check_connections();
    if (options_.strict && options_.allow_invalid) {
      error("strict", "contradicts --allow-invalid", "leave one of them out");
    }
    if (options_.once && options_.dry_run) {
      error("once", "contradicts --dry-run, which sends nothing", "leave one of them out");
    }
    for (const AbortRule& rule : options_.aborts) {
      if (options_.duration && rule.window > *options_.duration) {
        warn("abort-on",
             fmt::format("a window of {} is never full in a run of {}", duration_text(rule.window),
                         duration_text(*options_.duration)));
      }
    }
  }

  void check_connections() {
    if (!options_.connections) return;
    const bool closed = options_.model != Model::open;
    if (!closed && !options_.concurrency && options_.levels.empty()) return;
    std::uint32_t workers = options_.concurrency.value_or(options_.closed_concurrency);
    if (!options_.levels.empty()) workers = std::ranges::max(options_.levels);
    const std::uint32_t connections = *options_.connections;
    if (connections > workers) {
      error("connections",
            fmt::format("{} connections are more than the {} requests in flight ever need",
                        format_count(connections), format_count(workers)),
            fmt::format("--concurrency {}, or fewer connections", connections));
    } else if (connections < workers && closed && command_.id == kHttp &&
               !settings_.has("pipeline") &&
               (settings_.text("http-version").empty() ||
                settings_.text("http-version") == "1.1")) {
      warn("connections",
           fmt::format(
               "{} of {} workers can be busy at once: HTTP/1.1 takes one request a connection",
               format_count(connections), format_count(workers)));
    }
  }

  void check_output() {
    std::map<std::string, std::string_view> paths;
    const auto add = [&](const std::string& path, std::string_view name) {
      if (path.starts_with("/dev/")) return;
      if (!paths.emplace(path, name).second) {
        error(name, fmt::format("{} is written to twice", path), "give each output its own file");
      }
    };
    for (const Output& output : options_.outs) add(output.path, "out");
    if (std::ranges::count(options_.outs, "samples", &Output::format) > 1)
      error("out", "samples are written once", "give one samples=FILE");
    if (!options_.stream.empty()) add(options_.stream, "stream");
    std::map<std::string, int> keys;
    for (const auto& [key, value] : options_.tags) {
      if (++keys[key] == 2) error("tag", fmt::format("{} is set twice", key));
    }
  }

  bool has(const Option& option) const {
    return (option.commands & command_.id) != 0 && settings_.has(option.name);
  }

  /// What holds for `option`, as text; nothing secret.
  std::string value_text(const Option& option) const {
    const std::string_view name = option.name;
    if (name == "rate" && options_.rate) return options_.rate->text;
    if (name == "method" && !settings_.has(name)) {
      const bool body = std::ranges::any_of(
          options(), [&](const Option& row) { return row.family == "body" && has(row); });
      return body ? "POST" : "GET";
    }
    if (name == "duration") return options_.duration ? duration_text(*options_.duration) : "none";
    if (name == "requests") {
      return options_.requests     ? fmt::format("{}", *options_.requests)
             : settings_.has(name) ? settings_.text(name)
                                   : standard_text(option);
    }
    if (name == "timeout") return duration_text(options_.timeout);
    if (name == "drain") return duration_text(options_.drain);
    if (options_.model != Model::closed) {
      if (name == "max-wait" && options_.on_saturation == OnSaturation::queue) {
        return duration_text(options_.max_wait);
      }
    }
    if (!settings_.has(name)) return standard_text(option);
    if (option.kind == Kind::duration) {
      return duration_text(read(name, parse_duration).value_or(Duration{}));
    }
    if (option.kind == Kind::count) return fmt::format("{}", read(name, parse_count).value_or(0));
    std::vector<std::string> texts = settings_.all(name);
    if (option.kind == Kind::out) {
      for (std::string& text : texts) text = without_secrets(text);
    }
    if (option.secret) {
      for (std::string& text : texts) text = without_secret(option, text);
    }
    return fmt::format("{}", fmt::join(texts, ", "));
  }

  std::string standard_text(const Option& option) const {
    const std::string_view name = option.name;
    if (option.kind == Kind::flag) return "false";
    if (name == "concurrency" && options_.model == Model::closed) {
      return fmt::format("{}", options_.closed_concurrency);
    }
    if (name == "concurrency" || name == "threads" || name == "connections") return {};
    if (name == "rate" && options_.adaptive) return {};
    if (name == "max-wait" || name == "rate") return "none";
    return std::string(option.standard);
  }

  static std::string without_secret(const Option& option, const std::string& text) {
    if (option.kind == Kind::header) {
      if (text.starts_with('@')) return text;
      const auto colon = text.find(':');
      return colon == std::string::npos ? "..." : text.substr(0, colon) + ": ...";
    }
    if (option.kind == Kind::user) return text.substr(0, text.find(':')) + ":...";
    if (option.kind == Kind::form) return text.substr(0, text.find('=')) + "=...";
    if (option.name == "proxy") return text.substr(text.rfind('@') + 1);
    return fmt::format("({} bytes)", text.size());
  }

  void resolve_rows() {
    for (const Option& option : options()) {
      // What is loaded stands in the report by itself.
      const bool target = option.kind == Kind::endpoint || option.kind == Kind::curl;
      const bool tells = option.group != Group::general && option.group != Group::trying && !target;
      if ((option.commands & command_.id) == 0 || !tells) continue;
      options_.resolved.push_back(
          {option.key(), value_text(option), settings_.source(option.name)});
    }
  }

  const Command& command_;
  const Settings& settings_;
  const Vocabulary& vocabulary_;
  BuiltOptions built_;
  LoadOptions& options_ = built_.options;
  bool length_is_given_ = false;
};

}  // namespace

BuiltOptions build_load_options(const Command& command, const Settings& settings,
                                const Vocabulary& vocabulary) {
  return Builder(command, settings, vocabulary).run();
}

}  // namespace onbeat::options
