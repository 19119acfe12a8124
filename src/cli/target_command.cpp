#include "cli/target_command.hpp"

#include "cli/console.hpp"
#include "options/file.hpp"
#include "options/grammar.hpp"
#include "run/host.hpp"
#include "target/target_server.hpp"

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

namespace onbeat::cli {
namespace {

using options::Settings;

// A reply is held in memory, and a message has 32 bits for its length.
constexpr std::uint64_t kMostReply = std::uint64_t{64} << 20;

class Reader {
 public:
  explicit Reader(const Settings& settings) : settings_(settings) {}

  target::HttpTargetOptions read(bool grpc);
  net::Address read_address();
  [[nodiscard]] std::uint64_t count(const char* name, std::uint64_t standard) const {
    return settings_.has(name) ? options::parse_count(settings_.text(name)).value() : standard;
  }
  [[nodiscard]] const std::vector<options::Problem>& problems() const { return problems_; }

 private:
  void complain(const char* where, std::string message, std::string hint = {},
                std::string text = {}) {
    problems_.push_back({.where = where,
                         .message = std::move(message),
                         .hint = std::move(hint),
                         .text = std::move(text)});
  }
  void read_faults(target::HttpTargetOptions& target, bool grpc);
  target::GrpcAnswers read_grpc();
  std::string read_message();

  const Settings& settings_;
  std::vector<options::Problem> problems_;
};

target::HttpTargetOptions Reader::read(bool grpc) {
  target::HttpTargetOptions target;
  if (settings_.has("delay"))
    target.delay = options::parse_duration(settings_.text("delay")).value();
  if (settings_.has("service-time")) {
    const auto time = options::parse_duration(settings_.text("service-time")).value();
    if (time.count() > 0) target.line = std::make_shared<target::ServiceLine>(time);
  }
  if (grpc) {
    target.grpc = read_grpc();
  } else {
    if (settings_.has("bytes")) target.bytes = options::parse_size(settings_.text("bytes")).value();
    target.status = static_cast<int>(count("status", 200));
  }
  read_faults(target, grpc);
  return target;
}

void Reader::read_faults(target::HttpTargetOptions& target, bool grpc) {
  auto faults = target::parse_faults(settings_.all("fault"));
  if (!faults) return complain("--fault", faults.error());
  target.faults = *std::move(faults);
  if (!grpc &&
      std::ranges::any_of(target.faults, [](const auto& fault) { return is_of_grpc(fault.kind); }))
    complain("--fault", "grpc-status and no-grpc-status are of gRPC", "onbeat target grpc");
}

std::string Reader::read_message() {
  if (settings_.has("reply")) {
    if (settings_.has("bytes"))
      complain("--reply", "--bytes says what the message is, too", "one of the two");
    auto message = options::read_file(settings_.text("reply"), kMostReply);
    if (!message) complain("--reply", message.error());
    return std::move(message).value_or("");
  }
  std::uint64_t bytes = 0;
  if (settings_.has("bytes")) bytes = options::parse_size(settings_.text("bytes")).value();
  if (bytes == 1) complain("--bytes", "no protobuf message has a size of 1", "0, or from 2 on");
  if (bytes > kMostReply) {
    complain("--bytes", "a message of more than 64 MiB is not served", "a smaller size");
    bytes = 0;
  }
  return target::filler_message(bytes);
}

target::GrpcAnswers Reader::read_grpc() {
  target::GrpcAnswers answers;
  answers.frame = target::grpc_frame(read_message());
  if (!settings_.has("status")) return answers;
  const std::string text = settings_.text("status");
  const std::size_t colon = text.find(':');
  const auto code = options::parse_count(std::string_view(text).substr(0, colon));
  if (!code || *code > 16) {
    complain("--status", "the code of a gRPC status is from 0 to 16", "14, or 14:MESSAGE", text);
    return answers;
  }
  answers.status = static_cast<std::uint32_t>(*code);
  if (colon != std::string::npos)
    answers.message = target::percent_encoded(std::string_view(text).substr(colon + 1));
  return answers;
}

net::Address Reader::read_address() {
  const std::string host = settings_.has("address") ? settings_.text("address") : "127.0.0.1";
  const auto addresses = net::resolve(host, static_cast<std::uint16_t>(count("port", 0)));
  if (addresses) return addresses->front();
  complain("--address", addresses.error(), "an address of this host", host);
  return {};
}

}  // namespace

int target_command(options::CommandSet kind, const Settings& settings) {
  Reader reader(settings);
  const target::HttpTargetOptions target = reader.read(kind == options::kGrpcTarget);
  const net::Address address = reader.read_address();
  if (!reader.problems().empty()) {
    show(reader.problems());
    return static_cast<int>(run::ExitCode::usage);
  }
  static_cast<void>(run::read_host());  // raises the limit of descriptors
  return target::run_target(target, address, static_cast<unsigned>(reader.count("threads", 1)),
                            stdout, stderr);
}

}  // namespace onbeat::cli
