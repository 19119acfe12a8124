// Text from outside (labels, messages, URLs) made valid and inert in each format.
#pragma once

#include <string>
#include <string_view>

namespace onbeat::report {

/// Every byte that is not part of well-formed UTF-8 becomes U+FFFD.
[[nodiscard]] std::string valid_utf8(std::string_view text);
/// Valid UTF-8 on one line: control characters (C0, DEL, C1), which could steer a terminal, become
/// U+FFFD.
[[nodiscard]] std::string for_terminal(std::string_view text);
/// Valid UTF-8 with & < > " ' escaped: inert in HTML text and in quoted attributes. What HTML does
/// not allow, control characters but tab and line feed and code points that are no characters,
/// becomes U+FFFD.
[[nodiscard]] std::string for_html(std::string_view text);
/// Text of XML 1.0 content and quoted attributes: escaped as for HTML; what XML cannot hold at all
/// (control characters, U+FFFE, U+FFFF) becomes U+FFFD, line breaks and tabs survive as references.
[[nodiscard]] std::string for_xml(std::string_view text);
/// Inert in a paragraph, heading or table cell of GitHub-flavoured Markdown, on one line: what
/// could be markup is escaped, HTML is text.
[[nodiscard]] std::string for_markdown(std::string_view text);
/// An RFC 4180 field: quoted where needed; what a spreadsheet would run as a formula gets a leading
/// apostrophe.
[[nodiscard]] std::string for_csv(std::string_view text);

/// Code points of valid UTF-8: the columns that it takes on a terminal, near enough.
[[nodiscard]] std::size_t width_of(std::string_view text);
/// At most `width` columns, the end replaced by "..." where it is cut.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t width);

}  // namespace onbeat::report
