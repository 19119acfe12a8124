#include <onbeat/kernel/mix.hpp>
#include <onbeat/kernel/random.hpp>

#include <numeric>
#include <stdexcept>
#include <utility>

namespace onbeat::kernel {
namespace {

constexpr std::int64_t kLongestBlock = 1'000'000;

std::int64_t common_divisor(const std::vector<std::int64_t>& weights) {
  std::int64_t divisor = 0;
  for (const std::int64_t weight : weights) {
    if (weight < 0) throw std::invalid_argument("mix: a weight is negative");
    divisor = std::gcd(divisor, weight);
  }
  if (divisor == 0) throw std::invalid_argument("mix: no item has a weight above 0");
  return divisor;
}

}  // namespace

Mix::Mix(const std::vector<std::int64_t>& weights, std::uint64_t seed)
    : size_(weights.size()), seed_(stream_seed(seed, Stream::mix)) {
  const std::int64_t divisor = common_divisor(weights);
  for (std::uint32_t item = 0; item < weights.size(); ++item) {
    const std::int64_t share = weights[item] / divisor;
    if (share > kLongestBlock - static_cast<std::int64_t>(block_.size())) {
      throw std::invalid_argument(
          "mix: the weights, divided by their common divisor, exceed 1000000 in sum");
    }
    block_.insert(block_.end(), static_cast<std::size_t>(share), item);
  }
}

std::uint32_t Mix::item(std::uint64_t n, Cache& cache) const {
  const std::uint64_t length = block_.size();
  if (length == 1) return block_.front();
  const std::uint64_t block = n / length;
  if (cache.block != block) {
    cache.items = block_;
    Random random(splitmix64(seed_, block));
    for (std::uint64_t left = length; left > 1; --left) {
      std::swap(cache.items[left - 1], cache.items[random.below(left)]);
    }
    cache.block = block;
  }
  return cache.items[n % length];
}

}  // namespace onbeat::kernel
