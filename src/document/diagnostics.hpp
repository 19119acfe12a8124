// Adds to a list of diagnostics. Private to this folder.
#pragma once

#include "document/gctf.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace onbeat::document {

class Diagnostics {
 public:
  explicit Diagnostics(std::vector<Diagnostic>& list) : list_(list) {}
  void error(std::string_view code, Position at, std::string message, std::string hint = {}) {
    add(Diagnostic::Severity::error, code, at, std::move(message), std::move(hint));
  }
  void warning(std::string_view code, Position at, std::string message, std::string hint = {}) {
    add(Diagnostic::Severity::warning, code, at, std::move(message), std::move(hint));
  }

 private:
  void add(Diagnostic::Severity severity, std::string_view code, Position at, std::string message,
           std::string hint) {
    list_.push_back({severity, std::string(code), at, std::move(message), std::move(hint)});
  }
  std::vector<Diagnostic>& list_;
};

}  // namespace onbeat::document
