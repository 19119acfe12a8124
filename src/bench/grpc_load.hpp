// Documents as load: a unit is an iteration of one file, a call or a chain of them. Workers share
// connections: worker w uses connection w mod N of its loop.
#pragma once

#include "bench/answer_judge.hpp"
#include "bench/grpc_plan.hpp"
#include "document/row_set.hpp"
#include "http/http2_connection.hpp"
#include "run/load_loop.hpp"
#include "run/workload.hpp"
#include <onbeat/kernel/recorder.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace onbeat::bench {

/// The histograms of a gRPC run, after those of every run, by position.
inline constexpr std::array<std::string_view, 1> kGrpcHistograms{"tls"};

class GrpcWorkload final : public run::Workload {
 public:
  GrpcWorkload(run::LoadLoop& load, const GrpcPlan& plan);
  ~GrpcWorkload() override;

  run::Worker& add_worker(bool connect) override;
  void flush(kernel::Recorder& recorder) override;

 private:
  class GrpcWorker;

  http::Http2Connection& connection(std::size_t origin, std::size_t worker);
  /// The values of the arrival's rows; the class of what went wrong.
  [[nodiscard]] std::string_view read_rows(const GrpcItem& item, std::uint64_t arrival);
  kernel::ErrorId error_of(net::NetError error);

  run::LoadLoop& load_;
  const GrpcPlan& plan_;
  std::size_t connections_;                         // of this loop, to each origin
  std::vector<std::unique_ptr<http::Peer>> peers_;  // by origin
  std::vector<http::ConnectionLedger> flushed_;
  std::vector<std::vector<std::unique_ptr<http::Http2Connection>>> pools_;  // by origin
  std::uint64_t serving_peak_ = 0;
  std::unique_ptr<document::RowReader> rows_;  // null: no sources
  document::JoinCounts joins_;                 // flushed
  std::vector<std::string_view> row_;
  AnswerJudge judge_;
  bool keep_metadata_ = false;
  std::vector<std::unique_ptr<GrpcWorker>> workers_;
  std::array<kernel::ErrorId, net::kNetErrors> errors_;
};

}  // namespace onbeat::bench
