#include "cli/target_command.hpp"

#include "cli/console.hpp"
#include "options/grammar.hpp"
#include "run/host.hpp"
#include "target/target_server.hpp"

#include <algorithm>
#include <cstdio>
#include <string>

namespace onbeat::cli {

int target_command(const options::Settings& settings) {
  std::vector<options::Problem> problems;
  target::HttpTargetOptions target;
  if (settings.has("delay")) target.delay = options::parse_duration(settings.text("delay")).value();
  if (settings.has("bytes")) target.bytes = options::parse_size(settings.text("bytes")).value();
  auto faults = target::parse_faults(settings.all("fault"));
  if (faults) {
    target.faults = std::move(*faults);
  } else {
    problems.push_back({.where = "--fault", .message = faults.error(), .hint = {}, .text = {}});
  }
  std::uint16_t port = 0;
  if (settings.has("port"))
    port = static_cast<std::uint16_t>(options::parse_count(settings.text("port")).value());
  unsigned threads = 1;
  if (settings.has("threads"))
    threads = static_cast<unsigned>(options::parse_count(settings.text("threads")).value());
  const std::string host = settings.has("address") ? settings.text("address") : "127.0.0.1";
  const auto addresses = net::resolve(host, port);
  if (!addresses)
    problems.push_back({.where = "--address",
                        .message = addresses.error(),
                        .hint = "an address of this host",
                        .text = host});
  if (!problems.empty()) {
    show(problems);
    return static_cast<int>(run::ExitCode::usage);
  }
  static_cast<void>(run::read_host());  // raises the limit of descriptors
  return target::run_http_target(target, addresses->front(), threads, stdout, stderr);
}

}  // namespace onbeat::cli
