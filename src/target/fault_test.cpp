#include "target/fault.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace onbeat::target {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

Fault parsed(std::string_view text) {
  const auto fault = parse_fault(text);
  EXPECT_TRUE(fault.has_value()) << (fault ? "" : fault.error());
  return fault.value_or(Fault{});
}

std::string problem(std::string_view text) {
  const auto fault = parse_fault(text);
  EXPECT_FALSE(fault.has_value()) << text;
  return fault ? "" : fault.error();
}

TEST(Fault, SaysWhichRequests) {
  const Fault fault = parsed("reset:every=100,share=0.5%,seed=7,at=2s,for=500ms,request=300");
  EXPECT_EQ(fault.kind, FaultKind::reset);
  EXPECT_EQ(fault.every, 100U);
  EXPECT_DOUBLE_EQ(fault.share, 0.005);
  EXPECT_EQ(fault.seed, 7U);
  EXPECT_EQ(fault.at, 2s);
  EXPECT_EQ(fault.lasts, 500ms);
  EXPECT_EQ(fault.request, 300U);
}

TEST(Fault, EachKindReadsItsOwnKeys) {
  EXPECT_EQ(parsed("delay:time=3s").time, 3s);
  EXPECT_EQ(parsed("capacity:rate=500").time, 2ms);
  EXPECT_EQ(parsed("capacity:rate=500/s").time, 2ms);
  EXPECT_EQ(parsed("status").code, 503);
  EXPECT_EQ(parsed("status:code=429").code, 429);
  EXPECT_EQ(parsed("close").mode, CloseMode::silent);
  EXPECT_EQ(parsed("close:mode=said,wait=5ms").time, 5ms);
  EXPECT_EQ(parsed("close:mode=unanswered").mode, CloseMode::unanswered);
  EXPECT_EQ(parsed("cut:bytes=1k").bytes, 1000U);
  EXPECT_EQ(parsed("slow-bytes").time, 1ms);
  EXPECT_EQ(parsed("slow-bytes:gap=0,bytes=3").time, 0ms);
  EXPECT_EQ(parsed("refuse:beyond=100").beyond, 100U);
  EXPECT_EQ(parsed("stall:at=2s,for=1s").lasts, 1s);
  EXPECT_EQ(parsed("freeze:request=10,for=1s").request, 10U);
}

TEST(Fault, OfHttp2AndGrpc) {
  EXPECT_EQ(parsed("goaway").code, 0U);
  EXPECT_EQ(parsed("goaway").time, 10ms);
  EXPECT_EQ(parsed("goaway:code=enhance_your_calm,wait=0").code, 11U);
  EXPECT_TRUE(parsed("goaway:when=connect").on_connect);
  EXPECT_FALSE(parsed("goaway:when=request").on_connect);
  EXPECT_EQ(parsed("max-streams:limit=10").beyond, 10U);
  EXPECT_TRUE(parsed("max-streams:limit=10").strikes_all());
  EXPECT_FALSE(parsed("max-streams:limit=10,request=2").strikes_all());
  EXPECT_EQ(parsed("reset-stream").code, 2U);
  EXPECT_EQ(parsed("reset-stream:code=refused_stream").code, 7U);
  EXPECT_EQ(parsed("reset-stream:code=4000").code, 4000U);
  EXPECT_EQ(parsed("window-stall:time=1s").time, 1s);
  EXPECT_EQ(parsed("grpc-status").code, 14U);
  EXPECT_EQ(parsed("grpc-status:code=12,message=a b%2C=c,form=trailers").message, "a b%2C=c");
  EXPECT_TRUE(parsed("grpc-status:form=trailers").in_trailers);
  EXPECT_THAT(problem("goaway:code=calm"), HasSubstr("code must be one of no_error"));
  EXPECT_THAT(problem("goaway:when=connect,every=3"), HasSubstr("strikes connections"));
  EXPECT_THAT(problem("goaway:when=later"),
              HasSubstr("when must be request or connect, not 'later'"));
  EXPECT_THAT(problem("max-streams"), HasSubstr("needs limit=N"));
  EXPECT_THAT(problem("max-streams:limit=3000000000"), HasSubstr("limit: at most"));
  EXPECT_THAT(problem("window-stall"), HasSubstr("needs time=DURATION"));
  EXPECT_THAT(problem("grpc-status:code=1000"), HasSubstr("code: at most 999"));
  EXPECT_THAT(problem("status:code=14"), HasSubstr("code must be from 200 to 599"));
}

TEST(Fault, RefusesWhatItCannotDo) {
  EXPECT_EQ(problem("slowbytes"), "no such fault 'slowbytes': did you mean 'slow-bytes'?");
  EXPECT_THAT(problem("quux"), HasSubstr("one of stall, freeze, delay"));
  EXPECT_THAT(problem("reset:evry=3"), HasSubstr("no key 'evry' (it has every, request"));
  EXPECT_THAT(problem("reset:gap=1ms"), HasSubstr("no key 'gap'"));
  EXPECT_THAT(problem("reset:every"), HasSubstr("every needs a value"));
  EXPECT_THAT(problem("reset:every=1,every=2"), HasSubstr("every is given twice"));
  EXPECT_THAT(problem("reset:every=0"), HasSubstr("every counts from 1"));
  EXPECT_THAT(problem("reset:request=0"), HasSubstr("request counts from 1"));
  EXPECT_THAT(problem("reset:share=150%"), HasSubstr("share"));
  EXPECT_THAT(problem("delay"), HasSubstr("needs time="));
  EXPECT_THAT(problem("stall:at=1s"), HasSubstr("needs for="));
  EXPECT_THAT(problem("stall:for=1s"), HasSubstr("when it begins"));
  EXPECT_THAT(problem("stall:for=1s,at=1s,every=3"), HasSubstr("when it begins"));
  EXPECT_THAT(problem("capacity"), HasSubstr("rate"));
  EXPECT_THAT(problem("capacity:rate=0"), HasSubstr("rate"));
  EXPECT_THAT(problem("status:code=99"), HasSubstr("from 200 to 599"));
  EXPECT_THAT(problem("close:mode=loud"), HasSubstr("silent, said or unanswered"));
  EXPECT_THAT(problem("slow-bytes:bytes=0"), HasSubstr("counts from 1"));
  EXPECT_THAT(problem("excess:bytes=1G"), HasSubstr("at most 1M"));
  EXPECT_THAT(problem("refuse"), HasSubstr("needs beyond="));
  EXPECT_THAT(problem("refuse:beyond=3,every=2"), HasSubstr("only beyond="));
}

TEST(Fault, AllProblemsAtOnce) {
  EXPECT_EQ(problem("reset:every=x,foo=1,seed").find("every:"), 7U);
  EXPECT_THAT(problem("reset:every=x,foo=1,seed"), HasSubstr("; no key 'foo'"));
  EXPECT_THAT(problem("reset:every=x,foo=1,seed"), HasSubstr("; seed needs a value"));
  const std::vector<std::string> texts{"reset", "nonsense-kind", "stall:at=1s"};
  const auto faults = parse_faults(texts);
  ASSERT_FALSE(faults.has_value());
  EXPECT_THAT(faults.error(), HasSubstr("nonsense-kind"));
  EXPECT_THAT(faults.error(), HasSubstr("\nstall: "));
}

TEST(Fault, HeaderHoldsSeveralAndNeedsNoBeginning) {
  const auto faults = parse_fault_header("stall:for=1s; slow-bytes:gap=2ms ;interim");
  ASSERT_TRUE(faults.has_value()) << faults.error();
  ASSERT_EQ(faults->size(), 3U);
  EXPECT_EQ((*faults)[0].kind, FaultKind::stall);
  EXPECT_EQ((*faults)[1].time, 2ms);
  EXPECT_EQ((*faults)[2].kind, FaultKind::interim);
}

}  // namespace
}  // namespace onbeat::target
