// What judging an answer costs a call: building its tree, a RESPONSE of four members, and two
// lines of ASSERTS.
#include "document/assertion.hpp"
#include "document/compare.hpp"
#include "document/json5.hpp"

#include <benchmark/benchmark.h>

#include <array>
#include <cstdlib>

namespace onbeat::document {
namespace {

void build(JsonTree& tree) {
  tree.clear();
  tree.begin_object();
  tree.key("currency");
  tree.text("EUR");
  tree.key("amount");
  tree.real(12.5);
  tree.key("sku");
  tree.text("123456789");
  tree.key("tags");
  tree.begin_array();
  tree.text("one");
  tree.text("two");
  tree.end();
  tree.end();
}

Assertions two_lines() {
  std::vector<Diagnostic> diagnostics;
  Assertions assertions =
      Assertions::compile({{".amount > 0 and @has_header(\"x-request-id\")", {}},
                           {".sku:number >= 1 or .tags contains \"two\"", {}}},
                          {}, diagnostics);
  if (!diagnostics.empty()) std::abort();
  return assertions;
}

void tree_alone(benchmark::State& state) {
  JsonTree tree;
  for (auto _ : state) {
    build(tree);
    benchmark::DoNotOptimize(tree);
  }
}
BENCHMARK(tree_alone);

void response_and_two_assertions(benchmark::State& state) {
  const Json5Body expected =
      parse_json5("{ currency: 'EUR', amount: 12.5, sku: '*', tags: ['one', 'two'] }");
  const MatchOptions match;
  const Assertions assertions = two_lines();
  AssertionRunner runner(assertions);
  const Variables variables(0, 0);
  const std::array<MetadataItem, 2> headers{
      {{"content-type", "application/grpc"}, {"x-request-id", "7"}}};
  JsonTree tree;
  for (auto _ : state) {
    build(tree);
    const Answer answer{.message = tree.root(), .headers = headers, .trailers = {}};
    if (find_difference(expected.values[0].root(), tree.root(), match)) std::abort();
    if (runner.run(answer, variables)) std::abort();
  }
}
BENCHMARK(response_and_two_assertions);

}  // namespace
}  // namespace onbeat::document
