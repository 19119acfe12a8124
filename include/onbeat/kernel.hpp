// The load kernel: everything a C++ program needs to drive work at a controlled rate and measure
// it.
#pragma once

#include <onbeat/kernel/clock.hpp>
#include <onbeat/kernel/driver.hpp>
#include <onbeat/kernel/histogram.hpp>
#include <onbeat/kernel/interval.hpp>
#include <onbeat/kernel/labeled_stats.hpp>
#include <onbeat/kernel/live_rate.hpp>
#include <onbeat/kernel/mix.hpp>
#include <onbeat/kernel/random.hpp>
#include <onbeat/kernel/rate.hpp>
#include <onbeat/kernel/recorder.hpp>
#include <onbeat/kernel/result.hpp>
#include <onbeat/kernel/rolling_stats.hpp>
#include <onbeat/kernel/runner.hpp>
#include <onbeat/kernel/sample.hpp>
#include <onbeat/kernel/schedule.hpp>
#include <onbeat/kernel/stats.hpp>
#include <onbeat/kernel/task.hpp>
