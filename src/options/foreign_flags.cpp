// Flags of other tools and of later versions.
#include "options/table.hpp"

#include <array>

namespace onbeat::options {
namespace {

constexpr std::array kForeign{
    ForeignFlag{"-z", "hey, oha", "--duration (-d)"},
    ForeignFlag{"-q", "hey, oha", "--rate (a total over all workers); for silence --quiet"},
    ForeignFlag{"-t", "wrk, hey, k6", "--threads for threads, --timeout for a timeout"},
    ForeignFlag{"-R", "wrk2", "--rate"},
    ForeignFlag{"-r", "ab, h2load", "--rate"},
    ForeignFlag{"-s", "wrk", "-X, -H and --body for the request"},
    ForeignFlag{"-T", "wrk, hey, h2load",
                "--timeout for a timeout, -H 'Content-Type: ...' for a type"},
    ForeignFlag{"-m", "hey, h2load", "--method (-X)"},
    ForeignFlag{"-D", "hey, h2load", "--body-file for a body, --duration (-d) for a time"},
    ForeignFlag{"-w", "k6, vegeta", "--concurrency (-c)"},
    ForeignFlag{"-p", "ab", "--body-file"},
    ForeignFlag{"-i", "k6", "--requests (-n)"},
    ForeignFlag{"-a", "hey", "-H 'Authorization: ...' or -H @file"},
    ForeignFlag{"-o", "hey, oha", "--out FORMAT=FILE"},
    ForeignFlag{"-v", "other tools", "--once to see a whole exchange", false},
    ForeignFlag{"--vus", "k6", "--concurrency (-c)"},
    ForeignFlag{"--users", "locust", "--concurrency (-c)"},
    ForeignFlag{"--clients", "h2load", "--concurrency (-c)"},
    ForeignFlag{"--iterations", "k6", "--requests (-n)"},
    ForeignFlag{"--stage", "k6", "--rate '0..500 over 1m, 500 for 5m'"},
    ForeignFlag{"--rps", "k6, h2load", "--rate"},
    ForeignFlag{"--qps", "fortio, oha", "--rate"},
    ForeignFlag{"--latency", "wrk", "nothing: percentiles are always printed", false},
    ForeignFlag{"--latency-correction", "oha",
                "nothing: response times are always counted from when each was due", false},
    ForeignFlag{"--summary-export", "k6", "--out json=FILE"},
    ForeignFlag{"--output", "k6, oha", "--out FORMAT=FILE"},
    ForeignFlag{"--warm-up-time", "h2load", "--warmup"},
    ForeignFlag{"--no-tui", "oha", "--quiet", false},
    ForeignFlag{"--script", "wrk", "-X, -H and --body for the request"},
    ForeignFlag{"--max-workers", "vegeta", "--concurrency (-c)"},
    ForeignFlag{"-workers", "vegeta", "--concurrency (-c)"},
    ForeignFlag{"-max-workers", "vegeta", "--concurrency (-c)"},
    ForeignFlag{"-targets", "vegeta", "--urls"},
    ForeignFlag{"-attack", "vegeta", "onbeat http URL", false},
    ForeignFlag{"-keepalive", "vegeta, fortio", "nothing: connections are kept open", false},
    ForeignFlag{"-qps", "fortio", "--rate"},
    ForeignFlag{"-disable-keepalive", "hey", "--no-keepalive", false},
    ForeignFlag{"--disable-keepalive", "oha", "--no-keepalive", false},
    ForeignFlag{"--urls-from-file", "oha", "--urls", false},
    ForeignFlag{"--input-file", "h2load", "--urls"},
    ForeignFlag{"--request", "curl", "--method (-X)"},
    ForeignFlag{"--data-raw", "curl", "--body"},
    ForeignFlag{"--data-binary", "curl", "--body or --body-file"},
    ForeignFlag{"--max-time", "curl", "--timeout"},
    ForeignFlag{"--max-redirs", "curl", "--redirects"},
    ForeignFlag{"--compressed", "curl", "--decompress", false},
    ForeignFlag{"--interface", "curl", "--source-ip"},
    ForeignFlag{"-F", "curl", "--form"},
    ForeignFlag{"-cpus", "hey", "--threads"},
    ForeignFlag{"-host", "hey", "-H 'Host: ...'"},
};

constexpr std::array<std::string_view, 10> kLaterCommands{
    "run", "cache", "mqtt", "nats", "ws", "graphql", "serve", "agent", "new", "scenario"};

constexpr std::array kLaterOptions{
    LaterOption{"cache"},
    LaterOption{"cache-ttl"},
};

}  // namespace

std::span<const ForeignFlag> foreign_flags() { return kForeign; }
std::span<const std::string_view> later_commands() { return kLaterCommands; }
std::span<const LaterOption> later_options() { return kLaterOptions; }

}  // namespace onbeat::options
