"""What the suites against the real program share: its target as a process, runs of it, their reports.

The program's path comes in the environment variable ONBEAT.
"""

import base64
import functools
import json
import os
import pathlib
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time
import zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
ONBEAT = os.environ.get("ONBEAT", "")
LIMIT = 120  # seconds: no run of a test takes longer
PATH = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"


def needs(program, package):
    """Of a class or a method of tests: fails, and says once which package is missing, where the program is not there.

    All of these packages are installed by tools/install_packages.sh, so a test that skipped would hide a mistake.
    """
    def decorate(tested):
        if shutil.which(program, path=PATH):
            return tested

        def fail(*_):
            raise AssertionError(f"{program} is missing: install the Debian package {package} "
                                 "(tools/install_packages.sh test)")
        if not isinstance(tested, type):
            return functools.wraps(tested)(fail)
        tested.setUpClass = classmethod(fail)
        return tested
    return decorate


class Target:
    """`onbeat target http` or `grpc` as a process of its own: with Target("--delay", "5ms") as target: target.url ..."""

    def __init__(self, *options, kind="http"):
        self.process = subprocess.Popen([ONBEAT, "target", kind, *options], stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        ready, _, _ = select.select([self.process.stdout], [], [], 30)
        line = self.process.stdout.readline() if ready else ""
        found = re.match(kind + r" target listens at ((?:[\d.]+|\[[\da-f:]+\]):\d+)", line)
        if not found:
            self.close()
            raise RuntimeError(f"the target did not start: {line!r}")
        self.authority = found.group(1)
        self.port = int(self.authority.rpartition(":")[2])
        self.url = f"http://{self.authority}/"

    def stop(self):
        """SIGSTOP, to come back when the process stands still; the instant on the monotonic clock."""
        self.process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self.process.pid, os.WSTOPPED)
        return time.monotonic()

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)
        return time.monotonic()

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def run(*words, **options):
    """Runs the program to its end: returncode, stdout, stderr, as text unless text=False is said."""
    settings = {"capture_output": True, "text": True, "timeout": LIMIT, "stdin": subprocess.DEVNULL, **options}
    return subprocess.run([ONBEAT, *words], check=False, **settings)


def start(*words, **options):
    """Starts the program: the caller waits for it."""
    settings = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "stdin": subprocess.DEVNULL,
                **options}
    return subprocess.Popen([ONBEAT, *words], **settings)


def report(*words, code=0, **options):
    """The JSON report of `onbeat http WORDS`, which must end with this exit code (None: any)."""
    result = run("http", *words, "--json", "--quiet", **options)
    if code is not None and result.returncode != code:
        raise AssertionError(f"exit {result.returncode} instead of {code}: onbeat http {' '.join(words)}\n"
                             f"{result.stderr}\n{reasons_text(result.stdout)}")
    return json.loads(result.stdout)


def reasons(document):
    """The verdict's reasons by their code."""
    return {reason["code"]: reason for reason in document["verdict"]["reasons"]}


def reasons_text(text):
    """Why a run was judged as it was, for messages of failed tests."""
    try:
        document = json.loads(text)
        return json.dumps([document["run"]["error"], document["verdict"]["status"], document["verdict"]["reasons"],
                           document["thresholds"]], indent=1)
    except ValueError:
        return text[:2000]


def books(case, document):
    """The identities that hold in every report."""
    counts = document["counts"]
    missed = counts["missed_by"]
    case.assertEqual(counts["missed"], missed["late"] + missed["waited"] + missed["at_end"])
    case.assertEqual(counts["planned"], counts["started"] + counts["missed"] + counts["saturated"])
    case.assertEqual(counts["started"], counts["ok"] + counts["failed"] + counts["timed_out"] + counts["cancelled"]
                     + counts["in_flight_at_end"])
    for key in ("planned", "started", "ok", "failed"):
        case.assertEqual(sum(row[key] for row in document["series"]), counts[key], f"series: {key}")
    failed_latency = document["failed_latency"]["count"]
    headline = document["latency"]["response" if document["load"]["model"] == "open" else "service"]["count"]
    case.assertEqual(headline + failed_latency + counts["untimed"],
                     counts["started"] + missed["waited"] + missed["at_end"])


def free_port():
    """A port at which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A server of the test's own: `serve(connection)` runs on a thread for each connection."""

    def __init__(self, serve, host="127.0.0.1", backlog=128):
        self.socket = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
        self.socket.bind((host, 0))
        self.socket.listen(backlog)
        self.port = self.socket.getsockname()[1]
        self.authority = f"[{host}]:{self.port}" if ":" in host else f"{host}:{self.port}"
        self.url = f"http://{self.authority}/"
        self.connections = []
        self._serve = serve
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            self.connections.append(connection)
            threading.Thread(target=self._one, args=(connection,), daemon=True).start()

    def _one(self, connection):
        try:
            self._serve(connection)
        except OSError:
            pass

    def close(self):
        # Closing alone does not wake accept().
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        for connection in self.connections:
            connection.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def read_request(connection):
    """The bytes of one request without a body; empty when the peer has closed."""
    data = b""
    while b"\r\n\r\n" not in data:
        part = connection.recv(65536)
        if not part:
            return b""
        data += part
    return data


def folder():
    """A temporary folder as a context."""
    return tempfile.TemporaryDirectory(prefix="onbeat-")


def wait_until(what, limit=20):
    """Waits until what() is true; fails when it takes too long."""
    end = time.monotonic() + limit
    while not what():
        if time.monotonic() > end:
            raise AssertionError("waited in vain")
        time.sleep(0.01)


def decode_hdr(text):
    """(value, count) of an HdrHistogram V2 payload (base64, compressed), in rising order; read independently of ours."""
    data = base64.b64decode(text)
    cookie, length = struct.unpack(">ii", data[:8])
    assert cookie & ~0xF0 == 0x1C849304, hex(cookie)
    inner = zlib.decompress(data[8:8 + length])
    cookie, size, offset, digits, lowest, _, _ = struct.unpack(">iiiiqqd", inner[:40])
    assert cookie & ~0xF0 == 0x1C849303 and offset == 0, hex(cookie)
    unit = lowest.bit_length() - 1
    half_bits = (2 * 10 ** digits - 1).bit_length() - 1  # of half the sub-buckets
    payload, at, index, result = inner[40:40 + size], 0, 0, []
    while at < size:
        number = shift = 0
        for position in range(9):
            byte = payload[at]
            at += 1
            if position == 8:
                number |= byte << shift
                break
            number |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        number = (number >> 1) ^ -(number & 1)
        if number < 0:
            index -= number
            continue
        if number > 0:
            bucket = (index >> half_bits) - 1
            within = (index & ((1 << half_bits) - 1)) + (1 << half_bits)
            if bucket < 0:
                bucket, within = 0, within - (1 << half_bits)
            result.append((within << (bucket + unit), number))
        index += 1
    return result
