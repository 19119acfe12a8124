#include "net/tls.hpp"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace onbeat::net {
namespace {

// OpenSSL's words for the newest error, and empties its queue.
std::string openssl_error(std::string_view otherwise) {
  std::string text;
  while (const unsigned long code = ERR_get_error()) {
    if (!text.empty()) continue;  // the first is the cause
    const char* reason = ERR_SYSTEM_ERROR(code) ? std::strerror(ERR_GET_REASON(code))
                                                : ERR_reason_error_string(code);
    text = reason != nullptr ? reason : "error " + std::to_string(code);
  }
  return text.empty() ? std::string(otherwise) : text;
}

bool is_ip_literal(const std::string& name) {
  std::array<unsigned char, sizeof(in6_addr)> address{};
  return inet_pton(AF_INET, name.c_str(), address.data()) == 1 ||
         inet_pton(AF_INET6, name.c_str(), address.data()) == 1;
}

int version_of(const std::string& text) {
  if (text == "1.0") return TLS1_VERSION;
  if (text == "1.1") return TLS1_1_VERSION;
  if (text == "1.2") return TLS1_2_VERSION;
  if (text == "1.3") return TLS1_3_VERSION;
  return -1;
}

// --- a BIO over a Transport ---

Transport& below(BIO* bio) { return *static_cast<Transport*>(BIO_get_data(bio)); }

int bio_read(BIO* bio, char* into, int size) {
  BIO_clear_retry_flags(bio);
  const IoResult result = below(bio).read_some({into, static_cast<std::size_t>(size)});
  if (result.would_block()) BIO_set_retry_read(bio);
  if (result.end()) {
    BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
    return 0;
  }
  if (result.error != 0) {
    if (!result.would_block()) errno = result.error;
    return -1;
  }
  return static_cast<int>(result.bytes);
}

int bio_write(BIO* bio, const char* from, int size) {
  BIO_clear_retry_flags(bio);
  const std::array<std::string_view, 1> piece{
      std::string_view(from, static_cast<std::size_t>(size))};
  const IoResult result = below(bio).write_some(piece);
  if (result.would_block()) BIO_set_retry_write(bio);
  if (result.error != 0) {
    if (!result.would_block()) errno = result.error;
    return -1;
  }
  return static_cast<int>(result.bytes);
}

long bio_control(BIO* bio, int command, long, void*) {
  if (command == BIO_CTRL_EOF) return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0 ? 1 : 0;
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

BIO_METHOD* transport_bio() {
  static BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "transport");
    BIO_meth_set_read(made, bio_read);
    BIO_meth_set_write(made, bio_write);
    BIO_meth_set_ctrl(made, bio_control);
    return made;
  }();
  return method;
}

}  // namespace

class TlsTransport final : public Transport, private Waiter {
 public:
  TlsTransport(TlsContext& context, std::unique_ptr<Transport> lower, Loop& loop, SSL* ssl) noexcept
      : context_(context), below_(std::move(lower)), loop_(loop), ssl_(ssl) {}
  ~TlsTransport() override {
    close();
    SSL_free(ssl_);
  }
  TlsTransport(const TlsTransport&) = delete;
  TlsTransport& operator=(const TlsTransport&) = delete;

  void begin() noexcept {
    handshake_began_ = loop_.now();
    handshake();
  }

  IoResult read_some(std::span<char> into) noexcept override {
    if (state_ != State::open) return {0, state_ == State::failed ? EPROTO : IoResult::kWouldBlock};
    std::size_t n = 0;
    if (SSL_read_ex(ssl_, into.data(), into.size(), &n) == 1) return {n, 0};
    return outcome(SSL_get_error(ssl_, 0));
  }

  IoResult write_some(std::span<const std::string_view> pieces) noexcept override {
    if (state_ != State::open) return {0, state_ == State::failed ? EPROTO : IoResult::kWouldBlock};
    std::size_t total = 0;
    for (const std::string_view piece : pieces) {
      if (piece.empty()) continue;
      std::size_t n = 0;
      if (SSL_write_ex(ssl_, piece.data(), piece.size(), &n) != 1) {
        if (total != 0) break;
        return outcome(SSL_get_error(ssl_, 0));
      }
      total += n;
      if (n < piece.size()) break;
    }
    return {total, 0};
  }

  [[nodiscard]] bool readable() const noexcept override {
    return state_ == State::open && (SSL_has_pending(ssl_) == 1 || below_->readable());
  }

  void wait_readable(Waiter& waiter) noexcept override {
    reader_ = &waiter;
    // A record may wait for the transport below to become writable (a key update), but not for
    // long.
    if (state_ == State::open) below_->wait_readable(*this);
  }
  void wait_writable(Waiter& waiter) noexcept override {
    writer_ = &waiter;
    below_->wait_writable(*this);
  }
  void forget_waiters() noexcept override {
    reader_ = writer_ = nullptr;
    below_->forget_waiters();
  }

  [[nodiscard]] int connect_result() noexcept override { return error_; }
  [[nodiscard]] std::string failure() const override { return failure_; }
  [[nodiscard]] kernel::Duration handshake_time() const noexcept override {
    return handshake_time_;
  }

  void shutdown_write() noexcept override {
    SSL_shutdown(ssl_);
    below_->shutdown_write();
  }
  void reset() noexcept override { below_->reset(); }
  void close() noexcept override {
    if (state_ == State::open) SSL_shutdown(ssl_);
    ERR_clear_error();
    state_ = State::failed;
    forget_waiters();
    below_->close();
  }
  [[nodiscard]] Address peer() const override { return below_->peer(); }

  [[nodiscard]] std::string_view alpn() const noexcept override {
    const unsigned char* name = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(ssl_, &name, &size);
    return {reinterpret_cast<const char*>(name), size};
  }

 private:
  enum class State : std::uint8_t { handshaking, open, failed };

  // The transport below has become ready.
  void ready() noexcept override {
    if (state_ == State::handshaking) return handshake();
    // Which direction it was is not told: each is tried, and waits again when it was the other one.
    Waiter* reader = std::exchange(reader_, nullptr);
    Waiter* writer = std::exchange(writer_, nullptr);
    if (reader != nullptr && reader != writer && writer != nullptr) {
      // Two waiters at once; the first may destroy this transport, so the second is called by a
      // turn of its own.
      reader_ = reader;
      below_->wait_readable(*this);
      reader = nullptr;
    }
    if (writer != nullptr) return writer->ready();
    if (reader != nullptr) reader->ready();
  }

  void handshake() noexcept {
    const int result = SSL_do_handshake(ssl_);
    if (result == 1) {
      ++context_.handshakes_;
      if (SSL_session_reused(ssl_) == 1) ++context_.resumed_;
      give_buffer_back();
      return end_handshake(State::open);
    }
    switch (SSL_get_error(ssl_, result)) {
      case SSL_ERROR_WANT_READ:
        return below_->wait_readable(*this);
      case SSL_ERROR_WANT_WRITE:
        return below_->wait_writable(*this);
      default:
        break;
    }
    const long verified = SSL_get_verify_result(ssl_);
    failure_ = verified != X509_V_OK
                   ? X509_verify_cert_error_string(verified)
                   : openssl_error("the peer closed the connection within the handshake");
    ERR_clear_error();
    error_ = EPROTO;
    end_handshake(State::failed);
  }

  // OpenSSL keeps the buffer of the handshake until an attempt to read finds nothing: 16 KiB for
  // each connection that waits for its first request.
  void give_buffer_back() noexcept {
    char byte = 0;
    std::size_t n = 0;
    SSL_peek_ex(ssl_, &byte, 1, &n);
    ERR_clear_error();
  }

  void end_handshake(State state) noexcept {
    handshake_time_ = loop_.now() - handshake_began_;
    state_ = state;
    if (reader_ != nullptr && state == State::open) below_->wait_readable(*this);
    if (writer_ != nullptr) std::exchange(writer_, nullptr)->ready();
  }

  IoResult outcome(int ssl_error) noexcept {
    switch (ssl_error) {
      case SSL_ERROR_WANT_READ:
      case SSL_ERROR_WANT_WRITE:
        return {0, IoResult::kWouldBlock};
      case SSL_ERROR_ZERO_RETURN:
        return {0, 0};
      case SSL_ERROR_SYSCALL: {
        const int error = errno != 0 ? errno : ECONNRESET;
        ERR_clear_error();
        return {0, error};
      }
      default:
        failure_ = openssl_error("TLS failed");
        state_ = State::failed;
        return {0, EPROTO};
    }
  }

  TlsContext& context_;
  std::unique_ptr<Transport> below_;
  Loop& loop_;
  SSL* ssl_;
  State state_ = State::handshaking;
  int error_ = 0;
  Waiter* reader_ = nullptr;
  Waiter* writer_ = nullptr;
  Instant handshake_began_{};
  kernel::Duration handshake_time_{};
  std::string failure_;
};

TlsContext::TlsContext(ssl_ctx_st* context) noexcept : context_(context) {}

TlsContext::~TlsContext() {
  SSL_SESSION_free(session_);
  SSL_CTX_free(context_);
}

void TlsContext::keep(ssl_session_st* session) noexcept {
  SSL_SESSION_free(std::exchange(session_, session));
}

std::expected<std::unique_ptr<TlsContext>, std::string> TlsContext::make(
    const TlsOptions& options) {
  ERR_clear_error();
  SSL_CTX* raw = SSL_CTX_new(options.server ? TLS_server_method() : TLS_client_method());
  if (raw == nullptr) return std::unexpected(openssl_error("OpenSSL cannot start"));
  std::unique_ptr<TlsContext> context(new TlsContext(raw));
  context->reuse_ = options.reuse_sessions;
  context->verify_ = options.verify;
  context->server_ = options.server;
  const auto failed = [](const std::string& what) {
    return std::unexpected(what + ": " + openssl_error("refused"));
  };
  SSL_CTX_set_mode(raw, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                            SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  // An end without a close_notify is an end: HTTP tells by its own lengths whether it came too
  // soon. As an error it would also make the session unfit to be resumed.
  SSL_CTX_set_options(raw, SSL_OP_IGNORE_UNEXPECTED_EOF);
  // One receive a record, not one for its header and one for its body.
  SSL_CTX_set_read_ahead(raw, 1);
  for (const auto& [text, set] :
       {std::pair{&options.min_version, true}, std::pair{&options.max_version, false}}) {
    if (text->empty()) continue;
    const int version = version_of(*text);
    if (version < 0)
      return std::unexpected("TLS version " + *text + " is not known: 1.0, 1.1, 1.2 or 1.3");
    const auto done = set ? SSL_CTX_set_min_proto_version(raw, version)
                          : SSL_CTX_set_max_proto_version(raw, version);
    if (done != 1) return failed("TLS version " + *text);
  }
  if (!options.ciphers.empty()) {
    const bool suites = options.ciphers.starts_with("TLS_");
    if ((suites ? SSL_CTX_set_ciphersuites(raw, options.ciphers.c_str())
                : SSL_CTX_set_cipher_list(raw, options.ciphers.c_str())) != 1)
      return failed("ciphers " + options.ciphers);
  }
  if (!options.certificate.empty() &&
      SSL_CTX_use_certificate_chain_file(raw, options.certificate.c_str()) != 1)
    return failed("certificate " + options.certificate);
  const std::string& key = options.key.empty() ? options.certificate : options.key;
  if (!key.empty() && SSL_CTX_use_PrivateKey_file(raw, key.c_str(), SSL_FILETYPE_PEM) != 1)
    return failed(key == options.certificate ? "no key in the certificate's file " + key
                                             : "key " + key);
  if (!options.ca_file.empty()) {
    if (SSL_CTX_load_verify_locations(raw, options.ca_file.c_str(), nullptr) != 1)
      return failed("CA file " + options.ca_file);
  } else if (options.verify && !options.server) {
    SSL_CTX_set_default_verify_paths(raw);
  }
  SSL_CTX_set_verify(raw,
                     options.verify && !(options.server && options.ca_file.empty())
                         ? SSL_VERIFY_PEER | (options.server ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0)
                         : SSL_VERIFY_NONE,
                     nullptr);
  if (!options.alpn.empty()) {
    std::string wire;
    for (const std::string& name : options.alpn) {
      if (name.empty() || name.size() > 255)
        return std::unexpected("ALPN: \"" + name + "\" is no protocol name");
      wire.push_back(static_cast<char>(name.size()));
      wire += name;
    }
    if (SSL_CTX_set_alpn_protos(raw, reinterpret_cast<const unsigned char*>(wire.data()),
                                static_cast<unsigned>(wire.size())) != 0)
      return failed("ALPN");
  }
  if (!options.server) {
    // Sessions are kept here, one a context; the callback is how TLS 1.3 hands over its tickets.
    SSL_CTX_set_session_cache_mode(raw, options.reuse_sessions
                                            ? SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL
                                            : SSL_SESS_CACHE_OFF);
    SSL_CTX_set_app_data(raw, context.get());
    SSL_CTX_sess_set_new_cb(raw, [](SSL* ssl, SSL_SESSION* session) {
      static_cast<TlsContext*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)))->keep(session);
      return 1;  // the reference is ours now
    });
  }
  return context;
}

std::unique_ptr<Transport> TlsContext::wrap(std::unique_ptr<Transport> lower, Loop& loop,
                                            const std::string& server_name) {
  SSL* ssl = SSL_new(context_);
  BIO* bio = BIO_new(transport_bio());
  BIO_set_data(bio, lower.get());
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl, bio, bio);
  if (server_) {
    SSL_set_accept_state(ssl);
  } else {
    SSL_set_connect_state(ssl);
    if (!server_name.empty()) {
      if (is_ip_literal(server_name)) {
        if (verify_) X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), server_name.c_str());
      } else {
        SSL_set_tlsext_host_name(ssl, server_name.c_str());
        if (verify_) SSL_set1_host(ssl, server_name.c_str());
      }
    }
    if (reuse_ && session_ != nullptr) SSL_set_session(ssl, session_);
  }
  auto transport = std::make_unique<TlsTransport>(*this, std::move(lower), loop, ssl);
  transport->begin();
  return transport;
}

}  // namespace onbeat::net
