#include "target/answer.hpp"

#include "http/url.hpp"
#include "options/grammar.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace onbeat::target {
namespace {

// Small bodies travel with the head, in one piece; large ones are never held in memory.
constexpr std::uint64_t kInline = 16 * 1024;

std::string_view reason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 204:
      return "No Content";
    case 301:
      return "Moved Permanently";
    case 302:
      return "Found";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 404:
      return "Not Found";
    case 429:
      return "Too Many Requests";
    case 500:
      return "Internal Server Error";
    case 503:
      return "Service Unavailable";
    default:
      return "Status";
  }
}

std::string_view next_segment(std::string_view& path) {
  if (path.starts_with('/')) path.remove_prefix(1);
  const std::string_view segment = path.substr(0, path.find('/'));
  path.remove_prefix(segment.size());
  return segment;
}

// One "/key/value" of the path, or "/echo". False when it is neither.
bool read_wish(std::string_view& path, const http::ReceivedRequest& request, Wanted& wanted) {
  const std::string_view key = next_segment(path);
  if (key == "echo") {
    wanted.text = request.head + request.body;
    return true;
  }
  if (key == "raw" || key == "raw-close") {
    wanted.raw = http::percent_decoded(path.substr(std::min<std::size_t>(path.size(), 1)));
    wanted.close = key == "raw-close";
    path = {};
    return true;
  }
  const std::string_view value = next_segment(path);
  if (key == "delay") {
    const auto delay = options::parse_duration(value);
    wanted.delay = delay.value_or(Duration{0});
    return delay.has_value();
  }
  if (key == "status") {
    const auto code = options::parse_count(value);
    if (!code || *code < 200 || *code > 599) return false;
    wanted.status = static_cast<int>(*code);
    return true;
  }
  if (key != "bytes" && key != "chunked") return false;
  const auto bytes = options::parse_size(value);
  wanted.bytes = bytes.value_or(0);
  wanted.chunked = key == "chunked";
  return bytes.has_value();
}

void add_filler(Answer& answer, std::uint64_t bytes) {
  if (bytes <= kInline) {
    answer.head.append(bytes, 'x');
  } else {
    answer.filler = bytes;
  }
}

void add_chunk_size(Answer& answer, std::uint64_t bytes) {
  char digits[16];
  const auto end = std::to_chars(digits, digits + sizeof digits, bytes, 16).ptr;
  answer.head.append(digits, end).append("\r\n");
}

// Two chunks, so that a reader has to put them together; the first one small.
void add_chunks(Answer& answer, const Wanted& wanted, bool trailers) {
  const std::uint64_t bytes = wanted.body_size();
  const std::uint64_t first = std::min<std::uint64_t>(bytes / 2, 4096);
  const std::string_view text = wanted.text ? std::string_view(*wanted.text) : std::string_view();
  if (first > 0) {
    add_chunk_size(answer, first);
    if (wanted.text) {
      answer.head += text.substr(0, first);
    } else {
      answer.head.append(first, 'x');
    }
    answer.head += "\r\n";
  }
  if (bytes > first) {
    add_chunk_size(answer, bytes - first);
    if (wanted.text) {
      answer.head += text.substr(first);
    } else {
      add_filler(answer, bytes - first);
    }
    answer.tail = "\r\n";
  }
  answer.tail += trailers ? "0\r\nX-Trailer: first\r\nX-Trailer-Two: second\r\n\r\n" : "0\r\n\r\n";
}

// Head and body of an ordinary answer.
void write_answer(Answer& answer, const Wanted& wanted, const http::ReceivedRequest& request,
                  bool trailers) {
  const bool chunked = (wanted.chunked || trailers) && request.version >= 11;
  const std::uint64_t bytes = wanted.body_size();
  std::string& head = answer.head;
  head += "HTTP/1.1 " + std::to_string(wanted.status) + " " + std::string(reason(wanted.status));
  if (wanted.status == 204) {
    head += "\r\n";
  } else if (chunked) {
    head += "\r\nTransfer-Encoding: chunked\r\n";
  } else {
    head += "\r\nContent-Length: " + std::to_string(bytes) + "\r\n";
  }
  if (wanted.text) head += "Content-Type: text/plain\r\n";
  if (chunked && trailers) head += "Trailer: X-Trailer, X-Trailer-Two\r\n";
  if (answer.close) {
    head += "Connection: close\r\n";
  } else if (request.version == 10) {
    head += "Connection: keep-alive\r\n";
  }
  head += "\r\n";
  answer.body_at = head.size();
  if (is_bodiless(request.method, wanted.status)) return;
  if (chunked) return add_chunks(answer, wanted, trailers);
  if (wanted.text) {
    head += *wanted.text;
  } else {
    add_filler(answer, bytes);
  }
}

}  // namespace

Wanted read_wishes(const http::ReceivedRequest& request, const AnswerDefaults& defaults) {
  const Wanted plain{.status = defaults.status, .bytes = defaults.bytes, .delay = defaults.delay};
  Wanted wanted = plain;
  std::string_view path = request.target;
  // Raw bytes may hold any character; elsewhere a query is no part of the path.
  if (!path.starts_with("/raw")) path = path.substr(0, path.find('?'));
  while (!path.empty() && path != "/")
    if (!read_wish(path, request, wanted)) return plain;
  return wanted;
}

bool is_bodiless(std::string_view method, int status) noexcept {
  return method == "HEAD" || status == 204 || status == 304;
}

std::string_view filler() noexcept {
  static const std::string text(std::size_t{64} << 10, 'x');
  return text;
}

Answer make_answer(const http::ReceivedRequest& request, const AnswerDefaults& defaults,
                   const Effects& effects) {
  Answer answer;
  if (effects.garbage) {
    answer.head = "\x16\x03\x01 this is not HTTP\r\n\r\n";
    answer.close = true;
    return answer;
  }
  Wanted wanted = read_wishes(request, defaults);
  if (effects.status != 0) wanted.status = effects.status;
  answer.delay = wanted.delay;
  answer.close = wanted.close || !request.keep_alive || effects.say_close;
  if (effects.interim)
    answer.head =
        "HTTP/1.1 100 Continue\r\n\r\n"
        "HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n";
  if (wanted.raw) {
    answer.head += *wanted.raw;
  } else {
    write_answer(answer, wanted, request, effects.trailers);
  }
  answer.tail.append(effects.excess, '!');
  if (answer.filler == 0) {
    answer.head += answer.tail;
    answer.tail.clear();
  }
  return answer;
}

Answer bad_request(std::string_view why) {
  Answer answer;
  answer.head = "HTTP/1.1 400 Bad Request\r\nContent-Length: " + std::to_string(why.size()) +
                "\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n" + std::string(why);
  answer.close = true;
  return answer;
}

}  // namespace onbeat::target
