// The other side for tests of the HTTP/2 client: a server on nghttp2 over the simulated network,
// which does as its script says, right or wrong. Reports by EXPECT what no client should do.
#pragma once

#include "net/loop.hpp"

#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace onbeat::http {

class Http2TestServer final : private net::AcceptHandler {
 public:
  using Pairs = std::vector<std::pair<std::string, std::string>>;

  struct Received {
    Pairs fields;
    std::string body;
    bool ended = false;
    std::uint32_t reset = NGHTTP2_NO_ERROR;  // the code of the client's RST_STREAM
    bool was_reset = false;

    [[nodiscard]] std::string field(std::string_view name) const {
      for (const auto& [key, value] : fields)
        if (key == name) return value;
      return {};
    }
  };

  class Conversation final : public net::Waiter {
   public:
    Conversation(Http2TestServer& server, std::size_t number,
                 std::unique_ptr<net::Transport> transport)
        : number(number), server_(server), transport_(std::move(transport)) {
      nghttp2_option* option = nullptr;
      nghttp2_option_new(&option);
      nghttp2_option_set_no_http_messaging(option, 1);  // it may say what is wrong
      nghttp2_option_set_no_auto_window_update(option, server.holds_windows ? 1 : 0);
      nghttp2_session_server_new2(&session_, callbacks(), this, option);
      nghttp2_option_del(option);
    }
    ~Conversation() { nghttp2_session_del(session_); }
    Conversation(const Conversation&) = delete;
    Conversation& operator=(const Conversation&) = delete;

    const std::size_t number;  // from 1
    std::map<std::int32_t, Received> streams;
    std::size_t open = 0, most_open = 0;
    std::uint32_t goaway_received = UINT32_MAX;  // the code of the client's GOAWAY
    std::size_t pings = 0;
    bool closed = false;
    bool held = false;  // what it sends does not leave, until release()

    void release() {
      held = false;
      write();
    }
    void settings(std::vector<nghttp2_settings_entry> entries = {}) {
      nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, entries.data(), entries.size());
      flush();
    }
    /// A response of header, body and, perhaps, trailers; `fields` without :status.
    void respond(std::int32_t id, const std::string& status, const std::string& body = {},
                 const Pairs& fields = {}, const Pairs& trailers = {}) {
      headers(id, status, fields, body.empty() && trailers.empty());
      if (!body.empty() || !trailers.empty()) data(id, body, true, trailers);
    }
    void headers(std::int32_t id, const std::string& status, const Pairs& fields, bool last) {
      Pairs all{{":status", status}};
      all.insert(all.end(), fields.begin(), fields.end());
      const auto list = pointers(all);
      nghttp2_submit_headers(session_, last ? NGHTTP2_FLAG_END_STREAM : NGHTTP2_FLAG_NONE, id,
                             nullptr, list.data(), list.size(), nullptr);
      flush();
    }
    void data(std::int32_t id, const std::string& body, bool last, const Pairs& trailers = {}) {
      Outgoing& out = outgoing_[id];
      out.bytes += body;
      out.last = last;
      out.trailers = trailers;
      nghttp2_data_provider provider{.source = {.ptr = &out}, .read_callback = read};
      if (std::exchange(out.begun, true)) {
        nghttp2_session_resume_data(session_, id);
      } else {
        nghttp2_submit_data(session_, NGHTTP2_FLAG_END_STREAM, id, &provider);
      }
      flush();
    }
    void reset_stream(std::int32_t id, std::uint32_t code) {
      nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, id, code);
      flush();
    }
    void goaway(std::int32_t last, std::uint32_t code = NGHTTP2_NO_ERROR,
                std::string_view words = {}) {
      nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE, last, code,
                            reinterpret_cast<const std::uint8_t*>(words.data()), words.size());
      flush();
    }
    /// The client may send so many more bytes.
    void widen(std::int32_t id, std::int32_t bytes) {
      nghttp2_submit_window_update(session_, NGHTTP2_FLAG_NONE, id, bytes);
      if (id != 0) nghttp2_submit_window_update(session_, NGHTTP2_FLAG_NONE, 0, bytes);
      flush();
    }
    void raw(std::string_view bytes) {
      server_.sent += bytes;
      pending_ += bytes;
      write();
    }
    void close() {
      closed = true;
      if (transport_ != nullptr) transport_->close();
    }
    void reset() {
      closed = true;
      transport_->reset();
    }

    void ready() noexcept override {
      write();
      while (!closed) {
        char bytes[4096];
        const auto result = transport_->read_some(bytes);
        if (result.would_block()) return transport_->wait_readable(*this);
        if (result.bytes == 0) return close();
        if (server_.on_bytes) {
          server_.on_bytes(*this, {bytes, result.bytes});
          continue;
        }
        EXPECT_GE(nghttp2_session_mem_recv(session_, reinterpret_cast<std::uint8_t*>(bytes),
                                           result.bytes),
                  0);
        flush();
      }
    }
    void start() {
      if (server_.on_bytes) return transport_->wait_readable(*this);
      server_.on_accept(*this);
      if (!closed) transport_->wait_readable(*this);
    }

   private:
    void write() {
      while (!closed && !held && !pending_.empty()) {
        const std::string_view piece = pending_;
        const auto result = transport_->write_some(std::span(&piece, 1));
        if (result.would_block()) return transport_->wait_writable(*this);
        if (result.error != 0) return;
        pending_.erase(0, result.bytes);
      }
    }
    struct Outgoing {
      std::string bytes;
      bool last = false, begun = false;
      Pairs trailers;
    };

    static std::vector<nghttp2_nv> pointers(const Pairs& pairs) {
      std::vector<nghttp2_nv> list;
      for (const auto& [name, value] : pairs)
        list.push_back({.name = reinterpret_cast<std::uint8_t*>(const_cast<char*>(name.data())),
                        .value = reinterpret_cast<std::uint8_t*>(const_cast<char*>(value.data())),
                        .namelen = name.size(),
                        .valuelen = value.size(),
                        .flags = 0});
      return list;
    }
    static ssize_t read(nghttp2_session* session, std::int32_t id, std::uint8_t* into,
                        std::size_t size, std::uint32_t* flags, nghttp2_data_source* source,
                        void*) {
      Outgoing& out = *static_cast<Outgoing*>(source->ptr);
      const std::size_t n = std::min(size, out.bytes.size());
      std::memcpy(into, out.bytes.data(), n);
      out.bytes.erase(0, n);
      if (!out.bytes.empty()) return static_cast<ssize_t>(n);
      if (!out.last) return n == 0 ? NGHTTP2_ERR_DEFERRED : static_cast<ssize_t>(n);
      *flags |= NGHTTP2_DATA_FLAG_EOF;
      if (!out.trailers.empty()) {
        *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
        const auto list = pointers(out.trailers);
        nghttp2_submit_trailer(session, id, list.data(), list.size());
      }
      return static_cast<ssize_t>(n);
    }
    static Conversation& self(void* user) { return *static_cast<Conversation*>(user); }
    static const nghttp2_session_callbacks* callbacks() {
      static const nghttp2_session_callbacks* const made = [] {
        nghttp2_session_callbacks* set = nullptr;
        nghttp2_session_callbacks_new(&set);
        nghttp2_session_callbacks_set_on_begin_headers_callback(
            set, [](nghttp2_session*, const nghttp2_frame*, void* user) {
              Conversation& me = self(user);
              me.most_open = std::max(me.most_open, ++me.open);
              return 0;
            });
        nghttp2_session_callbacks_set_on_header_callback(
            set, [](nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                    std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                    std::uint8_t, void* user) {
              self(user).streams[frame->hd.stream_id].fields.emplace_back(
                  std::string(reinterpret_cast<const char*>(name), name_size),
                  std::string(reinterpret_cast<const char*>(value), value_size));
              return 0;
            });
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
            set, [](nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* data,
                    std::size_t size, void* user) {
              self(user).streams[id].body.append(reinterpret_cast<const char*>(data), size);
              return 0;
            });
        nghttp2_session_callbacks_set_on_stream_close_callback(
            set, [](nghttp2_session*, std::int32_t, std::uint32_t, void* user) {
              --self(user).open;
              return 0;
            });
        nghttp2_session_callbacks_set_on_frame_recv_callback(
            set, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
              self(user).on_frame(*frame);
              return 0;
            });
        return set;
      }();
      return made;
    }
    void on_frame(const nghttp2_frame& frame) {
      const std::int32_t id = frame.hd.stream_id;
      if (frame.hd.type == NGHTTP2_GOAWAY) goaway_received = frame.goaway.error_code;
      if (frame.hd.type == NGHTTP2_PING && (frame.hd.flags & NGHTTP2_FLAG_ACK) == 0) ++pings;
      if (frame.hd.type == NGHTTP2_RST_STREAM) {
        streams[id].was_reset = true;
        streams[id].reset = frame.rst_stream.error_code;
      }
      if (frame.hd.type != NGHTTP2_HEADERS && frame.hd.type != NGHTTP2_DATA) return;
      if ((frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) streams[id].ended = true;
      if (server_.on_frame) return server_.on_frame(*this, id, frame.hd.type);
      if (streams[id].ended) server_.on_request(*this, id);
    }
    void flush() {
      if (flushing_) return;
      flushing_ = true;
      const std::uint8_t* bytes = nullptr;
      while (!closed) {
        const ssize_t size = nghttp2_session_mem_send(session_, &bytes);
        if (size <= 0) break;
        raw({reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size)});
      }
      flushing_ = false;
    }

    Http2TestServer& server_;
    std::unique_ptr<net::Transport> transport_;
    nghttp2_session* session_ = nullptr;
    std::map<std::int32_t, Outgoing> outgoing_;
    std::string pending_;
    bool flushing_ = false;
  };

  explicit Http2TestServer(net::Loop& loop)
      : listener_(loop.listen(net::Address::ipv4_loopback(0), *this).value()) {}
  [[nodiscard]] net::Address address() const { return listener_->address(); }

  /// Must send settings first.
  std::function<void(Conversation&)> on_accept = [](Conversation& with) { with.settings(); };
  /// A request is whole.
  std::function<void(Conversation&, std::int32_t)> on_request =
      [](Conversation& with, std::int32_t id) { with.respond(id, "200", "ok"); };
  /// Instead of on_request: each HEADERS and DATA frame.
  std::function<void(Conversation&, std::int32_t, std::uint8_t)> on_frame;
  /// Instead of all the others: no HTTP/2 at all.
  std::function<void(Conversation&, std::string_view)> on_bytes;
  bool holds_windows = false;  // windows are widened by the script alone
  std::list<Conversation> conversations;
  std::string sent;

 private:
  void accepted(std::unique_ptr<net::Transport> transport) override {
    conversations.emplace_back(*this, conversations.size() + 1, std::move(transport)).start();
  }
  std::unique_ptr<net::Listener> listener_;
};

}  // namespace onbeat::http
