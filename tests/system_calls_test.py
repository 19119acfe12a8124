#!/usr/bin/python3
"""The system calls of the hot path, counted by strace: those that move the bytes, and a share of a wait."""

import pathlib
import re
import subprocess
import unittest

import onbeat

REQUESTS = 20_000
SENDS = ("sendto", "sendmsg", "write", "writev")
RECEIVES = ("recvfrom", "recvmsg", "read", "readv")
WAITS = ("epoll_wait", "epoll_pwait", "epoll_pwait2")
# Opening, resolving, reporting: not of the hot path.
ALLOWANCE = 600


def may_trace():
    return subprocess.run(["strace", "-f", "-c", "-o", "/dev/null", "true"], capture_output=True,
                          check=False).returncode == 0


@onbeat.needs("strace", "strace")
class SystemCalls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not may_trace():
            raise unittest.SkipTest("this process may not trace others")

    def counted(self, *words):
        with onbeat.folder() as folder, onbeat.Target() as target:
            path = pathlib.Path(folder) / "calls"
            subprocess.run(["strace", "-f", "-c", "-o", str(path), onbeat.ONBEAT, "http", target.url, "-n",
                            str(REQUESTS), "--quiet", "--allow-invalid", f"--out=json={folder}/r", *words], check=True,
                           stdout=subprocess.DEVNULL, timeout=onbeat.LIMIT)
            document = onbeat.json.loads((pathlib.Path(folder) / "r").read_text())
            calls = {}
            for line in path.read_text().splitlines():
                found = re.match(r" *[\d.]+ +[\d.]+ +\d+ +(\d+) +(?:\d+ +)?(\w+)$", line)
                if found and found.group(2) != "total":
                    calls[found.group(2)] = int(found.group(1))
        self.assertEqual(document["counts"]["ok"], REQUESTS)
        of = lambda names: sum(calls.get(name, 0) for name in names)
        return of(SENDS), of(RECEIVES), of(WAITS), calls

    def test_closed_at_64_connections(self):
        sends, receives, waits, calls = self.counted("-c", "64")
        self.assertGreaterEqual(sends, REQUESTS)  # the count sees them
        self.assertGreaterEqual(receives, REQUESTS)
        self.assertLessEqual(sends, 1.01 * REQUESTS + ALLOWANCE, calls)
        self.assertLessEqual(receives, 1.01 * REQUESTS + ALLOWANCE, calls)
        self.assertLess(waits, REQUESTS, calls)
        # Nothing else is called for a request.
        rest = sum(calls.values()) - sends - receives - waits - calls.get("futex", 0) - calls.get("clock_nanosleep", 0)
        self.assertLess(rest, 0.2 * REQUESTS, calls)

    def test_open(self):
        sends, receives, waits, calls = self.counted("--rate", "4000", "--connections", "64")
        self.assertLessEqual(sends, 1.01 * REQUESTS + ALLOWANCE, calls)
        self.assertLessEqual(receives, 1.01 * REQUESTS + ALLOWANCE, calls)
        # One to wait for the due time, one for the answer.
        self.assertLessEqual(waits, 2.1 * REQUESTS + ALLOWANCE, calls)


if __name__ == "__main__":
    unittest.main()
