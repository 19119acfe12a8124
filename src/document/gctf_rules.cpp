#include "document/gctf_rules.hpp"

#include "document/gctf_entries.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace onbeat::document {
namespace {

/// "document 2 (line 31): " in a chain.
std::string prefix(const Document& document, std::size_t number) {
  return number == 1 ? std::string()
                     : fmt::format("document {} (line {}): ", number, document.at.line);
}

class Rules {
 public:
  Rules(const Document& document, std::size_t number, Diagnostics& out)
      : document_(document), prefix_(prefix(document, number)), out_(out) {}

  void check() {
    if (document_.service.empty()) error("no_endpoint", document_.at, "ENDPOINT is missing");
    verification();
    bool seen_request = false;
    bool seen_answer = false;
    for (std::size_t i = 0; i < document_.steps.size(); ++i) {
      const Step& step = document_.steps[i];
      if (step.kind == Step::Kind::request) seen_request = true;
      order(step, seen_request, seen_answer);
      if (step.kind != Step::Kind::request && step.kind != Step::Kind::extract) seen_answer = true;
      content(step, i);
    }
  }

 private:
  using Kind = Step::Kind;

  void error(std::string_view code, Position at, std::string_view message, std::string hint = {}) {
    out_.error(code, at, prefix_ + std::string(message), std::move(hint));
  }
  void warning(std::string_view code, Position at, std::string_view message,
               std::string hint = {}) {
    out_.warning(code, at, prefix_ + std::string(message), std::move(hint));
  }
  [[nodiscard]] const Step* find(Kind kind) const {
    const auto found = std::ranges::find(document_.steps, kind, &Step::kind);
    return found == document_.steps.end() ? nullptr : &*found;
  }

  void verification() {
    const bool verified = std::ranges::any_of(document_.steps, [](const Step& step) {
      return !step.attributes.skip && step.kind != Kind::request && step.kind != Kind::extract;
    });
    if (!verified) {
      error("no_verification", document_.at, "nothing verifies the answer",
            "add RESPONSE, ERROR or ASSERTS: --- RESPONSE partial --- with {} accepts any message");
    }
    const Step* const response = find(Kind::response);
    const Step* const failure = find(Kind::error);
    if (response != nullptr && failure != nullptr) {
      error("response_and_error", std::max(response->at, failure->at),
            "RESPONSE and ERROR exclude each other");
    }
    if (failure == nullptr) return;
    const auto count = std::ranges::count(document_.steps, Kind::error, &Step::kind);
    if (count > 1) error("repeated_section", failure->at, "ERROR stands more than once");
  }

  void order(const Step& step, bool seen_request, bool seen_answer) {
    const bool has_request = find(Kind::request) != nullptr;
    const bool reads = step.kind != Kind::request && step.kind != Kind::extract;
    if (reads && has_request && !seen_request) {
      warning("before_request", step.at, "it stands before any REQUEST");
    }
    if (step.kind == Kind::extract && !seen_answer) {
      warning("extract_early", step.at, "EXTRACT stands before any answer");
    }
    if (step.kind == Kind::extract && step.extractions.empty()) {
      warning("empty_section", step.at, "EXTRACT binds nothing");
    }
    if (step.kind == Kind::asserts && step.assertions.empty()) {
      warning("empty_section", step.at, "ASSERTS asserts nothing");
    }
  }

  void content(const Step& step, std::size_t index) {
    for (const JsonTree& message : step.messages) {
      const bool is_text = message.root().is(JsonKind::text) && step.kind == Kind::error;
      if (!message.root().is(JsonKind::object) && !message.root().is(JsonKind::array) && !is_text) {
        error("not_object", step.at,
              fmt::format("a message is an object or an array, not a {}",
                          to_string(message.root().kind())));
      }
    }
    if (step.kind == Kind::error) failure(step);
    if (step.match.with_asserts) {
      const bool followed =
          index + 1 < document_.steps.size() && document_.steps[index + 1].kind == Kind::asserts;
      if (!followed) {
        warning("with_asserts_alone", step.at, "with_asserts has no ASSERTS right after it");
      } else if (document_.steps[index + 1].assertions.empty()) {
        warning("with_asserts_empty", document_.steps[index + 1].at,
                "with_asserts has an empty ASSERTS");
      }
    }
    if (step.kind == Kind::response && step.messages.empty() && useless(step.match)) {
      warning("useless_options", step.at, "the options do nothing in an empty section");
    }
  }

  static bool useless(const MatchOptions& match) {
    return match.partial || match.unordered_arrays || match.tolerance || !match.redact.empty();
  }

  void failure(const Step& step) {
    if (step.match.unordered_arrays || step.match.tolerance || !step.match.redact.empty()) {
      warning("useless_options", step.at, "ERROR knows partial and with_asserts alone");
    }
    if (step.messages.empty() && !step.match.with_asserts) {
      error("empty_error", step.at, "ERROR is empty",
            R"({ "code": 5 } with partial expects a code alone)");
    }
    if (step.messages.size() > 1) {
      error("several_errors", step.at, "ERROR has one value: a call fails once");
    }
    for (const JsonTree& message : step.messages) details(step, message.root().find("details"));
  }

  void details(const Step& step, const JsonView& details) {
    if (!details) return;
    bool fits = details.is(JsonKind::array);
    for (JsonView item = details.first(); fits && item; item = details.after(item)) {
      const JsonView type = item.find("@type");
      fits = item.is(JsonKind::object) && (!type || type.is(JsonKind::text));
    }
    if (!fits) {
      error("bad_details", step.at, "details is a list of objects, each with a text as its @type");
    }
  }

  const Document& document_;
  std::string prefix_;
  Diagnostics& out_;
};

}  // namespace

void check_address(const std::string& address, Position at, Diagnostics& out) {
  const std::string_view text = address;
  const std::size_t scheme = text.find("://");
  std::string_view rest = scheme == std::string_view::npos ? text : text.substr(scheme + 3);
  if (scheme != std::string_view::npos) {
    const std::string_view name = text.substr(0, scheme);
    if (name != "http" && name != "https" && name != "grpc" && name != "grpcs") {
      out.error("bad_address", at, fmt::format("unknown scheme {}", name), "http:// or https://");
      return;
    }
  }
  if (const std::size_t slash = rest.find('/'); slash != std::string_view::npos) {
    out.error("bad_address", at, "an address has no path",
              fmt::format("{}", text.substr(0, text.size() - (rest.size() - slash))));
    return;
  }
  const std::size_t colon = rest.rfind(':');
  const bool in_brackets = rest.starts_with('[') && rest.find(']') != std::string_view::npos &&
                           colon != std::string_view::npos && colon < rest.find(']');
  if (colon == std::string_view::npos || colon == 0 || in_brackets) {
    out.error("bad_address", at, "an address is host:port", "localhost:50051");
    return;
  }
  const auto port = parse_whole(rest.substr(colon + 1));
  if (!port || *port < 1 || *port > 65535) {
    out.error("bad_address", at, "a port is a number from 1 to 65535", "localhost:50051");
  }
}

void check_headers(const std::vector<Entry>& headers, Diagnostics& out) {
  const auto is_name_byte = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  for (const Entry& header : headers) {
    if (!std::ranges::all_of(header.key, is_name_byte)) {
      out.error("bad_header", header.key_at, "the name holds what metadata cannot",
                "letters, digits, - _ and .");
    } else if (header.key.starts_with("grpc-")) {
      out.error("bad_header", header.key_at, "names that begin with grpc- are the protocol's own");
    } else if (!header.key.ends_with("-bin") &&
               !std::ranges::all_of(header.value, [](char c) { return c >= 0x20 && c < 0x7f; })) {
      out.error("bad_header", header.value_at, "the value holds what metadata cannot",
                "printable ASCII; a name that ends with -bin carries anything");
    }
  }
}

void check_document(const Document& document, std::size_t number, Diagnostics& out) {
  Rules(document, number, out).check();
}

}  // namespace onbeat::document
