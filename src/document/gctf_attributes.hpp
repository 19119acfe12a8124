// What modifies a section: "#[...]" lines before its header, and the options within it. Private to
// this folder.
#pragma once

#include "document/diagnostics.hpp"
#include "document/gctf_sections.hpp"

namespace onbeat::document {

/// Those in force for the section. `inherited` is what earlier sections of the document said, and
/// is brought up to date.
[[nodiscard]] Attributes read_attributes(const RawSection& section, Attributes& inherited,
                                         Diagnostics& out);

/// Of RESPONSE and ERROR; any other section may have none.
[[nodiscard]] MatchOptions read_match_options(const RawSection& section, Diagnostics& out);

}  // namespace onbeat::document
