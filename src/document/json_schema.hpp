// A JSON Schema (draft 2020-12), its widely used part: type, enum, const; for numbers minimum,
// maximum, exclusiveMinimum, exclusiveMaximum, multipleOf; for texts minLength, maxLength, pattern,
// format; for arrays items, prefixItems, minItems, maxItems, uniqueItems, contains; for objects
// properties, required, additionalProperties, patternProperties, minProperties, maxProperties;
// allOf, anyOf, oneOf, not, if, then, else; $ref within the schema.
#pragma once

#include "document/json_tree.hpp"

#include <optional>
#include <string>

namespace onbeat::document {

/// What is wrong with the schema itself: a keyword that is unknown here, a malformed pattern, a
/// $ref to nothing.
[[nodiscard]] std::optional<std::string> schema_fault(const JsonView& schema);

/// Whether the value fits; patterns are compiled as they are met. A $ref that leads in a circle
/// fits nothing.
[[nodiscard]] bool fits_schema(const JsonView& value, const JsonView& schema);

}  // namespace onbeat::document
