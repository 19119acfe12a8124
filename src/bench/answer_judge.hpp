// Whether what came back is what a document expects: its RESPONSE, ERROR and ASSERTS sections in
// their order, and the variables that EXTRACT takes. One a loop; belongs to its thread.
#pragma once

#include "bench/grpc_exchange.hpp"
#include "bench/grpc_plan.hpp"
#include "document/assertion.hpp"
#include "document/extract.hpp"
#include "grpc/message_reader.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace onbeat::bench {

/// How far the judging of one call has come.
struct JudgeProgress {
  std::size_t step = 0;
  std::size_t message = 0;  // the next one to look at
  bool passed = true;
  bool partial = false;      // surplus messages are fine
  bool read_status = false;  // something was expected of a failed call
  Instant scope{};           // when the last section was reached
};

class AnswerJudge {
 public:
  /// The plan must outlive it.
  explicit AnswerJudge(const GrpcPlan& plan);
  ~AnswerJudge();

  /// Goes on to `step` (all of them: call.steps.size()). With `check` off only variables are taken.
  /// False: it has not passed; failures() says why, all of it with `collect`.
  bool advance(const GrpcCall& call, const GrpcExchange& exchange, document::Variables& variables,
               const document::RenderContext& context, JudgeProgress& progress, std::size_t step,
               bool check = true, bool collect = false);
  /// Since the last advance() whose progress was new; empty: none. One sentence each, with its
  /// place.
  [[nodiscard]] const std::vector<std::string>& failures() const noexcept { return failures_; }

  /// A message of the call as JSON on one line; what cannot be read, as its size.
  [[nodiscard]] std::string message_json(const GrpcCall& call, std::string_view bytes);
  /// {"code", "message", "details"} of a call that failed.
  [[nodiscard]] std::string status_json(const GrpcCall& call, const GrpcExchange& exchange);

 private:
  struct CallParts;
  struct Turn;  // one advance()

  CallParts& parts(const GrpcCall& call);
  void response(Turn& turn, std::size_t index);
  void error(Turn& turn, std::size_t index);
  void asserts(Turn& turn, std::size_t index);
  void extract(Turn& turn, std::size_t index);
  void finish(Turn& turn);
  bool read(Turn& turn, std::size_t message);
  void read_status(Turn& turn, document::JsonTree& tree);
  void attached(Turn& turn, std::size_t index, const document::Answer& answer);
  [[nodiscard]] document::Answer answer(Turn& turn, document::JsonView view, std::size_t message,
                                        std::size_t in_scope);
  void fill_metadata(Turn& turn);
  void fail(Turn& turn, std::size_t index, std::string message);
  void fail(Turn& turn, document::Position at, std::string message);

  std::vector<std::unique_ptr<CallParts>> parts_;  // by GrpcCall::id
  document::JsonTree message_, status_, expected_;
  std::vector<document::MetadataItem> headers_, trailers_;
  std::vector<std::string> decoded_;
  std::vector<std::string> failures_;
};

}  // namespace onbeat::bench
