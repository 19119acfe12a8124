#!/usr/bin/env python3
"""CPU per unary gRPC call and calls per second of `onbeat bench` beside h2load posting the same frame.

Both load the built-in target from one thread on a core of its own, in turns; the medians of the rounds stand in the
table. `checked` has a RESPONSE and two ASSERTS for every call.

    tools/grpc_side_by_side.py --onbeat build/release/onbeat [--seconds 8] [--rounds 3]
                               [--connections 8] [--in-flight 25] [--threads 1]
"""

import argparse
import json
import os
import pathlib
import re
import resource
import statistics
import subprocess
import tempfile

# onbeat.peer.Message: text and count.
TEXT = "hello from the far end"
MESSAGE = bytes([0x0A, len(TEXT)]) + TEXT.encode() + b"\x10\x05"
FRAME = b"\0" + len(MESSAGE).to_bytes(4, "big") + MESSAGE
ROOT = pathlib.Path(__file__).resolve().parent.parent
CALL = f"""--- ADDRESS ---
{{address}}
--- PROTO ---
files: {ROOT}/tests/grpc_peer/peer.proto
--- ENDPOINT ---
onbeat.peer.Peer/Echo
--- REQUEST ---
{{{{ text: '{TEXT}', count: '5' }}}}
--- RESPONSE ---
{{{{ text: '{TEXT}', count: '5' }}}}
"""
ASSERTS = """--- ASSERTS ---
.text startsWith "hello"
@has_header("content-type")
"""


def measured(words, core):
    """Standard output, and user and system seconds of the process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = subprocess.run(["taskset", "-c", core, *words], capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if result.returncode != 0:
        raise SystemExit(f"{words[0]} ended with {result.returncode}:\n{result.stdout}{result.stderr}")
    return result.stdout, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


class Bench:
    def __init__(self, arguments, port, folder):
        self.arguments, self.folder = arguments, pathlib.Path(folder)
        self.address = f"127.0.0.1:{port}"
        (self.folder / "frame").write_bytes(FRAME)
        for name, text in (("plain", CALL), ("checked", CALL + ASSERTS)):
            (self.folder / f"{name}.gctf").write_text(text.format(address=self.address))

    def onbeat(self, name, *words):
        a = self.arguments
        out, cpu = measured([a.onbeat, "bench", str(self.folder / f"{name}.gctf"), "-c",
                             str(a.connections * a.in_flight), "--connections", str(a.connections), "--threads",
                             str(a.threads), "-d", f"{a.seconds}s", "--warmup", "0s", "--quiet", "--allow-invalid",
                             "--json", *words], a.core)
        report = json.loads(out)
        ok = report["counts"]["ok"]
        if report["counts"]["failed"] or not ok:
            raise SystemExit(f"calls failed: {report['errors']}")
        return ok / a.seconds, cpu / ok * 1e6

    def h2load(self):
        a = self.arguments
        out, cpu = measured(["h2load", f"-t{a.threads}", f"-c{a.connections}", f"-m{a.in_flight}", f"-D{a.seconds}",
                             "-d", str(self.folder / "frame"), "-H", "content-type: application/grpc", "-H",
                             "te: trailers", f"http://{self.address}/onbeat.peer.Peer/Echo"], a.core)
        done = int(re.search(r"(\d+) succeeded", out)[1])
        return done / a.seconds, cpu / done * 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--onbeat", default=str(ROOT / "build/release/onbeat"))
    parser.add_argument("--seconds", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--in-flight", type=int, default=25)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--core", default="1", help="of the client; the target has core 0")
    arguments = parser.parse_args()
    reply = os.path.join(tempfile.gettempdir(), f"onbeat-reply-{os.getpid()}")
    pathlib.Path(reply).write_bytes(MESSAGE)
    target = subprocess.Popen(["taskset", "-c", "0", arguments.onbeat, "target", "grpc", "--reply", reply],
                              stdout=subprocess.PIPE, text=True)
    try:
        port = int(re.search(r":(\d+)", target.stdout.readline())[1])
        with tempfile.TemporaryDirectory() as folder:
            bench = Bench(arguments, port, folder)
            runs = {"onbeat": lambda: bench.onbeat("plain", "--assert-mode", "off"),
                    "onbeat, RESPONSE": lambda: bench.onbeat("plain"),
                    "onbeat, checked": lambda: bench.onbeat("checked"), "h2load": bench.h2load}
            found = {name: [] for name in runs}
            for _ in range(arguments.rounds):
                for name, run in runs.items():
                    found[name].append(run())
    finally:
        target.terminate()
        target.wait()
        os.unlink(reply)
    print(f"{'tool':<18}{'calls/s':>10}{'CPU us/call':>13}")
    medians = {name: [statistics.median(column) for column in zip(*each)] for name, each in found.items()}
    for name, (rate, cpu) in medians.items():
        print(f"{name:<18}{rate:>10.0f}{cpu:>13.2f}")
    ours, theirs = medians["onbeat"], medians["h2load"]
    print(f"onbeat/h2load: calls {ours[0] / theirs[0]:.2f}x, CPU per call {ours[1] / theirs[1]:.2f}x")
    print(f"RESPONSE and two ASSERTS: {medians['onbeat, checked'][1] - ours[1]:+.2f} us a call")


if __name__ == "__main__":
    main()
