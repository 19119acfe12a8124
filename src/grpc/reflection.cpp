#include "grpc/reflection.hpp"

#include "grpc/client.hpp"
#include "options/nearest.hpp"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/unknown_field_set.h>

#include <map>
#include <set>

namespace onbeat::grpc {
namespace {

namespace pb = google::protobuf;
using Fields = pb::UnknownFieldSet;

// Numbers of the fields (ServerReflectionRequest and ServerReflectionResponse).
enum Ask : int { file_by_filename = 3, file_containing_symbol = 4, list_services = 7 };
enum Answer : int { file_descriptors = 4, services = 6, error = 7 };

constexpr std::string_view kVersions[] = {"v1", "v1alpha"};

std::string request_of(Ask ask, const std::string& what) {
  Fields request;
  request.AddLengthDelimited(ask, what);
  std::string bytes;
  request.SerializeToString(&bytes);
  std::string framed;
  append_message(framed, bytes);
  return framed;
}

/// Calls `take` with each field of that number that holds bytes.
template <class Take>
void each_bytes(const Fields& fields, int number, Take take) {
  for (int i = 0; i < fields.field_count(); ++i) {
    const pb::UnknownField& field = fields.field(i);
    if (field.number() == number && field.type() == pb::UnknownField::TYPE_LENGTH_DELIMITED)
      take(field.length_delimited());
  }
}

/// One answer: files, names of services, or an error.
struct Reply {
  std::vector<std::string> files;
  std::vector<std::string> services;
  std::string error;
  bool unimplemented = false;  // the server has no reflection of this version
};

Reply parse_reply(std::string_view message) {
  Reply reply;
  Fields response;
  if (!response.ParseFromArray(message.data(), static_cast<int>(message.size()))) {
    reply.error = "its answer cannot be parsed";
    return reply;
  }
  each_bytes(response, Answer::file_descriptors, [&](const std::string& bytes) {
    Fields files;
    if (files.ParseFromString(bytes))
      each_bytes(files, 1, [&](const std::string& file) { reply.files.push_back(file); });
  });
  each_bytes(response, Answer::services, [&](const std::string& bytes) {
    Fields list;
    if (!list.ParseFromString(bytes)) return;
    each_bytes(list, 1, [&](const std::string& entry) {
      Fields service;
      if (service.ParseFromString(entry))
        each_bytes(service, 1, [&](const std::string& name) { reply.services.push_back(name); });
    });
  });
  each_bytes(response, Answer::error, [&](const std::string& bytes) {
    Fields fault;
    reply.error = "it answered with an error";
    if (fault.ParseFromString(bytes))
      each_bytes(fault, 2, [&](const std::string& words) { reply.error = words; });
  });
  return reply;
}

/// Asks one server; knows which version it speaks.
class Asker {
 public:
  Asker(net::Loop& loop, http::Http2Connection& connection, const ReflectionTarget& target)
      : loop_(loop), connection_(connection), target_(target) {}

  // By value: what is asked may be a temporary.
  kernel::Task<Reply> ask(Ask what, std::string name) {
    const std::string framed = request_of(what, name);
    Reply reply;
    for (;;) {
      reply = co_await once(framed);
      if (!reply.unimplemented || version_ + 1 == std::size(kVersions)) break;
      ++version_;
    }
    co_return reply;
  }

 private:
  // A stream for each question: simpler than one for all, and a server may end it at any time.
  kernel::Task<Reply> once(const std::string& framed) {
    CallOptions options{
        .path = "/grpc.reflection." + std::string(kVersions[version_]) +
                ".ServerReflection/ServerReflectionInfo",
        .scheme = target_.scheme,
        .authority = target_.authority,
        .timeout = target_.timeout,
        .metadata = target_.metadata,
    };
    const http::Http2Request request{call_fields(options), framed};
    // Files of descriptors may be larger than what a load test takes.
    Call call(loop_, {.max_receive = 64 * kDefaultMaxMessage});
    Reply reply;
    bool answered = false;
    if (co_await call.start(connection_, request, loop_.now() + target_.timeout,
                            Shape::bidi_stream) &&
        co_await call.half_close()) {
      while (co_await call.more()) {
        while (call.next()) {
          reply = parse_reply(call.message());
          answered = true;
        }
      }
    }
    const CallOutcome& outcome = call.finish();
    if (answered && outcome.status == StatusCode::ok) co_return reply;
    reply.unimplemented = outcome.status == StatusCode::unimplemented;
    if (outcome.status == StatusCode::ok) {
      reply.error = "it sent no answer";
    } else {
      reply.error = std::string(to_string(outcome.status));
      if (const std::string words = call.status_message(); !words.empty())
        reply.error += ": " + words;
    }
    co_return reply;
  }

  net::Loop& loop_;
  http::Http2Connection& connection_;
  const ReflectionTarget& target_;
  std::size_t version_ = 0;
};

std::string in_quotes(std::string_view text) { return "\"" + std::string(text) + "\""; }

std::string no_service(std::string_view wanted, const Reply& list, const std::string& why) {
  std::string text = "server reflection: " + in_quotes(wanted) + ": " + why;
  const std::vector<std::string_view> names(list.services.begin(), list.services.end());
  if (const auto near = options::nearest(wanted, names))
    return text + "; did you mean " + in_quotes(*near) + "?";
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "; the server has " : ", ") + std::string(names[i]);
  return text;
}

/// The files that have come, by name, and which of their imports have not.
class Files {
 public:
  void add(const std::vector<std::string>& descriptors) {
    for (const std::string& bytes : descriptors) {
      pb::FileDescriptorProto file;
      if (!file.ParseFromString(bytes) || !files_.emplace(file.name(), bytes).second) continue;
      for (const std::string& import : file.dependency()) imports_.emplace(import, file.name());
    }
  }
  /// A file that is imported and has neither come nor is part of protobuf; empty: none.
  [[nodiscard]] std::string missing() const {
    for (const auto& [name, importer] : imports_) {
      if (!files_.contains(name) && !given_up_.contains(name) &&
          pb::DescriptorPool::generated_pool()->FindFileByName(name) == nullptr)
        return name;
    }
    return {};
  }
  /// The server does not have it; the schema's own errors will say who needs it.
  void give_up(const std::string& name) { given_up_.insert(name); }
  [[nodiscard]] std::vector<std::string> all() const {
    std::vector<std::string> bytes;
    for (const auto& [name, file] : files_) bytes.push_back(file);
    return bytes;
  }

 private:
  std::map<std::string, std::string> files_;
  std::map<std::string, std::string> imports_;  // to one that imports it
  std::set<std::string> given_up_;
};

}  // namespace

kernel::Task<Schema::Made> reflect(net::Loop& loop, http::Http2Connection& connection,
                                   ReflectionTarget target, std::vector<std::string> services) {
  Asker asker(loop, connection, target);
  Schema::Errors errors;
  if (services.empty()) {
    Reply list = co_await asker.ask(Ask::list_services, "*");
    if (!list.error.empty())
      co_return std::unexpected(Schema::Errors{"server reflection: " + list.error});
    services = std::move(list.services);
  }
  Files files;
  for (const std::string& service : services) {
    const Reply reply = co_await asker.ask(Ask::file_containing_symbol, service);
    if (reply.error.empty()) {
      files.add(reply.files);
      continue;
    }
    const Reply list = co_await asker.ask(Ask::list_services, "*");
    errors.push_back(no_service(service, list, reply.error));
  }
  for (std::string name = files.missing(); errors.empty() && !name.empty();
       name = files.missing()) {
    const Reply reply = co_await asker.ask(Ask::file_by_filename, name);
    files.add(reply.files);
    files.give_up(name);  // also where it came under another name
  }
  if (!errors.empty()) co_return std::unexpected(std::move(errors));
  co_return Schema::from_descriptors(files.all());
}

}  // namespace onbeat::grpc
