#!/usr/bin/python3
"""The Dockerfile, checked without an engine: its structure, and what it names.

The rules are those that linters of such files agree on: fixed tags, each stage used or a target, package lists removed in
the layer that fetched them, no recommended packages, an exec-form entry point, not as root.
"""

import fnmatch
import json
import pathlib
import re
import subprocess
import unittest

import onbeat

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGETS = {"onbeat", "scenarios"}
INSTRUCTIONS = {"FROM", "WORKDIR", "COPY", "RUN", "USER", "ENTRYPOINT", "CMD"}


def instructions(text):
    """(instruction, arguments) in order; comments and continuations resolved."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    for line in re.sub(r"\\\n", " ", "\n".join(lines)).splitlines():
        if line.strip():
            name, _, rest = line.strip().partition(" ")
            yield name, re.sub(r"\s+", " ", rest.strip())


def stages(text):
    """{name: (base, [(instruction, arguments)])} in order."""
    found = {}
    for name, rest in instructions(text):
        if name == "FROM":
            base, _, stage = rest.partition(" AS ")
            found[stage] = (base, [])
        else:
            found[next(reversed(found))][1].append((name, rest))
    return found


def ignored(path, rules):
    """Whether the rules of .dockerignore leave a path out of what is sent."""
    out = False
    for rule in rules:
        negated, pattern = rule.startswith("!"), rule.lstrip("!").rstrip("/")
        if pattern == "**" or fnmatch.fnmatch(path, pattern) or path.startswith(pattern + "/"):
            out = not negated
    return out


def faults(text, rules):
    result = []
    all_stages = stages(text)
    for name, (base, steps) in all_stages.items():
        if not re.fullmatch(r"[a-z][a-z0-9_-]*", name):
            result.append(f"a stage without a name: FROM {base}")
        earlier = list(all_stages)[:list(all_stages).index(name)]
        if base not in earlier and (":" not in base or base.endswith(":latest")):
            result.append(f"{name}: {base} has no fixed tag")
        used = any(base_of == name or any(f"--from={name} " in rest for _, rest in its)
                   for base_of, its in all_stages.values())
        if name not in TARGETS and not used:
            result.append(f"{name}: nothing uses it")
        for instruction, rest in steps:
            if instruction not in INSTRUCTIONS:
                result.append(f"{name}: {instruction} is not expected")
            if instruction in ("ENTRYPOINT", "CMD"):
                try:
                    json.loads(rest)
                except ValueError:
                    result.append(f"{name}: {instruction} is not in the exec form")
            if instruction == "COPY":
                words = rest.split()
                origin = re.match(r"--from=(\S+)", rest)
                if origin and origin.group(1) not in earlier:
                    result.append(f"{name}: no stage {origin.group(1)} before it")
                for path in [] if origin else words[:-1]:
                    if path != "." and (not (ROOT / path).exists() or ignored(path, rules)):
                        result.append(f"{name}: {path} cannot be copied")
            if instruction == "WORKDIR" and not rest.startswith("/"):
                result.append(f"{name}: WORKDIR {rest} is relative")
            if instruction == "RUN":
                if "apt-get install" in rest and "--no-install-recommends" not in rest:
                    result.append(f"{name}: installs what is only recommended")
                if ("apt-get" in rest or "install_packages" in rest) and "rm -rf" not in rest:
                    result.append(f"{name}: keeps the lists of packages")
                if re.search(r"\bsudo\b|apt-get (dist-)?upgrade|\bapt install", rest):
                    result.append(f"{name}: {rest}")
                check = subprocess.run(["sh", "-n", "-c", rest], capture_output=True, text=True, check=False)
                if check.returncode != 0:
                    result.append(f"{name}: {check.stderr}")
    for name in TARGETS:
        users, base = [], name
        while base in all_stages:
            users = [rest for step, rest in all_stages[base][1] if step == "USER"] + users
            base = all_stages[base][0]
        if not users or users[-1] == "root":
            result.append(f"{name}: runs as root")
    return result


class Dockerfile(unittest.TestCase):
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    rules = [line for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines() if line]

    def test_it_has_no_fault(self):
        self.assertEqual(faults(self.text, self.rules), [])

    def test_each_rule_can_be_broken(self):
        for good, bad, why in (("debian:12 AS", "debian AS", "no fixed tag"),
                               ("debian:12-slim", "debian:latest", "no fixed tag"),
                               ("FROM program AS onbeat", "FROM program AS other", "nothing uses it"),
                               ("--no-install-recommends clang", "clang", "only recommended"),
                               ("    && rm -rf /var/lib/apt/lists/*\nUSER", "    && true\nUSER", "keeps the lists"),
                               ('ENTRYPOINT ["onbeat"]', "ENTRYPOINT onbeat", "exec form"),
                               ("--from=build", "--from=built", "no stage built"),
                               ("COPY tools/install_packages.sh", "COPY tools/gone.sh", "cannot be copied"),
                               ("USER onbeat\nWORKDIR", "WORKDIR", "runs as root"),
                               ("WORKDIR /source", "WORKDIR source", "is relative"),
                               ("&& useradd", "&& && useradd", "yntax error")):
            with self.subTest(bad=bad):
                self.assertIn(good, self.text)
                found = faults(self.text.replace(good, bad), self.rules)
                self.assertTrue(any(why in fault for fault in found), found)

    def test_the_program_alone_has_no_compiler(self):
        base, steps = stages(self.text)["program"]
        self.assertEqual(base, "debian:12-slim")
        self.assertNotRegex(" ".join(rest for _, rest in steps), r"clang|g\+\+|cmake|install_packages")
        self.assertIn("clang-19", " ".join(rest for _, rest in stages(self.text)["scenarios"][1]))

    def test_the_default_is_the_program_alone(self):
        self.assertEqual(list(stages(self.text))[-1], "onbeat")
        self.assertEqual(stages(self.text)["onbeat"], ("program", []))

    def test_all_that_the_build_reads_is_sent(self):
        listed = subprocess.run(["git", "ls-files", "CMakeLists.txt", "CMakePresets.json", "cmake", "include", "src",
                                 "packaging", "LICENSE", "README.md", "CHANGELOG.md", "tests/CMakeLists.txt", "tools"],
                                cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
        self.assertGreater(len(listed), 100)
        self.assertEqual([path for path in listed if ignored(path, self.rules)], [])
        self.assertTrue(ignored("build/release/onbeat", self.rules))

    @onbeat.needs("apt-cache", "apt")
    def test_the_packages_exist(self):
        names = set()
        for _, steps in stages(self.text).values():
            for _, rest in steps:
                for group in re.findall(r"apt-get install -y --no-install-recommends ([^&]+)", rest):
                    names |= {word for word in group.split() if not word.startswith("/")}
        self.assertIn("clang-19", names)
        for name in sorted(names):
            with self.subTest(package=name):
                known = subprocess.run(["apt-cache", "show", name], capture_output=True, check=False)
                self.assertEqual(known.returncode, 0)


if __name__ == "__main__":
    unittest.main()
