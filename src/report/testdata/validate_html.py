"""Reads HTML pages with a parser of its own: validate_html.py FILE...  Exit 1 with the faults on stdout.

A page must parse without an error, hold no element or attribute that runs or loads anything, no name twice, and only
characters that HTML allows.
"""
import sys

import html5lib

ELEMENTS = set("""html head meta title style body header main footer section figure figcaption div p h1 h2 span b code
ul li fieldset legend label input details summary table thead tbody tr th td
svg g line rect path text""".split())
ATTRIBUTES = set("""lang charset http-equiv content name class type id checked open tabindex role aria-label
x y dx dy x1 x2 y1 y2 d width height viewBox preserveAspectRatio overflow text-anchor stroke-width""".split())
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def faults_of(page):
    parser = html5lib.HTMLParser(tree=html5lib.getTreeBuilder("etree"), namespaceHTMLElements=False)
    tree = parser.parse(page.decode("utf-8"))
    for (line, column), code, details in parser.errors:
        yield f"{line}:{column}: {code} {details or ''}"
    identities = []
    for element in tree.iter():
        name = element.tag.rpartition("}")[2] if isinstance(element.tag, str) else "comment"
        if name not in ELEMENTS:
            yield f"<{name}> is not among the elements of a report"
        for attribute in element.attrib:
            if attribute not in ATTRIBUTES:
                yield f"<{name} {attribute}> is not among the attributes of a report"
        if "id" in element.attrib:
            identities.append(element.attrib["id"])
    if len(set(identities)) != len(identities):
        yield "an id comes twice"
    if not any(meta.get("content") == POLICY for meta in tree.iter("meta")):
        yield "the policy against scripts is missing"
    for style in tree.iter("style"):
        if "url(" in style.text or "@import" in style.text:
            yield "the style sheet loads something"


def main():
    faults = []
    for name in sys.argv[1:]:
        with open(name, "rb") as file:
            faults += [f"{name}: {fault}" for fault in faults_of(file.read())]
    print("\n".join(faults))
    return 1 if faults else 0


sys.exit(main())
