#include "report/sample_file.hpp"

#include "report/json_parts.hpp"

#include <fmt/format.h>

namespace onbeat::report {

const std::string& SampleFile::Quoted::of(std::uint16_t id, const kernel::NameTable& table) {
  static const std::string kNull = "null";
  if (id == kernel::kNoName) return kNull;
  if (id >= quoted_.size()) {
    quoted_.clear();
    for (const std::string& name : table.names()) {
      quoted_.push_back(dump(name, -1));
      quoted_.back().pop_back();  // the newline
    }
  }
  return id < quoted_.size() ? quoted_[id] : kNull;
}

std::string SampleFile::line(const run::LoggedSample& sample, const kernel::Names& names,
                             kernel::Instant t0) {
  const kernel::Result& result = sample.result;
  const std::string head =
      fmt::format(R"({{"arrival":{},"due_ns":{},"outcome":"{}")", result.unit.arrival,
                  (result.unit.due - t0).count(), to_string(sample.ending));
  if (sample.ending > kernel::Ending::in_flight) {
    return head + fmt::format(R"(,"after_ns":{}}})"
                              "\n",
                              result.response().count());
  }
  return head +
         fmt::format(R"(,"lag_ns":{},"wait_ns":{},"service_ns":{},"response_ns":{},"endpoint":{},)"
                     R"("code":{},"error":{},"bytes_sent":{},"bytes_received":{}}})"
                     "\n",
                     result.lag().count(), result.wait().count(), result.service().count(),
                     result.response().count(), endpoints_.of(result.endpoint, names.endpoints),
                     codes_.of(result.code, names.codes), errors_.of(result.error, names.errors),
                     result.bytes_sent, result.bytes_received);
}

void SampleFile::write(const std::vector<run::LoggedSample>& samples, const kernel::Names& names,
                       kernel::Instant t0) {
  if (!file_.is_open() || !file_.problem().empty()) return;
  lines_.clear();
  for (const run::LoggedSample& sample : samples) lines_ += line(sample, names, t0);
  file_.write(lines_);
}

}  // namespace onbeat::report
