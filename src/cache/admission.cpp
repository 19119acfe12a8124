#include "cache/admission.hpp"

#include "cache/frequency_sketch.hpp"
#include <onbeat/kernel/random.hpp>

#include <utility>

namespace onbeat::cache {
namespace {

class Never final : public AdmissionPolicy {
 public:
  bool admits() noexcept override { return false; }
};

class Probabilistic final : public AdmissionPolicy {
 public:
  Probabilistic(double probability, std::uint64_t seed)
      : probability_(probability), random_(seed) {}
  bool admits() noexcept override { return random_.uniform() < probability_; }

 private:
  double probability_;
  kernel::Random random_;
};

class TinyLfu final : public AdmissionPolicy {
 public:
  explicit TinyLfu(std::uint64_t entries) : sketch_(entries) {}
  void used(std::uint64_t hash) noexcept override { sketch_.record(hash); }
  bool admits_instead(std::uint64_t hash, std::uint64_t victim) noexcept override {
    return sketch_.frequency(hash) > sketch_.frequency(victim);
  }

 private:
  FrequencySketch sketch_;
};

// Of a limit of bytes alone nobody knows how many entries it holds.
constexpr std::uint64_t kEntriesWhenUnknown = 4096;

}  // namespace

std::unique_ptr<AdmissionPolicy> make_admission(const Config& config, std::uint64_t entries,
                                                std::uint64_t seed) {
  switch (config.admission) {
    case Admission::always:
      return std::make_unique<AdmissionPolicy>();
    case Admission::never:
      return std::make_unique<Never>();
    case Admission::probabilistic:
      return std::make_unique<Probabilistic>(config.admission_probability, seed);
    case Admission::tinylfu:
      return std::make_unique<TinyLfu>(entries != 0 ? entries : kEntriesWhenUnknown);
  }
  std::unreachable();
}

}  // namespace onbeat::cache
