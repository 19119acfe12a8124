#include "bench/document_set.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace onbeat::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBody = "--- ENDPOINT ---\na.B/C\n--- RESPONSE partial ---\n{}\n";

class DocumentSetTest : public ::testing::Test {
 protected:
  DocumentSetTest() {
    std::string name = (fs::temp_directory_path() / "onbeat-documents-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~DocumentSetTest() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  static DocumentSet read(const DocumentQuery& query) {
    return read_documents(query, options::system_surroundings());
  }
  std::vector<std::string> names(const DocumentSet& set) {
    std::vector<std::string> result;
    for (const auto& chain : set.chains)
      result.push_back(fs::path(chain->path).lexically_relative(folder_).string());
    return result;
  }

  fs::path folder_;
};

using Names = std::vector<std::string>;

TEST_F(DocumentSetTest, FoldersAreWalkedInOrder) {
  write("b.gctf", std::string(kBody));
  write("a/z.gctf", std::string(kBody));
  write("a/deep/c.gctf", std::string(kBody));
  write("a/notes.txt", "no document");
  DocumentQuery query{.paths = {folder_.string()}};
  const DocumentSet all = read(query);
  EXPECT_TRUE(all.errors.empty());
  EXPECT_EQ(names(all), (Names{"a/deep/c.gctf", "a/z.gctf", "b.gctf"}));
  query.exclude = {"z.*"};
  EXPECT_EQ(names(read(query)), (Names{"a/deep/c.gctf", "b.gctf"}));
  query.exclude = {"a/*"};
  EXPECT_EQ(names(read(query)), (Names{"b.gctf"}));
  query.exclude = {"*"};
  EXPECT_EQ(read(query).errors.size(), 1U);
}

TEST_F(DocumentSetTest, TagsOfFileAndSection) {
  write("a.gctf", "--- META ---\ntags: [smoke, load]\n" + std::string(kBody));
  write("b.gctf", "--- ENDPOINT ---\na.B/C\n#[tag(\"slow\")]\n--- RESPONSE partial ---\n{}\n");
  DocumentQuery query{.paths = {folder_.string()}, .tags = {"load", "other"}};
  EXPECT_EQ(names(read(query)), Names{"a.gctf"});
  query = {.paths = {folder_.string()}, .skip_tags = {"smoke"}};
  EXPECT_EQ(names(read(query)), Names{"b.gctf"});
  query = {.paths = {folder_.string()}, .tags = {"slow"}};
  EXPECT_EQ(names(read(query)), Names{"b.gctf"});
  query = {.paths = {folder_.string()}, .tags = {"none"}};
  EXPECT_EQ(read(query).errors[0].message, "no document is left");
}

TEST_F(DocumentSetTest, OneSectionForAll) {
  const std::string one = "--- BENCH ---\nrequests: 5\n" + std::string(kBody);
  write("a.gctf", one);
  write("b.gctf", one);
  write("c.gctf", std::string(kBody));
  const DocumentSet same = read({.paths = {folder_.string()}});
  EXPECT_TRUE(same.errors.empty());
  ASSERT_EQ(same.bench.size(), 1U);
  EXPECT_EQ(same.bench[0].key, "requests");
  EXPECT_EQ(same.bench[0].value, "5");
  EXPECT_TRUE(same.bench[0].where.ends_with("a.gctf:2:1"));
  write("d.gctf", "--- BENCH ---\nrequests: 6\n" + std::string(kBody));
  const DocumentSet differs = read({.paths = {folder_.string()}});
  ASSERT_EQ(differs.errors.size(), 1U);
  EXPECT_NE(differs.errors[0].where.find("d.gctf"), std::string::npos);
  EXPECT_NE(differs.errors[0].message.find("a.gctf"), std::string::npos);
}

TEST_F(DocumentSetTest, AllProblemsOfAllFiles) {
  const std::string bad = write("a.gctf", "--- NONSENSE ---\n");
  const DocumentSet set = read({.paths = {bad, (folder_ / "none.gctf").string()}});
  EXPECT_GE(set.errors.size(), 2U);
  EXPECT_TRUE(read({}).errors[0].message.starts_with("a document is missing"));
}

TEST_F(DocumentSetTest, ACallIsADocument) {
  const DocumentSet set = read({.call = "a.B/C", .data = "{ id: 5 }"});
  ASSERT_TRUE(set.errors.empty()) << set.errors[0].message;
  ASSERT_EQ(set.chains.size(), 1U);
  EXPECT_EQ(set.chains[0]->documents[0].endpoint(), "a.B/C");
  const std::string file = write("m.json", "{ \"id\": 7 }");
  const DocumentSet of_file = read({.call = "a.B/C", .data = "@" + file});
  EXPECT_EQ(of_file.chains[0]->documents[0].steps[0].messages[0].root().find("id").integer(), 7);
  EXPECT_EQ(read({.call = "a.B/C", .data = "{ id: "}).errors[0].where, "--data");
  EXPECT_EQ(read({.call = "no method"}).errors[0].where, "--call");
  EXPECT_EQ(read({.paths = {file}, .call = "a.B/C"}).errors[0].where, "--call");
  EXPECT_EQ(read({.call = "a.B/C", .data = "@/none"}).errors[0].where, "--data");
}

TEST(DocumentWords, OfAList) {
  EXPECT_EQ(words_of_list(" a, b c ,,d"), (Names{"a", "b c", "d"}));
  EXPECT_EQ(words_of_list(""), Names{});
}

}  // namespace
}  // namespace onbeat::bench
