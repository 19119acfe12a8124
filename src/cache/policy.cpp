#include "cache/policy.hpp"

#include <utility>

namespace onbeat::cache {

std::unique_ptr<Policy> make_policy(Eviction eviction, std::uint64_t entries) {
  switch (eviction) {
    case Eviction::lru:
      return make_lru();
    case Eviction::wtinylfu:
      return make_wtinylfu(entries);
    case Eviction::s3fifo:
      return make_s3fifo();
    case Eviction::sieve:
      return make_sieve();
    case Eviction::fifo:
      return make_fifo();
    case Eviction::clock:
      return make_clock();
  }
  std::unreachable();
}

}  // namespace onbeat::cache
