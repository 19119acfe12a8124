#!/usr/bin/python3
"""The command line of the real program: bad input, signals, exit codes, outputs, secrets. ONBEAT names the binary."""

import csv
import fcntl
import html.parser
import json
import os
import pathlib
import pty
import re
import signal
import socket
import struct
import termios
import unittest

import jsonschema
import onbeat

SCHEMA = json.loads((onbeat.ROOT / "docs/report.schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.validators.validator_for(SCHEMA)(SCHEMA)
NASTY = 'a "quoted", comma,\nnew line; <script>alert(1)</script> & \'x\''
# What the host's being busy may do to an open run is not at issue here.
PATIENT = ("--allow-invalid",)


def setUpModule():
    global TARGET
    TARGET = onbeat.Target()


def tearDownModule():
    TARGET.close()


class Suite(unittest.TestCase):
    def setUp(self):
        self._folder = onbeat.folder()
        self.folder = pathlib.Path(self._folder.name)
        self.addCleanup(self._folder.cleanup)

    def file(self, name, content=None):
        path = self.folder / name
        if content is not None:
            path.write_text(content, encoding="utf-8")
        return str(path)

    def load(self, name):
        return json.loads((self.folder / name).read_text(encoding="utf-8"))

    def assert_valid(self, document):
        errors = [f"{'/'.join(map(str, error.path))}: {error.message[:200]}" for error in VALIDATOR.iter_errors(document)]
        self.assertEqual(errors, [])


class BadInput(Suite):
    """Exit 2, one clear message for each problem, nothing sent, nothing on stdout."""

    def refused(self, *words, says):
        """Runs with the address of a listener that must see no connection."""
        with socket.create_server(("127.0.0.1", 0)) as listener:
            listener.setblocking(False)
            url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
            result = onbeat.run("http", url, *words)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertEqual(result.stdout, "")
            self.assertEqual(len(re.findall("^error: ", result.stderr, re.M)), len(says), result.stderr)
            for part in says:
                self.assertIn(part, result.stderr)
            with self.assertRaises(BlockingIOError):
                listener.accept()

    def test_unknown_flag(self):
        self.refused("--zap", says=["--zap: unknown flag"])

    def test_misspelt_flag_gets_a_hint(self):
        self.refused("--concurency", "3", says=["--concurrency"])

    def test_flag_of_another_tool_gets_ours(self):
        self.refused("--vus", "3", says=["--concurrency (-c)"])

    def test_several_problems_at_once(self):
        self.refused("--duration", "5 parsecs", "--rate", "nan", "--header", "no colon", "--threads", "0",
                     "--threshold", "p(150) < 3ms",
                     says=["--duration: ", "--rate: ", "--header: ", "--threads: ", "--threshold: "])

    def test_rates(self):
        for rate in ("nan", "inf", "-inf", "-5", "0", "0 for 1s", "1e400", "", "5k5", "10..20"):
            with self.subTest(rate=rate):
                self.refused(f"--rate={rate}", says=["--rate: "])

    def test_durations(self):
        for duration in ("nan", "inf", "-3s", "abc", "5", "", "1e30h"):
            with self.subTest(duration=duration):
                self.refused(f"--duration={duration}", says=["--duration: "])

    def test_counts(self):
        for flag in ("--concurrency", "--requests", "--threads", "--connections"):
            for value in ("0", "-1", "1.5", "x", "99999999999999999999"):
                with self.subTest(flag=flag, value=value):
                    self.refused(f"{flag}={value}", says=[f"{flag}: "])

    def test_unreadable_files(self):
        self.refused("--body-file", self.file("absent"), says=["--body-file: cannot read", ])
        self.refused("--body-file", str(self.folder), says=["--body-file: "])
        self.refused("-H", "@" + self.file("absent"), says=["-H: cannot read"])

    def test_environment_variable_that_is_not_set(self):
        self.refused("-H", "Authorization: $ONBEAT_TEST_ABSENT", says=["ONBEAT_TEST_ABSENT"])

    def test_nonsense_to_judge_by(self):
        for flag in ("--threshold", "--abort-on"):
            for text in ("nonsense", "p(99) <", "p(99) < 5", "p(NaN) < 5ms over 1s", "rate > fast", ""):
                with self.subTest(flag=flag, text=text):
                    self.refused(flag, text, says=[f"{flag}: "])
        self.refused("--limit", "lag_p99.nonsense=3", says=["--limit: "])

    def test_a_threshold_on_an_endpoint_that_is_not_there(self):
        for flag, rest in (("--threshold", ""), ("--abort-on", " over 1s")):
            with self.subTest(flag=flag):
                self.refused(flag, 'endpoint("other").p(99) < 1s' + rest, says=[f'{flag}: the run has no endpoint "other"'])

    def test_outputs(self):
        for text in ("pdf=x", "json", "json=", "=x"):
            with self.subTest(text=text):
                self.refused("--out", text, says=["--out: "])
        self.refused("--stream", self.file("no/such/folder"), says=["--stream: cannot write the stream"])

    def test_C1_flags_of_other_commands(self):
        self.refused("--port", "80", says=["--port: does not apply to `http`"])
        self.refused("--delay", "5ms", says=["--delay: does not apply to `http`"])
        result = onbeat.run("target", "http", "--rate", "5")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--rate: does not apply to `target http`", result.stderr)

    def test_C1_what_later_versions_bring(self):
        self.refused("--mode", "stepping", says=["not in this version"])
        for command in ("run", "cache", "mqtt", "nats", "ws", "graphql", "serve"):
            with self.subTest(command=command):
                result = onbeat.run(command)
                self.assertEqual(result.returncode, 2)
                self.assertIn("not in this version", result.stderr)

    def test_urls(self):
        for url in ("", "ftp://127.0.0.1/", "http://", "http://127.0.0.1:99999/", "http://[::1/", "http://a b/",
                    "127.0.0.1/\r\nX: y"):
            with self.subTest(url=url):
                result = onbeat.run("http", url)
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertRegex(result.stderr, "^error: URL: ")
                self.assertEqual(result.stdout, "")
        self.assertIn("a URL is missing", onbeat.run("http").stderr)

    def test_no_such_command(self):
        self.assertIn('unknown command "frob"', onbeat.run("frob").stderr)
        self.assertEqual(onbeat.run("frob").returncode, 2)

    def test_target(self):
        for words, says in ((("--fault", "nonsense"), "--fault: "), (("--port", "99999"), "--port: "),
                            (("--delay", "x"), "--delay: "), (("--address", "192.0.2.1"), "cannot listen")):
            with self.subTest(words=words):
                result = onbeat.run("target", "http", *words)
                self.assertEqual(result.returncode, 2)
                self.assertIn(says, result.stderr)
        with socket.create_server(("127.0.0.1", 0)) as taken:
            result = onbeat.run("target", "http", "--port", str(taken.getsockname()[1]))
            self.assertEqual(result.returncode, 2)
            self.assertRegex(result.stderr, "(?i)address already in use")


class Unreachable(Suite):
    """Exit 4 at once, every result file written with the error (C6, C7)."""

    def unreachable(self, url, klass, says):
        outs = [f"--out={form}={self.file('r.' + form)}" for form in ("json", "csv", "html", "text")]
        result = onbeat.run("http", url, "--quiet", "--stream", self.file("s"), *outs, timeout=20)
        self.assertEqual(result.returncode, 4, result.stderr)
        self.assertIn(klass, result.stdout)
        self.assertIn(says, result.stdout)
        document = self.load("r.json")
        self.assert_valid(document)
        self.assertEqual(document["run"]["error"]["class"], klass)
        self.assertEqual(document["run"]["exit_code"], 4)
        self.assertEqual(document["run"]["end_reason"], "failed")
        self.assertEqual(document["counts"]["planned"], 0)
        self.assertIsNone(document["latency"]["service"]["mean"])
        self.assertEqual((self.folder / "r.text").read_text(), result.stdout)
        for name in ("r.csv", "r.html"):
            self.assertIn(klass, (self.folder / name).read_text())
        self.assertNotIn("nan", (self.folder / "r.csv").read_text().lower().replace("nanosecond", ""))

    def test_port_closed(self):
        self.unreachable(f"http://127.0.0.1:{onbeat.free_port()}/", "connect_refused", "nothing listens there")

    def test_C7_name_that_does_not_resolve(self):
        self.unreachable("http://nowhere.invalid/", "dns", "nowhere.invalid")

    def test_with_rate(self):
        document = onbeat.report(f"http://127.0.0.1:{onbeat.free_port()}/", "--rate", "100", code=4)
        self.assertEqual(document["run"]["error"]["class"], "connect_refused")

    def test_once_and_dry_run(self):
        url = f"http://127.0.0.1:{onbeat.free_port()}/"
        result = onbeat.run("http", url, "--once")
        self.assertEqual(result.returncode, 4)
        self.assertIn("connect_refused", result.stderr)
        self.assertEqual(onbeat.run("http", url, "--dry-run").returncode, 0)
        for how in ("--once", "--dry-run"):
            with self.subTest(how=how):
                result = onbeat.run("http", "http://nowhere.invalid/", how)
                self.assertEqual(result.returncode, 4)
                self.assertIn("nowhere.invalid", result.stdout + result.stderr)


class LostOutput(Suite):
    """An output that cannot be written gets a message and hinders no other; exit 2 if the run itself passed."""

    def short(self, *words, **options):
        return onbeat.run("http", TARGET.url, "-n", "20", "--quiet", f"--out=json={self.file('kept.json')}", *words,
                          **options)

    def kept(self):
        document = self.load("kept.json")
        self.assert_valid(document)
        self.assertEqual(document["counts"]["ok"], 20)

    def test_disk_full_for_a_report(self):
        result = self.short("--out", "html=/dev/full")
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stderr.count("error: "), 1, result.stderr)
        self.assertIn("/dev/full: No space left on device", result.stderr)
        self.assertIn("ok 20", result.stdout)
        self.kept()

    def test_disk_full_for_the_stream(self):
        result = self.short("--stream", "/dev/full")
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stderr.count("error: "), 1, result.stderr)
        self.assertIn("ok 20", result.stdout)
        self.kept()

    def test_folder_that_is_not_there(self):
        result = self.short("--out", "csv=" + self.file("no/such/folder"))
        self.assertEqual(result.returncode, 2)
        self.assertIn("--out", result.stderr)
        self.assertIn("No such file or directory", result.stderr)
        self.assertEqual(result.stdout, "")  # seen before the run: nothing was sent

    def test_disk_full_on_stdout(self):
        for words in ((), ("--json",)):
            with self.subTest(words=words), open("/dev/full", "w", encoding="utf-8") as full:
                result = self.short(*words, stdout=full, stderr=-1, capture_output=False)
                self.assertEqual(result.returncode, 2)
                self.assertIn("cannot write to standard output: No space left on device", result.stderr)
                self.kept()

    def test_broken_pipe(self):
        for words in ((), ("--json",), ("--stream", "-")):
            with self.subTest(words=words):
                reader, writer = os.pipe()
                os.close(reader)
                result = self.short(*words, stdout=writer, stderr=-1, capture_output=False)
                os.close(writer)
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertIn("Broken pipe", result.stderr)
                self.kept()

    def test_stdout_and_stderr_closed(self):
        # Nothing that the program opens may take their place.
        result = self.short("--stream", self.file("stream"), capture_output=False,
                            preexec_fn=lambda: (os.close(1), os.close(2)))
        self.assertEqual(result.returncode, 2)
        self.kept()
        for line in (self.folder / "stream").read_text().splitlines():
            self.assertIn(json.loads(line)["type"], ("header", "interval", "report"))

    def test_the_graver_exit_code_stays(self):
        result = self.short("--out", "html=/dev/full", "--threshold", "count > 1000000")
        self.assertEqual(result.returncode, 1)


class Signals(Suite):
    """C3, C9."""

    def started(self, *words):
        """A run of which the first interval is over."""
        process = onbeat.start("http", *words, "--stream", self.file("stream"), f"--out=json={self.file('r.json')}",
                               "-d", "60s")
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)
        stream = self.folder / "stream"
        onbeat.wait_until(lambda: stream.exists() and stream.read_text().count("\n") >= 2)
        return process

    def interrupted(self, process, number):
        process.send_signal(number)
        out, _ = process.communicate(timeout=20)
        self.assertEqual(process.returncode, 130)
        document = self.load("r.json")
        self.assert_valid(document)
        onbeat.books(self, document)
        self.assertEqual(document["run"]["exit_code"], 130)
        self.assertEqual(document["run"]["end_reason"], "interrupted")
        self.assertLess(document["duration_ns"]["issue"], 30e9)
        lines = [json.loads(line) for line in (self.folder / "stream").read_text().splitlines()]
        self.assertEqual([lines[0]["type"], lines[-1]["type"]], ["header", "report"])
        self.assertEqual(lines[-1]["report"], document)
        return out, document

    def test_C3_interrupt(self):
        out, document = self.interrupted(self.started(TARGET.url, "--rate", "200"), signal.SIGINT)
        self.assertIn("latency", out)
        self.assertGreater(document["counts"]["ok"], 100)

    def test_C9_terminate(self):
        out, document = self.interrupted(self.started(TARGET.url, "-c", "2"), signal.SIGTERM)
        self.assertIn("latency", out)
        self.assertGreater(document["counts"]["ok"], 100)

    def test_C3_what_hangs_is_counted_and_does_not_hold_the_end_up(self):
        process = self.started(TARGET.url + "delay/100s", "-c", "3", "--timeout", "200s")
        _, document = self.interrupted(process, signal.SIGINT)
        self.assertEqual(document["counts"]["in_flight_at_end"], 3)
        self.assertEqual(document["latency"]["service"]["at_least"].count("max"), 1)

    def test_C3_a_second_signal_ends_at_once(self):
        process = self.started(TARGET.url + "delay/100s", "-c", "3", "--timeout", "200s")
        process.send_signal(signal.SIGINT)
        status = pathlib.Path(f"/proc/{process.pid}/status")
        # Two signals of one kind that wait are one.
        onbeat.wait_until(lambda: re.search(r"^ShdPnd:\s*0+$", status.read_text(), re.M))
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=10)
        self.assertEqual(process.returncode, 130)
        self.assertEqual(out, "")  # the report comes after a second of drain
        self.assertFalse((self.folder / "r.json").exists())

    def test_while_connecting(self):
        with socket.create_server(("127.0.0.1", 0), backlog=0) as full:
            at = full.getsockname()
            with socket.create_connection(at):
                process = onbeat.start("http", f"http://127.0.0.1:{at[1]}/", "-c", "2",
                                       f"--out=json={self.file('r.json')}", "--stream", self.file("stream"))
                stream = self.folder / "stream"
                onbeat.wait_until(lambda: stream.exists() and stream.read_text().count("\n") >= 1)
                process.send_signal(signal.SIGINT)
                process.communicate(timeout=20)
                self.assertEqual(process.returncode, 130)
                self.assert_valid(self.load("r.json"))

    def test_the_target_ends_with_0(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with onbeat.Target() as target:
                target.process.send_signal(number)
                self.assertEqual(target.process.wait(timeout=10), 0)


class ExitCodes(Suite):
    """C4. Each from a cause of its own, then two causes at once."""

    ANY_LAG = ("--rate", "100", "-d", "300ms", "--limit", "lag_p99.invalid=0s", "--limit", "lag_share.invalid=0%",
               "--limit", "lag_p99.degraded=0s", "--limit", "lag_share.degraded=0%")
    FEW_CONNECTIONS = ("-c", "6", "-n", "200")
    FAILS = ("--threshold", "count > 1000000")

    def code(self, *words, path=""):
        target = words[0] if words[0].startswith("http:") else TARGET.url + path
        words = words[1:] if words[0].startswith("http:") else words
        result = onbeat.run("http", target, "--quiet", "--json", *words)
        document = json.loads(result.stdout)
        self.assert_valid(document)
        self.assertEqual(document["run"]["exit_code"], result.returncode)
        return result.returncode

    def test_0_passed(self):
        self.assertEqual(self.code("-n", "20", "--threshold", "count == 20"), 0)

    def test_1_threshold_failed(self):
        self.assertEqual(self.code("-n", "20", *self.FAILS), 1)

    def test_3_invalid(self):
        self.assertEqual(self.code(*self.ANY_LAG), 3)
        self.assertEqual(self.code(*self.ANY_LAG, *self.FAILS), 3)
        self.assertEqual(self.code(*self.ANY_LAG, "--allow-invalid"), 0)
        self.assertEqual(self.code(*self.ANY_LAG, "--allow-invalid", *self.FAILS), 1)

    def test_3_degraded_only_when_strict(self):
        with onbeat.Target("--fault", "refuse:beyond=2") as target:
            self.assertEqual(self.code(target.url, *self.FEW_CONNECTIONS), 0)
            self.assertEqual(self.code(target.url, *self.FEW_CONNECTIONS, "--strict"), 3)

    def test_3_a_threshold_on_an_untrusted_figure(self):
        rate, untrusted = ("--rate", "100", "-d", "300ms"), ("--limit", "lag_p99.degraded=0s", "--limit",
                                                             "lag_share.degraded=0%", "--limit", "lag_p99.invalid=1h")
        self.assertEqual(self.code(*rate, *untrusted), 0)
        self.assertEqual(self.code(*rate, *untrusted, "--threshold", "p(50) < 1h"), 3)

    def test_4_nothing_succeeded(self):
        self.assertEqual(self.code("-n", "20", path="status/503"), 4)
        self.assertEqual(self.code("-n", "20", *self.FAILS, path="status/503"), 4)
        self.assertEqual(self.code("-n", "20", path="status/304"), 0)

    def test_6_aborted(self):
        abort = ("--abort-on", "error_rate > 20% over 1s", "-d", "60s", "-c", "1")
        self.assertEqual(self.code(*abort, path="status/503"), 6)  # wins over 4

    def test_2_wins(self):
        self.assertEqual(onbeat.run("http", TARGET.url, "--rate", "x", *self.FAILS).returncode, 2)


class Outputs(Suite):
    def test_all_formats_of_one_run(self):
        outs = [f"--out={form}={self.file('r.' + form)}" for form in ("json", "csv", "html", "text")]
        result = onbeat.run("http", TARGET.url, "-n", "2000", "--quiet", "--name", "trial", "--tag", "a=1",
                            "--tag", "b=2", "--percentiles", "97,99.5", *outs)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr, "")
        document = self.load("r.json")
        self.assert_valid(document)
        onbeat.books(self, document)
        self.assertEqual(document["counts"]["ok"], 2000)
        self.assertEqual(document["run"]["name"], "trial")
        self.assertEqual(document["run"]["tags"], {"a": "1", "b": "2"})
        self.assertEqual(document["codes"], {"200": 2000})
        self.assertEqual(document["options"]["requests"], {"value": "2000", "source": "cli"})
        for key in ("50", "97", "99", "99.5"):
            self.assertGreater(document["latency"]["service"]["percentiles"][key], 0)
        self.assertIsNone(document["latency"]["service"]["percentiles"]["99.99"])  # too few samples
        self.assertEqual((self.folder / "r.text").read_text(), result.stdout)
        self.assertIn("2,000", (self.folder / "r.html").read_text())
        self.assertIn("2000", (self.folder / "r.csv").read_text())

    def test_json_on_stdout_is_the_file(self):
        result = onbeat.run("http", TARGET.url, "-n", "50", "--quiet", "--json", f"--out=json={self.file('r.json')}")
        self.assertEqual(json.loads(result.stdout), self.load("r.json"))

    def test_open_run_in_every_arrangement(self):
        for words in (("--arrivals", "poisson"), ("--on-late", "skip"), ("--on-late", "burst:5"),
                      ("--on-saturation", "drop", "-c", "1"), ("--threads", "2"), ("--mode", "closed"),
                      ("--connections", "4"), ("--rate", "0..400 over 300ms, 200 for 200ms"), ("--warmup", "100ms"),
                      ("--rate", "sine(mean=200, amplitude=100, period=200ms)", "-d", "400ms"),
                      ("--rate", "spike(base=100, peak=500, at=100ms, for=100ms)", "-d", "400ms"), ("-n", "30")):
            with self.subTest(words=words):
                words = words if "--rate" in words else ("--rate", "200", "-d", "500ms", *words)
                document = onbeat.report(TARGET.url, *words, *PATIENT)
                self.assert_valid(document)
                onbeat.books(self, document)
                self.assertGreater(document["counts"]["ok"], 0)

    def test_stream_sums_to_the_report(self):
        path = self.file("stream")
        document = onbeat.report(TARGET.url, "--rate", "500", "-d", "2500ms", "--stream", path, *PATIENT)
        header, *intervals, last = [json.loads(line) for line in pathlib.Path(path).read_text().splitlines()]
        self.assertEqual((header["type"], header["schema"]), ("header", "onbeat.stream/1"))
        self.assertEqual(last, {"type": "report", "report": document})
        self.assertGreaterEqual(len(intervals), 3)
        self.assertEqual([each["index"] for each in intervals], list(range(len(intervals))))
        for before, after in zip(intervals, intervals[1:]):
            self.assertEqual(before["end_ns"], after["start_ns"])
        for key in ("planned", "started", "ok", "failed", "timed_out", "missed", "saturated", "in_flight_at_end"):
            self.assertEqual(sum(each["counts"][key] for each in intervals), document["counts"][key], key)
        self.assertEqual(sum(each["counts"]["bytes_received"] for each in intervals), document["bytes"]["received"])
        self.assertEqual(sum(each["codes"].get("200", 0) for each in intervals), document["codes"]["200"])
        merged = {}
        for each in intervals:
            if each["latency"]["response"]:
                for value, count in onbeat.decode_hdr(each["latency"]["response"]["hdr"]):
                    merged[value] = merged.get(value, 0) + count
        whole = dict(onbeat.decode_hdr(document["latency"]["response"]["hdr"]))
        self.assertEqual(merged, whole)

    def test_stream_on_stdout_has_it_to_itself(self):
        result = onbeat.run("http", TARGET.url, "--rate", "100", "-d", "300ms", "--quiet", "--stream", "-", *PATIENT)
        self.assertEqual(result.returncode, 0, result.stderr)
        kinds = [json.loads(line)["type"] for line in result.stdout.splitlines()]
        self.assertEqual((kinds[0], kinds[-1], kinds.count("report")), ("header", "report", 1))

    def test_warnings_do_not_hinder(self):
        words = ("http", TARGET.url, "-n", "10", "--threads", "1000", "-c", "1000", "--dry-run")
        result = onbeat.run(*words)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("warning: --threads: 1000 loops", result.stderr)
        self.assertEqual(onbeat.run(*words, "--quiet").stderr, "")

    def test_quiet_says_nothing_but_the_report(self):
        loud = onbeat.run("http", TARGET.url, "-d", "1200ms", "-c", "1")
        self.assertRegex(loud.stderr, r"(?m)^1s +.*/s")  # a plain line a second
        self.assertEqual(onbeat.run("http", TARGET.url, "-d", "1200ms", "-c", "1", "--quiet").stderr, "")

    def test_once(self):
        result = onbeat.run("http", TARGET.url + "echo", "-X", "PUT", "-H", "X-Mine: yes", "--body", "hello", "--once")
        self.assertEqual(result.returncode, 0, result.stderr)
        for line in ("> PUT /echo HTTP/1.1", "> X-Mine: yes", "> Content-Length: 5", "hello", "< HTTP/1.1 200 OK"):
            self.assertIn(line + "\n", result.stdout)
        # The target says what has come in.
        self.assertIn("\nPUT /echo HTTP/1.1\n", result.stdout)
        self.assertRegex(result.stdout, r"(?m)^\* connected to 127\.0\.0\.1:\d+ in .*first byte after .*done after")
        failed = onbeat.run("http", TARGET.url + "status/503", "--once")
        self.assertEqual(failed.returncode, 4)
        self.assertIn("< HTTP/1.1 503", failed.stdout)

    def test_once_follows_no_redirect_and_says_so(self):
        def serve(connection):
            while onbeat.read_request(connection):
                connection.sendall(b"HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n")
        with onbeat.Server(serve) as server:
            self.assertIn("* not followed: --once sends one request\n", onbeat.run("http", server.url, "-L", "--once").stdout)
            self.assertNotIn("not followed", onbeat.run("http", server.url, "--once").stdout)

    def test_once_sends_one_request(self):
        seen = []

        def serve(connection):
            while request := onbeat.read_request(connection):
                seen.append(request)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        with onbeat.Server(serve) as server:
            self.assertEqual(onbeat.run("http", server.url, "--once", "--rate", "100").returncode, 0)
            self.assertEqual(len(seen), 1)

    def test_dry_run(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            listener.setblocking(False)
            url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
            result = onbeat.run("http", url, "--rate", "0..500 over 1m, 500 for 5m", "--dry-run", "--seed", "7",
                                "--tag", "a=b")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertRegex(result.stdout, r"planned arrivals +165,000\n")  # 15,000 + 150,000
            self.assertRegex(result.stdout, r"expected in flight .*at 10 ms 5.0, at 100 ms 50.0")
            self.assertRegex(result.stdout, r"(?m)^seed +7 \(cli\)$")
            self.assertRegex(result.stdout, r"(?m)^duration +6m \(.*\)$")
            self.assertRegex(result.stdout, r"(?m)^target +http://127\.0\.0\.1:\d+ 127\.0\.0\.1:\d+$")
            with self.assertRaises(BlockingIOError):
                listener.accept()

    def test_M11_warm_up_is_excluded_and_said(self):
        # The answers to the last fifth of the warm-up come within the measured part.
        words = (TARGET.url + "delay/200ms", "--rate", "100", "--warmup", "1s", "-d", "1s")
        document = onbeat.report(*words, *PATIENT)
        self.assertEqual(document["counts"]["warmup_excluded"], 100)
        self.assertEqual(document["counts"]["planned"], 100)
        self.assertEqual(document["latency"]["response"]["count"], 100)
        onbeat.books(self, document)
        self.assertRegex(onbeat.run("http", *words, "--quiet").stdout, r"(?i)warm-?up.*100|100.*warm-?up")

    def test_M13_a_threshold_on_nothing_fails_and_says_why(self):
        document = onbeat.report(TARGET.url + "status/503", "-n", "20", "--threshold", "p(50) < 1h", code=4)
        threshold = document["thresholds"][0]
        self.assertEqual((threshold["passed"], threshold["actual"]), (False, None))
        self.assertTrue(threshold["reason"])
        self.assertIsNone(document["latency"]["service"]["percentiles"]["50"])


class Terminal(Suite):
    """C2: stderr and stdout on a pseudo-terminal."""

    def on_terminal(self, width, *words, **environment):
        leader, follower = pty.openpty()
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24 if width else 0, width, 0, 0))
        variables = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
        process = onbeat.start("http", TARGET.url, "-d", "1500ms", "-c", "1", *words, stdout=follower, stderr=follower,
                               text=False, env={**variables, "TERM": "xterm", **environment})
        os.close(follower)
        output = b""
        while True:
            try:
                part = os.read(leader, 65536)
            except OSError:  # the other side has closed
                break
            if not part:
                break
            output += part
        os.close(leader)
        self.assertEqual(process.wait(timeout=30), 0)
        return output.decode()

    COLOR = re.compile(r"\x1b\[[\d;]*m")
    MOVE = re.compile(r"\x1b\[[\d;?]*[A-HJKhl]")

    def test_a_terminal_gets_colours_and_a_live_view(self):
        output = self.on_terminal(100)
        self.assertRegex(output, self.COLOR)
        self.assertRegex(output, self.MOVE)
        self.assertNotIn("\x1b[?25l", output)  # a run that is killed leaves the cursor as it was

    def test_no_color(self):
        output = self.on_terminal(100, NO_COLOR="1")
        self.assertNotRegex(output, self.COLOR)
        self.assertIn("latency", output)

    def test_width_0(self):
        output = self.on_terminal(0)
        self.assertNotRegex(output, self.MOVE)
        self.assertIn("latency", output)

    def test_narrow(self):
        self.assertIn("latency", self.on_terminal(20))

    def test_not_a_terminal(self):
        result = onbeat.run("http", TARGET.url, "-d", "1200ms", "-c", "1", env={**os.environ, "TERM": "xterm"})
        self.assertNotIn("\x1b", result.stdout + result.stderr)
        always = onbeat.run("http", TARGET.url, "-n", "20", "--color", "always")
        self.assertRegex(always.stdout, self.COLOR)


class HtmlText(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.text, self.tags = "", []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        assert not [name for name, _ in attrs if name.startswith("on")]

    def handle_data(self, data):
        self.text += data


class Labels(Suite):
    """C5."""

    def test_C5_nasty_labels_are_inert_in_every_format(self):
        tag = b"k=" + NASTY.encode() + b"\xff\xfe\x00"[:2]
        name = NASTY.encode() + b"\xc3\x28"
        outs = [f"--out={form}={self.file('r.' + form)}" for form in ("json", "csv", "html", "text")]
        result = onbeat.run("http", TARGET.url, "-n", "20", "--quiet", b"--tag", tag, b"--name", name,
                            "--stream", self.file("stream"), *outs)
        self.assertEqual(result.returncode, 0, result.stderr)
        document = self.load("r.json")  # strict UTF-8
        self.assert_valid(document)
        self.assertTrue(document["run"]["tags"]["k"].startswith(NASTY))
        self.assertTrue(document["run"]["name"].startswith(NASTY))
        for line in (self.folder / "stream").read_text(encoding="utf-8").splitlines():
            json.loads(line)
        with open(self.folder / "r.csv", encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file, strict=True))
        self.assertIn(True, [NASTY in field for row in rows for field in row])
        page = HtmlText()
        page.feed((self.folder / "r.html").read_text(encoding="utf-8"))
        plain = HtmlText()
        onbeat.run("http", TARGET.url, "-n", "20", "--quiet", "--tag", "k=v", "--name", "n",
                   f"--out=html={self.file('plain.html')}")
        plain.feed((self.folder / "plain.html").read_text(encoding="utf-8"))
        self.assertEqual(page.tags.count("script"), plain.tags.count("script"))
        self.assertIn("<script>alert(1)</script>", page.text)
        (self.folder / "r.text").read_text(encoding="utf-8")

    def test_C5_escape_sequences_do_not_reach_the_terminal(self):
        result = onbeat.run("http", TARGET.url, "-n", "20", "--quiet", "--name", "\x1b]0;owned\x07", "--tag", "a=\x1b[2J")
        self.assertNotIn("\x1b", result.stdout)

    def test_bad_tags(self):
        for tag in ("novalue", "=x", ""):
            with self.subTest(tag=tag):
                self.assertEqual(onbeat.run("http", TARGET.url, "-n", "1", "--tag", tag).returncode, 2)


class Secrets(Suite):
    """C8."""

    SECRETS = ("sesame1", "sesame2", "sesame3", "sesame4", "sesame5", "sesame6")

    def words(self):
        return [TARGET.url + "echo?token=sesame1&x=1", "-H", "Authorization: Bearer sesame2", "-H", "Cookie: id=sesame3",
                "-H", "X-Api-Key: $ONBEAT_TEST_KEY", "-H", "@" + self.file("headers", "Proxy-Authorization: sesame5\n"),
                "-H", "Referer: http://bob:sesame6@example.org/"]

    def run_with(self, *words):
        return onbeat.run("http", *self.words(), *words, env={**os.environ, "ONBEAT_TEST_KEY": "sesame4"})

    def test_C8_in_no_output(self):
        outs = [f"--out={form}={self.file('r.' + form)}" for form in ("json", "csv", "html", "text")]
        result = self.run_with("-n", "20", "--stream", self.file("stream"), *outs)
        self.assertEqual(result.returncode, 0, result.stderr)
        texts = {name: (self.folder / name).read_text() for name in
                 ("r.json", "r.csv", "r.html", "r.text", "stream")}
        texts.update(stdout=result.stdout, stderr=result.stderr)
        for name, text in texts.items():
            for secret in self.SECRETS:
                with self.subTest(output=name, secret=secret):
                    self.assertNotIn(secret, text)
        self.assertIn("x=1", texts["r.json"])  # what is no secret stays

    def test_C8_dry_run(self):
        result = self.run_with("--dry-run")
        self.assertEqual(result.returncode, 0, result.stderr)
        for secret in self.SECRETS:
            self.assertNotIn(secret, result.stdout + result.stderr)

    def test_C8_once_hides_what_it_sent(self):
        # Not the body of the answer: it is the server's.
        words = [word.replace("echo", "status/200") for word in self.words()]
        result = onbeat.run("http", *words, "--once", env={**os.environ, "ONBEAT_TEST_KEY": "sesame4"})
        for secret in self.SECRETS:
            self.assertNotIn(secret, result.stdout + result.stderr)

    def test_C8_the_server_gets_them(self):
        result = self.run_with("--once")
        for secret in self.SECRETS:
            self.assertIn(secret, result.stdout)  # in the echo

    def test_C8_once_hides_what_it_got(self):
        with onbeat.Server(lambda connection: (connection.recv(9999), connection.sendall(
                b"HTTP/1.1 200 OK\r\nSet-Cookie: id=sesame5\r\nContent-Length: 0\r\n\r\n"))) as server:
            shown = onbeat.run("http", server.url, "--once").stdout
        self.assertIn("< Set-Cookie: ***", shown)
        self.assertNotIn("sesame5", shown)

    def test_C8_messages(self):
        for words in (["http://bob:sesame1@127.0.0.1/"], ["http://bob:sesame1@127.0.0.1:99999/"],
                      ["ftp://bob:sesame1@h/"], ["http://h/", "-H", "Authorization: sesame1\nX: y"],
                      ["http://nowhere.invalid/?token=sesame1", "--quiet"],
                      [f"http://127.0.0.1:{onbeat.free_port()}/?api_key=sesame1", "--quiet"]):
            with self.subTest(words=words):
                result = onbeat.run("http", *words)
                self.assertNotEqual(result.returncode, 0)
                self.assertNotIn("sesame1", result.stdout + result.stderr)

    def test_C8_process_title(self):
        # A value from the environment or a file is never on a command line: not the program's own either.
        process = onbeat.start("http", TARGET.url, "-H", "X-Api-Key: $ONBEAT_TEST_KEY", "-d", "60s", "-c", "1",
                               "--stream", self.file("stream"), env={**os.environ, "ONBEAT_TEST_KEY": "sesame4"})
        stream = self.folder / "stream"
        onbeat.wait_until(lambda: stream.exists() and stream.read_text().count("\n") >= 2)
        for name in ("cmdline", "comm"):
            self.assertNotIn("sesame4", pathlib.Path(f"/proc/{process.pid}/{name}").read_text())
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)


if __name__ == "__main__":
    unittest.main()
