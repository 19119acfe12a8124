// Where the connections of a loop go to, what became of them, and how an exchange on one ended: the
// same for every version of HTTP. Belongs to its loop's thread.
#pragma once

#include "http/http2_memory.hpp"
#include "net/error.hpp"
#include "net/loop.hpp"
#include "net/tls.hpp"
#include <onbeat/kernel/clock.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace onbeat::http {

using kernel::Duration;
using kernel::Instant;
using kernel::kNever;

/// What happened to the connections of one loop. Invariant: opened = now open + closed by either
/// side.
struct ConnectionLedger {
  std::uint64_t open = 0;
  std::uint64_t opened = 0;               // connects that succeeded
  std::uint64_t failed = 0;               // connects that did not
  std::uint64_t reused = 0;               // exchanges on a connection that had carried one before
  std::uint64_t reopened = 0;             // opened in place of one that was closed
  std::uint64_t closed_by_peer = 0;       // in order, between or after responses
  std::uint64_t reset = 0;                // by the peer
  std::vector<std::uint64_t> by_address;  // opened, by position in Peer::addresses
};

/// The last small response that came whole in one piece. A peer that is asked the same again mostly
/// answers with the same bytes (until its Date changes); the same bytes mean the same, so they need
/// no parsing.
struct KnownResponse {
  static constexpr std::size_t kLongest = 2048;
  std::string bytes;
  int status = 0;
  bool keep_alive = false;
  bool to_head = false;
};

/// What HTTP/2 connections tell the peer, and how they watch over it (RFC 9113, 6.5.2). Windows are
/// wide so that it is never this side that holds a response back.
struct Http2Settings {
  static constexpr std::uint32_t kWidestWindow = (1U << 31) - 1;

  std::uint32_t window = (1U << 30) - 1;             // bytes of a stream; up to kWidestWindow
  std::uint32_t connection_window = (1U << 30) - 1;  // 65 535 to kWidestWindow
  std::uint32_t max_frame_size = 16'384;             // that we take: 16 384 to 16 777 215
  std::uint32_t header_table_size = 4'096;           // of what the peer compresses
  std::uint32_t encoder_table_size = 4'096;          // of what we compress; the peer may allow less
  std::uint32_t max_header_list = 64 * 1024;         // bytes of a response's header, uncompressed
  std::uint32_t max_streams = UINT32_MAX;  // at once on a connection; the peer may allow fewer
  /// A PING after so long without a byte from the peer; 0: none.
  Duration keepalive{};
  /// Within this it must be answered, or the connection is dead.
  Duration keepalive_timeout = std::chrono::seconds(20);
  bool keepalive_while_idle = false;  // also when there is no stream
};

/// Where connections of one loop go to, and how. Must outlive its connections.
struct Peer {
  std::vector<net::Address> addresses;  // used in turn
  net::ConnectOptions options;
  Duration connect_timeout = std::chrono::seconds(5);  // TCP, tunnel and TLS together
  /// Sent first, to a proxy; its response must be a success (RFC 9110, 9.3.6). Empty: no tunnel.
  std::string tunnel;
  std::unique_ptr<net::TlsContext> tls;  // null: plain
  std::string server_name;
  bool keep_alive = true;  // false: one exchange a connection
  std::uint64_t requests_per_connection = UINT64_MAX;
  Http2Settings http2;

  ConnectionLedger ledger;
  KnownResponse known;
  Http2Memory memory;
  std::size_t next_address = 0;
};

/// How an operation ended.
struct Exchange {
  net::NetError error =
      net::NetError::none;  // of the transport or the protocol; a status is no error here
  int system_error = 0;
  int status = 0;  // 0 when no response header came
  std::uint32_t bytes_sent = 0;
  std::uint32_t bytes_received = 0;
  bool connected = false;  // a connection was opened within this operation
  /// False: the peer has surely not acted on the request, so that it may be sent again (HTTP/2:
  /// never sent, refused, or behind the last stream of a GOAWAY).
  bool processed = true;
  /// The code of the RST_STREAM or GOAWAY that ended it (RFC 9113, 7), after
  /// NetError::stream_reset, goaway and refused.
  std::uint32_t http2_code = 0;
  Duration connect{};  // how long TCP (and the tunnel) took
  Duration tls{};      // and the handshake
  /// When it got a stream, if it had to wait for one (HTTP/2: as many were open as the peer
  /// allows); else no instant.
  Instant started{};
  /// When the response header was complete, if body bytes came later than it; else no instant.
  Instant header_done{};
};

}  // namespace onbeat::http
