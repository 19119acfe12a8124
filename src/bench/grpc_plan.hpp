// From documents to what the loops of a gRPC load call: addresses, methods, messages, expectations.
#pragma once

#include "bench/request_message.hpp"
#include "document/prepared.hpp"
#include "document/row_set.hpp"
#include "grpc/client.hpp"
#include "grpc/schema.hpp"
#include "http/peer.hpp"
#include "net/tls.hpp"
#include "options/settings.hpp"
#include "options/surroundings.hpp"
#include "run/workload.hpp"
#include <onbeat/kernel/result.hpp>

#include <array>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace onbeat::bench {

using kernel::Duration;

/// Where calls go to: connections are shared by all that have the same address and TLS settings.
struct GrpcOrigin {
  std::string scheme = "http";  // or "https"
  std::string host;
  std::uint16_t port = 0;
  net::TlsOptions tls;  // of https
  std::string server_name;
  std::vector<net::Address> addresses;

  [[nodiscard]] std::string authority() const;
  [[nodiscard]] bool same_as(const GrpcOrigin& other) const;
};

/// A section that does something, ready.
struct GrpcStep {
  const document::PreparedStep* prepared = nullptr;
  std::vector<RequestMessage> messages;  // of REQUEST
  std::optional<Duration> timeout;       // for each message that is read

  [[nodiscard]] const document::Step& step() const noexcept { return *prepared->step; }
};

/// A document, ready.
struct GrpcCall {
  const document::PreparedDocument* document = nullptr;
  std::string path;  // of its file, for messages
  std::size_t origin = 0;
  const grpc::Schema* schema = nullptr;
  grpc::Method method;
  http::Http2Request request;  // the fields that never vary; of a constant unary call its body, too
  std::size_t varying_headers = 0;  // of `document`, from the first one on that varies
  std::vector<GrpcStep> steps;
  bool gzip = false;
  std::uint64_t retries = 0;
  std::optional<Duration> retry_delay;
  std::optional<Duration> timeout;  // of the document: for each message that is read
  std::size_t last_request = 0;     // the step; steps.size(): none
  bool unary = false;               // one message each way
  bool constant = false;            // `request` is all of it
  bool judged = true;               // it has something to check
  bool expects_error = false;
  kernel::EndpointId endpoint = 0;  // of a chain of one: that of the iteration
  std::size_t id = 0;               // among all calls of the plan
};

/// A file: one iteration.
struct GrpcItem {
  const document::Chain* chain = nullptr;
  std::unique_ptr<const document::PreparedChain> prepared;
  std::vector<GrpcCall> calls;
  std::string name;  // of its endpoint
  kernel::EndpointId endpoint = 0;
  std::size_t id = 0;
};

enum class Checking : std::uint8_t { all, first_fault, sampled, none };

/// The same for every loop; read-only while they run, but for the names and samples (their own
/// locks).
struct GrpcPlan {
  std::vector<GrpcOrigin> origins;
  std::vector<GrpcItem> items;
  std::size_t calls = 0;
  std::vector<std::unique_ptr<const grpc::Schema>> schemas;
  std::unique_ptr<const document::RowSet> rows;  // null: no sources
  bool uses_clock = false;

  std::uint64_t seed = 1;
  Duration timeout = std::chrono::seconds(30);
  Duration connect_timeout = std::chrono::seconds(10);
  Duration keepalive{};
  Checking checking = Checking::all;
  std::uint64_t check_every = 1;   // iterations of a worker
  std::uint64_t record_every = 1;  // iterations of a worker; 0: no latency at all
  std::uint64_t skip_first = 0;    // latencies of each worker
  bool count_errors_in_latency = false;

  std::uint32_t connections = 1;  // of all loops together, to each origin
  unsigned loops = 1;
  kernel::Names* names = nullptr;
  run::ErrorSamples* samples = nullptr;
  std::array<kernel::CodeId, grpc::kStatusCodes> codes{};

  /// Which counters GrpcWorkload::flush() writes, in its order.
  [[nodiscard]] std::vector<std::string> counters() const;
  /// Gives names to endpoints and codes; before the run.
  void intern(kernel::Names& run_names, run::ErrorSamples& run_samples);
};

/// What a run with sources counts beside its connections, the last of its counters.
inline constexpr std::array<std::string_view, 3> kSourceCounters{"source lookups", "source hits",
                                                                 "source in_memory"};

struct GrpcPlanOptions {
  std::string address;  // in place of what documents say; may be empty
  std::uint64_t seed = 1;
  Duration timeout = std::chrono::seconds(30);
  Duration connect_timeout = std::chrono::seconds(10);
  /// Whether a server may be asked for its descriptors. Without, documents that need that are left
  /// out, or (`descriptors_needed`) are an error.
  bool may_connect = true;
  bool descriptors_needed = false;
  bool plain = false;  // no TLS, whatever documents say
};

struct GrpcTarget {
  GrpcPlan plan;
  std::string text;                             // for people
  bool local = false;                           // every address is this host's loopback
  std::optional<options::Problem> unreachable;  // a server that had to be asked did not answer
};

/// Reads descriptors (asks servers for them where no PROTO section says otherwise), compiles
/// messages, resolves names. Blocks. Adds all that is wrong to `problems`; the result is of use
/// only without any.
[[nodiscard]] GrpcTarget make_grpc_target(
    const std::vector<std::unique_ptr<const document::Chain>>& chains,
    std::unique_ptr<const document::RowSet> rows, const GrpcPlanOptions& options,
    const options::Surroundings& surroundings, std::vector<options::Problem>& problems);

/// How connections of one loop to an origin are made.
[[nodiscard]] std::unique_ptr<http::Peer> make_peer(const GrpcOrigin& origin, const GrpcPlan& plan);

}  // namespace onbeat::bench
