// `onbeat call FILE`: carries out a document once, shows the exchange, and judges it.
#pragma once

#include "options/settings.hpp"

namespace onbeat::cli {

/// 0: passed, 1: not passed, 2: the document is wrong, 4: no connection.
int call_command(const options::Settings& settings);

}  // namespace onbeat::cli
