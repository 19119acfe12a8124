#include "net/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <set>

namespace onbeat::net {
namespace {

using testing::HasSubstr;

TEST(NetError, EveryClassHasItsOwnName) {
  std::set<std::string_view> names;
  for (int i = 0; i < kNetErrors; ++i) {
    const std::string_view name = to_string(static_cast<NetError>(i));
    EXPECT_FALSE(name.empty());
    EXPECT_TRUE(names.insert(name).second) << name;
  }
  EXPECT_EQ(to_string(NetError::short_body), "short_body");
}

TEST(NetError, ConnectsFailByClass) {
  EXPECT_EQ(connect_error(0), NetError::none);
  EXPECT_EQ(connect_error(ECONNREFUSED), NetError::connect_refused);
  EXPECT_EQ(connect_error(ENOENT), NetError::connect_refused);
  EXPECT_EQ(connect_error(ETIMEDOUT), NetError::connect_timeout);
  EXPECT_EQ(connect_error(EHOSTUNREACH), NetError::unreachable);
  EXPECT_EQ(connect_error(ENETUNREACH), NetError::unreachable);
  EXPECT_EQ(connect_error(EADDRNOTAVAIL), NetError::local_ports);
  EXPECT_EQ(connect_error(EADDRINUSE), NetError::local_ports);
  EXPECT_EQ(connect_error(EMFILE), NetError::local_fds);
  EXPECT_EQ(connect_error(ENFILE), NetError::local_fds);
  EXPECT_EQ(connect_error(ECONNRESET), NetError::reset);
  EXPECT_EQ(connect_error(ECANCELED), NetError::cancelled);
  EXPECT_EQ(connect_error(EACCES), NetError::connect_failed);
}

TEST(NetError, OpenConnectionsFailByClass) {
  EXPECT_EQ(io_error(0), NetError::none);
  EXPECT_EQ(io_error(ECONNRESET), NetError::reset);
  EXPECT_EQ(io_error(EPIPE), NetError::reset);
  EXPECT_EQ(io_error(ETIMEDOUT), NetError::timeout);
  EXPECT_EQ(io_error(ECANCELED), NetError::cancelled);
  EXPECT_EQ(io_error(EBADF), NetError::io);
}

TEST(NetError, DescriptionsHoldTheRemedyAndTheSystemsWords) {
  EXPECT_THAT(describe(NetError::local_fds, EMFILE), HasSubstr("ulimit -n"));
  EXPECT_THAT(describe(NetError::local_fds, EMFILE), HasSubstr("(Too many open files)"));
  EXPECT_THAT(describe(NetError::local_ports, EADDRNOTAVAIL), HasSubstr("ip_local_port_range"));
  EXPECT_EQ(describe(NetError::connect_refused, 0), "connection refused: nothing listens there");
  for (int i = 0; i < kNetErrors; ++i) EXPECT_FALSE(describe(static_cast<NetError>(i), 0).empty());
}

}  // namespace
}  // namespace onbeat::net
