// A gRPC server for the tests, by another implementation (grpc++). It listens on ports of its own
// choice, prints them on one line ("PLAIN" or "PLAIN TLS"), and ends when its standard input does.
//   grpc_peer [CERTIFICATE KEY CLIENT_CA]      with them also over TLS, clients with a certificate
// The generated code is included, so that these headers are compiled once.
#include "peer.grpc.pb.cc"
#include "peer.pb.cc"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <fstream>
#include <iostream>
#include <iterator>
#include <thread>

namespace {

using grpc::ServerContext;
using grpc::Status;
using onbeat::peer::Everything;
using onbeat::peer::Message;

Status wait(ServerContext& context, int milliseconds) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
  while (std::chrono::steady_clock::now() < until) {
    if (context.IsCancelled()) return {grpc::StatusCode::CANCELLED, "the client has gone"};
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return Status::OK;
}

void send_metadata_back(ServerContext& context) {
  for (const auto& [key, value] : context.client_metadata()) {
    std::string name(key.data(), key.size());
    if (name.rfind("x-", 0) != 0) continue;
    const std::string content(value.data(), value.size());
    context.AddInitialMetadata(name, content);
    const bool binary = name.size() > 4 && name.substr(name.size() - 4) == "-bin";
    name.insert(binary ? name.size() - 4 : name.size(), "-trailer");
    context.AddTrailingMetadata(name, content);
  }
}

class Peer final : public onbeat::peer::Peer::Service {
  Status Echo(ServerContext* context, const Message* in, Message* out) override {
    send_metadata_back(*context);
    if (in->compress()) context->set_compression_algorithm(GRPC_COMPRESS_GZIP);
    const Status waited = wait(*context, in->delay_ms());
    *out = *in;
    return waited;
  }
  Status Collect(ServerContext*, grpc::ServerReader<Message>* in, Message* out) override {
    Message each;
    int messages = 0;
    while (in->Read(&each)) {
      ++messages;
      out->set_count(out->count() + each.count());
      out->set_text(out->text() + each.text());
    }
    out->set_delay_ms(messages);
    return Status::OK;
  }
  Status Expand(ServerContext* context, const Message* in,
                grpc::ServerWriter<Message>* out) override {
    if (in->compress()) context->set_compression_algorithm(GRPC_COMPRESS_GZIP);
    Message each = *in;
    for (int i = 0; i < in->count(); ++i) {
      if (const Status waited = wait(*context, in->delay_ms()); !waited.ok()) return waited;
      each.set_count(i);
      if (!out->Write(each)) return {grpc::StatusCode::CANCELLED, ""};
    }
    return Status::OK;
  }
  Status Chat(ServerContext*, grpc::ServerReaderWriter<Message, Message>* stream) override {
    for (Message each; stream->Read(&each);) stream->Write(each);
    return Status::OK;
  }
  Status Fail(ServerContext*, const Message* in, Message*) override {
    return {static_cast<grpc::StatusCode>(in->count()), in->text(), in->fill()};
  }
  Status Nothing(ServerContext*, const google::protobuf::Empty*,
                 google::protobuf::Empty*) override {
    return Status::OK;
  }
  Status Mirror(ServerContext*, const Everything* in, Everything* out) override {
    *out = *in;
    return Status::OK;
  }
};

std::string contents(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

int main(int count, char** arguments) {
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  Peer peer;
  grpc::ServerBuilder builder;
  int plain = 0, secure = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &plain);
  if (count == 4) {
    grpc::SslServerCredentialsOptions options(
        GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
    options.pem_key_cert_pairs.push_back({contents(arguments[2]), contents(arguments[1])});
    options.pem_root_certs = contents(arguments[3]);
    builder.AddListeningPort("127.0.0.1:0", grpc::SslServerCredentials(options), &secure);
  }
  builder.RegisterService(&peer);
  const auto server = builder.BuildAndStart();
  if (!server) return 1;
  std::cout << plain;
  if (secure != 0) std::cout << " " << secure;
  std::cout << std::endl;
  std::cin.get();
  server->Shutdown(std::chrono::system_clock::now());
}
