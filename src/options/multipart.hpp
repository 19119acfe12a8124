// multipart/form-data bodies (RFC 7578).
#pragma once

#include "options/http_grammar.hpp"
#include "options/surroundings.hpp"

#include <cstdint>
#include <expected>
#include <span>
#include <string>

namespace onbeat::options {

struct Multipart {
  std::string content_type;  // with the boundary
  std::string body;
};

/// The same parts and seed give the same bytes. The error says which file cannot be read.
std::expected<Multipart, std::string> make_multipart(std::span<const FormPart> parts,
                                                     std::uint64_t seed,
                                                     const Surroundings& surroundings);

}  // namespace onbeat::options
