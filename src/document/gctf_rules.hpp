// What a document must be beyond its grammar. Private to this folder.
#pragma once

#include "document/diagnostics.hpp"

namespace onbeat::document {

/// "host:port", "scheme://host:port".
void check_address(const std::string& address, Position at, Diagnostics& out);
/// Names that HTTP/2 can carry.
void check_headers(const std::vector<Entry>& headers, Diagnostics& out);
/// The order and the content of sections; `number` is the document's in its chain, from 1.
void check_document(const Document& document, std::size_t number, Diagnostics& out);

}  // namespace onbeat::document
