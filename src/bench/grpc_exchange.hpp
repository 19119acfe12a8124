// The calls of one worker: fills in what varies, carries out a document of any shape, and keeps
// what came back until it has been judged. Belongs to its loop's thread.
#pragma once

#include "bench/grpc_plan.hpp"
#include "grpc/client.hpp"
#include "grpc/gzip.hpp"
#include "net/rest.hpp"
#include "net/timers.hpp"
#include <onbeat/kernel/task.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace onbeat::bench {

using kernel::Instant;

/// Told of what a later REQUEST of the same call may need: variables out of earlier answers.
class AnswerWatcher {
 public:
  /// The steps before `step` are as they will be; the call goes on.
  virtual void reached(const GrpcCall& call, std::size_t step) = 0;

 protected:
  ~AnswerWatcher() = default;
};

class GrpcExchange {
 public:
  GrpcExchange(net::Loop& loop, const GrpcPlan& plan, bool keep_metadata);
  GrpcExchange(const GrpcExchange&) = delete;
  GrpcExchange& operator=(const GrpcExchange&) = delete;

  // --- a unary call, awaited by the worker itself ---
  /// Makes request() ready. The class of what went wrong; empty: nothing.
  [[nodiscard]] std::string_view prepare(const GrpcCall& call,
                                         const document::RenderContext& context);
  [[nodiscard]] const http::Http2Request& request() const noexcept { return *request_; }
  [[nodiscard]] grpc::Call& call() noexcept { return call_; }
  /// After the call: its outcome and message are what outcome() and message(0) give.
  void take_unary(Instant began, Instant done) noexcept;

  // --- any shape, with the retries and timeouts that the document asks for ---
  /// Fault classes as of prepare(); the outcome says how the call ended. All references must live
  /// until it is done.
  [[nodiscard]] kernel::Task<std::string_view> run(const GrpcCall& call,
                                                   http::Http2Connection& connection,
                                                   const document::RenderContext& context,
                                                   AnswerWatcher& watcher);

  /// Ends what is going on: CANCELLED.
  void cancel() noexcept;

  // --- what came back; until the next call ---
  [[nodiscard]] const grpc::CallOutcome& outcome() const noexcept { return call_.outcome(); }
  [[nodiscard]] bool timed_out() const noexcept;
  [[nodiscard]] std::size_t messages() const noexcept { return single_ ? 1 : received_.size(); }
  [[nodiscard]] std::string_view message(std::size_t index) const noexcept;
  /// When it came whole; of a unary call no instant.
  [[nodiscard]] Instant arrived(std::size_t index) const noexcept;
  /// The call has ended: nothing more will come.
  [[nodiscard]] bool ended() const noexcept { return ended_; }
  [[nodiscard]] Instant began() const noexcept { return began_; }
  /// Of run(): when the call had ended.
  [[nodiscard]] Instant done() const noexcept { return done_; }
  [[nodiscard]] std::string_view details() const noexcept { return call_.details(); }
  [[nodiscard]] const grpc::MetadataList& headers() const noexcept { return call_.metadata(); }
  [[nodiscard]] const grpc::MetadataList& trailers() const noexcept { return call_.trailers(); }
  /// In words, of a call that failed.
  [[nodiscard]] std::string failure() const;

 private:
  struct Received {
    std::size_t begin, size;
    Instant arrived;
  };
  /// Cuts a read short.
  class ReadTimer final : public net::Timer {
   public:
    explicit ReadTimer(GrpcExchange& exchange) noexcept : exchange_(exchange) {}

   private:
    void on_timer(Instant) noexcept override {
      exchange_.read_timed_out_ = true;
      exchange_.call_.cancel();
    }
    GrpcExchange& exchange_;
  };

  void reset() noexcept;
  [[nodiscard]] std::string_view add_headers(const GrpcCall& call,
                                             const document::RenderContext& context);
  [[nodiscard]] std::string_view render(const RequestMessage& message, bool gzip,
                                        const document::RenderContext& context);
  kernel::Task<std::string_view> unary(const GrpcCall& call, http::Http2Connection& connection,
                                       const document::RenderContext& context);
  kernel::Task<std::string_view> stream(const GrpcCall& call, http::Http2Connection& connection,
                                        const document::RenderContext& context,
                                        AnswerWatcher& watcher);
  void take_messages();
  void arm(std::optional<Duration> timeout) noexcept;

  net::Loop& loop_;
  const GrpcPlan& plan_;
  grpc::Call call_;
  const http::Http2Request* request_ = nullptr;
  http::Http2Request own_;            // when something varies
  const GrpcCall* own_of_ = nullptr;  // whose fixed fields it has
  std::string body_, scratch_;
  RequestScratch request_scratch_;
  std::unique_ptr<grpc::Gzip> gzip_;
  std::string bytes_;
  std::vector<Received> received_;
  bool single_ = false;  // a unary call: the message is in the client's own buffer
  bool ended_ = false, cancelled_ = false, read_timed_out_ = false;
  Instant began_{}, done_{};
  net::Rest rest_;
  ReadTimer read_timer_;
};

}  // namespace onbeat::bench
