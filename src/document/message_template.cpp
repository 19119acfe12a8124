#include "document/message_template.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace onbeat::document {

void MessageTemplate::add(std::string_view literal) { literals_ += literal; }

void MessageTemplate::add(const Template& part) {
  if (part.is_literal()) {
    literals_ += part.literal();
  } else {
    parts_.push_back({literals_.size(), part});
  }
}

void MessageTemplate::add_body_size() {
  if (body_.is_literal()) {
    literals_ += std::to_string(body_.literal().size());
  } else {
    parts_.push_back({literals_.size(), std::nullopt});
  }
}

bool MessageTemplate::uses_clock() const noexcept {
  return body_.uses_clock() || std::ranges::any_of(parts_, [](const Part& part) {
           return part.text && part.text->uses_clock();
         });
}

std::vector<std::uint32_t> MessageTemplate::slots() const {
  std::vector<std::uint32_t> slots = body_.slots();
  for (const Part& part : parts_) {
    if (!part.text) continue;
    const std::vector<std::uint32_t> more = part.text->slots();
    slots.insert(slots.end(), more.begin(), more.end());
  }
  std::ranges::sort(slots);
  slots.erase(std::ranges::unique(slots).begin(), slots.end());
  return slots;
}

RenderFault MessageTemplate::render(const RenderContext& context, std::string& scratch,
                                    std::string& out) const {
  const std::size_t before = out.size();
  scratch.clear();
  RenderFault fault = body_.render(context, scratch);
  std::size_t at = 0;
  for (const Part& part : parts_) {
    if (fault != RenderFault::none) break;
    out.append(literals_, at, part.literal_end - at);
    at = part.literal_end;
    if (part.text) {
      fault = part.text->render(context, out);
    } else {
      const fmt::format_int size(scratch.size());
      out.append(size.data(), size.size());
    }
  }
  if (fault != RenderFault::none) {
    out.resize(before);
    return fault;
  }
  out.append(literals_, at);
  out += scratch;
  return RenderFault::none;
}

}  // namespace onbeat::document
