// One POST, for outputs that go to a server. Off the hot path: it blocks.
#pragma once

#include <onbeat/kernel/clock.hpp>

#include <expected>
#include <string>
#include <string_view>

namespace onbeat::report {

/// Posts `body` to an http or https URL (user and password in it: Basic authentication) and waits
/// for a status of 2xx. `token`: sent as "Authorization: Token ...", unless empty or the URL has a
/// user. The error is a sentence without secrets: why there was no connection, or the status with
/// the first line of what the server says.
[[nodiscard]] std::expected<void, std::string> http_post(const std::string& url,
                                                         std::string_view body,
                                                         const std::string& token,
                                                         kernel::Duration timeout);

/// Whether an output goes to a server instead of a file.
[[nodiscard]] bool is_url(std::string_view path);
/// What is wrong with the URL; nothing when it is one.
[[nodiscard]] std::expected<void, std::string> check_url(const std::string& url);

}  // namespace onbeat::report
