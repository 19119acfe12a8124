#include "bench/grpc_plan.hpp"

#include "bench/document_set.hpp"
#include "bench/schema_book.hpp"
#include "http/url.hpp"
#include "run/version.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace onbeat::bench {
namespace {

using document::Chain;
using document::Document;
using document::Position;
using document::Step;
using options::Problem;

constexpr std::string_view kStandardAddress = "localhost:4770";

/// What the environment says where documents say nothing.
struct Surrounding {
  std::string address;
  net::TlsOptions tls;
  std::string server_name;
  bool asks_for_tls = false;
  bool gzip = false;
};

Surrounding read_surrounding(const options::Surroundings& around, std::vector<Problem>& problems) {
  const auto variable = [&](const char* name) {
    return around.environment(name).value_or(std::string());
  };
  Surrounding result;
  result.address = variable("GRPCTESTIFY_ADDRESS");
  result.tls.ca_file = variable("GRPCTESTIFY_TLS_CA_FILE");
  result.tls.certificate = variable("GRPCTESTIFY_TLS_CERT_FILE");
  result.tls.key = variable("GRPCTESTIFY_TLS_KEY_FILE");
  result.server_name = variable("GRPCTESTIFY_TLS_SERVER_NAME");
  result.asks_for_tls = !result.tls.ca_file.empty() || !result.tls.certificate.empty() ||
                        !result.tls.key.empty() || !result.server_name.empty();
  const std::string compression = variable("GRPCTESTIFY_COMPRESSION");
  result.gzip = compression == "gzip";
  if (!compression.empty() && compression != "gzip" && compression != "none")
    problems.push_back({"GRPCTESTIFY_COMPRESSION", "is gzip or none", {}, compression, 1});
  return result;
}

class Maker {
 public:
  Maker(GrpcTarget& target, const GrpcPlanOptions& options, const options::Surroundings& around,
        std::vector<Problem>& problems)
      : target_(target),
        plan_(target.plan),
        options_(options),
        around_(around),
        problems_(problems),
        surrounding_(read_surrounding(around, problems)),
        schemas_(target.plan) {}

  void make(const std::vector<std::unique_ptr<const Chain>>& chains) {
    if (plan_.rows) row_variables_ = plan_.rows->variables();
    for (const auto& chain : chains) add(*chain);
    if (!plan_.items.empty()) describe();
  }

 private:
  void problem(const Chain& chain, Position at, std::string message, std::string hint = {}) {
    problems_.push_back({place_in(chain.path, at), std::move(message), std::move(hint), {}, 0});
  }

  void add(const Chain& chain) {
    auto prepared = document::PreparedChain::prepare(chain, row_variables_, around_.environment);
    if (!prepared) {
      for (const document::Diagnostic& diagnostic : prepared.error())
        if (diagnostic.severity == document::Diagnostic::Severity::error)
          problems_.push_back(document::problem_of(chain.path, diagnostic));
      return;
    }
    GrpcItem item;
    item.chain = &chain;
    item.prepared = std::move(*prepared);
    item.id = plan_.items.size();
    plan_.uses_clock = plan_.uses_clock || item.prepared->uses_clock();
    // In its order: a variable is known behind the EXTRACT that binds it.
    document::Scope scope{.variables = row_variables_, .environment = around_.environment};
    for (const document::PreparedDocument& document : item.prepared->documents()) {
      if (auto call = make_call(chain, document, scope)) item.calls.push_back(std::move(*call));
    }
    if (item.calls.empty()) return;
    const bool is_chain = item.calls.size() > 1;
    item.name = is_chain ? chain_name(chain) : item.calls[0].document->document->endpoint();
    plan_.items.push_back(std::move(item));
  }

  static std::string chain_name(const Chain& chain) {
    if (!chain.meta.name.empty()) return chain.meta.name;
    const std::size_t slash = chain.path.rfind('/');
    return slash == std::string::npos ? chain.path : chain.path.substr(slash + 1);
  }

  std::optional<GrpcCall> make_call(const Chain& chain, const document::PreparedDocument& prepared,
                                    document::Scope& scope) {
    const Document& document = *prepared.document;
    GrpcCall call;
    call.document = &prepared;
    call.path = chain.path;
    call.id = plan_.calls++;
    const auto origin = origin_of(chain, document);
    if (!origin) return std::nullopt;
    call.origin = *origin;
    if (!find_method(chain, document, call)) return std::nullopt;
    call.gzip = document.options.compression
                    ? *document.options.compression == document::Compression::gzip
                    : surrounding_.gzip;
    call.timeout = document.options.timeout;
    if (!document.options.no_retry) call.retries = document.options.retry;
    call.retry_delay = document.options.retry_delay;
    const std::size_t before = problems_.size();
    add_steps(chain, prepared, scope, call);
    add_fields(chain, prepared, call);
    if (problems_.size() != before) return std::nullopt;
    simplify(call);
    return call;
  }

  // --- where to ---

  std::optional<std::size_t> origin_of(const Chain& chain, const Document& document) {
    std::string address = options_.address;
    std::string where = "--address";
    if (address.empty() && !document.address.empty()) {
      address = document.address;
      where =
          fmt::format("{}:{}:{}", chain.path, document.address_at.line, document.address_at.column);
    }
    if (address.empty()) {
      address = surrounding_.address;
      where = "GRPCTESTIFY_ADDRESS";
    }
    if (address.empty()) address = kStandardAddress;
    const bool has_scheme = address.contains("://");
    const auto url = http::parse_url(has_scheme ? address : "http://" + address);
    if (!url || (url->scheme != "http" && url->scheme != "https")) {
      problems_.push_back(
          {where, url ? "an address is HOST:PORT, http:// or https://" : url.error().message,
           "for example localhost:50051", address, 1});
      return std::nullopt;
    }
    GrpcOrigin origin{.scheme = url->scheme, .host = url->host, .port = url->port};
    if (!options_.plain) set_tls(document, has_scheme, origin);
    for (std::size_t i = 0; i < plan_.origins.size(); ++i)
      if (plan_.origins[i].same_as(origin)) return i;
    if (!check_tls(document, chain, origin)) return std::nullopt;
    if (auto addresses = net::resolve(origin.host, origin.port)) {
      origin.addresses = std::move(*addresses);
    } else {
      unreachable(where, fmt::format("{}: {}", origin.host, addresses.error()),
                  "see that the host's name is right");
      return std::nullopt;
    }
    plan_.origins.push_back(std::move(origin));
    return plan_.origins.size() - 1;
  }

  void unreachable(std::string where, std::string message, std::string hint) {
    if (!target_.unreachable)
      target_.unreachable = Problem{std::move(where), std::move(message), std::move(hint), {}, 0};
  }

  /// A section's values before those of the environment.
  void set_tls(const Document& document, bool has_scheme, GrpcOrigin& origin) const {
    if (document.tls) {
      origin.scheme = "https";
    } else if (surrounding_.asks_for_tls && !has_scheme) {
      origin.scheme = "https";
    }
    if (origin.scheme != "https") return;
    origin.tls = surrounding_.tls;
    origin.server_name = surrounding_.server_name;
    if (document.tls) {
      const document::TlsSection& section = *document.tls;
      if (!section.ca_file.empty()) origin.tls.ca_file = section.ca_file;
      if (!section.cert_file.empty()) origin.tls.certificate = section.cert_file;
      if (!section.key_file.empty()) origin.tls.key = section.key_file;
      if (!section.server_name.empty()) origin.server_name = section.server_name;
      origin.tls.verify = !section.insecure;
    }
    origin.tls.alpn = {"h2"};
  }

  bool check_tls(const Document& document, const Chain& chain, const GrpcOrigin& origin) {
    if (origin.scheme != "https") return true;
    const auto context = net::TlsContext::make(origin.tls);
    if (context) return true;
    problem(chain, document.tls ? document.tls->at : document.at, context.error());
    return false;
  }

  // --- what ---

  bool find_method(const Chain& chain, const Document& document, GrpcCall& call) {
    SchemaBook::Found found = nullptr;
    Position at = document.endpoint_at;
    if (document.proto) {
      at = document.proto->at;
      found = schemas_.from_files(*document.proto);
    } else if (options_.may_connect) {
      found = schemas_.from_server(plan_.origins[call.origin], document.service);
    } else {
      if (options_.descriptors_needed)
        problem(chain, at, "needs a PROTO section: the built-in target knows no descriptors",
                "files: service.proto");
      return false;
    }
    if (!found) {
      for (const std::string& message : found.error().messages) {
        const std::string where = plan_.origins[call.origin].authority();
        if (found.error().unreachable) {
          unreachable(where, message, "see that the server runs and listens on that address");
        } else {
          problem(chain, at, message,
                  document.proto
                      ? ""
                      : "the server was asked by reflection; a PROTO section names files "
                        "instead");
        }
      }
      return false;
    }
    call.schema = *found;
    auto method = call.schema->find_method(document.endpoint());
    if (!method) {
      problem(chain, document.endpoint_at, method.error());
      return false;
    }
    call.method = *method;
    return true;
  }

  void add_steps(const Chain& chain, const document::PreparedDocument& prepared,
                 document::Scope& scope, GrpcCall& call) {
    for (const document::PreparedStep& step : prepared.steps) {
      GrpcStep ready;
      ready.prepared = &step;
      ready.timeout = step.step->attributes.timeout;
      if (step.step->kind == Step::Kind::request) {
        for (const document::JsonTree& json : step.step->messages) {
          auto message = RequestMessage::make(json.root(), *call.method.input, scope);
          if (message) {
            ready.messages.push_back(std::move(*message));
            continue;
          }
          for (const RequestMessage::Fault& fault : message.error())
            problem(chain, fault.offset == 0 ? step.step->at : chain.position(fault.offset),
                    fault.message);
        }
        if (step.step->attributes.compression)
          call.gzip = *step.step->attributes.compression == document::Compression::gzip;
      }
      for (const document::ExtractLine& line : step.step->extractions) {
        if (std::ranges::find(scope.variables, line.name) != scope.variables.end()) continue;
        scope.variables.push_back(line.name);
        scope.variables.push_back(line.name + ":json");
      }
      call.steps.push_back(std::move(ready));
    }
  }

  void add_fields(const Chain& chain, const document::PreparedDocument& prepared, GrpcCall& call) {
    const GrpcOrigin& origin = plan_.origins[call.origin];
    grpc::CallOptions options;
    options.path = call.method.path;
    options.scheme = origin.scheme;
    options.authority = origin.authority();
    options.user_agent = "onbeat/" + std::string(run::version());
    options.timeout = options_.timeout;
    options.compression = call.gzip ? grpc::Compression::gzip : grpc::Compression::none;
    call.varying_headers = prepared.headers.size();
    for (std::size_t i = 0; i < prepared.headers.size(); ++i) {
      const auto& [name, value] = prepared.headers[i];
      if (!value.is_literal()) {
        call.varying_headers = std::min(call.varying_headers, i);
        continue;
      }
      // "-bin" of a document is text, which goes out as base64 of its bytes.
      if (name == "user-agent") {
        options.user_agent = value.literal();
      } else if (const std::string fault = grpc::metadata_fault(name, value.literal());
                 !fault.empty()) {
        problem(chain, prepared.document->headers[i].key_at, fault);
      } else if (call.varying_headers == prepared.headers.size()) {
        options.metadata.emplace_back(name, value.literal());
      }
    }
    call.request.fields = grpc::call_fields(options);
  }

  /// What the hot path can do without.
  static void simplify(GrpcCall& call) {
    call.last_request = call.steps.size();
    std::size_t requests = 0;
    std::size_t messages = 0;
    bool plain = true;
    call.judged = false;
    for (std::size_t i = 0; i < call.steps.size(); ++i) {
      const Step& step = call.steps[i].step();
      if (step.attributes.skip) continue;
      if (step.kind == Step::Kind::request) {
        call.last_request = i;
        ++requests;
        messages += call.steps[i].messages.size() * step.attributes.repeat;
      } else {
        call.judged = true;
        call.expects_error = call.expects_error || step.kind == Step::Kind::error;
      }
      plain = plain && !call.steps[i].timeout;
    }
    call.unary = call.method.shape == grpc::Shape::unary && requests <= 1 && messages <= 1 &&
                 plain && !call.timeout && call.retries == 0;
    if (!call.unary) return;
    const bool empty = requests == 0 || messages == 0;
    call.constant = call.varying_headers == call.document->headers.size() &&
                    (empty || call.steps[call.last_request].messages[0].is_constant()) &&
                    !call.gzip;
    if (!call.constant) return;
    static const std::string kNothing(grpc::kPrefix, '\0');
    call.request.body =
        empty ? std::string_view(kNothing) : call.steps[call.last_request].messages[0].framed();
  }

  void describe() {
    const GrpcItem& first = plan_.items.front();
    const GrpcOrigin& origin = plan_.origins[first.calls.front().origin];
    target_.text = fmt::format("{}://{} {}", origin.scheme, origin.authority(), first.name);
    if (plan_.items.size() > 1) target_.text += fmt::format(" and {} more", plan_.items.size() - 1);
    target_.local = std::ranges::all_of(plan_.origins, [](const GrpcOrigin& each) {
      return std::ranges::all_of(each.addresses, &net::Address::is_loopback);
    });
  }

  GrpcTarget& target_;
  GrpcPlan& plan_;
  const GrpcPlanOptions& options_;
  const options::Surroundings& around_;
  std::vector<Problem>& problems_;
  Surrounding surrounding_;
  SchemaBook schemas_;
  std::vector<std::string> row_variables_;
};

}  // namespace

std::string GrpcOrigin::authority() const {
  return fmt::format("{}:{}", host.contains(':') ? "[" + host + "]" : host, port);
}

bool GrpcOrigin::same_as(const GrpcOrigin& other) const {
  return scheme == other.scheme && host == other.host && port == other.port &&
         server_name == other.server_name && tls.ca_file == other.tls.ca_file &&
         tls.certificate == other.tls.certificate && tls.key == other.tls.key &&
         tls.verify == other.tls.verify;
}

std::vector<std::string> GrpcPlan::counters() const {
  std::vector<std::string> result(run::kConnectionCounters.begin(), run::kConnectionCounters.end());
  for (const GrpcOrigin& origin : origins)
    for (const net::Address& address : origin.addresses)
      result.push_back(std::string(run::kAddressCounterPrefix) + address.to_string());
  if (rows) result.insert(result.end(), kSourceCounters.begin(), kSourceCounters.end());
  return result;
}

void GrpcPlan::intern(kernel::Names& run_names, run::ErrorSamples& run_samples) {
  names = &run_names;
  samples = &run_samples;
  for (std::size_t i = 0; i < codes.size(); ++i)
    codes[i] = run_names.codes.id(grpc::to_string(static_cast<grpc::StatusCode>(i)));
  std::vector<std::string> whole;
  for (GrpcItem& item : items) {
    item.endpoint = run_names.endpoints.id(item.name);
    whole.push_back(item.name);
    if (item.calls.size() == 1) item.calls[0].endpoint = item.endpoint;
  }
  for (GrpcItem& item : items) {
    if (item.calls.size() == 1) continue;
    for (GrpcCall& call : item.calls) {
      std::string name = call.document->document->endpoint();
      // An endpoint is either whole iterations or parts of them.
      if (std::ranges::find(whole, name) != whole.end()) name += " of " + item.name;
      call.endpoint = run_names.endpoints.id(name);
    }
  }
}

GrpcTarget make_grpc_target(const std::vector<std::unique_ptr<const Chain>>& chains,
                            std::unique_ptr<const document::RowSet> rows,
                            const GrpcPlanOptions& options, const options::Surroundings& around,
                            std::vector<Problem>& problems) {
  GrpcTarget target;
  target.plan.rows = std::move(rows);
  target.plan.seed = options.seed;
  target.plan.timeout = options.timeout;
  target.plan.connect_timeout = options.connect_timeout;
  Maker(target, options, around, problems).make(chains);
  return target;
}

std::unique_ptr<http::Peer> make_peer(const GrpcOrigin& origin, const GrpcPlan& plan) {
  auto peer = std::make_unique<http::Peer>();
  peer->addresses = origin.addresses;
  peer->connect_timeout = plan.connect_timeout;
  peer->http2.keepalive = plan.keepalive;
  if (origin.scheme == "https") {
    peer->tls = std::move(net::TlsContext::make(origin.tls).value());
    peer->server_name = origin.server_name.empty() ? origin.host : origin.server_name;
  }
  return peer;
}

}  // namespace onbeat::bench
