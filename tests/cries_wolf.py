#!/usr/bin/python3
"""The verdict cries wolf for nobody (C10): cries_wolf.py COUNT repeats a closed run at full speed and the demo's run
against the built-in target; each must end with exit 0. ONBEAT names the binary. Reasons that are more than notes are
shown, with the run that had them."""

import collections
import json
import os
import sys

import onbeat

RUNS = {
    "closed, 10 at once": ((), ("-d", "5s")),
    "closed, 64 at once": ((), ("-c", "64", "-d", "5s")),
    "demo": (("--delay", "5ms"), ("--rate", "1000", "-d", "10s", "--threshold", "p(99) < 25ms")),
}


def main(count):
    failed, caveats = 0, collections.Counter()
    for number in range(1, count + 1):
        for name, (target_options, words) in RUNS.items():
            with onbeat.Target(*target_options) as target:
                result = onbeat.run("http", target.url, "--quiet", "--json", *words)
            document = json.loads(result.stdout)
            reasons = [reason["code"] for reason in document["verdict"]["reasons"] if reason["remedy"]
                       and any(check["name"] == reason["code"] and check["status"] in ("degraded", "invalid")
                               for check in document["verdict"]["checks"])]
            caveats.update(reasons)
            failed += result.returncode != 0
            print(f"{number} {name}: exit {result.returncode}, {document['verdict']['status']}"
                  + (f" ({', '.join(reasons)})" if reasons else ""), flush=True)
            if result.returncode != 0:
                print(onbeat.reasons_text(result.stdout), flush=True)
    print(f"{count * len(RUNS)} runs, {failed} with an exit code other than 0; load average {os.getloadavg()[0]:.1f}; "
          f"caveats: {dict(caveats) or 'none'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 20))
