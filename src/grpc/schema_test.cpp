#include "grpc/schema.hpp"

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace onbeat::grpc {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kPeer = ONBEAT_SOURCE_DIR "/tests/grpc_peer/peer.proto";

class GrpcSchema : public testing::Test {
 protected:
  GrpcSchema() {
    std::string pattern = testing::TempDir() + "grpc_schema_XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~GrpcSchema() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) {
    const auto path = std::filesystem::path(folder_) / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path.string();
  }
  static Schema::Made compile(std::vector<std::string> files,
                              std::vector<std::string> import_paths = {}) {
    return Schema::from_proto_files(files, import_paths);
  }
  /// What the compiler would write with --include_imports.
  static google::protobuf::FileDescriptorSet descriptors(const Schema& schema,
                                                         std::string_view message) {
    google::protobuf::FileDescriptorSet set;
    std::vector<const google::protobuf::FileDescriptor*> files{
        schema.find_message(message)->file()};
    for (std::size_t i = 0; i < files.size(); ++i) {
      files[i]->CopyTo(set.add_file());
      for (int k = 0; k < files[i]->dependency_count(); ++k)
        files.push_back(files[i]->dependency(k));
    }
    return set;
  }

  std::string folder_;
};

TEST_F(GrpcSchema, MethodsWithTheirShapes) {
  const auto schema = compile({kPeer});
  ASSERT_TRUE(schema) << schema.error().front();
  EXPECT_THAT((*schema)->services(), ElementsAre("onbeat.peer.Peer"));
  const auto shape = [&](const char* name) { return (*schema)->find_method(name).value().shape; };
  EXPECT_EQ(shape("onbeat.peer.Peer/Echo"), Shape::unary);
  EXPECT_EQ(shape("/onbeat.peer.Peer/Collect"), Shape::client_stream);
  EXPECT_EQ(shape("onbeat.peer.Peer/Expand"), Shape::server_stream);
  EXPECT_EQ(shape("onbeat.peer.Peer/Chat"), Shape::bidi_stream);
  const Method method = (*schema)->find_method("/onbeat.peer.Peer/Mirror").value();
  EXPECT_EQ(method.path, "/onbeat.peer.Peer/Mirror");
  EXPECT_EQ(method.input->full_name(), "onbeat.peer.Everything");
}

TEST_F(GrpcSchema, WhatIsNotThereGetsAHint) {
  const auto schema = compile({kPeer}).value();
  EXPECT_EQ(schema->find_method("onbeat.peer.Peer/Ecko").error(),
            "the service \"onbeat.peer.Peer\" has no method \"Ecko\"; did you mean \"Echo\"?");
  EXPECT_EQ(schema->find_method("onbeat.peer.Pear/Echo").error(),
            "there is no service \"onbeat.peer.Pear\"; did you mean \"onbeat.peer.Peer\"?");
  EXPECT_THAT(schema->find_method("onbeat.peer.Peer/Zzzzzzzz").error(),
              HasSubstr("; there are Echo, Collect, Expand,"));
  for (const char* name : {"", "/", "Echo", "a/", "/b", "onbeat.peer.Peer.Echo"})
    EXPECT_THAT(schema->find_method(name).error(), HasSubstr("package.Service/Method")) << name;
}

TEST_F(GrpcSchema, AllErrorsWithTheirPlaces) {
  const std::string file = write("bad.proto",
                                 "syntax = \"proto3\";\n"
                                 "message A {\n"
                                 "  string a = 1\n"
                                 "  string b = 2;\n"
                                 "  in32 = 3;\n"
                                 "}\n");
  const auto schema = compile({file});
  ASSERT_FALSE(schema);
  EXPECT_THAT(schema.error(), ElementsAre(file + ":4:3: Expected \";\".", testing::_));
  const std::string unresolved = write("unresolved.proto",
                                       "syntax = \"proto3\";\n"
                                       "message A {\n"
                                       "  B b = 1;\n"
                                       "  string c = 1;\n"
                                       "}\n");
  const auto second = compile({unresolved});
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error(), testing::Contains(unresolved + ":3:3: \"B\" is not defined."));
}

TEST_F(GrpcSchema, ImportsAreFoundAndMissed) {
  write("lib/common/money.proto",
        "syntax = \"proto3\"; package common; message Money { int64 cents = 1; }\n");
  const std::string shop = write("api/shop.proto",
                                 "syntax = \"proto3\"; package shop;\n"
                                 "import \"common/money.proto\";\n"
                                 "import \"google/protobuf/timestamp.proto\";\n"
                                 "import \"google/rpc/status.proto\";\n"
                                 "message Item { common.Money price = 1;\n"
                                 "  google.protobuf.Timestamp since = 2;\n"
                                 "  google.rpc.Status status = 3; }\n");
  const auto schema = compile({shop}, {folder_ + "/lib"});
  ASSERT_TRUE(schema) << schema.error().front();
  EXPECT_NE((*schema)->find_message("common.Money"), nullptr);
  // A file may be named as an import is.
  EXPECT_TRUE(compile({"common/money.proto"}, {folder_ + "/lib"}));
  const auto missing = compile({shop});
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error(), testing::Contains(AllOf(HasSubstr("shop.proto:2:1"),
                                                       HasSubstr("common/money.proto"))));
  EXPECT_THAT(
      compile({folder_ + "/none.proto", shop}, {folder_ + "/nowhere"}).error(),
      testing::IsSupersetOf({folder_ + "/nowhere: there is no such folder (an import path)",
                             folder_ + "/none.proto: there is no such file, neither here nor in "
                                       "the import paths"}));
}

TEST_F(GrpcSchema, ImportsInACircle) {
  write("a.proto", "syntax = \"proto3\"; import \"b.proto\"; message A {}\n");
  write("b.proto", "syntax = \"proto3\"; import \"a.proto\"; message B {}\n");
  const auto schema = compile({folder_ + "/a.proto"});
  ASSERT_FALSE(schema);
  EXPECT_THAT(schema.error(), testing::Contains(HasSubstr("imports it in turn")));
}

TEST_F(GrpcSchema, DescriptorSets) {
  const auto source = compile({kPeer}).value();
  const std::string path = folder_ + "/set.pb";
  std::ofstream(path, std::ios::binary)
      << descriptors(*source, "onbeat.peer.Everything").SerializeAsString();
  const std::vector<std::string> files{path};
  const auto schema = Schema::from_descriptor_sets(files);
  ASSERT_TRUE(schema) << schema.error().front();
  EXPECT_EQ((*schema)->find_method("onbeat.peer.Peer/Chat").value().shape, Shape::bidi_stream);

  const std::vector<std::string> bad{folder_ + "/none.pb", write("text.pb", "no descriptor")};
  EXPECT_THAT(Schema::from_descriptor_sets(bad).error(),
              ElementsAre(HasSubstr("none.pb: cannot be read"), HasSubstr("--include_imports")));
}

TEST_F(GrpcSchema, DescriptorsWithoutWhatTheyImport) {
  google::protobuf::FileDescriptorProto file;
  file.set_name("shop.proto");
  file.set_syntax("proto3");
  file.add_dependency("common/money.proto");
  const std::vector<std::string> files{file.SerializeAsString(), "\xff\xff"};
  const auto schema = Schema::from_descriptors(files);
  ASSERT_FALSE(schema);
  EXPECT_THAT(schema.error(), testing::IsSupersetOf(
                                  {std::string("a descriptor of a file cannot be parsed"),
                                   std::string("shop.proto: \"common/money.proto\" is missing")}));
}

bool has_presence(const Schema& schema, std::string_view message, const std::string& field) {
  return schema.find_message(message)->FindFieldByName(field)->has_presence();
}

TEST_F(GrpcSchema, EditionsOfSources) {
  const std::string file = write("new.proto",
                                 "// edition = \"no\"\n"
                                 "edition = \"2023\";\n"
                                 "package shop;\n"
                                 "message Item {\n"
                                 "  string name = 1;\n"
                                 "  int32 stock = 2 [features.field_presence = IMPLICIT];\n"
                                 "  Item next = 3;\n"
                                 "  oneof which { string left = 4; }\n"
                                 "  repeated int32 sizes = 5;\n"
                                 "  map<string, int32> marks = 6;\n"
                                 "}\n"
                                 "service Shop { rpc Get(Item) returns (Item); }\n");
  const auto schema = compile({file});
  ASSERT_TRUE(schema) << schema.error().front();
  EXPECT_TRUE(has_presence(**schema, "shop.Item", "name"));
  EXPECT_FALSE(has_presence(**schema, "shop.Item", "stock"));
  EXPECT_TRUE(has_presence(**schema, "shop.Item", "next"));
  EXPECT_TRUE((*schema)->find_message("shop.Item")->FindFieldByName("sizes")->is_packed());
  const std::string bad = write("bad.proto", "edition = \"2023\";\nmessage A { B b = 1; }\n");
  EXPECT_THAT(compile({bad}).error(), testing::Contains(bad + ":2:13: \"B\" is not defined."));
}

TEST_F(GrpcSchema, EditionsOfDescriptors) {
  google::protobuf::FileDescriptorProto file;
  file.set_name("new.proto");
  file.set_syntax("editions");
  file.mutable_unknown_fields()->AddVarint(14, 1000);  // edition: 2023
  auto* message = file.add_message_type();
  message->set_name("Item");
  for (const char* name : {"name", "stock"}) {
    auto* field = message->add_field();
    field->set_name(name);
    field->set_number(message->field_size());
    field->set_label(google::protobuf::FieldDescriptorProto::LABEL_OPTIONAL);
    field->set_type(google::protobuf::FieldDescriptorProto::TYPE_STRING);
  }
  // features { field_presence: IMPLICIT }
  auto* options = message->mutable_field(1)->mutable_options();
  options->GetReflection()->MutableUnknownFields(options)->AddLengthDelimited(21, "\x08\x02");
  const std::vector<std::string> files{file.SerializeAsString()};
  const auto schema = Schema::from_descriptors(files);
  ASSERT_TRUE(schema) << schema.error().front();
  EXPECT_TRUE(has_presence(**schema, "Item", "name"));
  EXPECT_FALSE(has_presence(**schema, "Item", "stock"));
}

TEST_F(GrpcSchema, TypesOfErrors) {
  for (const char* name :
       {"Status", "ErrorInfo", "RetryInfo", "DebugInfo", "QuotaFailure", "PreconditionFailure",
        "BadRequest", "RequestInfo", "ResourceInfo", "Help", "LocalizedMessage"})
    EXPECT_NE(rpc_types().find_message("google.rpc." + std::string(name)), nullptr) << name;
  EXPECT_NE(rpc_types().find_message("google.protobuf.Timestamp"), nullptr);
}

}  // namespace
}  // namespace onbeat::grpc
