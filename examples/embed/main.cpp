// Calls your code at a rate that climbs from 10 to 200 a second within 30 s, 5000 times in all.
#include <onbeat/kernel.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

int main(int argc, char** argv) {
  using namespace onbeat::kernel;
  const double speed = argc > 1 ? std::atof(argv[1]) : 1;  // 10: the same in a tenth of the time
  const auto climb = std::chrono::duration_cast<Duration>(std::chrono::seconds(30) / speed);
  Runner run({.work = [](const WorkContext&) -> WorkResult {
                std::this_thread::sleep_for(std::chrono::milliseconds(2));  // your code
                return {.code = "done"};
              },
              .rate = RateProfile::ramp(10 * speed, 200 * speed, climb),
              .workers = 16,
              .max_requests = 5000});
  Stats stats;
  while (const auto sample = run.next()) stats.record(*sample);
  std::puts(to_string(stats.snapshot()).c_str());
}
