// TLS over the simulated network: both ends in one thread, certificates made for the test.
#include "net/tls.hpp"

#include "net/sim.hpp"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

namespace onbeat::net {
namespace {

using namespace std::chrono_literals;

/// A certificate for localhost and 127.0.0.1 that has signed itself, and its key, in files.
class Certificate {
 public:
  explicit Certificate(const std::string& name)
      : folder_(std::filesystem::temp_directory_path() /
                ("onbeat-tls-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
    path = folder_ / (name + ".pem");
    EVP_PKEY* key = EVP_EC_gen("P-256");
    X509* made = X509_new();
    X509_set_version(made, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(made), 1);
    X509_gmtime_adj(X509_getm_notBefore(made), -3600);
    X509_gmtime_adj(X509_getm_notAfter(made), 3600);
    X509_set_pubkey(made, key);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(made), "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
    X509_set_issuer_name(made, X509_get_subject_name(made));
    X509_EXTENSION* names =
        X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1");
    X509_add_ext(made, names, -1);
    X509_sign(made, key, EVP_sha256());
    std::FILE* file = std::fopen(path.c_str(), "w");
    PEM_write_X509(file, made);
    PEM_write_PrivateKey(file, key, nullptr, nullptr, 0, nullptr, nullptr);
    std::fclose(file);
    X509_EXTENSION_free(names);
    X509_free(made);
    EVP_PKEY_free(key);
  }
  std::string path;

 private:
  std::filesystem::path folder_;
};

struct Flag final : Waiter {
  void ready() noexcept override { ++calls; }
  int calls = 0;
};

class Tls : public testing::Test, protected AcceptHandler {
 protected:
  static void SetUpTestSuite() {
    known_ = new Certificate("known");
    other_ = new Certificate("other");
  }
  static void TearDownTestSuite() {
    std::filesystem::remove_all(std::filesystem::path(known_->path).parent_path());
    delete known_;
    delete other_;
  }

  void SetUp() override {
    use({.certificate = known_->path, .server = true}, {.ca_file = known_->path});
    listener_ = loop_.listen(Address::ipv4_loopback(0), *this).value();
  }
  void use(const TlsOptions& server, const TlsOptions& client) {
    server_context_ = TlsContext::make(server).value();
    client_context_ = TlsContext::make(client).value();
  }
  void accepted(std::unique_ptr<Transport> connection) override {
    below_server_ = connection.get();
    server_ = server_context_->wrap(std::move(connection), loop_, "");
  }
  /// The client's connect_result() after the handshake.
  int shake_hands(const std::string& name = "localhost") {
    Flag connected, secured;
    client_ = loop_.connect(listener_->address(), {}).value();
    client_->wait_writable(connected);
    settle();
    EXPECT_EQ(connected.calls, 1);
    client_ = client_context_->wrap(std::move(client_), loop_, name);
    client_->wait_writable(secured);
    settle();
    EXPECT_EQ(secured.calls, 1);
    return client_->connect_result();
  }
  void settle() { world_.run_until(world_.now() + 1s); }
  static IoResult write(Transport& to, std::string_view bytes) {
    return to.write_some(std::span(&bytes, 1));
  }
  IoResult read(Transport& from) {
    settle();
    return from.read_some(buffer_);
  }
  std::string read_all(Transport& from, std::size_t size) {
    std::string all;
    while (all.size() < size) {
      const IoResult result = read(from);
      if (result.bytes == 0) break;
      all.append(buffer_, result.bytes);
    }
    return all;
  }

  static inline Certificate* known_ = nullptr;
  static inline Certificate* other_ = nullptr;
  SimWorld world_{1, kernel::Instant{} + 1h};
  SimLoop loop_{world_};
  std::unique_ptr<TlsContext> server_context_, client_context_;
  std::unique_ptr<Listener> listener_;
  std::unique_ptr<Transport> client_, server_;
  Transport* below_server_ = nullptr;
  char buffer_[65536];
};

TEST_F(Tls, BytesGoBothWays) {
  ASSERT_EQ(shake_hands(), 0);
  EXPECT_GT(client_->handshake_time(), 0ns);
  EXPECT_EQ(write(*client_, "hello").bytes, 5U);
  EXPECT_EQ(read_all(*server_, 5), "hello");
  std::string large(300'000, 'x');
  for (std::size_t at = 0; at < large.size(); ++at) large[at] = static_cast<char>(at * 31 >> 3);
  std::string received;
  for (std::size_t sent = 0; sent < large.size();) {
    const IoResult result = write(*server_, std::string_view(large).substr(sent));
    ASSERT_EQ(result.error, 0);
    sent += result.bytes;
    received += read_all(*client_, result.bytes);
  }
  EXPECT_EQ(received, large);
  EXPECT_TRUE(read(*client_).would_block());
}

TEST_F(Tls, ByteByByteIsTheSame) {
  world_.set_planner(
      [](SimPlan& plan) { plan.to_client.split = plan.to_server.split = SimSplit::bytes; });
  ASSERT_EQ(shake_hands(), 0);
  EXPECT_EQ(write(*server_, "hello").bytes, 5U);
  EXPECT_EQ(read_all(*client_, 5), "hello");
}

TEST_F(Tls, AnIdleConnectionIsReadableOnlyWhenThereIsSomething) {
  ASSERT_EQ(shake_hands(), 0);
  // Tickets of TLS 1.3 may wait; they are not data.
  EXPECT_TRUE(read(*client_).would_block());
  EXPECT_FALSE(client_->readable());
  write(*server_, "x");
  settle();
  EXPECT_TRUE(client_->readable());
}

TEST_F(Tls, PeersThatAreNotTrusted) {
  use({.certificate = other_->path, .server = true}, {.ca_file = known_->path});
  EXPECT_EQ(shake_hands(), EPROTO);
  EXPECT_NE(client_->failure().find("certificate"), std::string::npos) << client_->failure();
  use({.certificate = other_->path, .server = true}, {.ca_file = known_->path, .verify = false});
  EXPECT_EQ(shake_hands(), 0);
}

TEST_F(Tls, H17_NamesAreVerified) {
  EXPECT_EQ(shake_hands("localhost"), 0);
  EXPECT_EQ(shake_hands("127.0.0.1"), 0);
  EXPECT_EQ(shake_hands("elsewhere"), EPROTO);
  EXPECT_EQ(shake_hands("127.0.0.2"), EPROTO);
  use({.certificate = known_->path, .server = true}, {.ca_file = known_->path, .verify = false});
  EXPECT_EQ(shake_hands("elsewhere"), 0);
}

TEST_F(Tls, SessionsAreResumedAlsoAfterAnEndWithoutNotice) {
  for (const std::string version : {"1.2", "1.3"}) {
    use({.certificate = known_->path,
         .min_version = version,
         .max_version = version,
         .server = true},
        {.ca_file = known_->path});
    for (int i = 0; i < 3; ++i) {
      ASSERT_EQ(shake_hands(), 0);
      write(*server_, "x");
      EXPECT_EQ(read_all(*client_, 1), "x");
      below_server_->shutdown_write();
      EXPECT_TRUE(read(*client_).end());
    }
    EXPECT_EQ(client_context_->handshakes(), 3U);
    EXPECT_EQ(client_context_->resumed(), 2U) << version;
  }
}

TEST_F(Tls, NewSessionsWhereTheyAreAskedFor) {
  use({.certificate = known_->path, .server = true},
      {.ca_file = known_->path, .reuse_sessions = false});
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(shake_hands(), 0);
    read(*client_);
  }
  EXPECT_EQ(client_context_->resumed(), 0U);
}

TEST_F(Tls, TheEndInOrder) {
  ASSERT_EQ(shake_hands(), 0);
  write(*server_, "last");
  server_->close();
  EXPECT_EQ(read_all(*client_, 4), "last");
  EXPECT_TRUE(read(*client_).end());
}

TEST_F(Tls, TheEndWithinAHandshake) {
  Flag connected, secured;
  client_ = loop_.connect(listener_->address(), {}).value();
  client_->wait_writable(connected);
  settle();
  server_->close();
  client_ = client_context_->wrap(std::move(client_), loop_, "localhost");
  client_->wait_writable(secured);
  settle();
  EXPECT_EQ(client_->connect_result(), EPROTO);
  EXPECT_FALSE(client_->failure().empty());
}

TEST_F(Tls, WhatIsWrongWithFilesAndSettingsIsSaid) {
  const auto error = [](const TlsOptions& options) {
    const auto made = TlsContext::make(options);
    return made ? std::string() : made.error();
  };
  EXPECT_NE(error({.ca_file = "/absent"}).find("/absent: No such file"), std::string::npos)
      << error({.ca_file = "/absent"});
  EXPECT_NE(error({.certificate = known_->path, .key = other_->path}).find(other_->path),
            std::string::npos);
  EXPECT_NE(error({.min_version = "1.9"}).find("1.9"), std::string::npos);
  EXPECT_NE(error({.ciphers = "NONSENSE"}).find("NONSENSE"), std::string::npos);
  EXPECT_NE(error({.alpn = {""}}), "");
  EXPECT_EQ(error({.certificate = known_->path}), "");
}

}  // namespace
}  // namespace onbeat::net
