// Any bytes as a client of HTTP/2 or gRPC sends them: the target neither crashes nor hangs, and
// every connection comes to its end once the client has closed. Input: a byte of flags (1: gRPC, 2:
// with the preface and empty SETTINGS ahead, 4: with faults, 8: byte by byte), then what the client
// sends.
#include "net/sim.hpp"
#include "target/http2_connection.hpp"
#include "target/http_target.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using namespace onbeat;
using namespace std::chrono_literals;

void require(bool condition) {
  if (!condition) std::abort();
}

target::HttpTargetOptions options(bool grpc, bool faults) {
  target::HttpTargetOptions options{.bytes = 100};
  if (grpc) options.grpc = target::GrpcAnswers{.frame = target::grpc_frame("reply")};
  if (!faults) return options;
  for (const char* text : {"goaway:request=7,wait=1ms", "reset-stream:every=3", "cut:request=9",
                           "window-stall:time=1ms", "interim:every=4", "slow-bytes:request=5",
                           "max-streams:limit=2,request=2", "grpc-status:every=6"})
    options.faults.push_back(target::parse_fault(text).value());
  return options;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const unsigned flags = data[0];
  std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if ((flags & 2) != 0)
    bytes.insert(0, std::string(target::kHttp2Preface) + std::string("\0\0\0\4\0\0\0\0\0", 9));

  net::SimWorld world(1);
  world.set_planner([&](net::SimPlan& plan) {
    if ((flags & 8) != 0) plan.to_server.split = net::SimSplit::bytes;
  });
  net::SimLoop server(world), client(world);
  target::HttpTarget served(server, options((flags & 1) != 0, (flags & 4) != 0));
  auto transport =
      client.connect(served.listen(net::Address::ipv4_loopback(0)).value(), {}).value();
  world.run_until(world.now() + 1ms);
  const std::string_view piece = bytes;
  transport->write_some({&piece, 1});
  world.run_until(world.now() + 1s);
  while (transport->read_some(client.scratch()).bytes > 0) {
  }
  transport->close();
  world.run_until(world.now() + 10s);
  // A fault that the client asked for may hold it longer.
  if (bytes.find("x-fault") == std::string::npos) require(served.counts().open == 0);
  return 0;
}
