#!/usr/bin/python3
"""The documents against the repository and the program: docs_test.py ONBEAT

Links and paths lead somewhere, headings they name exist, flags are those of the help, command lines parse, and
tables of codes and limits are those of the code.
"""

import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
ONBEAT = ""
DOCUMENTS = sorted(ROOT.glob("*.md")) + sorted((ROOT / "docs").glob("**/*.md"))
# Documents about the program's use; the others name flags of cmake and ctest as well.
USER_DOCUMENTS = [path for path in DOCUMENTS if path.name == "README.md" or path.parent.name == "docs"]
EXTERNAL = ("https://www.rfc-editor.org/rfc/", "https://doi.org/")
FOLDERS = ("cmake/", "docs/", "examples/", "include/", "src/", "tests/", "tools/")
FENCE = re.compile(r"^```.*?^```$", re.M | re.S)


def read(path):
    return path.read_text(encoding="utf-8")


def prose(path):
    """The text without its fenced blocks."""
    return FENCE.sub("", read(path))


def spans(text):
    """What stands between backticks."""
    return re.findall(r"`([^`\n]+)`", text)


def ours(path):
    """The prose about this program: in tables whose first column is named after another tool, the rest of each row."""
    lines, theirs = [], False
    for line in prose(path).splitlines():
        theirs = line.startswith("|") and (theirs or line.startswith("| their "))
        lines.append(re.sub(r"^\|(?:\\\||[^|])*", "", line) if theirs else line)
    return "\n".join(lines)


def commands(path, name):
    """The lines of fenced blocks that call `onbeat NAME`, as words without their comment; variables may precede."""
    for block in FENCE.findall(read(path)):
        for line in block.splitlines():
            if re.match(rf"(?:[A-Z_]+=\S+ )*onbeat {name}\b", line):
                words = shlex.split(line, comments=True)
                yield line, words[:words.index("onbeat")] + words[words.index("onbeat") + 1:]


def section(path, heading):
    found = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", read(path), re.M | re.S)
    assert found, f"{path.name} has no section {heading}"
    return found.group(1)


def anchors(path):
    """Headings as links name them."""
    headings = re.findall(r"^#+ (.+)$", prose(path), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def sample_files():
    """Files that the documents show: fenced blocks with a language and a file's name."""
    return {name: text for path in USER_DOCUMENTS
            for name, text in re.findall(r"^```\w+ ([\w.]+)\n(.*?)^```$", read(path), re.M | re.S)}


def make_certificate(folder):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-subj", "/CN=HOST", "-keyout", "ca.key", "-out", "ca.pem"], cwd=folder, check=True,
                   capture_output=True)


def onbeat(*words):
    """Runs the program, perhaps with variables before its words, where the files of the documents are."""
    words = list(words)
    variables = {"TOKEN": "secret"}
    while words and re.match(r"[A-Z_]+=", words[0]):
        name, _, value = words.pop(0).partition("=")
        variables[name] = value
    with tempfile.TemporaryDirectory() as folder:
        for name, text in sample_files().items():
            (pathlib.Path(folder) / name).write_text(text, encoding="utf-8")
        if "ca.pem" in words:
            make_certificate(folder)
        return subprocess.run([ONBEAT, *words], cwd=folder, env={**os.environ, **variables}, timeout=30,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)


def flags_of(*command):
    help_text = onbeat(*command, "--help").stdout
    return set(re.findall(r"^ +(?:-\w, +)?(--[a-z-]+)", help_text, re.M))


def dry_run(words):
    """Runs an `onbeat http` line without sending anything, its placeholders replaced by a local address."""
    words = [word.replace("//HOST/", "//127.0.0.1:9/") for word in words if word not in ("--once", "--dry-run")]
    return onbeat(*words, "--dry-run")


class Documents(unittest.TestCase):
    def test_there_are_some(self):
        names = {path.name for path in DOCUMENTS}
        self.assertLessEqual({"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "measuring.md", "architecture.md",
                              "http.md", "coming_from.md"}, names)

    def test_links_lead_somewhere(self):
        for path in DOCUMENTS:
            for link in re.findall(r"\]\(([^)\s]+)\)", prose(path)):
                with self.subTest(document=path.name, link=link):
                    if "://" in link:
                        self.assertTrue(link.startswith(EXTERNAL), "links out of the repository go to papers and RFCs")
                        continue
                    file, _, heading = link.partition("#")
                    target = (path.parent / file).resolve() if file else path
                    self.assertTrue(target.exists())
                    self.assertTrue(target.is_relative_to(ROOT))
                    if heading:
                        self.assertIn(heading, anchors(target))

    def test_named_files_exist(self):
        for path in DOCUMENTS:
            for span in spans(prose(path)):
                if span.startswith(FOLDERS) and not re.search(r"[<>* ]", span):
                    with self.subTest(document=path.name, file=span):
                        self.assertTrue((ROOT / span).exists())


class Program(unittest.TestCase):
    def test_flags_in_prose_are_in_the_help(self):
        known = set().union(*(flags_of(*command.split()) for command in (
            "http", "bench", "call", "bench-compare", "check", "fmt", "report", "compare", "curve", "target http",
            "target grpc", "doctor")))
        self.assertGreater(len(known), 30)
        for path in USER_DOCUMENTS:
            for span in spans(ours(path)):
                if span.startswith(("-", "onbeat ")):
                    for flag in re.findall(r"(?<![\w-])--[a-z-]+", span):
                        with self.subTest(document=path.name, span=span):
                            self.assertIn(flag, known)

    def test_flags_in_commands_are_in_their_help(self):
        for command in ("target http", "target grpc", "doctor", "profiles", "bench", "call", "bench-compare",
                        "check", "fmt", "report", "compare", "curve"):
            known = flags_of(*command.split())
            for path in USER_DOCUMENTS:
                for line, words in commands(path, command):
                    for flag in (word.partition("=")[0] for word in words if word.startswith("--")):
                        with self.subTest(document=path.name, line=line):
                            self.assertIn(flag, known)

    def test_http_commands_parse(self):
        seen = 0
        for path in USER_DOCUMENTS:
            for line, words in commands(path, "http"):
                with self.subTest(document=path.name, line=line):
                    result = dry_run(words)
                    self.assertEqual(result.returncode, 0, result.stderr)
                seen += 1
        self.assertGreater(seen, 10)

    def test_options_have_their_place(self):
        text = read(ROOT / "docs/http.md")
        groups = {"Request", "Connections", "TLS", "Expecting", "Configuration"}
        help_text = onbeat("http", "--help").stdout
        for title, group in re.findall(r"^(\w+)\n((?: .*\n)+)", help_text, re.M):
            if title not in groups:
                continue
            groups.remove(title)
            for letter, flag in re.findall(r"^ +(?:(-\w), +)?(--[a-z-]+)", group, re.M):
                with self.subTest(flag=flag):
                    names = "|".join(filter(None, (letter, flag)))
                    self.assertRegex(text, rf"(?<![\w-])(?:{names})(?![\w-])")
        self.assertEqual(groups, set())

    def test_profiles_are_documented(self):
        rows = dict(re.findall(r"^\| `(\w+)` \| (\w+ .*) \|$", section(ROOT / "docs/http.md", "Profiles"), re.M))
        listed = re.findall(r"^(\w+)  .*\n((?:  .*\n)+)", onbeat("profiles").stdout, re.M)
        self.assertGreater(len(listed), 3)
        self.assertEqual({name: sorted(line.strip().replace(": ", " ") for line in options.splitlines())
                          for name, options in listed},
                         {name: sorted(re.split(r", (?=[a-z]+ )", row)) for name, row in rows.items()})

    def test_target_commands_are_understood(self):
        for path in USER_DOCUMENTS:
            for line, words in [*commands(path, "target http"), *commands(path, "target grpc")]:
                # An address of no host of ours: the options are read, and listening fails.
                with self.subTest(document=path.name, line=line):
                    self.assertIn("cannot listen", onbeat(*words, "--address", "192.0.2.1").stderr)

    def test_thresholds_parse(self):
        examples = [span for span in spans(section(ROOT / "docs/measuring.md", "Thresholds"))
                    if re.search(r"(<|>|=) \d", span)]
        self.assertGreater(len(examples), 5)
        for example in examples:
            with self.subTest(example=example):
                flag = "--abort-on" if " over " in example else "--threshold"
                result = dry_run(["http", "http://HOST/a", flag, example])
                self.assertEqual(result.returncode, 0, result.stderr)

    def test_limits_are_known(self):
        verdict = section(ROOT / "docs/measuring.md", "Verdict")
        limits = re.findall(r"^\| `([\w.]+)` \| (\S+) \|$", verdict, re.M)
        self.assertGreater(len(limits), 10)
        for name, value in limits:
            with self.subTest(limit=name):
                result = dry_run(["http", "http://HOST/", "--limit", f"{name}={value}"])
                self.assertEqual(result.returncode, 0, result.stderr)


class Reports(unittest.TestCase):
    document = ROOT / "docs/reports.md"

    def names(self, schema):
        """All names of fields, but those that the run gives (endpoints, codes, options)."""
        for name, part in schema.get("properties", {}).items():
            yield name
            yield from self.names(part)
        for part in ("items", "additionalProperties"):
            if isinstance(schema.get(part), dict):
                yield from self.names(schema[part])
        for part in schema.get("definitions", {}).values():
            yield from self.names(part)
        for part in schema.get("oneOf", []) + schema.get("anyOf", []):
            yield from self.names(part)

    def test_every_field_is_explained(self):
        names = set(self.names(json.loads(read(ROOT / "docs/report.schema.json"))))
        names -= {"class", "hint"}  # of run.error
        self.assertGreater(len(names), 100)
        self.assertEqual(names - set(spans(section(self.document, "JSON"))), set())

    def test_every_chart_and_table_is_explained(self):
        code = "".join(read(ROOT / "src/report" / name) for name in ("run_charts.cpp", "html_tables.cpp"))
        titles = re.findall(r'(?:details|chart)\("([A-Z][a-z ]+)"', code) + re.findall(r'\.title = "([^"]+)"', code)
        self.assertGreater(len(titles), 14)
        text = section(self.document, "HTML")
        for title in titles:
            with self.subTest(title=title):
                self.assertIn(title, text)
        for question in re.findall(r'\.question = "([^"]+)"', read(ROOT / "src/report/html.cpp")):
            self.assertIn(f"| {question} |", text)

    def test_every_line_of_the_text_is_explained(self):
        text, words = section(self.document, "Text"), set()
        for kept in (ROOT / "src/report/testdata").glob("*.txt"):
            words |= set(re.findall(r"^ {0,2}([a-z]+(?: [a-z]+)?) {2,}", read(kept), re.M))
        self.assertGreater(len(words), 8)
        for word in words - {"error"}:  # of a run without figures: it explains itself
            with self.subTest(word=word):
                self.assertRegex(text, rf"(?m)^\|[^|]*\b{word}\b|`{word}`")


class Code(unittest.TestCase):
    def test_every_check_is_documented(self):
        codes = re.findall(r'^ +\{"(\w+)",$', read(ROOT / "src/run/explain.cpp"), re.M)
        self.assertGreater(len(codes), 10)
        verdict = section(ROOT / "docs/measuring.md", "Verdict")
        self.assertEqual(re.findall(r"^\| `(\w+)` \|", verdict, re.M), codes)
        for document in ("README.md", "CHANGELOG.md"):
            self.assertIn(f"{len(codes)} checks", read(ROOT / document))

    def test_every_exit_code_is_documented(self):
        enumeration = re.search(r"enum class ExitCode.*?\{(.*?)\};", read(ROOT / "src/run/report.hpp"), re.S).group(1)
        codes = re.findall(r"= (\d+)", enumeration)
        self.assertGreater(len(codes), 5)
        self.assertEqual(re.findall(r"^\| (\d+) \|", read(ROOT / "docs/exit_codes.md"), re.M), codes)

    def test_every_error_class_is_documented(self):
        names = set(re.findall(r'return "(\w+)";', read(ROOT / "src/net/error.cpp")))
        self.assertIn("reset", names)
        names -= {"none", "dns", "cancelled"}  # no error; ends the run before it has figures; this side's own doing
        success = section(ROOT / "docs/measuring.md", "What is a success in HTTP")
        self.assertEqual(names - set(spans(success)), set())

    def test_what_tests_need_is_installed(self):
        script = read(ROOT / "tools/install_packages.sh")
        installed = set(re.search(r"^test=\((.*?)\)", script, re.M | re.S).group(1).split())
        tests = "".join(read(path) for path in sorted((ROOT / "tests").glob("*_test.py")))
        needed = set(re.findall(r'^ *@onbeat\.needs\("[\w-]+", "([\w-]+)"\)$', tests, re.M))
        self.assertIn("nginx-light", needed)
        self.assertEqual(needed - installed, set())

    def test_every_layer_is_documented(self):
        layers = re.findall(r"^onbeat_layer\((\w+)", read(ROOT / "CMakeLists.txt"), re.M)
        self.assertGreater(len(layers), 5)
        rows = re.findall(r"^\| \[`(\w+)`\]", section(ROOT / "docs/architecture.md", "Layers"), re.M)
        self.assertEqual(rows, layers)


if __name__ == "__main__":
    ONBEAT = os.path.abspath(sys.argv.pop(1))
    unittest.main()
