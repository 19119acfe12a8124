"""Reads files of every format with parsers of other projects: check_formats.py FOLDER

The ending of a file is its format. Beside each NAME.FORMAT stands NAME.expect.json, what must be found in it again.
Exit 1 with the faults on stdout."""
import csv
import html.parser
import json
import pathlib
import sys
import xml.etree.ElementTree

import junitparser
import markdown_it
import prometheus_client.parser




def check_junit(path, expect):
    root = xml.etree.ElementTree.parse(path).getroot()
    suites = junitparser.JUnitXml.fromfile(str(path))
    cases = [case for suite in suites for case in suite]
    assert len(cases) == suites.tests == int(root.get("tests")), "the number of tests"
    bad = [case for case in cases for result in case.result if type(result).__name__ in ("Failure", "Error")]
    assert len(bad) == suites.failures + suites.errors, "the number of failures"
    assert bool(bad) == (expect["exit_code"] != 0), f"exit code {expect['exit_code']} with {len(bad)} failures"
    for suite in suites:
        for case in suite:
            assert case.name is not None and case.classname.startswith("onbeat.")
    properties = {p.name: p.value for suite in suites for p in suite.properties()}
    assert properties["count.started"] == str(expect["started"])
    assert properties.get("name", "") == expect["name"].replace("\x1b", "\ufffd"), properties


def check_csv(path, expect):
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, strict=True))
    assert all(None not in row and None not in row.values() for row in rows), "rows of one length"
    total = [row for row in rows if row["row"] == "total"]
    assert len(total) == 1 and int(total[0]["started"]) == expect["started"]


def check_json(path, expect):
    def refuse(constant):
        raise ValueError(f"{constant} is not JSON")
    with open(path, encoding="utf-8") as file:
        report = json.load(file, parse_constant=refuse)
    assert report["counts"]["started"] == expect["started"]


def check_gctf_json(path, expect):
    def refuse(constant):
        raise ValueError(f"{constant} is not JSON")
    report = json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)
    assert report["schema_version"] == "bench_report_schema_v1"
    assert report["summary"]["count"] <= expect["started"]
    assert sum(bucket["count"] for bucket in report["histogram"]) == expect["headline"]


def check_gctf_prometheus(path, expect):
    text = path.read_text(encoding="utf-8")
    families = {f.name: f for f in prometheus_client.parser.text_string_to_metric_families(text)}
    assert all(family.type == "gauge" and family.documentation for family in families.values())
    assert families["grpctestify_bench_count"].samples[0].value <= expect["started"]


def check_prometheus(path, expect):
    text = path.read_text(encoding="utf-8")
    families = {f.name: f for f in prometheus_client.parser.text_string_to_metric_families(text)}
    seen = set()
    for family in families.values():
        assert family.type in ("counter", "gauge", "histogram"), family
        assert family.documentation, f"{family.name} has no help"
        for sample in family.samples:
            key = (sample.name, tuple(sorted(sample.labels.items())))
            assert key not in seen, f"twice: {key}"
            seen.add(key)
    assert families["onbeat_requests_started"].samples[0].value == expect["started"]
    info = families["onbeat_run_info"].samples[0].labels
    assert info["name"] == expect["name"], info
    for family in families.values():
        if family.type != "histogram":
            continue
        series = {}
        for sample in family.samples:
            labels = tuple(sorted((k, v) for k, v in sample.labels.items() if k != "le"))
            series.setdefault(labels, {}).setdefault(sample.name[len(family.name):], []).append(sample)
        for parts in series.values():
            counts = [s.value for s in parts["_bucket"]]
            edges = [float(s.labels["le"]) for s in parts["_bucket"]]
            assert counts == sorted(counts) and edges == sorted(edges) and edges[-1] == float("inf")
            assert counts[-1] == parts["_count"][0].value


def check_markdown(path, expect):
    text = path.read_text(encoding="utf-8")
    tokens = markdown_it.MarkdownIt("commonmark", {"html": True}).enable("table").enable("strikethrough").parse(text)
    flat = [t for token in tokens for t in [token, *(token.children or [])]]
    assert [t.tag for t in tokens if t.type == "heading_open"][0] == "h2"
    html = {t.content for t in flat if t.type in ("html_inline", "html_block")}
    assert html <= {"<sub>", "</sub>"} or html == {"<sub>", "</sub>"}, f"HTML got through: {html}"
    forbidden = {"link_open", "image", "em_open", "s_open", "code_inline", "fence", "code_block"}
    assert not forbidden & {t.type for t in flat}, "markup got through"
    rows = width = 0
    for token in tokens:
        if token.type == "tr_open":
            rows, cells = rows + 1, 0
        if token.type in ("td_open", "th_open"):
            cells += 1
        if token.type == "thead_open":
            width = None
        if token.type == "tr_close":
            width = width or cells
            assert cells == width, "a row of another length"
    assert (rows == 0) == expect["has_error"], "a report with figures has tables"
    shown = "".join(t.content for t in flat if t.type == "text")
    for part in expect["name"].splitlines():
        assert part.replace("\x1b", "\ufffd") in shown, f"{part!r} is not shown as it is"


def check_html(path, expect):
    tags = []

    class Reader(html.parser.HTMLParser):
        def handle_starttag(self, tag, attrs):
            tags.append(tag)
    Reader(convert_charrefs=True).feed(path.read_text(encoding="utf-8"))
    assert "html" in tags and "title" in tags


def check_text(path, expect):
    assert "\x1b" not in path.read_text(encoding="utf-8")


def check_hgrm(path, expect):
    rows = [line.split() for line in path.read_text(encoding="utf-8").splitlines()[2:] if not line.startswith("#")]
    values, counts = [float(row[0]) for row in rows], [int(row[2]) for row in rows]
    assert values == sorted(values) and counts == sorted(counts)
    assert (counts[-1] if counts else 0) == expect["headline"]


CHECKS = {"junit": check_junit, "csv": check_csv, "json": check_json, "prometheus": check_prometheus,
          "markdown": check_markdown, "html": check_html, "text": check_text, "hgrm": check_hgrm,
          "gctf-json": check_gctf_json, "gctf-prometheus": check_gctf_prometheus, "influx": None}  # by a real server: tests/formats_test.py


def main():
    faults, checked = [], 0
    for path in sorted(pathlib.Path(sys.argv[1]).iterdir()):
        kind = path.name.rsplit(".", 1)[1]
        name = path.name.split(".", 1)[0]
        if path.name.endswith(".expect.json") or path.name.endswith(".service.hgrm"):
            continue
        check = CHECKS[kind]
        if check is None:
            continue
        try:
            check(path, json.loads((path.parent / f"{name}.expect.json").read_text(encoding="utf-8")))
            checked += 1
        except Exception as fault:  # a parser's own error is a fault like any other
            faults.append(f"{path.name}: {type(fault).__name__}: {fault}")
    print(f"{checked} checked", *faults, sep="\n")
    return 1 if faults else 0


sys.exit(main())
