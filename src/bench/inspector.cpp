#include "bench/inspector.hpp"

#include <re2/re2.h>
#include <zlib.h>

#include <algorithm>
#include <array>

namespace onbeat::bench {

using net::NetError;

struct Expectations::Patterns {
  struct Header {
    std::string name;
    std::unique_ptr<RE2> pattern;  // null: being there is enough
  };
  std::vector<Header> headers;
  std::unique_ptr<RE2> body;
};

namespace {

std::unique_ptr<RE2> compile(const std::string& pattern, const char* option,
                             std::vector<options::Problem>& problems) {
  if (pattern.empty()) return nullptr;
  RE2::Options settings;
  settings.set_log_errors(false);
  settings.set_encoding(RE2::Options::EncodingLatin1);  // bodies are bytes
  settings.set_dot_nl(true);
  auto compiled = std::make_unique<RE2>(pattern, settings);
  if (!compiled->ok())
    problems.push_back({.where = option,
                        .message = "not a regular expression: " + compiled->error(),
                        .hint = {},
                        .text = pattern});
  return compiled;
}

bool found(const RE2& pattern, std::string_view text) {
  return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), pattern);
}

}  // namespace

Expectations::Expectations(const options::HttpOptions& options,
                           std::vector<options::Problem>& problems)
    : statuses_(options.expect_status),
      patterns_(std::make_unique<Patterns>()),
      decompress_(options.decompress),
      redirects_(options.redirects != 0) {
  for (const options::HeaderExpectation& header : options.expect_headers)
    patterns_->headers.push_back(
        {header.name, compile(header.pattern, "--expect-header", problems)});
  patterns_->body = compile(options.expect_body, "--expect-body", problems);
}

Expectations::~Expectations() = default;

bool Expectations::needs_inspector() const noexcept {
  return decompress_ || redirects_ || !patterns_->headers.empty() || patterns_->body != nullptr;
}

bool Expectations::status_is_right(int status) const noexcept {
  if (statuses_.empty()) return status >= 200 && status < 400;
  return std::ranges::any_of(statuses_, [status](const options::StatusRange& range) {
    return status >= range.first && status <= range.last;
  });
}

// --- decoding ---

struct Inspector::Inflater {
  z_stream stream{};
  bool ready = false, ended = false;
  std::array<char, 16384> buffer;

  ~Inflater() {
    if (ready) inflateEnd(&stream);
  }
  // 32 + 15: gzip and zlib are told apart by their headers.
  void begin() {
    ready = (ready ? inflateReset(&stream) : inflateInit2(&stream, 32 + 15)) == Z_OK;
    ended = false;
  }
};

Inspector::Inspector(const Expectations& expectations)
    : expectations_(expectations),
      inflater_(expectations.decompress_ ? std::make_unique<Inflater>() : nullptr) {}

Inspector::~Inspector() = default;

void Inspector::begin() {
  status_ = 0;
  body_.clear();
  location_.clear();
  encoded_ = undecodable_ = false;
  met_.assign(expectations_.patterns_->headers.size(), false);
}

void Inspector::on_status(int status, std::string_view) {
  begin();  // also after an interim response
  status_ = status;
}

void Inspector::on_field(std::string_view name, std::string_view value) {
  if (options::same_name(name, "Location")) location_ = value;
  if (inflater_ != nullptr && options::same_name(name, "Content-Encoding")) {
    const std::string coding = options::lower_case(value);
    encoded_ = coding == "gzip" || coding == "x-gzip" || coding == "deflate";
    undecodable_ = !encoded_ && coding != "identity";
    if (encoded_) inflater_->begin();
  }
  const auto& headers = expectations_.patterns_->headers;
  for (std::size_t i = 0; i < headers.size(); ++i)
    if (options::same_name(name, headers[i].name) &&
        (headers[i].pattern == nullptr || found(*headers[i].pattern, value)))
      met_[i] = true;
}

void Inspector::on_body(std::string_view part) {
  if (!encoded_) return keep(part);
  z_stream& stream = inflater_->stream;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(part.data()));
  stream.avail_in = static_cast<uInt>(part.size());
  while (stream.avail_in != 0 && !undecodable_ && !inflater_->ended) {
    stream.next_out = reinterpret_cast<Bytef*>(inflater_->buffer.data());
    stream.avail_out = static_cast<uInt>(inflater_->buffer.size());
    const int result = inflate(&stream, Z_NO_FLUSH);
    keep({inflater_->buffer.data(), inflater_->buffer.size() - stream.avail_out});
    inflater_->ended = result == Z_STREAM_END;
    undecodable_ = result != Z_OK && result != Z_STREAM_END;
  }
}

void Inspector::keep(std::string_view part) {
  if (expectations_.patterns_->body == nullptr) return;
  body_.append(part.substr(0, kMostBody - std::min(kMostBody, body_.size())));
}

NetError Inspector::verdict() {
  const bool may_be_empty = status_ == 204 || status_ == 304;
  if (undecodable_ ||
      (encoded_ && !inflater_->ended && !may_be_empty && inflater_->stream.total_in != 0)) {
    failure_ = "the body is not what its Content-Encoding says, or ends too soon";
    return NetError::body;
  }
  for (std::size_t i = 0; i < met_.size(); ++i) {
    if (met_[i]) continue;
    failure_ =
        "the header " + expectations_.patterns_->headers[i].name + " is missing or not as expected";
    return NetError::expectation;
  }
  if (expectations_.patterns_->body != nullptr && !found(*expectations_.patterns_->body, body_)) {
    failure_ = "the body is not as expected";
    return NetError::expectation;
  }
  return NetError::none;
}

}  // namespace onbeat::bench
