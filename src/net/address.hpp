// Socket addresses and names.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace onbeat::net {

/// An IPv4, IPv6 or Unix address. A value.
class Address {
 public:
  Address() = default;
  Address(const sockaddr* address, socklen_t length);
  static Address ipv4_loopback(std::uint16_t port);
  /// Path of a Unix socket; at most 107 bytes (longer ones are cut by the caller's check: see
  /// unix_path_limit).
  static Address unix_path(std::string_view path);
  static constexpr std::size_t unix_path_limit = 107;

  [[nodiscard]] const sockaddr* data() const noexcept {
    return reinterpret_cast<const sockaddr*>(&storage_);
  }
  [[nodiscard]] socklen_t size() const noexcept { return size_; }
  [[nodiscard]] int family() const noexcept { return storage_.ss_family; }
  /// 0 for a Unix socket.
  [[nodiscard]] std::uint16_t port() const noexcept;
  /// An address of this host alone: 127.0.0.0/8, ::1, a Unix socket.
  [[nodiscard]] bool is_loopback() const noexcept;
  /// "127.0.0.1:80", "[::1]:80", "unix:/path".
  [[nodiscard]] std::string to_string() const;
  bool operator==(const Address& other) const noexcept;

 private:
  sockaddr_storage storage_{};
  socklen_t size_ = 0;
};

/// All addresses of a name or IP literal, in the resolver's order, without duplicates; or the
/// resolver's message. Blocks: call it before the loops run.
[[nodiscard]] std::expected<std::vector<Address>, std::string> resolve(const std::string& host,
                                                                       std::uint16_t port);

}  // namespace onbeat::net
