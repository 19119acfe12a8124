#include "target/fault_plan.hpp"

#include <onbeat/kernel/random.hpp>

#include <algorithm>

namespace onbeat::target {
namespace {

std::int64_t ns(Instant instant) noexcept { return instant.time_since_epoch().count(); }
Instant instant(std::int64_t ns) noexcept { return Instant(Duration(ns)); }

bool stops(const Fault& fault) noexcept {
  return fault.kind == FaultKind::stall || fault.kind == FaultKind::freeze;
}

// Of [0, 1): the same for one seed and request number on every run.
double draw(std::uint64_t seed, std::uint64_t number) noexcept {
  return static_cast<double>(kernel::splitmix64(seed, number) >> 11) * 0x1p-53;
}

}  // namespace

void Effects::add(const Fault& fault) noexcept {
  switch (fault.kind) {
    case FaultKind::delay:
      delay += fault.time;
      break;
    case FaultKind::status:
      status = static_cast<int>(fault.code);
      break;
    case FaultKind::reset:
      reset = true;
      break;
    case FaultKind::close:
      unanswered = unanswered || fault.mode == CloseMode::unanswered;
      say_close = say_close || fault.mode == CloseMode::said;
      close = true;
      close_wait = std::max(close_wait, fault.time);
      break;
    case FaultKind::cut:
      cut = true;
      cut_at = fault.bytes;
      break;
    case FaultKind::slow_bytes:
      slow_bytes = fault.bytes.value_or(1);
      slow_gap = fault.time;
      break;
    case FaultKind::garbage:
      garbage = close = true;
      break;
    case FaultKind::interim:
      interim = true;
      break;
    case FaultKind::trailers:
      trailers = true;
      break;
    case FaultKind::excess:
      excess = fault.bytes.value_or(10);
      break;
    case FaultKind::goaway:
      if (fault.on_connect) break;
      goaway = fault.code;
      goaway_wait = fault.time;
      break;
    case FaultKind::max_streams:
      max_streams = static_cast<std::uint32_t>(fault.beyond);
      break;
    case FaultKind::reset_stream:
      reset_stream = fault.code;
      break;
    case FaultKind::window_stall:
      window_stall = std::max(window_stall, fault.time);
      break;
    case FaultKind::grpc_status:
      grpc_status = fault.code;
      grpc_message = fault.message;
      status_in_trailers = fault.in_trailers;
      break;
    case FaultKind::no_grpc_status:
      no_grpc_status = true;
      break;
    case FaultKind::stall:
    case FaultKind::freeze:
    case FaultKind::capacity:
    case FaultKind::refuse:
      break;  // of the whole server: see FaultPlan
  }
}

FaultPlan::FaultPlan(std::vector<Fault> faults)
    : faults_(std::move(faults)),
      stall_(ns(Instant::min())),
      freeze_(ns(Instant::min())),
      server_free_(ns(Instant::min())) {
  for (const Fault& fault : faults_) {
    if (fault.kind == FaultKind::refuse)
      connection_limit_ = std::min(connection_limit_, fault.beyond);
    if (stops(fault)) stops_ = true;
    if (fault.kind == FaultKind::goaway && fault.on_connect) goaway_on_connect_ = fault.code;
    if (fault.kind == FaultKind::max_streams && fault.strikes_all())
      max_streams_ = static_cast<std::uint32_t>(fault.beyond);
  }
}

bool FaultPlan::enter() noexcept {
  if (open_.fetch_add(1, std::memory_order_relaxed) < connection_limit_) return true;
  leave();
  return false;
}

Effects FaultPlan::strike(Instant now, std::span<const Fault> own) noexcept {
  const std::uint64_t number = requests_.fetch_add(1, std::memory_order_relaxed) + 1;
  if (std::int64_t not_yet = kNotYet; first_.load(std::memory_order_relaxed) == kNotYet)
    first_.compare_exchange_strong(not_yet, ns(now), std::memory_order_relaxed);
  Effects effects;
  for (const Fault& fault : faults_)
    if (strikes(fault, number, now)) apply(fault, now, effects);
  for (const Fault& fault : own) apply(fault, now, effects);
  return effects;
}

bool FaultPlan::strikes(const Fault& fault, std::uint64_t number, Instant now) const noexcept {
  if (number % fault.every != 0) return false;
  if (fault.request && number != *fault.request) return false;
  if (fault.share < 1 && draw(fault.seed, number) >= fault.share) return false;
  if (stops(fault)) return !fault.at;  // with `at` it is of the clock, not of a request
  if (!fault.at && !fault.lasts) return true;
  const Instant begins =
      instant(first_.load(std::memory_order_relaxed)) + fault.at.value_or(Duration{0});
  return now >= begins && (!fault.lasts || now < begins + *fault.lasts);
}

void FaultPlan::apply(const Fault& fault, Instant now, Effects& effects) noexcept {
  if (stops(fault)) {
    const Instant end = now + fault.lasts.value_or(Duration{0});
    stop(fault.kind == FaultKind::stall ? stall_ : freeze_, end);
  } else if (fault.kind == FaultKind::capacity) {
    effects.not_before = std::max(effects.not_before, queue(now, fault.time));
  } else {
    effects.add(fault);
  }
}

void FaultPlan::stop(std::atomic<std::int64_t>& what, Instant until) noexcept {
  std::int64_t present = what.load(std::memory_order_relaxed);
  while (present < ns(until) && !what.compare_exchange_weak(present, ns(until))) {
  }
  stops_.store(true, std::memory_order_relaxed);
}

// Takes a place at the end of the queue; returns when the request will have been served.
Instant FaultPlan::queue(Instant now, Duration service) noexcept {
  std::int64_t free = server_free_.load(std::memory_order_relaxed);
  std::int64_t done = 0;
  do done = std::max(free, ns(now)) + service.count();
  while (!server_free_.compare_exchange_weak(free, done));
  return instant(done);
}

Instant FaultPlan::until(FaultKind kind, const std::atomic<std::int64_t>& struck,
                         Instant now) const noexcept {
  Instant end = std::max(now, instant(struck.load(std::memory_order_relaxed)));
  const std::int64_t first = first_.load(std::memory_order_relaxed);
  if (first == kNotYet) return end;
  for (const Fault& fault : faults_) {
    if (fault.kind != kind || !fault.at) continue;
    const Instant begins = instant(first) + *fault.at;
    if (now >= begins) end = std::max(end, begins + fault.lasts.value_or(Duration{0}));
  }
  return end;
}

}  // namespace onbeat::target
