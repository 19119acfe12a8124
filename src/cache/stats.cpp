#include <onbeat/cache/stats.hpp>

namespace onbeat::cache {

Stats& Stats::operator+=(const Stats& other) noexcept {
  hits += other.hits;
  misses += other.misses;
  inserts += other.inserts;
  updates += other.updates;
  evictions += other.evictions;
  expirations += other.expirations;
  erases += other.erases;
  rejections.key_size += other.rejections.key_size;
  rejections.value_size += other.rejections.value_size;
  rejections.too_large += other.rejections.too_large;
  rejections.admission += other.rejections.admission;
  rejections.closed += other.rejections.closed;
  entries += other.entries;
  bytes += other.bytes;
  bytes_uncompressed += other.bytes_uncompressed;
  return *this;
}

}  // namespace onbeat::cache
