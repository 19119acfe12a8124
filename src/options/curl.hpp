// A pasted curl command as options: `curl -X POST 'http://host/' -H 'A: b' -d x`.
#pragma once

#include "options/grammar.hpp"
#include "options/settings.hpp"
#include "options/surroundings.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace onbeat::options {

struct CurlCommand {
  struct Setting {
    std::string_view option;  // a name of the table
    std::string text;
  };
  enum class DataKind : std::uint8_t { text, raw, binary, url_encoded, json };
  struct Data {
    DataKind kind = DataKind::text;
    std::string text;  // as given: a file where the kind allows "@"
  };
  std::vector<Setting> settings;
  std::vector<Data> data;
  bool data_in_query = false;          // -G
  std::vector<std::string> no_header;  // names that `-H 'Name:'` takes away
  std::vector<std::string> ignored;    // flags that mean nothing to a load
};

/// Errors quote flags, but no values.
Parsing<CurlCommand> parse_curl(std::string_view text);

/// Puts what the `curl` setting of `layer` says into the layer, where nothing beside it says
/// otherwise; reads the files that it names. Without such a setting nothing happens. One that does
/// not parse is passed over: whoever read it has reported it.
void expand_curl(Layer& layer, const Surroundings& surroundings, std::vector<Problem>& errors,
                 std::vector<Problem>& warnings);

}  // namespace onbeat::options
