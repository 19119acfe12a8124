#!/usr/bin/python3
"""The built-in targets before clients that others wrote: grpcio, h2load, curl. ONBEAT names the binary."""

import concurrent.futures
import re
import subprocess
import tempfile
import unittest

import grpc

import onbeat


class Calls:
    """Calls of any method of a target, with messages as bytes."""

    def __init__(self, target, **options):
        self._channel = grpc.insecure_channel(target.authority, **options)
        self.unary = self._channel.unary_unary("/any.Service/Unary")
        self.stream = self._channel.unary_stream("/any.Service/Stream")
        self.chat = self._channel.stream_stream("/any.Service/Chat")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._channel.close()


class Grpc(unittest.TestCase):
    def serve(self, *options):
        target = onbeat.Target(*options, kind="grpc")
        self.addCleanup(target.close)
        calls = Calls(target)
        self.addCleanup(calls.__exit__)
        return calls

    def failure(self, calls, **options):
        with self.assertRaises(grpc.RpcError) as caught:
            calls.unary(b"hello", timeout=10, **options)
        return caught.exception

    def test_every_kind_of_call(self):
        calls = self.serve("--bytes", "7")
        reply = b"x\xf8\x01xxxx"
        self.assertEqual(calls.unary(b"hello", timeout=10), reply)
        self.assertEqual(calls.unary(b"z" * 100_000, timeout=10, compression=grpc.Compression.Gzip), reply)
        self.assertEqual(list(calls.stream(b"hello", timeout=10)), [reply])
        self.assertEqual(list(calls.chat(iter([b"a", b"", b"b" * 70_000]), timeout=10)), [reply] * 3)
        self.assertEqual(list(calls.chat(iter([]), timeout=10)), [reply])

    def test_the_reply_of_a_file(self):
        with tempfile.NamedTemporaryFile() as file:
            file.write(b"\x0a\x02hi")
            file.flush()
            self.assertEqual(self.serve("--reply", file.name).unary(b"", timeout=10), b"\x0a\x02hi")

    def test_status_and_message(self):
        error = self.failure(self.serve("--status", "5:no such thing: 100%"))
        self.assertEqual((error.code(), error.details()), (grpc.StatusCode.NOT_FOUND, "no such thing: 100%"))

    def test_deadline(self):
        calls = self.serve("--delay", "5s")
        with self.assertRaises(grpc.RpcError) as caught:
            calls.unary(b"", timeout=0.2)
        self.assertEqual(caught.exception.code(), grpc.StatusCode.DEADLINE_EXCEEDED)

    def test_faults(self):
        calls = self.serve()

        def struck(fault):
            return self.failure(calls, metadata=[("x-fault", fault)])
        error = struck("grpc-status:code=12,message=not%20here")
        self.assertEqual((error.code(), error.details()), (grpc.StatusCode.UNIMPLEMENTED, "not here"))
        self.assertIn(struck("no-grpc-status").code(), (grpc.StatusCode.UNKNOWN, grpc.StatusCode.INTERNAL))
        self.assertEqual(struck("status:code=502").code(), grpc.StatusCode.UNAVAILABLE)
        self.assertEqual(struck("reset-stream:code=cancel").code(), grpc.StatusCode.CANCELLED)
        self.assertEqual(calls.unary(b"", timeout=10), b"")

    def test_goaway_in_order_fails_no_call(self):
        calls = self.serve("--fault", "goaway:every=20,wait=1ms")
        self.assertEqual([calls.unary(b"", timeout=10) for _ in range(100)], [b""] * 100)

    def test_few_streams_at_once(self):
        calls = self.serve("--fault", "max-streams:limit=3", "--delay", "10ms")
        with concurrent.futures.ThreadPoolExecutor(20) as pool:
            replies = list(pool.map(lambda _: calls.unary(b"", timeout=20), range(60)))
        self.assertEqual(replies, [b""] * 60)


class Http2(unittest.TestCase):
    def test_h2load(self):
        with onbeat.Target("--bytes", "100", "--threads", "2") as target:
            result = subprocess.run(["h2load", "-n", "5000", "-c", "10", "-m", "20", target.url], check=True,
                                    capture_output=True, text=True, timeout=60)
        self.assertRegex(result.stdout, r"5000 succeeded, 0 failed, 0 errored, 0 timeout")
        self.assertEqual(re.search(r"\((\d+)\) data", result.stdout).group(1), "500000")

    def test_both_versions_at_one_port(self):
        with onbeat.Target() as target:
            for version, flag in (("2", "--http2-prior-knowledge"), ("1.1", "--http1.1")):
                result = subprocess.run(["curl", "-s", flag, "-w", "|%{http_version}", target.url + "bytes/3"],
                                        check=True, capture_output=True, text=True, timeout=30)
                self.assertEqual(result.stdout, "xxx|" + version)


class Command(unittest.TestCase):
    def refused(self, *words, says):
        result = onbeat.run("target", *words)
        self.assertEqual(result.returncode, 2)
        self.assertIn(says, result.stderr)

    def test_wrong_options(self):
        self.refused("http", "--fault", "grpc-status", says="grpc-status and no-grpc-status are of gRPC")
        self.refused("grpc", "--status", "17", says="from 0 to 16")
        self.refused("grpc", "--bytes", "1", says="no protobuf message has a size of 1")
        self.refused("grpc", "--bytes", "2", "--reply", "/dev/null", says="--bytes says what the message is")
        self.refused("grpc", "--reply", "/no/such/file", says="No such file")
        self.refused("http", "--status", "99", says="--status")


class Calibrate(unittest.TestCase):
    def test_the_report_says_who_answered(self):
        document = onbeat.report("http://nowhere.invalid/bytes/10", "-n", "100", "-c", "2", "--calibrate",
                                 "--allow-invalid")
        onbeat.books(self, document)
        self.assertEqual(document["counts"]["ok"], 100)
        self.assertRegex(document["run"]["target"], r"^built-in http target at 127\.0\.0\.1:\d+.*\(calibration\)$")
        self.assertIn("calibration", onbeat.reasons(document))

    def test_no_url_is_needed(self):
        self.assertEqual(onbeat.report("-n", "10", "-c", "1", "--calibrate", "--allow-invalid")["counts"]["ok"], 10)

    def test_what_contradicts_it(self):
        for words in (["https://x/"], ["http://x/", "--connect-to", "::y:1"], ["http://x/", "--unix-socket", "/x"]):
            with self.subTest(words=words):
                result = onbeat.run("http", *words, "--calibrate", "-n", "1")
                self.assertEqual(result.returncode, 2)
                self.assertIn("--calibrate", result.stderr)


if __name__ == "__main__":
    unittest.main()
