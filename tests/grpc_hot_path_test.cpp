// The hot path of documents on the real loop against the real target: once warm, a call allocates
// nothing, whatever of it varies. Where its answer is looked at, protobuf's reflection allocates: a
// list of the fields when it clears the message, a string and its bytes for a text.
#include "bench/grpc_load.hpp"
#include "counted_run.hpp"
#include "document/gctf.hpp"
#include "target/target_server.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace onbeat {
namespace {

using namespace std::chrono_literals;
using kernel::Model;

/// What protobuf allocates for reading kReply.
constexpr std::uint64_t kToRead = 3;

// onbeat.peer.Message: text, count, delay_ms; long enough for no small-string room.
const std::string kReply =
    std::string("\x0a\x1chello from the other far end", 30) + std::string("\x10\x05\x18\x07", 4);

constexpr std::string_view kCall = "--- PROTO ---\nfiles: " GRPC_PEER_PROTO
                                   "\n--- ENDPOINT ---\nonbeat.peer.Peer/Echo\n--- REQUEST ---\n";
constexpr std::string_view kConstant = "{ text: 'hello from this end of the wire', count: '5' }\n";
constexpr std::string_view kResponse =
    "--- RESPONSE ---\n"
    "{ text: 'hello from the other far end', count: '5', delay_ms: 7 }\n";
constexpr std::string_view kAsserts =
    "--- ASSERTS ---\n.count:number > 4 and @has_header(\"content-type\")\n"
    ".text startsWith \"hello\"\n";

class GrpcHotPath : public testing::Test {
 protected:
  void SetUp() override {
    if (!kernel::kCountsAllocations) GTEST_SKIP() << "not with ThreadSanitizer";
    target::HttpTargetOptions options;
    options.grpc.emplace().frame = target::grpc_frame(kReply);
    server_ = target::TargetServer::start(options, net::Address::ipv4_loopback(0)).value();
  }

  void make(const std::string& text, std::unique_ptr<const document::RowSet> rows = nullptr) {
    document::Parsed parsed = document::parse_gctf("test.gctf", text);
    for (const auto& diagnostic : parsed.diagnostics)
      if (diagnostic.severity == document::Diagnostic::Severity::error)
        ADD_FAILURE() << diagnostic.message;
    chains_.push_back(std::make_unique<const document::Chain>(std::move(parsed.chain)));
    std::vector<options::Problem> problems;
    target_ = bench::make_grpc_target(chains_, std::move(rows),
                                      {.address = server_->address().to_string()},
                                      options::system_surroundings(), problems);
    for (const options::Problem& problem : problems) ADD_FAILURE() << problem.message;
    ASSERT_TRUE(problems.empty());
    target_.plan.connections = 4;
    target_.plan.intern(names_, samples_);
  }

  run::Phase closed() {
    run::Phase phase;
    phase.driver.model = Model::closed;
    phase.budget = &budget_;
    phase.ends_by_count = true;
    return phase;
  }

  CountedRun run(run::Phase phase) {
    phase.shape = {.open = phase.driver.model != Model::closed,
                   .histograms = {"turn", "connect", "tls"},
                   .counters = target_.plan.counters()};
    return run_counted(std::move(phase), 64, [&](run::LoadLoop& load) {
      return std::make_unique<bench::GrpcWorkload>(load, target_.plan);
    });
  }

  // Every call passes: what fails may allocate.
  void expect_allocations(const CountedRun& ran, std::uint64_t a_call) {
    EXPECT_EQ(ran.started, kUnits);
    EXPECT_EQ(ran.all.counts.failed, 0u);
    EXPECT_EQ(ran.all.counts.not_passed, 0u);
    for (const auto& [error, text] : samples_.samples()) ADD_FAILURE() << error << ": " << text;
    EXPECT_GE(ran.all.counts.ok, kWarmUnits) << "the intervals were not handed over";
    EXPECT_GE(ran.counted, kCountedUnits);
    // Calls that are begun in the counted part and end behind it, and the other way round.
    EXPECT_LE(ran.allocations, a_call * (ran.counted + 64)) << "in " << ran.counted << " calls";
  }

  std::unique_ptr<target::TargetServer> server_;
  kernel::Names names_;
  run::ErrorSamples samples_;
  kernel::RequestBudget budget_{kUnits};
  std::vector<std::unique_ptr<const document::Chain>> chains_;
  bench::GrpcTarget target_;
};

TEST_F(GrpcHotPath, AnswersThatNobodyLooksAt) {
  make(std::string(kCall) + std::string(kConstant) + std::string(kResponse));
  target_.plan.checking = bench::Checking::none;
  expect_allocations(run(closed()), 0);
}

TEST_F(GrpcHotPath, AResponseIsChecked) {
  make(std::string(kCall) + std::string(kConstant) + std::string(kResponse));
  const CountedRun ran = run(closed());
  expect_allocations(ran, kToRead);
  EXPECT_GE(ran.all.counts.passed, kWarmUnits);
}

TEST_F(GrpcHotPath, AResponseAndAssertsAreChecked) {
  make(std::string(kCall) + std::string(kConstant) + std::string(kResponse) +
       std::string(kAsserts));
  const CountedRun ran = run(closed());
  expect_allocations(ran, kToRead);
  EXPECT_GE(ran.all.counts.passed, kWarmUnits);
}

TEST_F(GrpcHotPath, AnOpenRun) {
  make(std::string(kCall) + std::string(kConstant) + std::string(kResponse));
  run::Phase phase;
  phase.driver.model = Model::open;
  phase.driver.on_saturation = kernel::OnSaturation::queue;
  phase.driver.catch_up_limit = 1h;  // a busy host must not make arrivals miss
  phase.plan.profile = kernel::RateProfile::constant(20'000);
  phase.plan.max_arrivals = kUnits;
  phase.plan.length = 1h;
  phase.length = 1h;
  phase.ends_by_count = true;
  expect_allocations(run(phase), kToRead);
}

TEST_F(GrpcHotPath, MessagesAndMetadataThatVary) {
  make("--- REQUEST_HEADERS ---\nx-request-id: {{uuid()}}\n" + std::string(kCall) +
       "{ text: '{{uuid()}} {{random_string(16)}}', count: '{{seq()}}' }\n" +
       std::string(kResponse));
  expect_allocations(run(closed()), kToRead);
}

TEST_F(GrpcHotPath, RowsOfAFile) {
  const auto file = std::filesystem::temp_directory_path() /
                    ("onbeat-hot-rows-" + std::to_string(::getpid()) + ".csv");
  {
    std::ofstream out(file);
    out << "sku,amount\n";
    for (int i = 0; i < 1000; ++i) out << "an article of number " << i << "," << i << "\n";
  }
  std::vector<options::Problem> problems;
  const std::string text = "--- BENCH ---\nsources:\n  - name: item\n    file: " + file.string() +
                           "\n--- REQUEST_HEADERS ---\nx-sku: {{item.sku}}\n" + std::string(kCall) +
                           "{ text: '{{item.sku}}', count: '{{item.amount}}' }\n" +
                           std::string(kResponse);
  document::Parsed parsed = document::parse_gctf("test.gctf", text);
  auto rows = document::RowSet::open(document::read_sources(parsed.chain, parsed.diagnostics), {});
  ASSERT_TRUE(rows.has_value()) << rows.error().front().message;
  make(text, std::move(*rows));
  expect_allocations(run(closed()), kToRead);
  std::filesystem::remove(file);
}

TEST_F(GrpcHotPath, AChainWithAVariable) {
  make(std::string(kCall) + std::string(kConstant) + std::string(kResponse) +
       "--- EXTRACT ---\nsaid = .text\n--- ENDPOINT ---\nonbeat.peer.Peer/Echo\n"
       "--- REQUEST ---\n{ text: '{{said}}' }\n" +
       std::string(kResponse));
  // Beside the three readings, the variable and the second call's message that is made of it.
  expect_allocations(run(closed()), 24);
}

}  // namespace
}  // namespace onbeat
