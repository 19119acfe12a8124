#!/usr/bin/python3
"""Known truths and behaviours on the real clock, with real processes: the M rows, and what a run does when its target or
it itself is held up. Needs some quiet. ONBEAT names the binary, PING_PONG the yardstick."""

import json
import os
import pathlib
import signal
import socket
import subprocess
import threading
import time
import unittest

import onbeat

SECOND = 1_000_000_000
# The rows are about what is measured; whether this host was quiet enough is the verdict's business.
ANYWAY = ("--allow-invalid",)


class Known(unittest.TestCase):
    def about(self, actual, truth, part, floor=0):
        self.assertIsNotNone(actual)
        self.assertLessEqual(abs(actual - truth), max(part * truth, floor), f"{actual} against {truth}")


class FrozenTarget(Known):
    RATE, LENGTH, FREEZE = 200, 16, 4
    CONNECTIONS = ("--connections", "1000")
    KIND = "http"

    def command(self, _, target):
        return "http", target.url

    def frozen_run(self, folder, at, frozen_for, *words):
        """A run in whose course the target stands still; the report, and for how long it stood."""
        path = pathlib.Path(folder) / "r.json"
        middle = 100 * (1 - self.FREEZE / (2 * self.LENGTH))
        # 2 ms: ten times that is little beside the freeze, and more than a busy host adds. As many connections as
        # will be needed: to accept them first would hold the target up after the freeze.
        with onbeat.Target("--delay", "2ms", kind=self.KIND) as target:
            process = onbeat.start(*self.command(folder, target), "--rate", str(self.RATE), "-d", f"{self.LENGTH}s", "--timeout",
                                   "12s", "--quiet", f"--percentiles={middle}", *self.CONNECTIONS,
                                   f"--out=json={path}", *words, *ANYWAY)
            began = time.monotonic()
            time.sleep(at)
            stopped = target.stop()
            if frozen_for is not None:
                time.sleep(max(stopped + frozen_for - time.monotonic(), 0))
            else:
                process.wait(timeout=onbeat.LIMIT)
            going = target.go_on()
            process.communicate(timeout=onbeat.LIMIT)
        document = json.loads(path.read_text())
        onbeat.books(self, document)
        return document, going - stopped, stopped - began

    def test_M1_M2_a_freeze_in_the_middle(self):
        with onbeat.folder() as folder:
            document, frozen, _ = self.frozen_run(folder, 5, self.FREEZE)
        response, service = document["latency"]["response"], document["latency"]["service"]
        planned = self.RATE * self.LENGTH
        # M2: each arrival once.
        self.assertEqual(document["counts"]["planned"], planned)
        self.assertEqual(document["counts"]["ok"], planned)
        self.assertEqual(response["count"], planned)
        # M1: the long ones are those that fell due in the freeze, evenly over (0, S].
        median = service["percentiles"]["50"]
        long = [(value, count) for value, count in onbeat.decode_hdr(response["hdr"]) if value > 10 * median]
        hit = self.RATE * frozen
        self.about(sum(count for _, count in long), hit, 0.01)
        for tenth in range(1, 10):
            below = sum(count for value, count in long if value <= frozen * SECOND * tenth / 10)
            self.about(below, hit * tenth / 10, 0, floor=0.02 * hit)
        # Half of the planned freeze from its end: shifted by what it was longer.
        half = frozen * SECOND - self.FREEZE * SECOND / 2
        key = f"{100 * (1 - self.FREEZE / (2 * self.LENGTH)):g}"
        self.about(response["percentiles"][key], half, 0.02)
        self.about(response["max"], frozen * SECOND, 0.01)
        self.assertEqual(response["censored"], 0)

    def test_M1_a_freeze_at_the_end(self):
        with onbeat.folder() as folder:
            document, _, at = self.frozen_run(folder, self.LENGTH - self.FREEZE, None, "--drain", "1s")
        response = document["latency"]["response"]
        planned = self.RATE * self.LENGTH
        self.assertEqual(document["counts"]["planned"], planned)
        self.assertEqual(response["count"], planned)
        hanging = planned - document["counts"]["ok"]
        self.about(hanging, self.RATE * (self.LENGTH - at), 0.05)  # `at` counts from the start of the process
        self.assertEqual(response["censored"], hanging)
        self.assertEqual(document["counts"]["in_flight_at_end"], hanging)
        self.assertIn("90", response["at_least"])
        self.assertIn("99", response["at_least"])
        self.assertIn("max", response["at_least"])
        # The first of them had waited for the freeze's length and the drain.
        self.about(response["max"], (hanging / self.RATE + 1) * SECOND, 0.01)
        # Evenly from the drain's length up.
        self.about(response["percentiles"]["90"], (1 + hanging / self.RATE - 0.1 * self.LENGTH) * SECOND, 0.02)
        result = onbeat.reasons(document)
        self.assertNotIn("lag_p99", result)


class FrozenTargetOfHttp2(FrozenTarget):
    """The same with many streams on a few connections."""

    CONNECTIONS = ("--http-version", "2", "--connections", "10")
    test_M1_a_freeze_at_the_end = None


class FrozenTargetOfGrpc(FrozenTarget):
    """The same with a document."""

    KIND, CONNECTIONS = "grpc", ("--connections", "10")
    test_M1_a_freeze_at_the_end = None

    def command(self, folder, target):
        path = pathlib.Path(folder) / "a.gctf"
        path.write_text(f"--- PROTO ---\nfiles: {onbeat.ROOT}/tests/grpc_peer/peer.proto\n--- ENDPOINT ---\n"
                        "onbeat.peer.Peer/Echo\n--- RESPONSE partial ---\n{}\n")
        return "bench", str(path), "--address", target.authority


class Truths(Known):
    def test_M4_waiting_for_ones_turn_is_no_latency(self):
        with onbeat.Target() as target:
            document = onbeat.report(target.url, "--rate", "10", "--connections", "100", "-d", "5s", *ANYWAY)
        onbeat.books(self, document)
        self.assertEqual(document["counts"]["ok"], 50)
        self.assertEqual(document["counts"]["timed_out"], 0)
        self.assertEqual(document["connections"]["open_peak"], 100)
        self.assertLess(document["latency"]["response"]["percentiles"]["50"], 1_000_000)
        self.assertLess(document["latency"]["lag"]["percentiles"]["50"], 500_000)

    def test_M8_what_times_out_is_in_the_percentiles(self):
        with onbeat.Target("--fault", "delay:time=3s,every=10") as target:
            document = onbeat.report(target.url, "--rate", "100", "-d", "5s", "--timeout", "2s", *ANYWAY)
        onbeat.books(self, document)
        counts, response = document["counts"], document["latency"]["response"]
        self.about(counts["timed_out"], 50, 0, floor=1)
        self.assertEqual(response["count"], 500)
        self.assertEqual(response["censored"], counts["timed_out"])
        self.assertIn("95", response["at_least"])
        self.assertNotIn("50", response["at_least"])
        self.about(response["percentiles"]["95"], 2 * SECOND, 0.01)
        self.assertEqual(document["errors"]["timeout"], counts["timed_out"])

    def test_M9_one_worker_too_slow_for_the_rate(self):
        with onbeat.Target("--delay", "100ms") as target:
            document = onbeat.report(target.url, "--rate", "100", "-c", "1", "-d", "8s", *ANYWAY)
        onbeat.books(self, document)
        self.about(document["latency"]["service"]["percentiles"]["50"], 0.1 * SECOND, 0.03)
        # 10/s end, of 100/s that fall due: what ends at t was due 9/10 of t before.
        whole = [row for row in document["series"] if row["ok"] >= 9]
        self.assertGreaterEqual(len(whole), 7)
        for row in whole[1:7]:
            middle = row["t_ns"] - SECOND / 2
            self.about(row["p50"], 0.9 * middle, 0.05, floor=0.15 * SECOND)

    def test_M10_failing_to_start_costs_next_to_nothing(self):
        with onbeat.Target("--fault", "capacity:rate=500") as target:
            closed = onbeat.report(target.url, "-c", "16", "-d", "3s")
            document = onbeat.report(target.url, "--rate", "5000", "-c", "16", "-d", "3s", *ANYWAY)
            dropping = onbeat.report(target.url, "--rate", "5000", "-c", "16", "-d", "3s", "--on-saturation", "drop",
                                     *ANYWAY)
        for each in (document, dropping):
            onbeat.books(self, each)
            self.about(each["rates"]["ok"], closed["rates"]["ok"], 0.05)
            self.assertEqual(each["counts"]["planned"], 15_000)
        self.assertGreater(dropping["counts"]["saturated"], 12_000)
        self.about(closed["rates"]["ok"], 500, 0.03)

    def test_M16_a_rate_below_the_number_of_connections_and_threads(self):
        arrived = []

        def serve(connection):
            while onbeat.read_request(connection):
                arrived.append(time.monotonic())
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        with onbeat.Server(serve) as server:
            document = onbeat.report(server.url, "--rate", "5", "--connections", "10", "--threads", "2", "-d", "4s",
                                     *ANYWAY)
        self.assertEqual(document["counts"]["ok"], 20)
        arrived.sort()
        self.assertEqual(len(arrived), 20)
        for number, at in enumerate(arrived):
            self.about(at - arrived[0], number * 0.2, 0, floor=0.03)

    def test_M17_service_time_beside_a_bare_client(self):
        with onbeat.Target() as target, onbeat.folder() as folder:
            path = pathlib.Path(folder) / "r.json"
            process = onbeat.start("http", target.url, "--rate", "100", "-d", "6s", "--quiet", f"--out=json={path}",
                                   *ANYWAY)
            bare = subprocess.run([os.environ["PING_PONG"], "127.0.0.1", str(target.port), "97", "5"], check=True,
                                  capture_output=True, text=True, timeout=onbeat.LIMIT)
            process.communicate(timeout=onbeat.LIMIT)
            document = json.loads(path.read_text())
        self.about(document["latency"]["service"]["percentiles"]["50"], int(bare.stdout), 0, floor=20_000)

    def test_M18_arrivals_that_never_start_are_in_the_percentiles(self):
        # A tenth of the row's 60 s.
        with onbeat.Target("--fault", "capacity:rate=500") as target:
            document = onbeat.report(target.url, "--rate", "1000", "-c", "16", "-d", "6s", "--drain", "0s", *ANYWAY)
        onbeat.books(self, document)
        response = document["latency"]["response"]
        self.assertEqual(response["count"], 6000)
        self.about(response["percentiles"]["50"], 1.5 * SECOND, 0.03)
        self.about(response["percentiles"]["99"], 2.97 * SECOND, 0.03)
        self.assertIn("99", response["at_least"])
        self.assertIn("50", response["at_least"])

    def test_M19_constant(self):
        with onbeat.Target("--delay", "50ms") as target:
            document = onbeat.report(target.url, "--rate", "200", "-d", "5s", *ANYWAY)
        onbeat.books(self, document)
        for name in ("service", "response"):
            latency = document["latency"][name]
            for key in ("50", "75", "90"):
                self.about(latency["percentiles"][key], 0.05 * SECOND, 0.01)
            self.assertGreaterEqual(latency["min"], 0.05 * SECOND)
            self.about(latency["mean"], 0.05 * SECOND, 0.01)

    def test_M19_two_valued(self):
        # Every fifth answer takes 150 ms, the others 50 ms.
        with onbeat.Target("--delay", "50ms", "--fault", "delay:time=100ms,every=5") as target:
            document = onbeat.report(target.url, "--rate", "200", "-d", "5s", *ANYWAY)
        service = document["latency"]["service"]
        for key, truth in (("50", 0.05), ("75", 0.05), ("90", 0.15), ("95", 0.15)):
            self.about(service["percentiles"][key], truth * SECOND, 0.01)
        self.about(service["mean"], 0.07 * SECOND, 0.01)
        slow = sum(count for value, count in onbeat.decode_hdr(service["hdr"]) if value > 0.1 * SECOND)
        self.assertEqual(slow, 200)


class FirstRequest(Known):
    """A run starts when the connections asked for are up, or have failed."""

    def first_request(self, connections, accept_after):
        """The report, when each connection was accepted, when each request came, of a server that is slow to accept."""
        listener = socket.create_server(("127.0.0.1", 0), backlog=1)
        self.addCleanup(listener.close)
        at = listener.getsockname()
        filler = socket.create_connection(at)  # one more has room: the others get no answer to their SYN
        self.addCleanup(filler.close)
        accepted, requests, open_ = [], [], []

        def accept():
            time.sleep(accept_after)
            listener.listen(64)
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                open_.append(connection)
                accepted.append(time.monotonic())
                threading.Thread(target=answer, args=(connection,), daemon=True).start()

        def answer(connection):
            while onbeat.read_request(connection):
                requests.append(time.monotonic())
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        threading.Thread(target=accept, daemon=True).start()
        document = onbeat.report(f"http://127.0.0.1:{at[1]}/", "-c", str(connections), "-n", "50")
        self.addCleanup(lambda: [each.close() for each in open_])
        return document, accepted[1:], requests

    def test_as_soon_as_all_are_up(self):
        document, accepted, requests = self.first_request(4, 0.5)
        self.assertEqual(document["connections"]["open_peak"], 4)
        self.assertEqual(document["connections"]["opened"], 4)
        self.assertGreater(accepted[-1] - accepted[0], 0.3)
        # Neither before the last one is up nor long after.
        self.about(min(requests), accepted[-1], 0, floor=0.1)

    def test_as_soon_as_the_rest_have_failed(self):
        # Of 4 connections 2 are reset as they open.
        with onbeat.Target("--fault", "refuse:beyond=2") as target:
            began = time.monotonic()
            document = onbeat.report(target.url, "-c", "4", "-n", "50", code=None)
            self.assertLess(time.monotonic() - began, 3)
        self.assertGreater(document["counts"]["ok"], 0)


class HeldUp(Known):
    """Checks of the verdict, end to end."""

    def test_lag_of_a_generator_that_was_stopped(self):
        with onbeat.Target("--delay", "1ms") as target, onbeat.folder() as folder:
            path, stream = pathlib.Path(folder) / "r.json", pathlib.Path(folder) / "s"
            process = onbeat.start("http", target.url, "--rate", "200", "-d", "4s", "--quiet", f"--out=json={path}",
                                   f"--stream={stream}")
            onbeat.wait_until(lambda: stream.exists() and stream.read_text().count("\n") >= 2)
            began = time.monotonic()
            process.send_signal(signal.SIGSTOP)
            time.sleep(0.5)
            stopped = (time.monotonic() - began) * SECOND
            process.send_signal(signal.SIGCONT)
            process.communicate(timeout=onbeat.LIMIT)
            document = json.loads(path.read_text())
        onbeat.books(self, document)
        reasons = onbeat.reasons(document)
        self.assertEqual(document["verdict"]["status"], "invalid")
        self.assertEqual(process.returncode, 3)
        self.assertIn("lag_p99", reasons)
        self.assertIn("stalls", reasons)
        self.about(document["latency"]["lag"]["max"], stopped, 0.05)
        # Caught up with, within a second: nothing is missed, and the response times tell.
        self.assertEqual(document["counts"]["planned"], 800)
        self.assertEqual(document["counts"]["ok"], 800)
        # A hundred at once, most of them on connections that must open first.
        self.about(document["latency"]["response"]["max"], stopped, 0.2)
        self.assertTrue(document["client_cost"]["generator_limited"])

    def test_missed_by_a_generator_that_was_stopped_for_long(self):
        with onbeat.Target() as target, onbeat.folder() as folder:
            path, stream = pathlib.Path(folder) / "r.json", pathlib.Path(folder) / "s"
            process = onbeat.start("http", target.url, "--rate", "200", "-d", "5s", "--quiet", f"--out=json={path}",
                                   f"--stream={stream}")
            onbeat.wait_until(lambda: stream.exists() and stream.read_text().count("\n") >= 2)
            process.send_signal(signal.SIGSTOP)
            time.sleep(2)
            process.send_signal(signal.SIGCONT)
            process.communicate(timeout=onbeat.LIMIT)
            document = json.loads(path.read_text())
        onbeat.books(self, document)
        self.assertEqual(process.returncode, 3)
        self.assertIn("missed_late", onbeat.reasons(document))
        self.about(document["counts"]["missed_by"]["late"], 200, 0.05)  # all but the newest second

    def test_a_ceiling_that_was_too_low(self):
        with onbeat.Target("--delay", "50ms") as target:
            document = onbeat.report(target.url, "--rate", "400", "-c", "10", "-d", "3s", *ANYWAY)
            reason = onbeat.reasons(document)["sustained"]
            self.assertIn("The ceiling of 10 in flight was the limit", reason["message"])
            needed = int(reason["message"].rpartition("needs about ")[2].rstrip(".").replace(",", ""))
            self.about(needed, 400 * 0.05, 0.2)
            # And so many do.
            document = onbeat.report(target.url, "--rate", "400", "-c", str(needed + 4), "-d", "3s", *ANYWAY)
            self.assertNotIn("sustained", onbeat.reasons(document))
        self.assertEqual(document["counts"]["ok"], 1200)

    def test_a_target_that_does_not_sustain_the_rate(self):
        with onbeat.Target("--fault", "capacity:rate=200") as target:
            document = onbeat.report(target.url, "--rate", "1000", "-c", "100", "-d", "3s", *ANYWAY)
        self.assertIn("The target did not sustain the rate", onbeat.reasons(document)["sustained"]["message"])

    def test_H19_connections_that_the_target_refuses(self):
        with onbeat.Target("--fault", "refuse:beyond=100") as target:
            document = onbeat.report(target.url, "-c", "1000", "-d", "2s")
        onbeat.books(self, document)
        self.assertEqual(document["connections"]["asked"], 1000)
        self.assertEqual(document["verdict"]["status"], "degraded")
        self.assertIn("connections", onbeat.reasons(document))
        self.assertIn("100 of 1,000 open", onbeat.reasons(document)["connections"]["message"])

    def test_a_threshold_on_too_few_samples(self):
        with onbeat.Target() as target:
            document = onbeat.report(target.url, "-n", "50", "--threshold", "p(99) < 10s", code=None)
        self.assertIn("few_samples", onbeat.reasons(document))


if __name__ == "__main__":
    unittest.main()
