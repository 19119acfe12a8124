// Server reflection: a server's own description of its services.
// Source: grpc/reflection/v1/reflection.proto; v1alpha is the same under an older name.
#pragma once

#include "grpc/schema.hpp"
#include "http/http2_connection.hpp"
#include <onbeat/kernel/task.hpp>

#include <expected>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace onbeat::grpc {

struct ReflectionTarget {
  std::string scheme = "http";
  std::string authority;
  std::vector<std::pair<std::string, std::string>> metadata;  // as of a call (CallOptions)
  kernel::Duration timeout = std::chrono::seconds(5);         // for each exchange of it
};

/// The schema of these services ("package.Service"); of all that the server lists when none is
/// given. Asks by v1, then by v1alpha where the server knows no other. The errors say what the
/// server answered; for a service that it does not have, which there are. For set-up: it allocates.
/// What is passed by reference must live until it is done.
[[nodiscard]] kernel::Task<Schema::Made> reflect(net::Loop& loop, http::Http2Connection& connection,
                                                 ReflectionTarget target,
                                                 std::vector<std::string> services);

}  // namespace onbeat::grpc
