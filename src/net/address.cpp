#include "net/address.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <system_error>

namespace onbeat::net {

Address::Address(const sockaddr* address, socklen_t length)
    : size_(std::min<socklen_t>(length, sizeof storage_)) {
  std::memcpy(&storage_, address, size_);
}

Address Address::ipv4_loopback(std::uint16_t port) {
  sockaddr_in in{};
  in.sin_family = AF_INET;
  in.sin_port = htons(port);
  in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return {reinterpret_cast<const sockaddr*>(&in), sizeof in};
}

Address Address::unix_path(std::string_view path) {
  sockaddr_un un{};
  un.sun_family = AF_UNIX;
  path.copy(un.sun_path, unix_path_limit);
  const auto length = offsetof(sockaddr_un, sun_path) + std::min(path.size(), unix_path_limit) + 1;
  return {reinterpret_cast<const sockaddr*>(&un), static_cast<socklen_t>(length)};
}

std::uint16_t Address::port() const noexcept {
  if (family() == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in*>(&storage_)->sin_port);
  if (family() == AF_INET6)
    return ntohs(reinterpret_cast<const sockaddr_in6*>(&storage_)->sin6_port);
  return 0;
}

bool Address::is_loopback() const noexcept {
  if (family() == AF_UNIX) return true;
  if (family() == AF_INET)
    return (ntohl(reinterpret_cast<const sockaddr_in*>(&storage_)->sin_addr.s_addr) >> 24) == 127;
  return family() == AF_INET6 &&
         IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6*>(&storage_)->sin6_addr);
}

std::string Address::to_string() const {
  char text[INET6_ADDRSTRLEN] = "";
  switch (family()) {
    case AF_INET:
      inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(&storage_)->sin_addr, text,
                sizeof text);
      return std::string(text) + ":" + std::to_string(port());
    case AF_INET6:
      inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6*>(&storage_)->sin6_addr, text,
                sizeof text);
      return "[" + std::string(text) + "]:" + std::to_string(port());
    case AF_UNIX:
      return std::string("unix:") + reinterpret_cast<const sockaddr_un*>(&storage_)->sun_path;
    default:
      return "none";
  }
}

bool Address::operator==(const Address& other) const noexcept {
  return size_ == other.size_ && std::memcmp(&storage_, &other.storage_, size_) == 0;
}

std::expected<std::vector<Address>, std::string> resolve(const std::string& host,
                                                         std::uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error == EAI_SYSTEM)
    return std::unexpected(std::error_code(errno, std::generic_category()).message());
  if (error != 0) return std::unexpected(std::string(gai_strerror(error)));
  std::vector<Address> addresses;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    const Address address(each->ai_addr, each->ai_addrlen);
    if (std::ranges::find(addresses, address) == addresses.end()) addresses.push_back(address);
  }
  freeaddrinfo(found);
  return addresses;
}

}  // namespace onbeat::net
