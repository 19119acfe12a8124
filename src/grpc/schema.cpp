#include "grpc/schema.hpp"

#include "grpc/schema_database.hpp"
#include "options/nearest.hpp"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/dynamic_message.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <set>

namespace onbeat::grpc {
namespace {

namespace pb = google::protobuf;

// What protobuf would print itself is in our messages already.
void silence_protobuf() {
  static std::once_flag once;
  std::call_once(once, [] { pb::SetLogHandler(nullptr); });
}

/// "file:line:column: message" of sources (positions count from 1), "file: element: message" else.
class Faults final : public pb::compiler::MultiFileErrorCollector,
                     public pb::DescriptorPool::ErrorCollector {
 public:
  explicit Faults(ProtoSources* sources = nullptr) : sources_(sources) {}

  void AddError(const std::string& file, int line, int column,
                const std::string& message) override {
    std::string text = sources_ != nullptr ? sources_->place(file) : file;
    if (line >= 0) text += ":" + std::to_string(line + 1) + ":" + std::to_string(column + 1);
    add(text + ": " + message);
  }
  void AddError(const std::string& file, const std::string& element, const pb::Message*,
                ErrorLocation, const std::string& message) override {
    add(file + ": " + (element.empty() || element == file ? "" : element + ": ") + message);
  }
  void add(std::string text) {
    if (std::ranges::find(texts, text) == texts.end()) texts.push_back(std::move(text));
  }

  Schema::Errors texts;

 private:
  ProtoSources* sources_;
};

/// Another database's files without what proto3 does not know.
class WithoutEditions final : public pb::DescriptorDatabase {
 public:
  WithoutEditions(pb::DescriptorDatabase& below, ProtoSources& sources)
      : below_(below), sources_(sources) {}
  bool FindFileByName(const std::string& name, pb::FileDescriptorProto* file) override {
    if (!below_.FindFileByName(name, file)) return false;
    if (sources_.has_edition(name)) file->set_syntax("editions");
    downgrade_edition(*file);
    return true;
  }
  bool FindFileContainingSymbol(const std::string& symbol, pb::FileDescriptorProto* file) override {
    return below_.FindFileContainingSymbol(symbol, file);
  }
  bool FindFileContainingExtension(const std::string& type, int number,
                                   pb::FileDescriptorProto* file) override {
    return below_.FindFileContainingExtension(type, number, file);
  }

 private:
  pb::DescriptorDatabase& below_;
  ProtoSources& sources_;
};

Shape shape_of(const pb::MethodDescriptor& method) {
  if (method.client_streaming())
    return method.server_streaming() ? Shape::bidi_stream : Shape::client_stream;
  return method.server_streaming() ? Shape::server_stream : Shape::unary;
}

std::string in_quotes(std::string_view text) { return "\"" + std::string(text) + "\""; }

std::string hint(std::string_view name, const std::vector<std::string>& candidates) {
  std::vector<std::string_view> views(candidates.begin(), candidates.end());
  const auto nearest = options::nearest(name, views);
  if (nearest) return "; did you mean " + in_quotes(*nearest) + "?";
  if (candidates.empty()) return {};
  std::string text = "; there " + std::string(candidates.size() == 1 ? "is" : "are");
  for (std::size_t i = 0; i < candidates.size() && i < 10; ++i)
    text += (i == 0 ? " " : ", ") + candidates[i];
  return text + (candidates.size() > 10 ? ", ..." : "");
}

}  // namespace

std::string_view to_string(Shape shape) noexcept {
  switch (shape) {
    case Shape::unary:
      return "unary";
    case Shape::client_stream:
      return "client stream";
    case Shape::server_stream:
      return "server stream";
    case Shape::bidi_stream:
      return "bidirectional stream";
  }
  return {};
}

struct Schema::Parts {
  pb::DescriptorPool pool;
  std::map<std::string, const pb::ServiceDescriptor*, std::less<>> services;
  mutable pb::DynamicMessageFactory factory{&pool};
};

struct Schema::Loading {
  pb::DescriptorDatabase& database;
  Faults& faults;
  pb::DescriptorPool::ErrorCollector& checks;  // of what the pool finds: with positions, or without
};

Schema::Schema(std::unique_ptr<Parts> parts) noexcept : parts_(std::move(parts)) {}
Schema::~Schema() = default;

namespace {

/// Copies a file, after what it imports, from a database into a pool.
class Builder {
 public:
  Builder(pb::DescriptorDatabase& database, pb::DescriptorPool& pool, Faults& faults,
          pb::DescriptorPool::ErrorCollector& checks)
      : database_(database), pool_(pool), faults_(faults), checks_(checks) {}

  const pb::FileDescriptor* add(const std::string& name) {
    if (const auto* built = pool_.FindFileByName(name)) return built;
    if (std::ranges::find(path_, name) != path_.end()) {
      faults_.add(path_.back() + ": imports \"" + name + "\", which imports it in turn");
      return nullptr;
    }
    if (!tried_.insert(name).second) return nullptr;
    pb::FileDescriptorProto file;
    const std::size_t before = faults_.texts.size();
    if (!database_.FindFileByName(name, &file)) {
      // A source says itself why it could not be read.
      if (faults_.texts.size() == before)
        faults_.add((path_.empty() ? "" : path_.back() + ": ") + "\"" + name + "\" is missing");
      return nullptr;
    }
    path_.push_back(name);
    for (const std::string& import : file.dependency()) add(import);
    path_.pop_back();
    return pool_.BuildFileCollectingErrors(file, &checks_);
  }

 private:
  pb::DescriptorDatabase& database_;
  pb::DescriptorPool& pool_;
  Faults& faults_;
  pb::DescriptorPool::ErrorCollector& checks_;
  std::vector<std::string> path_;  // from the root to the file at hand
  std::set<std::string> tried_;
};

/// What no source and no descriptor need bring: the well-known types and google.rpc's.
struct KnownFiles {
  ProtoSources rpc_sources;
  pb::DescriptorPoolDatabase well_known{*pb::DescriptorPool::generated_pool()};
  pb::compiler::SourceTreeDescriptorDatabase rpc{&rpc_sources};
  pb::MergedDescriptorDatabase all{&well_known, &rpc};
};

/// The name by which the source tree knows a file of the disk.
std::string source_name(const std::string& file, ProtoSources& sources, Faults& faults) {
  using Disk = pb::compiler::DiskSourceTree;
  std::string name, shadowing;
  switch (sources.disk().DiskFileToVirtualFile(file, &name, &shadowing)) {
    case Disk::SUCCESS:
      return name;
    case Disk::SHADOWED:
      faults.add(file + ": the import paths find " + shadowing + " before it; change their order");
      return {};
    case Disk::CANNOT_OPEN:
    case Disk::NO_MAPPING:
      break;
  }
  std::error_code error;
  if (std::filesystem::exists(file, error)) return file;
  if (!rpc_file(file).empty() || pb::DescriptorPool::generated_pool()->FindFileByName(file))
    return file;
  // Named as an import is.
  std::string on_disk;
  if (sources.disk().VirtualFileToDiskFile(file, &on_disk)) return file;
  faults.add(file + ": there is no such file, neither here nor in the import paths");
  return {};
}

}  // namespace

Schema::Made Schema::make(Loading& loading, std::span<const std::string> roots) {
  auto parts = std::make_unique<Parts>();
  Builder builder(loading.database, parts->pool, loading.faults, loading.checks);
  std::vector<const pb::FileDescriptor*> files;
  for (const std::string& root : roots) files.push_back(builder.add(root));
  if (!loading.faults.texts.empty()) return std::unexpected(std::move(loading.faults.texts));
  for (std::size_t i = 0; i < files.size(); ++i) {
    const pb::FileDescriptor* file = files[i];
    for (int k = 0; k < file->service_count(); ++k)
      parts->services.emplace(file->service(k)->full_name(), file->service(k));
    for (int k = 0; k < file->dependency_count(); ++k) {
      if (std::ranges::find(files, file->dependency(k)) == files.end())
        files.push_back(file->dependency(k));
    }
  }
  return std::unique_ptr<Schema>(new Schema(std::move(parts)));
}

Schema::Made Schema::from_proto_files(std::span<const std::string> files,
                                      std::span<const std::string> import_paths) {
  silence_protobuf();
  ProtoSources sources;
  Faults faults(&sources);
  for (const std::string& path : import_paths) {
    if (!std::filesystem::is_directory(path))
      faults.add(path + ": there is no such folder (an import path)");
    sources.disk().MapPath("", path);
  }
  for (const std::string& file : files) {
    const auto folder = std::filesystem::path(file).parent_path().string();
    sources.disk().MapPath("", folder.empty() ? "." : folder);
  }
  std::vector<std::string> roots;
  for (const std::string& file : files) {
    std::string name = source_name(file, sources, faults);
    if (!name.empty()) roots.push_back(std::move(name));
  }
  pb::DescriptorPoolDatabase well_known{*pb::DescriptorPool::generated_pool()};
  pb::compiler::SourceTreeDescriptorDatabase parsed(&sources, &well_known);
  parsed.RecordErrorsTo(&faults);
  WithoutEditions database(parsed, sources);
  Loading loading{database, faults, *parsed.GetValidationErrorCollector()};
  return make(loading, roots);
}

Schema::Made Schema::from_descriptor_sets(std::span<const std::string> files) {
  std::vector<std::string> descriptors;
  Errors errors;
  for (const std::string& path : files) {
    std::ifstream file(path, std::ios::binary);
    pb::FileDescriptorSet set;
    if (!file) {
      errors.push_back(path + ": cannot be read");
    } else if (!set.ParseFromIstream(&file) || set.file().empty()) {
      errors.push_back(path +
                       ": is no FileDescriptorSet (protoc --descriptor_set_out=FILE "
                       "--include_imports writes one)");
    }
    for (const auto& each : set.file()) descriptors.push_back(each.SerializeAsString());
  }
  if (!errors.empty()) return std::unexpected(std::move(errors));
  return from_descriptors(descriptors);
}

Schema::Made Schema::from_descriptors(std::span<const std::string> descriptors) {
  silence_protobuf();
  Faults faults;
  pb::SimpleDescriptorDatabase given;
  KnownFiles known;
  std::vector<std::string> roots;
  for (const std::string& bytes : descriptors) {
    pb::FileDescriptorProto file;
    if (!file.ParseFromString(bytes)) {
      faults.add("a descriptor of a file cannot be parsed");
      continue;
    }
    if (std::ranges::find(roots, file.name()) != roots.end()) continue;
    downgrade_edition(file);
    given.Add(file);
    roots.push_back(file.name());
  }
  pb::MergedDescriptorDatabase database(&given, &known.all);
  Loading loading{database, faults, faults};
  return make(loading, roots);
}

std::vector<std::string> Schema::services() const {
  std::vector<std::string> names;
  for (const auto& [name, service] : parts_->services) names.push_back(name);
  return names;
}

std::expected<Method, std::string> Schema::find_method(std::string_view name) const {
  std::string_view rest = name;
  if (rest.starts_with('/')) rest.remove_prefix(1);
  const std::size_t slash = rest.find('/');
  if (slash == std::string_view::npos || slash == 0 || slash + 1 == rest.size())
    return std::unexpected(in_quotes(name) + " is no method; it must be package.Service/Method");
  const std::string_view service_name = rest.substr(0, slash);
  const std::string_view method_name = rest.substr(slash + 1);
  const auto service = parts_->services.find(service_name);
  if (service == parts_->services.end())
    return std::unexpected("there is no service " + in_quotes(service_name) +
                           hint(service_name, services()));
  std::vector<std::string> methods;
  for (int i = 0; i < service->second->method_count(); ++i) {
    const pb::MethodDescriptor& method = *service->second->method(i);
    if (method.name() == method_name)
      return Method{"/" + std::string(rest), shape_of(method), method.input_type(),
                    method.output_type()};
    methods.push_back(method.name());
  }
  return std::unexpected("the service " + in_quotes(service_name) + " has no method " +
                         in_quotes(method_name) + hint(method_name, methods));
}

const pb::Descriptor* Schema::find_message(std::string_view full_name) const {
  return parts_->pool.FindMessageTypeByName(std::string(full_name));
}

const pb::Message& Schema::prototype(const pb::Descriptor& type) const {
  return *parts_->factory.GetPrototype(&type);
}

}  // namespace onbeat::grpc
