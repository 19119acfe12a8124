#include "http/response_parser.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/rfc7230.hpp>

#include <optional>

namespace onbeat::http {
namespace {

namespace beast = boost::beast::http;
using boost::beast::error_code;
using boost::beast::string_view;

// More than servers send, less than a peer gone mad: the parser needs a header in one piece.
constexpr std::uint32_t kHeaderLimit = 256 * 1024;

// Tokens separated by commas (RFC 9112, 6.1). Beast takes anything else for a coding that it does
// not know and reads on until the peer closes; but where such a body ends, nobody can say. Codings
// with parameters, of which there are none (7.1), count as such: Beast sees no "chunked" behind
// them.
bool is_coding_list(string_view value) {
  return beast::validate_list(beast::opt_token_list(value));
}

class Parser final : public beast::basic_parser<false> {
 public:
  Parser(bool to_head, ResponseSink* sink) : sink_(sink) {
    skip(to_head);
    eager(true);
    header_limit(kHeaderLimit);
    body_limit(boost::none);
  }
  int status = 0;

 private:
  void on_request_impl(beast::verb, string_view, string_view, int, error_code&) override {}
  void on_response_impl(int code, string_view reason, int, error_code& error) override {
    if (code < 100) error = beast::error::bad_status;
    status = code;
    if (sink_ != nullptr) sink_->on_status(code, {reason.data(), reason.size()});
  }
  void on_field_impl(beast::field field, string_view name, string_view value,
                     error_code& error) override {
    if (field == beast::field::transfer_encoding && !is_coding_list(value))
      error = beast::error::bad_transfer_encoding;
    if (sink_ != nullptr) sink_->on_field({name.data(), name.size()}, {value.data(), value.size()});
  }
  void on_header_impl(error_code&) override {}
  void on_body_init_impl(boost::optional<std::uint64_t> const&, error_code&) override {}
  std::size_t on_body_impl(string_view body, error_code&) override {
    if (sink_ != nullptr) sink_->on_body({body.data(), body.size()});
    return body.size();
  }
  void on_chunk_header_impl(std::uint64_t, string_view, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, string_view body, error_code&) override {
    if (sink_ != nullptr) sink_->on_body({body.data(), body.size()});
    return body.size();
  }
  void on_finish_impl(error_code&) override {}

  ResponseSink* sink_;
};

// Beast looks into a start line that came in pieces only when the whole header is there, which may
// be never.
bool begins_no_response(std::string_view bytes) noexcept {
  constexpr std::string_view kVersion = "HTTP/1.";
  return bytes.substr(0, kVersion.size()) != kVersion.substr(0, bytes.size());
}

}  // namespace

struct ResponseParser::Impl {
  std::optional<Parser> parser;
  std::string held;  // an incomplete header (or chunk header), kept for the next bytes
  ResponseSink* sink = nullptr;
  bool to_head = false;
  bool begun = false;
  error_code error;

  State feed(std::string_view bytes, std::size_t& consumed);
  std::size_t put(std::string_view bytes);
  bool skip_interim();
};

ResponseParser::ResponseParser() : impl_(std::make_unique<Impl>()) {}
ResponseParser::~ResponseParser() = default;
ResponseParser::ResponseParser(ResponseParser&&) noexcept = default;
ResponseParser& ResponseParser::operator=(ResponseParser&&) noexcept = default;

void ResponseParser::begin(bool to_head, ResponseSink* sink) {
  impl_->parser.emplace(to_head, sink);
  impl_->held.clear();
  impl_->sink = sink;
  impl_->to_head = to_head;
  impl_->begun = false;
  impl_->error = {};
}

// Gives the parser what it takes; returns how much that was.
std::size_t ResponseParser::Impl::put(std::string_view bytes) {
  std::size_t taken = 0;
  while (taken < bytes.size() && !parser->is_done()) {
    const std::size_t n =
        parser->put(boost::asio::const_buffer(bytes.data() + taken, bytes.size() - taken), error);
    taken += n;
    if (error || n == 0) break;
  }
  return taken;
}

// After a complete 1xx: on to the response that follows it. 101 is final: the protocol changes.
bool ResponseParser::Impl::skip_interim() {
  if (!parser->is_done() || parser->status / 100 != 1 || parser->status == 101) return false;
  parser.emplace(to_head, sink);
  return true;
}

ResponseParser::State ResponseParser::Impl::feed(std::string_view bytes, std::size_t& consumed) {
  begun = begun || !bytes.empty();
  const std::size_t before = held.size();
  std::string_view all = bytes;
  if (before != 0) {
    held.append(bytes);
    all = held;
  }
  if (parser->status == 0 && begins_no_response(all)) error = beast::error::bad_version;
  if (error) return State::failed;
  std::size_t taken = 0;
  do {
    taken += put(all.substr(taken));
    if (error == beast::error::need_more) error = {};
  } while (!error && skip_interim() && taken < all.size());
  if (error) return State::failed;
  if (parser->is_done()) {
    consumed = taken - before;
    held.clear();
    return State::complete;
  }
  consumed = bytes.size();
  if (before != 0) {
    held.erase(0, taken);
  } else {
    held.assign(bytes.substr(taken));
  }
  return State::more;
}

ResponseParser::State ResponseParser::feed(std::string_view bytes, std::size_t& consumed) {
  return impl_->feed(bytes, consumed);
}

ResponseParser::State ResponseParser::end_of_stream() {
  if (!impl_->parser->got_some() || !impl_->held.empty()) return State::failed;
  impl_->parser->put_eof(impl_->error);
  return impl_->error ? State::failed : State::complete;
}

bool ResponseParser::begun() const noexcept { return impl_->begun; }
bool ResponseParser::header_done() const noexcept {
  return impl_->parser && impl_->parser->is_header_done();
}
int ResponseParser::status() const noexcept { return impl_->parser->status; }
bool ResponseParser::keep_alive() const noexcept { return impl_->parser->keep_alive(); }
std::string ResponseParser::error() const { return impl_->error.message(); }

}  // namespace onbeat::http
