// Onbeat's cache: the one that `onbeat cache` puts under test, and a library of its own.
#pragma once

#include <onbeat/cache/cache.hpp>
#include <onbeat/cache/config.hpp>
#include <onbeat/cache/stats.hpp>
