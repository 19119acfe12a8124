// The documents of one invocation: files, folders, or a single call; parsed, selected, and agreed
// on one BENCH section. Nothing is connected to.
#pragma once

#include "document/gctf.hpp"
#include "document/row_set.hpp"
#include "document/source_list.hpp"
#include "options/bench_section.hpp"
#include "options/settings.hpp"
#include "options/surroundings.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace onbeat::bench {

struct DocumentQuery {
  std::vector<std::string> paths;    // files, folders (their *.gctf, recursively), "-"
  std::vector<std::string> exclude;  // globs: of a name, or of a path below its folder
  std::vector<std::string> tags, skip_tags;
  std::string call;   // "shop.Catalog/GetPrice": in place of paths
  std::string data;   // its message; "@FILE" reads one
  std::string proto;  // its .proto files or descriptor set, separated by commas
};

struct DocumentSet {
  std::vector<std::unique_ptr<const document::Chain>> chains;
  std::vector<document::SourceDescription> sources;  // of that section
  std::vector<options::SectionEntry> bench;          // of the section that all of them share
  std::vector<options::Problem> errors, warnings;
};

/// Everything that is wrong, at once; the result is of use only without errors.
[[nodiscard]] DocumentSet read_documents(const DocumentQuery& query,
                                         const options::Surroundings& surroundings);

/// "shop.gctf:5:1"; within what --call and --data have been made into, the flag.
[[nodiscard]] std::string place_in(const std::string& path, document::Position at);

/// The rows of the set's sources; null without any. Reads the files; adds what is wrong.
[[nodiscard]] std::unique_ptr<const document::RowSet> open_rows(
    const DocumentSet& documents, std::uint64_t seed, const options::Surroundings& surroundings,
    std::vector<options::Problem>& problems);

/// "smoke, load" as its words.
[[nodiscard]] std::vector<std::string> words_of_list(std::string_view list);

}  // namespace onbeat::bench
