"""`onbeat bench`, `call` and `bench-compare` as a whole program, against a grpc++ server, grpcio, and the built-in target.

GRPC_PEER is the program of tests/grpc_peer/server.cpp, GRPC_PEER_GENERATED the folder of what protoc makes for server.py.
"""

import json
import os
import pathlib
import re
import select
import shlex
import socket
import subprocess
import sys
import unittest

import onbeat
import peers

PROTO = onbeat.ROOT / "tests" / "grpc_peer" / "peer.proto"


class Peer:
    """A gRPC server as a process: `port`, and `tls_port` where it has a certificate."""

    def __init__(self, *command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                        text=True)
        ready, _, _ = select.select([self.process.stdout], [], [], 30)
        ports = self.process.stdout.readline().split() if ready else []
        if not ports:
            self.close()
            raise RuntimeError("the peer did not start")
        self.port, self.tls_port = ports[0], ports[-1]
        self.address = f"127.0.0.1:{self.port}"

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def cpp_peer(*arguments):
    return Peer(os.environ["GRPC_PEER"], *map(str, arguments))


def python_peer():
    return Peer(sys.executable, str(PROTO.parent / "server.py"), os.environ["GRPC_PEER_GENERATED"])


def document(*sections):
    """("ENDPOINT", "a.B/C"), ("RESPONSE partial", "{}") as a document."""
    return "".join(f"--- {name} ---\n{body}\n" for name, body in sections)


def echo(*more, method="Echo", request='{ text: "a", count: "5" }', bench=None):
    """A call of the peer, with its .proto file."""
    sections = [("BENCH", bench)] if bench else []
    sections += [("PROTO", f"files: {PROTO}"), ("ENDPOINT", f"onbeat.peer.Peer/{method}")]
    if request is not None:
        sections.append(("REQUEST", request))
    return document(*sections, *more)


PASSES = ("RESPONSE", '{ "text": "a", "count": "5" }')


class Bench(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.peer = cpp_peer()

    @classmethod
    def tearDownClass(cls):
        cls.peer.close()

    def setUp(self):
        self.folder = onbeat.folder()
        self.path = pathlib.Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def write(self, text, name="a.gctf"):
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return str(path)

    def bench(self, *words, code=0, address=None, **options):
        # Whether this host is quiet enough is the verdict's business.
        result = onbeat.run("bench", *words, "--allow-invalid", "--json", "--quiet", "--address", address or self.peer.address, **options)
        self.assertEqual(result.returncode, code, result.stderr + onbeat.reasons_text(result.stdout))
        report = json.loads(result.stdout) if result.stdout else None
        if report and not report["run"]["error"]:
            onbeat.books(self, report)
        return report

    def refused(self, *words, says=(), address=None):
        result = onbeat.run("bench", *words, "--address", address or self.peer.address)
        self.assertEqual(result.returncode, 2, result.stderr + result.stdout)
        self.assertEqual(result.stdout, "")
        for text in says:
            self.assertIn(text, result.stderr)

    # --- execution ---

    def test_unary_calls_pass(self):
        report = self.bench(self.write(echo(PASSES)), "-n", "50", "-c", "4", "--connections", "2")
        counts = report["counts"]
        self.assertEqual((counts["ok"], counts["passed"], counts["not_passed"]), (50, 50, 0))
        self.assertEqual(report["codes"], {"OK": 50})
        self.assertEqual(report["connections"]["opened"], 2)
        self.assertEqual(report["endpoints"][0]["name"], "onbeat.peer.Peer/Echo")
        self.assertEqual(report["run"]["workload"], "grpc")

    def test_the_other_name(self):
        result = onbeat.run("grpc", self.write(echo(PASSES)), "-n", "3", "--quiet", "--address", self.peer.address)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("passed 3", result.stdout)

    def test_a_wrong_answer_does_not_pass_whatever_its_status(self):
        wrong = self.write(echo(("RESPONSE", '{ "text": "b", "count": "5" }')))
        report = self.bench(wrong, "-n", "10", code=4)
        self.assertEqual(report["counts"]["ok"], 10)
        self.assertEqual(report["counts"]["not_passed"], 10)
        self.assertEqual(report["errors"], {"expectation": 10})
        self.assertIn('.text: expected "b", got "a"', report["error_samples"]["expectation"])
        self.assertIsNone(report["latency"]["service"]["mean"])
        self.assertEqual(report["failed_latency"]["count"], 10)

    def test_an_expected_error_passes(self):
        fails = echo(("ERROR partial", '{ "code": 5, "message": "gone" }'), method="Fail",
                     request='{ text: "gone", count: "5" }')
        report = self.bench(self.write(fails), "-n", "10")
        self.assertEqual(report["counts"]["failed"], 10)
        self.assertEqual(report["counts"]["passed"], 10)
        self.assertEqual(report["codes"], {"NotFound": 10})
        self.assertEqual(report["latency"]["service"]["count"], 10)

    def test_an_unexpected_error_does_not(self):
        fails = echo(PASSES, method="Fail", request='{ text: "gone", count: "14" }')
        report = self.bench(self.write(fails), "-n", "5", code=4)
        self.assertEqual(report["codes"], {"Unavailable": 5})
        self.assertEqual(report["errors"], {"status": 5})
        self.assertIn("gone", report["error_samples"]["status"])

    def test_assertions_and_metadata(self):
        text = echo(("REQUEST_HEADERS", "x-tenant: a-1\nx-blob-bin: hello"),
                    ("RESPONSE partial with_asserts", "{}"),
                    ("ASSERTS", '.count:number == 5 and @has_header("x-tenant")\n@header("x-tenant") == "a-1"\n'
                                '@trailer("x-tenant-trailer") == "a-1"'))
        report = self.bench(self.write(text), "-n", "10")
        self.assertEqual(report["counts"]["passed"], 10)

    def test_streams_of_every_kind(self):
        shapes = {
            "collect": echo(("REQUEST", '{ text: "a", count: 1 }\n{ text: "b", count: 2 }'),
                            ("RESPONSE partial", '{ "text": "ab", "count": "3" }'), method="Collect", request=None),
            "expand": echo(("RESPONSE partial", '{ "text": "a" }\n{ "count": "1" }\n{ "count": "2" }'), method="Expand",
                           request='{ text: "a", count: 3, delay_ms: 2 }'),
            "chat": echo(("REQUEST", '{ text: "one" }'), ("RESPONSE", '{ "text": "one" }'), ("REQUEST", '{ text: "two" }'),
                         ("RESPONSE", '{ "text": "two" }'), method="Chat", request=None),
        }
        for name, text in shapes.items():
            with self.subTest(name):
                report = self.bench(self.write(text), "-n", "6", "-c", "2")
                self.assertEqual(report["counts"]["passed"], 6, report["error_samples"])
        gap = self.bench(self.write(shapes["expand"]), "-n", "3")["endpoints"][0]["message_gap"]
        self.assertEqual(gap["count"], 6)
        self.assertGreater(gap["min"], 1_000_000)

    def test_surplus_messages_fail_unless_partial(self):
        for section, passed in (("RESPONSE", 0), ("RESPONSE partial", 4)):
            text = echo((section, '{ "text": "a", "delay_ms": 0 }'), method="Expand", request='{ text: "a", count: 2 }')
            report = self.bench(self.write(text), "-n", "4", code=0 if passed else 4)
            self.assertEqual(report["counts"]["passed"], passed, report["error_samples"])

    def test_a_chain_is_one_iteration_with_its_calls_as_endpoints(self):
        chain = (echo(("RESPONSE partial", '{ "text": "a" }'), ("EXTRACT", "token = .text\nnumber = .count"))
                 + document(("ENDPOINT", "onbeat.peer.Peer/Echo"), ("REQUEST", '{ text: "t-{{token}}", count: "{{number}}" }'),
                            ("RESPONSE", '{ "text": "t-{{token}}", "count": "5" }')))
        report = self.bench(self.write(chain, "login.gctf"), "-n", "10")
        self.assertEqual(report["counts"]["passed"], 10, report["error_samples"])
        endpoints = {one["name"]: one for one in report["endpoints"]}
        self.assertEqual(endpoints["login.gctf"]["counts"]["started"], 10)
        self.assertFalse(endpoints["login.gctf"]["part"])
        self.assertEqual(endpoints["onbeat.peer.Peer/Echo"]["counts"]["started"], 20)
        self.assertTrue(endpoints["onbeat.peer.Peer/Echo"]["part"])

    def test_a_chain_stops_at_its_first_failure(self):
        chain = (echo(("RESPONSE", '{ "text": "x" }'))
                 + document(("ENDPOINT", "onbeat.peer.Peer/Nothing"), ("RESPONSE", "{}")))
        report = self.bench(self.write(chain), "-n", "5", code=4)
        self.assertEqual(report["counts"]["not_passed"], 5)
        nothing = [one for one in report["endpoints"] if one["name"] == "onbeat.peer.Peer/Nothing"]
        self.assertEqual(nothing[0]["counts"]["started"], 0)

    def test_files_take_turns(self):
        files = [self.write(echo(PASSES), "a.gctf"),
                 self.write(echo(("RESPONSE", "{}"), method="Nothing", request=None), "b.gctf"),
                 self.write(echo(("RESPONSE partial", "{}"), method="Collect"), "c.gctf")]
        report = self.bench(*files, "-n", "100")
        self.assertEqual([one["counts"]["started"] for one in report["endpoints"]], [34, 33, 33])
        self.assertEqual(report["counts"]["passed"], 100)
        self.refused(*files, "-n", "2", says=["2 requests do not reach 3 documents", "at least 3"])

    def test_folders_tags_and_exclusion(self):
        tagged = "--- META ---\ntags: [{}]\n"
        self.write(tagged.format("load") + echo(PASSES), "in/a.gctf")
        self.write(tagged.format("smoke") + echo(("RESPONSE", "{}"), method="Nothing", request=None), "in/deep/b.gctf")
        self.write("nonsense", "in/c.txt")
        folder = str(self.path / "in")
        names = lambda *words: [one["name"].split("/")[1] for one in self.bench(folder, "-n", "4", *words)["endpoints"]]
        self.assertEqual(names(), ["Echo", "Nothing"])
        self.assertEqual(names("--exclude", "b*"), ["Echo"])
        self.assertEqual(names("--exclude", "deep/*"), ["Echo"])
        self.assertEqual(names("--tags", "smoke, other"), ["Nothing"])
        self.assertEqual(names("--skip-tags", "smoke"), ["Echo"])
        self.refused(folder, "--tags", "none", says=["no document is left"])

    def test_a_call_without_a_document(self):
        report = self.bench("--call", "onbeat.peer.Peer/Echo", "--data", '{text: "{{uuid()}}"}', "-n", "5")
        self.assertEqual(report["counts"]["passed"], 5)
        self.refused("--call", "onbeat.peer.Peer/Ecco", says=["Ecco", "Echo"])
        self.refused("--call", "onbeat.peer.Peer/Echo", "--data", '{texd: "a"}', says=["--data", "texd"])

    def test_over_tls_with_a_client_certificate(self):
        made = peers.Certificates(self.path)
        with cpp_peer(made.path("server"), made.path("server", "key"), made.path("ca")) as peer:
            address = f"https://127.0.0.1:{peer.tls_port}"
            section = "ca_cert: ca.pem\ncert: client.pem\nkey: client.key"
            both = self.write(document(("TLS", section)) + echo(PASSES))
            report = self.bench(both, "-n", "10", "-c", "2", "--connections", "2", address=address)
            self.assertEqual(report["counts"]["passed"], 10)
            self.assertEqual(report["connections"]["opened"], 2)
            without = self.write(document(("TLS", "ca_cert: ca.pem")) + echo(PASSES), "b.gctf")
            self.bench(without, "-n", "2", code=4, address=address)
            plain = self.write(echo(PASSES), "c.gctf")
            environment = {**os.environ, "GRPCTESTIFY_TLS_CA_FILE": str(made.path("ca")),
                           "GRPCTESTIFY_TLS_CERT_FILE": str(made.path("client")),
                           "GRPCTESTIFY_TLS_KEY_FILE": str(made.path("client", "key"))}
            report = self.bench(plain, "-n", "3", address=address, env=environment)
            self.assertEqual(report["counts"]["passed"], 3)
            self.refused(self.write(document(("TLS", "ca_cert: none.pem")) + echo(PASSES), "d.gctf"), says=["none.pem"])

    # --- the load ---

    def test_requests_are_exact_and_both_models_work(self):
        one = self.write(echo(PASSES))
        report = self.bench(one, "--max-rps", "200", "-d", "1s")
        self.assertEqual(report["load"]["model"], "open")
        self.assertEqual(report["counts"]["planned"], 200)
        report = self.bench(one, "--max-rps", "200", "-d", "1s", "--mode", "closed", "-c", "2")
        self.assertEqual(report["load"]["model"], "closed")
        self.assertEqual(report["counts"]["planned"], 200)
        report = self.bench(one, "--load-schedule", "line", "--load-start", "0", "--load-step", "100", "-d", "2s")
        self.assertEqual(report["counts"]["planned"], 200)
        report = self.bench(one, "--max-rps", "100", "--ramp-up", "1s", "--cool-down", "1s", "-d", "2s")
        self.assertIn(report["counts"]["planned"], (199, 200))

    def test_calibration(self):
        result = onbeat.run("bench", self.write(echo(PASSES)), "-n", "50", "--calibrate", "--json", "--quiet",
                            "--allow-invalid")
        self.assertEqual(result.returncode, 0, result.stderr)
        report = json.loads(result.stdout)
        self.assertEqual(report["counts"]["ok"], 50)
        self.assertIn("built-in grpc target", report["run"]["target"])
        stream = echo(("RESPONSE partial", "{}"), method="Chat")
        self.assertEqual(onbeat.run("bench", self.write(stream), "-n", "5", "--calibrate", "--quiet",
                                    "--allow-invalid").returncode, 0)
        self.refused(self.write(echo(PASSES)), "--calibrate", says=["contradicts --address"])

    def test_levels(self):
        report = self.bench(self.write(echo(PASSES, bench="concurrency_schedule: step\nconcurrency_start: 1\n"
                                                          "concurrency_end: 5\nconcurrency_step: 2\nrequests: 20")))
        self.assertEqual([level["concurrency"] for level in report["levels"]], [1, 3, 5])
        self.assertEqual([level["counts"]["passed"] for level in report["levels"]], [20, 20, 20])
        self.assertEqual(report["counts"]["passed"], 60)
        self.assertEqual(report["latency"]["service"]["count"], 60)

    def test_skip_first_and_sample_rate(self):
        one = self.write(echo(PASSES))
        report = self.bench(one, "-n", "20", "--skip-first", "5")
        self.assertEqual(report["latency"]["service"]["count"], 15)
        self.assertEqual(report["endpoints"][0]["latency"]["service"]["count"], 20)
        self.assertEqual(report["counts"]["untimed"], 5)
        report = self.bench(one, "-n", "20", "--sample-rate", "0.5")
        self.assertEqual(report["latency"]["service"]["count"], 10)
        self.assertEqual(report["counts"]["ok"], 20)
        self.assertEqual(self.bench(one, "-n", "3", "--skip-first", "9")["latency"]["service"]["count"], 0)

    def test_checking_can_be_thinned_out_or_left_off(self):
        wrong = self.write(echo(("RESPONSE", '{ "text": "b" }')))
        report = self.bench(wrong, "-n", "20", "--no-assert")
        self.assertEqual(report["counts"]["passed"] + report["counts"]["not_passed"], 0)
        self.assertNotIn('"a"', json.dumps(report["error_samples"]))
        report = self.bench(wrong, "-n", "20", "--assert-mode", "sampled", code=4)
        self.assertEqual(report["counts"]["not_passed"], 2)
        report = self.bench(wrong, "-n", "20", "--assert-mode", "fail_fast", code=4)
        self.assertEqual(report["counts"]["not_passed"], 20)

    def test_count_errors_in_latency(self):
        wrong = self.write(echo(("RESPONSE", '{ "text": "b" }')))
        report = self.bench(wrong, "-n", "10", "--count-errors-in-latency", "true", code=4)
        self.assertEqual(report["latency"]["service"]["count"], 10)

    def test_what_is_in_flight_at_the_end(self):
        slow = self.write(echo(("RESPONSE partial", "{}"), request='{ delay_ms: 700 }'))
        for how, ok, cancelled in (("wait", 4, 0), ("close", 2, 2), ("ignore", 2, 2)):
            with self.subTest(how):
                counts = self.bench(slow, "-c", "2", "-d", "1s", "--duration-stop", how)["counts"]
                self.assertEqual((counts["ok"], counts["cancelled"]), (ok, cancelled))

    def test_deadlines_of_any_resolution(self):
        slow = self.write(echo(("RESPONSE partial", "{}"), request='{ delay_ms: 2000 }'))
        report = self.bench(slow, "-n", "4", "-c", "4", "--request-timeout", "150ms", code=4)
        self.assertEqual(report["counts"]["timed_out"], 4)
        self.assertEqual(report["errors"], {"timeout": 4})
        self.assertEqual(report["codes"], {"DeadlineExceeded": 4})

    def test_keepalive_asks_a_silent_server(self):
        pings = []

        def silent(connection):
            frames = connection.makefile("rb")
            frames.read(24)  # the preface
            connection.sendall(bytes((0, 0, 0, 4, 0, 0, 0, 0, 0)) + bytes((0, 0, 0, 4, 1, 0, 0, 0, 0)))  # SETTINGS, ACK
            while head := frames.read(9):
                body = frames.read(int.from_bytes(head[:3], "big"))
                if head[3] != 6:  # PING (RFC 9113, 6.7)
                    continue
                pings.append(body)
                if len(pings) == 2:
                    return connection.shutdown(socket.SHUT_RDWR)
                connection.sendall(bytes((0, 0, 8, 6, 1, 0, 0, 0, 0)) + body)
        flag = (self.write(echo(PASSES)), "--keepalive", "100ms")
        key = (self.write(echo(PASSES, bench="keepalive: 100ms"), "b.gctf"),)
        for words in (flag, key):
            pings.clear()
            with self.subTest(words), onbeat.Server(silent) as peer:
                report = self.bench(*words, "-n", "1", "--timeout", "60s", code=4, address=peer.authority)
                self.assertEqual((report["counts"]["failed"], report["counts"]["timed_out"]), (1, 0))
                self.assertEqual(len(pings), 2)

    # --- configuration ---

    def test_the_section_counts_and_the_report_says_who_set_what(self):
        bench = "concurrency: 3\nrequests: 30\nthresholds.count: >=30\nthresholds.passed: >=30\nname: mine"
        report = self.bench(self.write(echo(PASSES, bench=bench)), "-c", "2")
        options = report["options"]
        self.assertEqual(options["concurrency"], {"value": "2", "source": "cli"})
        self.assertEqual(options["requests"], {"value": "30", "source": "bench_section"})
        self.assertEqual(options["progress_interval"]["source"], "default")
        self.assertEqual(report["run"]["name"], "mine")
        self.assertEqual([one["passed"] for one in report["thresholds"]], [True, True])

    def test_thresholds_that_do_not_hold(self):
        one = echo(PASSES, bench="requests: 10\nthresholds.count: <5\nthresholds.fail_rate: <1%")
        result = onbeat.run("bench", self.write(one), "--quiet", "--address", self.peer.address)
        self.assertEqual(result.returncode, 1)
        self.assertIn("count <5", result.stdout)
        # A latency is judged only where this host was quiet enough.
        none = echo(PASSES, bench="requests: 10\nthresholds.latency_ms.p(50): <0")
        result = onbeat.run("bench", self.write(none), "--quiet", "--address", self.peer.address)
        self.assertIn(result.returncode, (1, 3))
        self.assertIn("latency_ms.p(50) <0", result.stdout)

    def test_what_is_refused_before_anything_is_sent(self):
        self.refused(self.write("--- ENDPOINT ---\na.B/C\n--- REQUEST ---\n{\n--- NONSENSE ---\nx\n"), says=["NONSENSE"])
        self.refused(self.write(echo()), says=["verif"])
        self.refused(self.write(echo(PASSES, bench="load_shedule: step\nduration_stop: bad-mode")),
                     says=["did you mean load_schedule?", "wait, close, ignore"])
        self.refused(self.write(echo(PASSES, request='{ text: "{{missing}}" }')), says=["missing"])
        self.refused(self.write(echo(PASSES, request="{ count: {} }")), says=["count"])
        self.refused(self.write(echo(PASSES)), "--connections", "3", "-c", "2", says=["3 connections"])
        self.refused(self.write(echo(PASSES)), "--protocol", "grpc-web", says=["not in this version"])
        self.refused(self.write(echo(PASSES, bench="requests: 5")), self.write(echo(PASSES, bench="requests: 6"), "b.gctf"),
                     says=["a.gctf", "b.gctf", "differs"])
        self.refused(self.write(echo(PASSES, bench="requests: 5\nrequests: 6"), "c.gctf"),
                     says=["c.gctf:3:1", "requests stands twice", "first in line 2"])
        self.refused(str(self.path / "none.gctf"), says=["none.gctf"])
        self.refused(says=["a document is missing"])

    def test_equal_sections_are_one(self):
        files = [self.write(echo(PASSES, bench="requests: 6"), name) for name in ("a.gctf", "b.gctf")]
        self.assertEqual(self.bench(*files)["counts"]["passed"], 6)

    def test_dry_run_sends_nothing(self):
        result = onbeat.run("bench", self.write(echo(PASSES)), "--dry-run", "--max-rps", "50", "-d", "10s",
                            "--address", "127.0.0.1:1")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("planned arrivals     500", result.stdout)
        self.assertIn("onbeat.peer.Peer/Echo", result.stdout)

    def test_a_server_that_is_not_there(self):
        address = f"127.0.0.1:{onbeat.free_port()}"
        self.bench(self.write(echo(PASSES)), "-n", "3", code=4, address=address)
        report = self.bench("--call", "onbeat.peer.Peer/Echo", code=4, address=address)
        self.assertIn(address, report["run"]["error"]["message"])

    def test_addresses_of_document_and_environment(self):
        other = f"127.0.0.1:{onbeat.free_port()}"
        own = self.write(document(("ADDRESS", self.peer.address)) + echo(PASSES))
        none = self.write(echo(PASSES), "b.gctf")
        run = lambda path, **env: onbeat.run("bench", path, "-n", "2", "--quiet", env={**os.environ, **env}).returncode
        self.assertEqual(run(own, GRPCTESTIFY_ADDRESS=other), 0)
        self.assertEqual(run(none, GRPCTESTIFY_ADDRESS=self.peer.address), 0)

    # --- reports ---

    def test_the_documented_report(self):
        path = self.path / "report.json"
        metrics = self.path / "report.prom"
        self.bench(self.write(echo(PASSES, bench="concurrency: 2\nrequests: 20\nthresholds.count: >=20")),
                   "--out", f"gctf-json={path}", "--out", f"gctf-prometheus={metrics}")
        report = json.loads(path.read_text())
        self.assertEqual(report["schema_version"], "bench_report_schema_v1")
        self.assertEqual(report["run"]["end_reason"], "requests_completed")
        summary = report["summary"]
        self.assertEqual((summary["count"], summary["ok"], summary["passed"], summary["failed"]), (20, 20, 20, 0))
        self.assertEqual(sum(bucket["count"] for bucket in report["histogram"]), 20)
        self.assertEqual(report["grpc_status_distribution"], {"OK": 20, "ERROR": 0})
        self.assertEqual(report["threshold_evaluation"][0]["metric"], "count")
        self.assertEqual(report["options_resolved"]["concurrency"], {"value": "2", "source": "bench_section"})
        self.assertEqual(report["per_endpoint"][0]["count"], 20)
        self.assertIn("grpctestify_bench_count 20", metrics.read_text())
        same = onbeat.run("bench-compare", str(path), str(path))
        self.assertEqual(same.returncode, 0, same.stderr)
        self.assertIn("PASS", same.stdout)
        report["summary"]["rps_observed"] /= 2
        worse = self.path / "worse.json"
        worse.write_text(json.dumps(report))
        result = onbeat.run("bench-compare", str(path), str(worse), "--format", "json")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(json.loads(result.stdout)["verdict"], "regressed")
        self.assertEqual(onbeat.run("bench-compare", str(path), str(worse), "--min-throughput", "60").returncode, 0)
        self.assertEqual(onbeat.run("bench-compare", str(path), self.write("{}")).returncode, 2)
        self.assertEqual(onbeat.run("bench-compare", str(path)).returncode, 2)

    # --- once ---

    def call(self, text, *words):
        return onbeat.run("call", self.write(text), "--address", self.peer.address, *words)

    def test_call_shows_and_judges(self):
        result = self.call(echo(PASSES))
        self.assertEqual(result.returncode, 0, result.stderr + result.stdout)
        self.assertIn('> {"text":"a","count":"5"}', result.stdout)
        self.assertIn('< {"text":"a","count":"5"}', result.stdout)
        self.assertIn("* passed", result.stdout)
        result = self.call(echo(("RESPONSE", '{ "text": "b", "count": "6" }')))
        self.assertEqual(result.returncode, 1)
        self.assertIn("not passed", result.stdout)
        self.assertIn('expected "b", got "a"', result.stdout)
        result = self.call(echo(("ERROR partial", '{ "code": 5 }'), method="Fail", request='{ count: 5, text: "gone" }'))
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("NotFound", result.stdout)
        self.assertEqual(self.call("--- ENDPOINT ---\nx\n").returncode, 2)
        gone = onbeat.run("call", self.write(echo(PASSES)), "--address", f"127.0.0.1:{onbeat.free_port()}")
        self.assertEqual(gone.returncode, 4, gone.stderr)


    def test_rows_of_files_fill_in(self):
        (self.path / "items.csv").write_text("sku,amount\na,1\nb,2\nc,3\n")
        (self.path / "names.csv").write_text("sku,name\na,Ada\nb,Bob\nc,Cy\n")
        bench = ("requests: 7\nsources:\n  - file: items.csv\n  - file: names.csv\n    indexed_by: sku\n"
                 "    join_type: inner")
        text = echo(("RESPONSE", '{ "text": "{{names.name}}", "count": "{{items.amount}}" }'), bench=bench,
                    request='{ text: "{{names.name}}", count: "{{items.amount}}" }')
        report = self.bench(self.write(text), "-c", "3")
        self.assertEqual(report["counts"]["passed"], 7, report["error_samples"])
        self.assertEqual(report["sources"]["hits"], 7)
        self.refused(self.write(text.replace("names.csv", "none.csv")), says=["none.csv"])

    def test_the_examples_of_the_guide(self):
        guide = (onbeat.ROOT / "docs" / "grpc.md").read_text()
        for name, text in re.findall(r"^```gctf ([\w.]+)\n(.*?)^```$", guide, re.M | re.S):
            self.write(text, name)
        self.write(PROTO.read_text(), "peer.proto")
        self.write("sku,amount\n" + "".join(f"sku-{n},{n}\n" for n in range(1, 50)), "items.csv")
        lines = re.findall(r"^\$ onbeat (bench .*)$", guide, re.M)
        self.assertEqual(len(lines), 4)
        for line in lines:
            with self.subTest(line):
                words = shlex.split(line.replace("localhost:50051", self.peer.address))
                result = onbeat.run(*words, "--quiet", cwd=self.path)
                # Whether this host was quiet enough is the verdict's business.
                self.assertIn(result.returncode, (0, 3), result.stderr + result.stdout)
                self.assertRegex(result.stdout, r"passed [1-9]")
        levels = json.loads((self.path / "levels.json").read_text())["levels"]
        self.assertEqual([level["concurrency"] for level in levels], [1, 3, 5])


class OtherServers(unittest.TestCase):
    def test_grpcio(self):
        with python_peer() as peer, onbeat.folder() as folder:
            path = pathlib.Path(folder) / "a.gctf"
            path.write_text(echo(PASSES))
            result = onbeat.run("bench", str(path), "-n", "50", "-c", "5", "--json", "--quiet", "--address", peer.address)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(json.loads(result.stdout)["counts"]["passed"], 50)
            result = onbeat.run("bench", "--call", "onbeat.peer.Peer/Echo", "-n", "5", "--quiet", "--address", peer.address)
            self.assertEqual(result.returncode, 0, result.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=1)
