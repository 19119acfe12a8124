#include "net/address.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <algorithm>
#include <cstddef>

namespace onbeat::net {
namespace {

Address ipv6(std::uint16_t port) {
  sockaddr_in6 in{};
  in.sin6_family = AF_INET6;
  in.sin6_port = htons(port);
  in.sin6_addr = in6addr_loopback;
  return {reinterpret_cast<const sockaddr*>(&in), sizeof in};
}

TEST(Address, NamesEachFamily) {
  EXPECT_EQ(Address::ipv4_loopback(80).to_string(), "127.0.0.1:80");
  EXPECT_EQ(ipv6(8080).to_string(), "[::1]:8080");
  EXPECT_EQ(Address::unix_path("/tmp/a socket").to_string(), "unix:/tmp/a socket");
  EXPECT_EQ(Address().to_string(), "none");
}

TEST(Address, TellsItsPort) {
  EXPECT_EQ(Address::ipv4_loopback(65535).port(), 65535);
  EXPECT_EQ(ipv6(443).port(), 443);
  EXPECT_EQ(Address::unix_path("/x").port(), 0);
}

TEST(Address, EqualByValue) {
  EXPECT_EQ(Address::ipv4_loopback(80), Address::ipv4_loopback(80));
  EXPECT_NE(Address::ipv4_loopback(80), Address::ipv4_loopback(81));
  EXPECT_NE(Address::ipv4_loopback(80), ipv6(80));
  EXPECT_NE(Address::unix_path("/a"), Address::unix_path("/b"));
}

TEST(Address, LongestUnixPathFitsWhole) {
  const std::string path = "/" + std::string(Address::unix_path_limit - 1, 'p');
  const Address address = Address::unix_path(path);
  EXPECT_EQ(address.to_string(), "unix:" + path);
  EXPECT_LE(address.size(), sizeof(sockaddr_un));
}

// What the system reports for the client's end of a Unix connection: a family and nothing more.
TEST(Address, UnnamedUnixSocketHasAnEmptyPath) {
  sockaddr_un un{};
  un.sun_family = AF_UNIX;
  const Address address(reinterpret_cast<const sockaddr*>(&un), offsetof(sockaddr_un, sun_path));
  EXPECT_EQ(address.to_string(), "unix:");
}

TEST(Resolve, LiteralsNeedNoNames) {
  const auto four = resolve("127.0.0.1", 8080);
  ASSERT_TRUE(four.has_value());
  EXPECT_EQ(*four, std::vector{Address::ipv4_loopback(8080)});
  const auto six = resolve("::1", 8080);
  ASSERT_TRUE(six.has_value()) << six.error();
  EXPECT_EQ(*six, std::vector{ipv6(8080)});
}

TEST(Resolve, LocalhostHasNoDuplicates) {
  const auto found = resolve("localhost", 80);
  ASSERT_TRUE(found.has_value());
  ASSERT_FALSE(found->empty());
  for (const Address& each : *found) EXPECT_EQ(std::ranges::count(*found, each), 1);
}

TEST(Resolve, ANameThatCannotBeGivesTheResolversWords) {
  const auto found = resolve("a name with spaces", 80);
  ASSERT_FALSE(found.has_value());
  EXPECT_FALSE(found.error().empty());
}

}  // namespace
}  // namespace onbeat::net
