#include "bench/schema_book.hpp"

#include "grpc/reflection.hpp"
#include "net/epoll_loop.hpp"
#include <onbeat/kernel/task.hpp>

#include <fmt/format.h>

#include <array>
#include <utility>

namespace onbeat::bench {
namespace {

struct Asked {
  grpc::Schema::Made made = std::unexpected(grpc::Schema::Errors{});
  bool connected = false;
};

kernel::Task<void> ask(net::EpollLoop& loop, http::Http2Connection& connection,
                       grpc::ReflectionTarget target, std::string service, Asked& asked) {
  http::Http2Stream stream;
  const http::Exchange opened = co_await connection.open(stream);
  if (opened.error == net::NetError::none) {
    asked.connected = true;
    asked.made = co_await grpc::reflect(loop, connection, std::move(target),
                                        std::vector<std::string>{std::move(service)});
  } else {
    std::string text = net::describe(opened.error, opened.system_error);
    if (!connection.failure().empty()) text += ": " + connection.failure();
    asked.made = std::unexpected(grpc::Schema::Errors{std::move(text)});
  }
  loop.stop();
}

}  // namespace

SchemaBook::Found SchemaBook::known(const std::string& key) const {
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  if (const auto found = failed_.find(key); found != failed_.end())
    return std::unexpected(found->second);
  return nullptr;
}

SchemaBook::Found SchemaBook::keep(std::string key, grpc::Schema::Made made) {
  if (!made) {
    failed_[key] = {.messages = std::move(made.error())};
    return std::unexpected(failed_[key]);
  }
  const grpc::Schema* schema = made->get();
  plan_.schemas.push_back(std::move(*made));
  known_[std::move(key)] = schema;
  return schema;
}

SchemaBook::Found SchemaBook::from_files(const document::ProtoSection& proto) {
  std::string key = "descriptor " + proto.descriptor;
  for (const std::string& file : proto.files) key += "\nfile " + file;
  for (const std::string& path : proto.import_paths) key += "\nimport " + path;
  if (auto found = known(key); !found || *found != nullptr) return found;
  if (!proto.descriptor.empty())
    return keep(std::move(key), grpc::Schema::from_descriptor_sets(std::array{proto.descriptor}));
  return keep(std::move(key), grpc::Schema::from_proto_files(proto.files, proto.import_paths));
}

SchemaBook::Found SchemaBook::from_server(const GrpcOrigin& origin, const std::string& service) {
  std::string key = fmt::format("{}://{} {}", origin.scheme, origin.authority(), service);
  if (auto found = known(key); !found || *found != nullptr) return found;
  net::EpollLoop loop;
  const auto peer = make_peer(origin, plan_);
  http::Http2Connection connection(loop, *peer);
  Asked asked;
  auto task = ask(loop, connection,
                  {.scheme = origin.scheme, .authority = origin.authority(), .metadata = {}},
                  service, asked);
  task.start();
  loop.run();
  connection.cancel();
  auto found = keep(key, std::move(asked.made));
  if (!found && !asked.connected) {
    failed_[key].unreachable = true;
    return std::unexpected(failed_[key]);
  }
  return found;
}

}  // namespace onbeat::bench
