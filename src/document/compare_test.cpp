#include "document/compare.hpp"

#include "document/json5.hpp"

#include <gtest/gtest.h>

namespace onbeat::document {
namespace {

JsonTree value(std::string_view text) {
  Json5Body body = parse_json5(text);
  if (!body.faults.empty() || body.values.size() != 1) ADD_FAILURE() << text;
  return std::move(body.values.at(0));
}
/// Empty when they match.
std::string difference(std::string_view expected, std::string_view actual,
                       const MatchOptions& options = {}) {
  const JsonTree a = value(expected);
  const JsonTree b = value(actual);
  const auto found = find_difference(a.root(), b.root(), options);
  return found ? to_string(*found) : "";
}
std::string error_difference(std::string_view expected, std::string_view actual,
                             bool partial = false) {
  const JsonTree a = value(expected);
  const JsonTree b = value(actual);
  const auto found = find_error_difference(a.root(), b.root(), {.partial = partial});
  return found ? to_string(*found) : "";
}

TEST(Compare, FindsTheFirstDifference) {
  EXPECT_EQ(difference("{a: [1, {b: 'x'}]}", "{a: [1, {b: 'x'}]}"), "");
  EXPECT_EQ(difference("{a: [1, {b: 'x'}], c: 1}", "{a: [1, {b: 'y'}], c: 2}"),
            "at .a[1].b: expected \"x\", got \"y\"");
  EXPECT_EQ(difference("{'a-b': true}", "{'a-b': false}"),
            "at .[\"a-b\"]: expected true, got false");
  EXPECT_EQ(difference("5", "6"), "at .: expected 5, got 6");
  EXPECT_EQ(difference("{a: 1}", "{}"), "at .a: expected 1, got nothing");
}

TEST(Compare, AStarIsWhateverIsPresent) {
  EXPECT_EQ(difference("{a: '*'}", "{a: null}"), "");
  EXPECT_EQ(difference("{a: '*'}", "{a: [1]}"), "");
  EXPECT_EQ(difference("{a: '*'}", "{}"), "at .a: expected \"*\", got nothing");
}

TEST(Compare, DefaultsMayBeMissing) {
  EXPECT_EQ(difference("{a: null, b: false, c: 0, d: '', e: [], f: {}, g: 0.0}", "{}"), "");
  EXPECT_NE(difference("{a: ' '}", "{}"), "");
}

TEST(Compare, WhatIsNotExpectedIsADifferenceUnlessPartial) {
  const MatchOptions partial{.partial = true};
  EXPECT_EQ(difference("{a: {}}", "{a: {b: 7}}"), "at .a.b: not expected: 7");
  EXPECT_EQ(difference("{a: {}}", "{a: {b: 7}}", partial), "");
  EXPECT_EQ(difference("[1, 2]", "[1, 2, 3]"), "at .: expected 2 items, got 3");
  EXPECT_EQ(difference("[1, 2]", "[1, 2, 3]", partial), "");
  EXPECT_EQ(difference("[2]", "[1, 2]", partial), "at .[0]: expected 2, got 1")
      << "a prefix, not a subset";
  EXPECT_EQ(difference("[1, 2]", "[1]", partial), "at .: expected 2 items, got 1");
}

TEST(Compare, UnorderedArraysAreMultisets) {
  const MatchOptions unordered{.unordered_arrays = true};
  const MatchOptions both{.partial = true, .unordered_arrays = true};
  EXPECT_EQ(difference("[1, 3, 2]", "[3, 2, 1]", unordered), "");
  EXPECT_EQ(difference("[1, 1, 2]", "[1, 2, 2]", unordered), "at .[1]: no item matches 1");
  EXPECT_EQ(difference("[1, 3]", "[1, 2, 3, 4]", unordered), "at .: expected 2 items, got 4");
  EXPECT_EQ(difference("[1, 3]", "[1, 2, 3, 4]", both), "");
  EXPECT_EQ(difference("[1, 999]", "[1, 2, 3, 4]", both), "at .[1]: no item matches 999");
  EXPECT_EQ(difference("[{a: 1}, {a: 2}]", "[{a: 2, b: 0}, {a: 1, b: 0}]", both), "");
  EXPECT_EQ(difference("['*', 1]", "[1, 2]", unordered), "at .[1]: no item matches 1")
      << "greedy, in order";
  EXPECT_EQ(difference("[1, '*']", "[2, 1]", unordered), "")
      << "an equal one goes before one that only matches";
}

TEST(Compare, Numbers) {
  EXPECT_NE(difference("9223372036854775807", "9223372036854775806"), "");
  EXPECT_EQ(difference("60", "60.0"), "");
  EXPECT_EQ(difference("0.3", "0.30000000000000004"), "");
  EXPECT_NE(difference("0.3", "0.3001"), "");
  EXPECT_EQ(difference("10", "12", {.tolerance = 2}), "");
  EXPECT_NE(difference("10", "12.5", {.tolerance = 2}), "");
  EXPECT_NE(difference("10", "10", {.tolerance = -1}), "");
  EXPECT_NE(difference("9223372036854775807", "-9223372036854775808", {.tolerance = 1}), "");
}

TEST(Compare, TypesNeverMatchEachOther) {
  EXPECT_EQ(difference("{a: 1}", "{a: '1'}"), "at .a: expected 1, got \"1\"");
  EXPECT_NE(difference("{a: null}", "{a: false}"), "");
  EXPECT_NE(difference("[]", "{}"), "");
}

TEST(Compare, RedactedKeysAreTakenOutOfTheActualValue) {
  const MatchOptions redact{.redact = {"token"}};
  EXPECT_EQ(difference("{a: [{b: 1}]}", "{token: 'x', a: [{token: {}, b: 1}]}", redact), "");
  EXPECT_EQ(difference("{token: 'x'}", "{token: 'x'}", redact),
            "at .token: expected \"x\", got nothing");
}

constexpr std::string_view kNotFound =
    "{code: 5, message: 'no such item', details: [{'@type': 't/ErrorInfo', reason: 'GONE', "
    "field_violations: [1]}]}";

TEST(CompareErrors, StrictExpectsAllThatTheServerSent) {
  EXPECT_EQ(error_difference("{code: 5, message: 'no'}", "{code: 5, message: 'no'}"), "");
  EXPECT_EQ(error_difference("{code: 5}", "{code: 5, message: 'no'}"),
            "at .message: expected nothing, got \"no\"");
  EXPECT_EQ(error_difference("{code: 5}", "{code: 5, message: ''}"), "");
  EXPECT_EQ(error_difference("{code: 5, message: 'n'}", "{code: 5, message: 'no'}"),
            "at .message: expected \"n\", got \"no\"");
  EXPECT_EQ(error_difference("{code: 4, message: 'no'}", "{code: 5, message: 'no'}"),
            "at .code: expected 4, got 5");
  EXPECT_NE(error_difference("{code: 5, message: 'no such item'}", kNotFound), "");
  EXPECT_EQ(error_difference("{code: 'NOT_FOUND', message: '*'}", "{code: 5, message: 'no'}"), "");
  EXPECT_EQ(error_difference("{code: 'NotFound', message: '*'}", "{code: 5, message: 'no'}"), "");
  EXPECT_NE(error_difference("{code: 'Aborted', message: '*'}", "{code: 5, message: 'no'}"), "");
}

TEST(CompareErrors, PartialExpectsASubset) {
  EXPECT_EQ(error_difference("{code: 5}", kNotFound, true), "");
  EXPECT_EQ(error_difference("{details: [{reason: 'GONE'}]}", kNotFound, true), "");
  EXPECT_EQ(error_difference("{details: [{fieldViolations: [1]}]}", kNotFound, true), "");
  EXPECT_EQ(error_difference("{details: [{reason: 'OTHER'}]}", kNotFound, true),
            "at .details[0]: no item matches {\"reason\":\"OTHER\"}");
}

TEST(CompareErrors, AStringIsTheMessage) {
  EXPECT_EQ(error_difference("'no such item'", kNotFound), "");
  EXPECT_NE(error_difference("'no'", kNotFound), "");
}

}  // namespace
}  // namespace onbeat::document
