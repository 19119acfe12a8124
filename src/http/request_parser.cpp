#include "http/request_parser.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

#include <algorithm>
#include <optional>

namespace onbeat::http {
namespace {

namespace beast = boost::beast::http;
using boost::beast::error_code;
using boost::beast::string_view;

constexpr std::uint32_t kHeaderLimit = 64 * 1024;

class Parser final : public beast::basic_parser<true> {
 public:
  explicit Parser(ReceivedRequest& into) : into_(into) {
    eager(false);  // stops at the end of the header, so that its bytes can be kept
    header_limit(kHeaderLimit);
    body_limit(boost::none);
  }

 private:
  void on_request_impl(beast::verb, string_view method, string_view target, int version,
                       error_code&) override {
    into_.version = version;
    into_.method.assign(method.data(), method.size());
    into_.target.assign(target.data(), target.size());
  }
  void on_response_impl(int, string_view, int, error_code&) override {}
  void on_field_impl(beast::field name, string_view name_text, string_view value,
                     error_code&) override {
    into_.fields.emplace_back(std::string(name_text.data(), name_text.size()),
                              std::string(value.data(), value.size()));
    if (name == beast::field::expect && boost::beast::iequals(value, "100-continue"))
      into_.expects_continue = true;
  }
  void on_header_impl(error_code&) override { into_.keep_alive = keep_alive(); }
  void on_body_init_impl(boost::optional<std::uint64_t> const&, error_code&) override {}
  std::size_t on_body_impl(string_view part, error_code&) override { return keep(part); }
  void on_chunk_header_impl(std::uint64_t, string_view, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, string_view part, error_code&) override {
    return keep(part);
  }
  void on_finish_impl(error_code&) override {}

  std::size_t keep(string_view part) {
    into_.body_bytes += part.size();
    const std::size_t room = ReceivedRequest::kBodyKept - into_.body.size();
    into_.body.append(part.data(), std::min(part.size(), room));
    return part.size();
  }

  ReceivedRequest& into_;
};

}  // namespace

const std::string* ReceivedRequest::field(std::string_view name) const noexcept {
  const auto found =
      std::ranges::find_if(fields, [&](const auto& each) { return same_name(each.first, name); });
  return found == fields.end() ? nullptr : &found->second;
}

struct RequestParser::Impl {
  ReceivedRequest request;
  std::optional<Parser> parser;
  std::string held;  // an incomplete header (or chunk header), kept for the next bytes
  bool begun = false;
  error_code error;

  std::size_t put(std::string_view bytes);
};

RequestParser::RequestParser() : impl_(std::make_unique<Impl>()) { begin(); }
RequestParser::~RequestParser() = default;

void RequestParser::begin() {
  ReceivedRequest& request = impl_->request;
  for (std::string* each : {&request.method, &request.target, &request.head, &request.body})
    each->clear();
  request.fields.clear();
  request.body_bytes = 0;
  request.keep_alive = true;
  request.expects_continue = false;
  impl_->parser.emplace(request);
  impl_->held.clear();
  impl_->begun = false;
  impl_->error = {};
}

// Gives the parser what it takes; returns how much that was.
std::size_t RequestParser::Impl::put(std::string_view bytes) {
  std::size_t taken = 0;
  while (taken < bytes.size() && !parser->is_done()) {
    const bool in_header = !parser->is_header_done();
    const std::size_t n =
        parser->put(boost::asio::const_buffer(bytes.data() + taken, bytes.size() - taken), error);
    if (in_header) request.head.append(bytes.substr(taken, n));
    taken += n;
    if (error || n == 0) break;
  }
  return taken;
}

RequestParser::State RequestParser::feed(std::string_view bytes, std::size_t& consumed) {
  Impl& impl = *impl_;
  impl.begun = impl.begun || !bytes.empty();
  const std::size_t before = impl.held.size();
  std::string_view all = bytes;
  if (before != 0) {
    impl.held.append(bytes);
    all = impl.held;
  }
  const std::size_t taken = impl.put(all);
  if (impl.error == beast::error::need_more) impl.error = {};
  if (impl.error) return State::failed;
  if (impl.parser->is_done()) {
    consumed = taken - before;
    impl.held.clear();
    impl.begun = false;
    return State::complete;
  }
  consumed = bytes.size();
  if (before != 0) {
    impl.held.erase(0, taken);
  } else {
    impl.held.assign(bytes.substr(taken));
  }
  return State::more;
}

bool RequestParser::begun() const noexcept { return impl_->begun; }
bool RequestParser::header_done() const noexcept { return impl_->parser->is_header_done(); }
const ReceivedRequest& RequestParser::request() const noexcept { return impl_->request; }
std::string RequestParser::error() const { return impl_->error.message(); }

}  // namespace onbeat::http
