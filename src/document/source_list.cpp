#include "document/source_list.hpp"

#include "document/gctf_entries.hpp"
#include "document/gctf_yaml.hpp"
#include "options/grammar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

namespace onbeat::document {
namespace {

using Node = options::YamlNode;

constexpr std::array<std::string_view, 12> kFields{
    "file",       "name",          "format", "delimiter", "header", "indexed_by",
    "index_mode", "memory_budget", "filter", "join_type", "on_end", "order"};
constexpr std::array<std::string_view, 6> kConditions{"field", "equals", "contains",
                                                      "gte",   "lt",     "in"};

class SourceReader {
 public:
  SourceReader(const std::filesystem::path& folder, Diagnostics& out)
      : folder_(folder), out_(out) {}

  SourceDescription read(const Node& node) {
    source_.at = position_of(node);
    for (const auto& [key, value] : node.members) field(key, value);
    if (source_.data.path.empty()) {
      out_.error("bad_source", source_.at, "a source names its file", "- file: users.csv");
    }
    if (source_.data.name.empty()) {
      source_.data.name = std::filesystem::path(source_.data.path).stem().string();
    }
    return std::move(source_);
  }

 private:
  void fail(const Node& node, std::string message, std::string hint = {}) {
    out_.error("bad_source", position_of(node), std::move(message), std::move(hint));
  }

  template <typename T>
  void choose(const Node& key, const Node& value, T& into,
              std::initializer_list<std::pair<std::string_view, T>> choices) {
    std::string names;
    for (const auto& [name, choice] : choices) {
      if (value.text == name) {
        into = choice;
        return;
      }
      names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
    }
    fail(value, fmt::format("{}: unknown {}", key.text, value.text), "one of " + names);
  }

  void field(const Node& key, const Node& value) {
    const std::string& name = key.text;
    if (name == "indexed_by") return columns(value);
    if (name == "filter") return filters(value);
    if (std::ranges::find(kFields, name) == kFields.end()) {
      return unknown_key(out_, position_of(key), "bad_source", "field of a source", name, kFields);
    }
    if (!value.is(Node::Kind::scalar)) return fail(value, fmt::format("{} is one value", name));
    if (name == "file") {
      source_.data.path = (folder_ / value.text).lexically_normal().string();
    } else if (name == "name") {
      source_.data.name = value.text;
    } else if (name == "format") {
      source_.data.format = data_format(value.text);
      if (!source_.data.format)
        fail(value, fmt::format("format: unknown {}", value.text), "csv, tsv or ndjson");
    } else if (name == "delimiter") {
      delimiter(value);
    } else if (name == "header") {
      const auto header = parse_switch(value.text);
      if (!header) fail(value, "header: true or false is expected");
      source_.data.header = header.value_or(true);
    } else if (name == "memory_budget") {
      budget(value);
    } else if (name == "join_type") {
      choose(key, value, source_.join,
             {{"left", JoinType::left}, {"inner", JoinType::inner}, {"cross", JoinType::cross}});
    } else if (name == "on_end") {
      choose(key, value, source_.data.on_end, {{"loop", OnEnd::loop}, {"stop", OnEnd::stop}});
    } else if (name == "order") {
      choose(key, value, source_.data.order,
             {{"sequential", RowOrder::sequential}, {"random", RowOrder::random}});
    } else {
      // How a dimension's index is kept is decided by its size and the budget.
      bool known = false;
      choose(key, value, known, {{"on_demand", true}, {"build_once", true}, {"memory", true}});
    }
  }

  /// A character, or its number.
  void delimiter(const Node& value) {
    const auto number = parse_whole(value.text);
    if (value.text.size() == 1 && !number) {
      source_.data.delimiter = value.text[0];
    } else if (value.text == "\\t" || value.text == "tab") {
      source_.data.delimiter = '\t';
    } else if (number && *number > 0 && *number < 128) {
      source_.data.delimiter = static_cast<char>(*number);
    } else {
      fail(value, "delimiter: one character is expected", "delimiter: \";\"");
    }
  }

  void budget(const Node& value) {
    source_.memory_budget = parse_binary_size(value.text);
    if (!source_.memory_budget) fail(value, "memory_budget: a size is expected", "64mb");
  }

  /// "a", "a,b", [a, b].
  void columns(const Node& value) {
    if (value.is(Node::Kind::list)) {
      for (const Node& item : value.items) source_.indexed_by.push_back(item.text);
    } else {
      std::string_view rest = value.text;
      while (!rest.empty()) {
        const std::size_t comma = std::min(rest.find(','), rest.size());
        source_.indexed_by.emplace_back(trimmed(rest.substr(0, comma)));
        rest.remove_prefix(std::min(comma + 1, rest.size()));
      }
    }
    const bool whole = !source_.indexed_by.empty() &&
                       std::ranges::none_of(source_.indexed_by, &std::string::empty);
    if (!whole)
      fail(value, "indexed_by: a column, or a list of columns is expected", "indexed_by: id");
  }

  void filters(const Node& value) {
    if (!value.is(Node::Kind::list)) {
      return fail(value, "filter is a list", "- { field: country, equals: DE }");
    }
    for (const Node& item : value.items) filter(item);
  }

  void filter(const Node& node) {
    std::string field;
    for (const auto& [key, value] : node.members) {
      if (key.text == "field") field = value.text;
    }
    if (field.empty())
      return fail(node, "a filter names its field", "- { field: country, equals: DE }");
    const std::size_t before = source_.filters.size();
    for (const auto& [key, value] : node.members) {
      if (key.text == "field") continue;
      const auto kind = std::ranges::find(kConditions, key.text);
      if (kind == kConditions.end()) {
        unknown_key(out_, position_of(key), "bad_source", "condition", key.text, kConditions);
        continue;
      }
      RowFilter filter{.kind = static_cast<RowFilter::Kind>(kind - kConditions.begin() - 1),
                       .field = field,
                       .values = {}};
      if (value.is(Node::Kind::list)) {
        for (const Node& item : value.items) filter.values.push_back(item.text);
      } else {
        filter.values.push_back(value.text);
      }
      if (filter.kind != RowFilter::Kind::one_of && filter.values.size() != 1) {
        fail(value, fmt::format("{} takes one value", key.text));
      }
      source_.filters.push_back(std::move(filter));
    }
    if (source_.filters.size() == before)
      fail(node, "a filter has a condition", "equals, contains, gte, lt or in");
  }

  const std::filesystem::path& folder_;
  Diagnostics& out_;
  SourceDescription source_;
};

}  // namespace

std::optional<std::uint64_t> parse_binary_size(std::string_view text) {
  using Unit = std::pair<std::string_view, std::uint64_t>;
  constexpr std::array<Unit, 10> kUnits{{{"", 1},
                                         {"b", 1},
                                         {"k", 1024},
                                         {"kb", 1024},
                                         {"kib", 1024},
                                         {"m", 1 << 20},
                                         {"mb", 1 << 20},
                                         {"mib", 1 << 20},
                                         {"g", 1 << 30},
                                         {"gb", 1 << 30}}};
  constexpr std::uint64_t kMost = std::uint64_t{1} << 33;
  const std::size_t digits = std::min(text.find_first_not_of("0123456789_"), text.size());
  std::string unit(trimmed(text.substr(digits)));
  for (char& c : unit) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
  const auto number = parse_whole(text.substr(0, digits));
  const auto found = std::ranges::find(kUnits, unit, &Unit::first);
  if (!number || found == kUnits.end() || *number > kMost) return std::nullopt;
  return *number * found->second;
}

std::expected<RowFilters, std::string> RowFilters::make(std::vector<RowFilter> filters,
                                                        const std::vector<std::string>& columns) {
  RowFilters result;
  for (const RowFilter& filter : filters) {
    const auto found = std::ranges::find(columns, filter.field);
    if (found == columns.end()) {
      return std::unexpected(fmt::format("filter: there is no column {}", filter.field));
    }
    result.columns_.push_back(static_cast<std::uint32_t>(found - columns.begin()));
  }
  result.filters_ = std::move(filters);
  return result;
}

bool RowFilters::accept(std::span<const std::string_view> values) const noexcept {
  for (std::size_t i = 0; i < filters_.size(); ++i) {
    if (!filters_[i].accepts(values[columns_[i]])) return false;
  }
  return true;
}

bool RowFilter::accepts(std::string_view value) const noexcept {
  if (value.data() == nullptr) return false;
  const auto order = [&]() -> int {
    const auto a = parse_decimal(value);
    const auto b = parse_decimal(values[0]);
    if (a && b) return *a < *b ? -1 : *a > *b ? 1 : 0;
    return value.compare(values[0]);
  };
  switch (kind) {
    case Kind::equals:
    case Kind::one_of:
      return std::ranges::find(values, value) != values.end();
    case Kind::contains:
      return value.find(values[0]) != std::string_view::npos;
    case Kind::at_least:
      return order() >= 0;
    case Kind::below:
      return order() < 0;
  }
  return false;
}

std::vector<SourceDescription> read_sources(const Chain& chain,
                                            std::vector<Diagnostic>& diagnostics) {
  Diagnostics out(diagnostics);
  std::vector<SourceDescription> sources;
  const auto entry = std::ranges::find(chain.bench, "sources", &Entry::key);
  if (entry == chain.bench.end()) return sources;
  const std::string text = std::string(entry->value_at.column - 1, ' ') + entry->value;
  const auto root = read_yaml(text, entry->value_at.line, out);
  if (!root) return sources;
  if (!root->is(Node::Kind::list) || root->items.empty()) {
    out.error("bad_source", entry->key_at, "sources is a list of data files", "- file: users.csv");
    return sources;
  }
  const std::filesystem::path folder = std::filesystem::path(chain.path).parent_path();
  for (const Node& item : root->items) {
    if (!item.is(Node::Kind::map)) {
      out.error("bad_source", position_of(item), "a source is a mapping", "- file: users.csv");
      continue;
    }
    SourceDescription source = SourceReader(folder, out).read(item);
    const bool is_dimension = !sources.empty();
    if (is_dimension && source.indexed_by.empty() && source.join != JoinType::cross) {
      out.error("bad_source", source.at, "a dimension is joined by a column",
                "indexed_by: id; or join_type: cross");
    }
    const auto same = [&](const SourceDescription& other) {
      return other.data.name == source.data.name;
    };
    if (std::ranges::any_of(sources, same)) {
      out.error("bad_source", source.at, fmt::format("two sources are named {}", source.data.name),
                "name: another");
    }
    sources.push_back(std::move(source));
  }
  return sources;
}

}  // namespace onbeat::document
