// parse_curl. The flags are those of curl's manual page.
#include "options/curl.hpp"

#include "options/grammar.hpp"
#include "options/http_grammar.hpp"
#include "options/scan.hpp"
#include "options/shell_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

namespace onbeat::options {
namespace {

enum class Does : std::uint8_t {
  set,      // the value becomes the value of `option`
  flag,     // `option` becomes true
  seconds,  // the value in seconds becomes the value of `option`
  method_head,
  header,
  referer,
  cookie,
  data_text,
  data_raw,
  data_binary,
  data_url_encoded,
  json,
  get,
  field,
  nothing,        // what is the case anyway
  ignored,        // what means nothing to a load
  ignored_value,  // likewise, and has a value
};

struct Flag {
  std::string_view name;
  char letter = 0;
  Does does = Does::set;
  std::string_view option = {};
};

constexpr std::array kFlags{
    Flag{"request", 'X', Does::set, "method"},
    Flag{"url", 0, Does::set, "url"},
    Flag{"user", 'u', Does::set, "user"},
    Flag{"user-agent", 'A', Does::set, "user-agent"},
    Flag{"proxy", 'x', Does::set, "proxy"},
    Flag{"cacert", 0, Does::set, "cacert"},
    Flag{"cert", 'E', Does::set, "cert"},
    Flag{"key", 0, Does::set, "key"},
    Flag{"ciphers", 0, Does::set, "ciphers"},
    Flag{"tls13-ciphers", 0, Does::set, "ciphers"},
    Flag{"resolve", 0, Does::set, "resolve"},
    Flag{"connect-to", 0, Does::set, "connect-to"},
    Flag{"unix-socket", 0, Does::set, "unix-socket"},
    Flag{"interface", 0, Does::set, "source-ip"},
    Flag{"max-redirs", 0, Does::set, "redirects"},
    Flag{"insecure", 'k', Does::flag, "insecure"},
    Flag{"no-sessionid", 0, Does::flag, "new-session"},
    Flag{"location", 'L', Does::flag, "location"},
    Flag{"compressed", 0, Does::flag, "decompress"},
    Flag{"max-time", 'm', Does::seconds, "timeout"},
    Flag{"connect-timeout", 0, Does::seconds, "connect-timeout"},
    Flag{"head", 'I', Does::method_head},
    Flag{"header", 'H', Does::header},
    Flag{"referer", 'e', Does::referer},
    Flag{"cookie", 'b', Does::cookie},
    Flag{"data", 'd', Does::data_text},
    Flag{"data-ascii", 0, Does::data_text},
    Flag{"data-raw", 0, Does::data_raw},
    Flag{"data-binary", 0, Does::data_binary},
    Flag{"data-urlencode", 0, Does::data_url_encoded},
    Flag{"json", 0, Does::json},
    Flag{"get", 'G', Does::get},
    Flag{"form", 'F', Does::field, "form"},
    Flag{"http1.1", 0, Does::nothing},
    Flag{"basic", 0, Does::nothing},
    Flag{"http2", 0, Does::ignored},
    Flag{"http2-prior-knowledge", 0, Does::ignored},
    Flag{"silent", 's', Does::ignored},
    Flag{"show-error", 'S', Does::ignored},
    Flag{"include", 'i', Does::ignored},
    Flag{"verbose", 'v', Does::ignored},
    Flag{"fail", 'f', Does::ignored},
    Flag{"no-buffer", 'N', Does::ignored},
    Flag{"globoff", 'g', Does::ignored},
    Flag{"progress-bar", '#', Does::ignored},
    Flag{"remote-name", 'O', Does::ignored},
    Flag{"output", 'o', Does::ignored_value},
    Flag{"write-out", 'w', Does::ignored_value},
    Flag{"dump-header", 'D', Does::ignored_value},
    Flag{"cookie-jar", 'c', Does::ignored_value},
};

bool takes_value(Does does) {
  constexpr std::array kWithout{Does::flag, Does::method_head, Does::get, Does::nothing,
                                Does::ignored};
  return std::ranges::find(kWithout, does) == kWithout.end();
}

/// A header's value goes through the grammar of -H, where a dollar sign is written twice.
std::string literal(std::string_view value) {
  std::string text;
  for (const char c : value) text += c == '$' ? "$$" : std::string(1, c);
  return text;
}

class Reader {
 public:
  explicit Reader(std::vector<ShellWord> words) : words_(std::move(words)) {}

  Parsing<CurlCommand> run() && {
    if (words_.empty() || (words_[0].text != "curl" && !words_[0].text.ends_with("/curl"))) {
      return Scanner::fail_at(0, "a curl command begins with \"curl\"", "--curl 'curl URL ...'");
    }
    for (next_ = 1; next_ < words_.size();) {
      const ShellWord& word = words_[next_++];
      auto done = word.text.starts_with("--")                          ? long_flag(word)
                  : word.text.starts_with('-') && word.text.size() > 1 ? letters(word)
                                                                       : add("url", word.text);
      if (!done) return std::unexpected(done.error());
    }
    if (!unknown_.empty()) {
      return Scanner::fail_at(unknown_at_,
                              fmt::format("not known here: {}", fmt::join(unknown_, ", ")),
                              "leave it out, or use the flags that onbeat http --help lists");
    }
    return std::move(command_);
  }

 private:
  Parsing<bool> add(std::string_view option, std::string text) {
    command_.settings.push_back({option, std::move(text)});
    return true;
  }

  void unknown(const ShellWord& word, std::string flag) {
    if (unknown_.empty()) unknown_at_ = word.column - 1;
    unknown_.push_back(std::move(flag));
  }

  Parsing<bool> long_flag(const ShellWord& word) {
    const std::string_view name = std::string_view(word.text).substr(2);
    if (name == "tlsv1.2") return add("tls-version", "1.2-1.3");
    if (name == "tlsv1.3") return add("tls-version", "1.3");
    const auto* flag = std::ranges::find(kFlags, name, &Flag::name);
    if (flag == kFlags.end()) {
      unknown(word, word.text);
      // What follows is most likely its value.
      if (next_ < words_.size() && !words_[next_].text.starts_with('-') &&
          !words_[next_].text.contains("://")) {
        ++next_;
      }
      return true;
    }
    if (!takes_value(flag->does)) return apply(*flag, word, word.text, {});
    if (next_ == words_.size()) return missing_value(word);
    return apply(*flag, word, word.text, words_[next_++].text);
  }

  /// -sSL, -XPOST, -d x.
  Parsing<bool> letters(const ShellWord& word) {
    for (std::size_t i = 1; i < word.text.size(); ++i) {
      const auto* flag = std::ranges::find_if(kFlags, [&](const Flag& known) {
        return known.letter != 0 && known.letter == word.text[i];
      });
      const std::string shown{'-', word.text[i]};
      if (flag == kFlags.end()) {
        unknown(word, shown);
        return true;
      }
      if (!takes_value(flag->does)) {
        if (auto done = apply(*flag, word, shown, {}); !done) return done;
        continue;
      }
      std::string value = word.text.substr(i + 1);
      if (value.empty()) {
        if (next_ == words_.size()) return missing_value(word);
        value = words_[next_++].text;
      }
      return apply(*flag, word, shown, std::move(value));
    }
    return true;
  }

  Parsing<bool> missing_value(const ShellWord& word) {
    return Scanner::fail_at(word.column - 1, "its value is missing");
  }

  Parsing<bool> apply(const Flag& flag, const ShellWord& word, std::string shown,
                      std::string value) {
    using Kind = CurlCommand::DataKind;
    switch (flag.does) {
      case Does::set:
      case Does::field:
        return checked(flag.option, std::move(value), word, shown);
      case Does::flag:
        return add(flag.option, "true");
      case Does::seconds:
        return checked(flag.option, value + "s", word, shown);
      case Does::method_head:
        return add("method", "HEAD");
      case Does::header:
        return header(std::move(value), word);
      case Does::referer:
        return checked("header", "Referer: " + literal(value), word, shown);
      case Does::cookie:
        if (!value.contains('=')) {
          return Scanner::fail_at(word.column - 1, "-b with a file of cookies is not known here",
                                  "-b 'name=value'");
        }
        return checked("header", "Cookie: " + literal(value), word, shown);
      case Does::data_text:
        return data(Kind::text, std::move(value));
      case Does::data_raw:
        return data(Kind::raw, std::move(value));
      case Does::data_binary:
        return data(Kind::binary, std::move(value));
      case Does::data_url_encoded:
        return data(Kind::url_encoded, std::move(value));
      case Does::json:
        return data(Kind::json, std::move(value));
      case Does::get:
        command_.data_in_query = true;
        return true;
      case Does::nothing:
        return true;
      case Does::ignored:
      case Does::ignored_value:
        command_.ignored.push_back(std::move(shown));
        return true;
    }
    return true;
  }

  Parsing<bool> checked(std::string_view option, std::string value, const ShellWord& word,
                        const std::string& shown) {
    if (const auto wrong = check_value(*find_option(option, kHttp), value)) {
      return Scanner::fail_at(word.column - 1, fmt::format("{}: {}", shown, wrong->message),
                              wrong->hint);
    }
    return add(option, std::move(value));
  }

  Parsing<bool> data(CurlCommand::DataKind kind, std::string value) {
    command_.data.push_back({kind, std::move(value)});
    return true;
  }

  /// -H 'A: b' as ours; 'A;' is one without a value, 'A:' takes away one of curl's own.
  Parsing<bool> header(std::string value, const ShellWord& word) {
    if (value.starts_with('@')) return checked("header", std::move(value), word, "-H");
    const auto last = value.find_last_not_of(" \t");
    if (last != std::string::npos && value[last] == ';' && !value.contains(':')) {
      return checked("header", value.substr(0, last) + ":", word, "-H");
    }
    const auto colon = value.find(':');
    if (colon != std::string::npos && last == colon) {
      command_.no_header.push_back(value.substr(0, colon));
      return true;
    }
    return checked("header", literal(value), word, "-H");
  }

  std::vector<ShellWord> words_;
  std::size_t next_ = 1;
  std::vector<std::string> unknown_;
  std::size_t unknown_at_ = 0;
  CurlCommand command_;
};

}  // namespace

Parsing<CurlCommand> parse_curl(std::string_view text) {
  auto words = shell_words(text);
  if (!words) return std::unexpected(words.error());
  return Reader(std::move(*words)).run();
}

}  // namespace onbeat::options
