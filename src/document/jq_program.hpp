// jq programs, by libjq. Compiling one takes tens of milliseconds; running one converts its input.
// Numbers are doubles. One owner and thread.
#pragma once

#include "document/json_tree.hpp"

#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace onbeat::document {

class JqProgram {
 public:
  /// Or what jq says of it, on one line.
  [[nodiscard]] static std::expected<JqProgram, std::string> compile(const std::string& program);

  /// Hands each output to `output`, until that returns false. Or the error that ended the program.
  std::expected<void, std::string> run(const JsonView& input,
                                       const std::function<bool(const JsonTree&)>& output);

 private:
  struct State;
  struct Free {
    void operator()(State* state) const noexcept;
  };
  explicit JqProgram(std::unique_ptr<State, Free> state) : state_(std::move(state)) {}
  std::unique_ptr<State, Free> state_;
};

}  // namespace onbeat::document
