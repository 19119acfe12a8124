// "Did you mean": the nearest of the names that exist.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace onbeat::options {

/// Edits (insert, delete, replace, swap of neighbours) that turn one into the other.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate with the fewest edits (the first of equals), if at most 3 and fewer than half of
/// the longer name's letters. An exact match is its own nearest.
std::optional<std::string_view> nearest(std::string_view name,
                                        std::span<const std::string_view> candidates);

}  // namespace onbeat::options
