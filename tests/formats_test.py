#!/usr/bin/python3
"""Formats, kept runs and live metrics of the whole program, with real peers: Prometheus's parser, an InfluxDB, the
target's own count. ONBEAT names the binary."""

import collections
import json
import os
import pathlib
import re
import subprocess
import unittest
import urllib.error
import urllib.parse
import urllib.request

import prometheus_client.parser

import onbeat
import peers

TARGET = None
# A busy machine must not change what is asked about.
PATIENT = ("--catch-up-limit", "1h", "--max-wait", "1h", "--allow-invalid")


def setUpModule():
    global TARGET
    TARGET = onbeat.Target("--delay", "1ms")


def tearDownModule():
    TARGET.close()


class Case(unittest.TestCase):
    maxDiff = 20_000

    def setUp(self):
        self._folder = onbeat.folder()
        self.addCleanup(self._folder.cleanup)
        self.folder = pathlib.Path(self._folder.name)

    def file(self, name):
        return str(self.folder / name)

    def read(self, name):
        return (self.folder / name).read_text(encoding="utf-8")

    def kept(self, *words, code=0):
        result = onbeat.run("report", *words)
        self.assertEqual(result.returncode, code, result.stderr)
        return result


class Kept(Case):
    """onbeat report."""

    FORMATS = ("json", "csv", "html", "text", "markdown", "junit", "hgrm", "prometheus", "influx")

    def run_kept(self, *words):
        outs = [f"--out={form}={self.file('run.' + form)}" for form in self.FORMATS]
        document = onbeat.report(TARGET.url, TARGET.url + "other", "--rate", "400", "-d", "3500ms", "--stream",
                                 self.file("run.ndjson"), "--threshold", "error_rate < 50%", "--tag", "a=b", *outs, *PATIENT,
                                 *words)
        return document

    def test_every_format_again_is_what_the_run_wrote(self):
        self.run_kept(f"--out=hdr-log={self.file('run.hlog')}")
        for source in ("run.json", "run.ndjson"):
            outs = [f"--out={form}={self.file('again.' + form)}" for form in self.FORMATS]
            again = self.kept(self.file(source), *outs)
            for form in self.FORMATS:
                self.assertEqual(self.read("again." + form), self.read("run." + form), f"{form} from {source}")
            self.assertEqual(again.stdout, self.read("run.text"))
            self.assertEqual(again.stderr, "")
            self.assertEqual(self.read("again.service.hgrm"), self.read("run.service.hgrm"))
        self.kept(self.file("run.ndjson"), f"--out=hdr-log={self.file('again.hlog')}")
        self.assertEqual(self.read("again.hlog"), self.read("run.hlog"))

    def test_another_cut(self):
        whole = self.run_kept()
        result = self.kept(self.file("run.ndjson"), "--cut", "1500ms", "--json")
        cut = json.loads(result.stdout)
        self.assertRegex(result.stderr, r"^note: the first 2 s are left out, 2 whole intervals; \d+ requests")
        self.assertIn("without the first 2 s (2 whole intervals)", cut["load"]["text"])
        onbeat.books(self, cut)
        self.assertEqual(cut["counts"]["planned"] + cut["counts"]["warmup_excluded"], whole["counts"]["planned"])
        self.assertEqual(cut["counts"]["ok"], sum(row["ok"] for row in whole["series"][2:]))
        self.assertEqual(len(cut["series"]), len(whole["series"]) - 2)
        self.assertEqual(cut["duration_ns"]["issue"], whole["duration_ns"]["issue"] - whole["series"][1]["t_ns"])
        check = {check["name"]: check for check in cut["verdict"]["checks"]}
        self.assertEqual(check["bookkeeping"]["status"], "ok")
        self.assertEqual(cut["thresholds"][0]["passed"], True)
        values = collections.Counter(dict(onbeat.decode_hdr(cut["latency"]["response"]["hdr"])))
        self.assertEqual(values.total(), cut["latency"]["response"]["count"])
        self.assertEqual({row["name"] for row in cut["endpoints"]}, {row["name"] for row in whole["endpoints"]})

    def test_a_stream_without_its_end(self):
        self.run_kept()
        lines = self.read("run.ndjson").splitlines(keepends=True)
        (self.folder / "short").write_text("".join(lines[:3]) + lines[3][:500])
        result = self.kept(self.file("short"), "--json")
        document = json.loads(result.stdout)
        self.assertIn("note: the stream breaks off after 2 s", result.stderr)
        self.assertEqual(document["verdict"]["status"] in ("degraded", "invalid"), True)
        self.assertIn("broken_off", onbeat.reasons(document))
        onbeat.books(self, document)
        self.assertEqual(document["counts"]["ok"], sum(json.loads(line)["counts"]["ok"] for line in lines[1:3]))

    def test_a_closed_run_by_number(self):
        onbeat.report(TARGET.url, "-n", "200", "-c", "4", "--stream", self.file("s"), f"--out=json={self.file('j')}")
        self.assertEqual(self.kept(self.file("s"), "--json").stdout, self.read("j"))
        self.assertEqual(self.kept(self.file("j"), "--json").stdout, self.read("j"))

    def test_percentiles_are_added(self):
        self.run_kept()
        self.assertNotIn("p75.5", self.kept(self.file("run.json")).stdout)
        self.assertIn("p75.5", self.kept(self.file("run.json"), "--percentiles", "75.5").stdout)

    def test_what_is_no_run(self):
        (self.folder / "x.json").write_text('{"schema": "onbeat.report/1"}')
        for words, says in ((("report",), "RUN"),
                            (("report", self.file("none")), "No such file"),
                            (("report", self.file("x.json")), "x.json: tool: is missing"),
                            (("report", __file__), "not JSON"),
                            (("report", self.file("x.json"), "--out", f"samples={self.file('y')}"), "no samples"),
                            (("report", self.file("x.json"), "--out", "csv=/nonexistent/y"), "--out: "),
                            (("report", self.file("x.json"), self.file("x.json")), "one argument too many")):
            result = onbeat.run(*words)
            self.assertEqual(result.returncode, 2, words)
            self.assertIn(says, result.stderr)
            self.assertEqual(result.stdout, "")
        onbeat.report(TARGET.url, "-n", "20", f"--out=json={self.file('j')}")
        result = onbeat.run("report", self.file("j"), "--cut", "1s")
        self.assertEqual(result.returncode, 2)
        self.assertIn("needs the stream", result.stderr)

    def test_an_output_that_fails_hinders_no_other(self):
        onbeat.report(TARGET.url, "-n", "20", f"--out=json={self.file('j')}")
        result = onbeat.run("report", self.file("j"), "--out", "csv=/dev/full", "--out", f"junit={self.file('x')}")
        self.assertEqual(result.returncode, 2)
        self.assertIn("cannot write the csv report to /dev/full", result.stderr)
        self.assertIn("<testsuites", self.read("x"))
        self.assertIn("onbeat.report/1", onbeat.run("report", self.file("j"), "--json").stdout)


class Samples(Case):
    def samples(self, *words, name="s"):
        document = onbeat.report(*words)
        return document, [json.loads(line) for line in self.read(name).splitlines()]

    def test_each_request_is_a_line(self):
        document, rows = self.samples(TARGET.url, "--rate", "500", "-d", "1s", "--warmup", "300ms",
                                      f"--out=samples={self.file('s')}", *PATIENT)
        self.assertEqual(document["samples"], {"one_of": 1, "kept": len(rows), "dropped": 0})
        self.assertEqual(sorted(row["arrival"] for row in rows), list(range(500)))
        outcomes = collections.Counter(row["outcome"] for row in rows)
        self.assertEqual(outcomes["ok"], document["counts"]["ok"])
        for row in rows:
            self.assertEqual(row["due_ns"], row["arrival"] * 2_000_000)
            self.assertEqual(row["lag_ns"] + row["wait_ns"] + row["service_ns"], row["response_ns"])
            self.assertEqual((row["endpoint"], row["code"], row["error"]), (TARGET.url, "200", None))
        self.assertEqual(max(row["response_ns"] for row in rows), document["latency"]["response"]["max"])
        self.assertEqual(sum(row["bytes_received"] for row in rows), document["bytes"]["received"])

    def test_what_was_never_started_has_its_line(self):
        with onbeat.Target("--delay", "300ms") as slow:
            document, rows = self.samples(slow.url, "--rate", "100", "-d", "1s", "-c", "2", "--on-saturation", "drop",
                                          "--allow-invalid", f"--out=samples={self.file('s')}")
        outcomes = collections.Counter(row["outcome"] for row in rows)
        self.assertEqual(outcomes["saturated"], document["counts"]["saturated"])
        self.assertGreater(outcomes["saturated"], 50)
        self.assertEqual(sum(outcomes.values()), document["counts"]["planned"])
        self.assertEqual({tuple(row) for row in rows if row["outcome"] == "saturated"},
                         {("arrival", "due_ns", "outcome", "after_ns")})

    def test_one_of_n_is_the_same_each_time(self):
        words = (TARGET.url, "--rate", "2000", "-d", "1s", "--threads", "2", *PATIENT,
                 f"--out=samples={self.file('s')},1/10")
        document, rows = self.samples(*words)
        arrivals = sorted(row["arrival"] for row in rows)
        self.assertEqual(document["samples"]["one_of"], 10)
        self.assertTrue(140 < len(rows) < 260, len(rows))
        self.assertEqual({arrival % 2 for arrival in arrivals}, {0, 1}, "both loops are seen")
        _, again = self.samples(*words)
        self.assertEqual(sorted(row["arrival"] for row in again), arrivals)

    def test_a_wrong_share_and_two_files_are_refused(self):
        for words, says in ((("--out", "samples=f,1/0"), "not a share"), (("--out", "samples=f,1/x"), "not a share"),
                            (("--out", "samples=,1/5"), "the file is missing"),
                            (("--out", "samples=f", "--out", "samples=g"), "samples are written once")):
            result = onbeat.run("http", TARGET.url, *words)
            self.assertEqual(result.returncode, 2)
            self.assertIn(says, result.stderr)

    def test_a_full_disk_loses_no_other_output(self):
        result = onbeat.run("http", TARGET.url, "-n", "50", "--quiet", "--out", "samples=/dev/full",
                            f"--out=json={self.file('j')}")
        self.assertEqual(result.returncode, 2)
        self.assertIn("cannot write the samples to /dev/full", result.stderr)
        self.assertEqual(json.loads(self.read("j"))["counts"]["ok"], 50)


class Metrics(Case):
    """--metrics during a run."""

    def start(self, *words):
        process = onbeat.start("http", TARGET.url, *words)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        line = process.stderr.readline()
        found = re.fullmatch(r"metrics: (http://127\.0\.0\.1:\d+/metrics)\n", line)
        self.assertTrue(found, line)
        return process, found.group(1)

    @staticmethod
    def scrape(url):
        with urllib.request.urlopen(url, timeout=10) as answer:
            text = answer.read().decode()
        families = prometheus_client.parser.text_string_to_metric_families(text)
        return {sample.name: sample.value for family in families for sample in family.samples if not sample.labels}

    def test_counters_grow_while_the_run_lasts(self):
        process, url = self.start("--rate", "200", "-d", "30s", "--metrics", "0", "--quiet")
        # Before the first interval there are no figures.
        onbeat.wait_until(lambda: self.scrape(url).get("onbeat_requests_started_total", 0) > 0)
        first = self.scrape(url)["onbeat_requests_started_total"]
        onbeat.wait_until(lambda: self.scrape(url)["onbeat_requests_started_total"] > first)
        figures = self.scrape(url)
        self.assertEqual(figures["onbeat_response_seconds_count"], figures["onbeat_service_seconds_count"])
        self.assertGreater(figures["onbeat_received_bytes_total"], 0)
        self.assertNotIn("onbeat_exit_code", figures)
        process.terminate()
        process.wait()
        with self.assertRaises(urllib.error.URLError):
            self.scrape(url)

    def test_the_table_of_the_documents_has_every_metric(self):
        table = (onbeat.ROOT / "docs/formats.md").read_text(encoding="utf-8")
        documented = set(re.findall(r"`(onbeat_[a-z_]+)`", table.split("## prometheus")[1].split("## influx")[0]))
        onbeat.report(TARGET.url, TARGET.url + "a", "--rate", "200", "-d", "500ms", "--tag", "a=b", "--threshold",
                      "error_rate < 50%", f"--out=prometheus={self.file('open')}", *PATIENT)
        onbeat.report(TARGET.url, TARGET.url + "a", "-n", "50", f"--out=prometheus={self.file('closed')}")
        names = set()
        for name in ("open", "closed"):
            names |= set(re.findall(r"^# TYPE (\S+) ", self.read(name), re.M))
        self.assertEqual(names, documented)

    def test_an_address_that_cannot_be_had(self):
        with onbeat.Server(lambda connection: None) as server:
            result = onbeat.run("http", TARGET.url, "-n", "1", "--metrics", str(server.port))
        self.assertEqual(result.returncode, 2)
        self.assertIn("--metrics: cannot listen on 127.0.0.1:", result.stderr)
        for wrong in ("", "x", "127.0.0.1:", "127.0.0.1:70000", "1:2:3"):
            self.assertEqual(onbeat.run("http", TARGET.url, "-n", "1", f"--metrics={wrong}").returncode, 2, wrong)


class Influx(Case):
    """influx=URL against a server that keeps what it is sent."""

    def run_with(self, url, *words, **environment):
        return onbeat.run("http", TARGET.url, "-n", "50", "--quiet", "--out", f"influx={url}",
                          f"--out=json={self.file('j')}", *words, env={**os.environ, **environment})

    def test_it_is_posted_once_with_its_credentials(self):
        with peers.HttpPeer(lambda request: peers.response(b"", "204 No Content")) as peer:
            url = peer.url.replace("http://", "http://user:pass%20word@") + "write?db=load&p=sesame1"
            result = self.run_with(url, f"--out=influx={self.file('i')}", INFLUX_TOKEN="sesame2")
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            (request,) = peer.requests
            self.assertEqual((request.method, request.target), ("POST", "/write?db=load&p=sesame1"))
            self.assertEqual(request.field("Authorization"), peers.basic("user:pass word"))
            self.assertEqual(request.body.decode(), self.read("i"))
            self.assertNotIn("sesame", self.read("j"))
            self.assertNotIn("pass", self.read("j").replace('"passed"', "").replace('"not_passed"', ""))
            self.run_with(peer.url + "api/v2/write", INFLUX_TOKEN="sesame3")
            self.assertEqual(peer.requests[1].field("Authorization"), "Token sesame3")

    def test_a_refusal_is_said_and_loses_nothing(self):
        answer = peers.response(b'{"error":"database not found"}\n', "404 Not Found")
        with peers.HttpPeer(lambda request: answer) as peer:
            result = self.run_with(peer.url.replace("//", "//u:sesame@") + "write?db=x&p=sesame")
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr, r"cannot write the influx report to http://127.0.0.1:\d+/write\?\.\.\.: the "
                                        r'server answers 404: \{"error":"database not found"\}')
        self.assertNotIn("sesame", result.stderr)
        self.assertEqual(json.loads(self.read("j"))["counts"]["ok"], 50)
        result = self.run_with(f"http://127.0.0.1:{onbeat.free_port()}/write")
        self.assertEqual(result.returncode, 2)
        self.assertIn("refused", result.stderr)
        result = self.run_with("http://[/write")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--out: not a URL", result.stderr)


@onbeat.needs("influxd", "influxdb")
class InfluxDb(Case):
    """The same against InfluxDB itself."""

    def setUp(self):
        super().setUp()
        port, other = onbeat.free_port(), onbeat.free_port()
        (self.folder / "conf").write_text(
            f'reporting-disabled = true\nbind-address = "127.0.0.1:{other}"\n'
            f'[meta]\ndir = "{self.folder}/meta"\n[data]\ndir = "{self.folder}/data"\nwal-dir = "{self.folder}/wal"\n'
            f'query-log-enabled = false\n[http]\nbind-address = "127.0.0.1:{port}"\nlog-enabled = false\n'
            f'[monitor]\nstore-enabled = false\n[logging]\nlevel = "error"\n')
        process = subprocess.Popen(["influxd", "-config", str(self.folder / "conf")], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, env={**os.environ, "PATH": onbeat.PATH})
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.url = f"http://127.0.0.1:{port}"
        onbeat.wait_until(self.is_up)
        self.query("CREATE DATABASE load", method="POST")

    def is_up(self):
        try:
            return urllib.request.urlopen(self.url + "/ping", timeout=5).status == 204
        except OSError:
            return False

    def query(self, text, method="GET"):
        words = urllib.parse.urlencode({"q": text, "db": "load", "epoch": "ns"})
        request = urllib.request.Request(f"{self.url}/query?{words}", method=method)
        with urllib.request.urlopen(request, timeout=10) as answer:
            result = json.load(answer)["results"][0]
        self.assertNotIn("error", result)
        return [dict(zip(series["columns"], row)) for series in result.get("series", []) for row in series["values"]]

    def test_a_run_is_found_again(self):
        document = onbeat.report(TARGET.url, TARGET.url + "b,c=d", "--rate", "300", "-d", "2500ms", "--tag",
                                 "team=a b,c=d", "--name", "na me", "--out", f"influx={self.url}/write?db=load",
                                 *PATIENT)
        (row,) = self.query("SELECT * FROM onbeat_run")
        self.assertEqual((row["started"], row["ok"]), (document["counts"]["started"], document["counts"]["ok"]))
        self.assertEqual(row["response_p50_ns"], document["latency"]["response"]["percentiles"]["50"])
        self.assertEqual((row["team"], row["name"]), ("a b,c=d", "na me"))
        self.assertEqual((row["run"], row["verdict"]), (document["run"]["id"], document["verdict"]["status"]))
        rows = self.query("SELECT * FROM onbeat_interval")
        self.assertEqual([row["started"] for row in rows], [row["started"] for row in document["series"]])
        times = [row["time"] for row in rows]
        self.assertEqual([b - a for a, b in zip(times, times[1:])],
                         [b["t_ns"] - a["t_ns"] for a, b in zip(document["series"], document["series"][1:])])
        self.assertEqual({row["endpoint"]: row["ok"] for row in self.query("SELECT * FROM onbeat_endpoint")},
                         {row["name"]: row["counts"]["ok"] for row in document["endpoints"]})
        self.assertEqual([(row["code"], row["count"]) for row in self.query("SELECT * FROM onbeat_code")],
                         [("200", document["counts"]["ok"])])

    def test_c5_hostile_labels_are_text(self):
        lines = (onbeat.ROOT / "src/report/testdata/hostile.influx").read_bytes()
        request = urllib.request.Request(f"{self.url}/write?db=load", data=lines, method="POST")
        self.assertEqual(urllib.request.urlopen(request, timeout=10).status, 204)
        points = sum(len(self.query(f"SELECT * FROM {name}"))
                     for name in ("onbeat_run", "onbeat_interval", "onbeat_endpoint", "onbeat_code", "onbeat_error"))
        self.assertEqual(points, lines.count(b"\n"))
        (row,) = self.query("SELECT * FROM onbeat_run")
        self.assertIn("<script>alert(1)</script>", row["name"])
        self.assertTrue(row["name"].startswith("a\"b',c"), row["name"])
        self.assertTrue(row["target"].startswith("a\"b',c"), row["target"])


if __name__ == "__main__":
    unittest.main(verbosity=1)
