#!/usr/bin/python3
"""Completion in real shells, and the commands about the program itself."""

import json
import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import time
import unittest

import onbeat

LINES = (("onbeat ht", {"http"}),
         ("onbeat target h", {"http"}),
         ("onbeat http --on-", {"--on-late", "--on-saturation"}),
         ("onbeat http --arrivals ", {"even", "poisson"}),
         ("onbeat http --arrivals p", {"poisson"}),
         ("onbeat http 'http://a b/' -c 5 --strict --ab", {"--abort-on"}),
         ("onbeat explain lag", {"lag_p99"}),
         ("onbeat completion ", {"bash", "zsh", "fish"}))


def environment(folder):
    """The program is first in the path, under its own name; files of the test's own, no one's settings."""
    (pathlib.Path(folder) / "bin").mkdir()
    os.symlink(onbeat.ONBEAT, pathlib.Path(folder) / "bin/onbeat")
    for name in ("report.html", "reports.txt", "with space.html", "other"):
        (pathlib.Path(folder) / name).touch()
    return {"PATH": f"{folder}/bin:{os.environ['PATH']}", "HOME": folder, "LC_ALL": "C.UTF-8", "TERM": "dumb"}


class Shell(unittest.TestCase):
    def setUp(self):
        folder = onbeat.folder()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.environment = environment(self.folder)

    def script(self, shell):
        result = onbeat.run("completion", shell)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        path = pathlib.Path(self.folder) / f"completion.{shell}"
        path.write_text(result.stdout, encoding="utf-8")
        return path

    def shell(self, *words):
        result = subprocess.run(words, cwd=self.folder, env=self.environment, timeout=onbeat.LIMIT, text=True,
                                capture_output=True, stdin=subprocess.DEVNULL, check=False)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout


class Bash(Shell):
    ASK = r"""
source "$1"; shift
COMP_LINE=$1 COMP_POINT=${#1}; shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
compopt() { echo "compopt $*"; }
_onbeat onbeat
printf 'reply %s\n' "${COMPREPLY[@]}"
"""

    @staticmethod
    def cut(line):
        """Words as bash cuts them: by blanks, quotes, and COMP_WORDBREAKS."""
        words = re.findall(r"""[=:]+|(?:"[^"]*"|'[^']*'|[^ =:])+""", line)
        return words + [""] if line.endswith(" ") else words

    def ask(self, line):
        lines = self.shell("bash", "--norc", "-c", self.ASK, "bash", str(self.script("bash")), line,
                           *self.cut(line)).splitlines()
        self.options = [line for line in lines if line.startswith("compopt")]
        return {line[6:] for line in lines if line.startswith("reply ") and line != "reply "}

    def test_words(self):
        for line, words in LINES:
            with self.subTest(line=line):
                self.assertEqual(self.ask(line), words)

    def test_what_follows_a_cut(self):
        self.assertEqual(self.ask("onbeat http --arrivals=po"), {"poisson"})
        self.assertEqual(self.ask("onbeat http --arrivals="), {"even", "poisson"})
        self.assertEqual(self.ask("onbeat http http"), {"http://", "https://"})
        self.assertEqual(self.ask("onbeat http http:"), {"//"})
        self.assertEqual(self.ask("onbeat http http://h:80/ --ab"), {"--abort-on"})

    def test_no_space_after_an_equals_sign(self):
        self.assertEqual(self.ask("onbeat http --out ht"), {"html="})
        self.assertIn("compopt -o nospace", self.options)
        self.ask("onbeat ht")
        self.assertEqual(self.options, [])

    def test_files(self):
        self.assertEqual(self.ask("onbeat http --out html=rep"), {"report.html", "reports.txt"})
        self.assertEqual(self.ask("onbeat http --out=html=rep"), {"report.html", "reports.txt"})
        self.assertEqual(self.ask("onbeat http --config with"), {"with space.html"})
        self.assertEqual(self.options, ["compopt -o filenames"])

    def test_it_registers_itself(self):
        said = self.shell("bash", "--norc", "-c", f"source {self.script('bash')}; complete -p onbeat")
        self.assertEqual(said.strip(), "complete -F _onbeat onbeat")


@onbeat.needs("fish", "fish")
class Fish(Shell):
    def ask(self, line):
        said = self.shell("fish", "--no-config", "-c", 'source $argv[1]; complete -C $argv[2]', str(self.script("fish")),
                          line)
        return {found.split("\t")[0] for found in said.splitlines()}

    def test_words(self):
        for line, words in LINES:
            with self.subTest(line=line):
                self.assertEqual(self.ask(line), words)

    def test_values_and_files(self):
        self.assertEqual(self.ask("onbeat http --arrivals=po"), {"--arrivals=poisson"})
        self.assertEqual(self.ask("onbeat http --out html=rep"), {"html=report.html", "html=reports.txt"})
        self.assertEqual(self.ask("onbeat http --config oth"), {"other"})


@onbeat.needs("zsh", "zsh")
class Zsh(Shell):
    SETUP = r"""
PS1= RPS1=
fpath=($PWD/functions $fpath)
autoload -U compinit
compinit -u -D
say() { print -r -- "<<$BUFFER>>"; zle send-break }
zle -N say
bindkey '^T' say
print ready
"""

    def typed(self, line):
        """What stands on the line after a tab, in an interactive zsh on a terminal of its own."""
        functions = pathlib.Path(self.folder) / "functions"
        functions.mkdir(exist_ok=True)
        shutil.copy(self.script("zsh"), functions / "_onbeat")
        # The line is printed by a widget when a second key asks for it.
        (pathlib.Path(self.folder) / "setup.zsh").write_text(self.SETUP, encoding="utf-8")
        child, terminal = pty.fork()
        if child == 0:
            os.chdir(self.folder)
            os.execvpe("zsh", ["zsh", "-f", "-i"], self.environment)
        seen = ""

        def until(mark):
            nonlocal seen
            end = time.monotonic() + 30
            while not re.search(mark, seen):
                self.assertLess(time.monotonic(), end, f"no {mark} in {seen!r}")
                if select.select([terminal], [], [], 1)[0]:
                    seen += os.read(terminal, 65536).decode(errors="replace")

        try:
            os.write(terminal, b"source ./setup.zsh\n")
            until("ready")
            os.write(terminal, line.encode() + b"\t\x14")
            until("<<.*>>")
            return re.search("<<(.*)>>", seen).group(1)
        finally:
            os.close(terminal)
            os.waitpid(child, 0)

    def test_words(self):
        for line, words in LINES:
            if len(words) > 1:
                continue
            with self.subTest(line=line):
                self.assertEqual(self.typed(line), f"{line.rpartition(' ')[0]} {words.pop()} ")

    def test_what_several_have_in_common(self):
        self.assertEqual(self.typed("onbeat http --connect-"), "onbeat http --connect-t")

    def test_values_and_files(self):
        self.assertEqual(self.typed("onbeat http --arrivals=po"), "onbeat http --arrivals=poisson ")
        self.assertEqual(self.typed("onbeat http --out htm"), "onbeat http --out html=")
        self.assertEqual(self.typed("onbeat http --out html=reports"), "onbeat http --out html=reports.txt ")
        self.assertEqual(self.typed("onbeat http --config oth"), "onbeat http --config other ")


class Program(unittest.TestCase):
    def test_version_as_json(self):
        for words in (("--version", "--json"), ("http", "--version", "--json"), ("--json", "--version")):
            with self.subTest(words=words):
                result = onbeat.run(*words)
                if words[0] == "--json":
                    self.assertEqual(result.returncode, 2)
                    continue
                about = json.loads(result.stdout)
                self.assertEqual(list(about), ["name", "version", "commit", "compiler", "schemas"])
                self.assertEqual(f"onbeat {about['version']}\n", onbeat.run("--version").stdout)

    def test_explaining(self):
        listed = onbeat.run("explain")
        codes = re.findall(r"^(\w+) ", listed.stdout, re.M)
        self.assertGreater(len(codes), 10)
        for code in codes:
            result = onbeat.run("explain", code)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertGreater(len(result.stdout), 100)
            self.assertLessEqual(max(map(len, result.stdout.splitlines())), 100)
        both = onbeat.run("explain", codes[0], codes[1]).stdout
        self.assertTrue(both.startswith(f"{codes[0]}\n") and f"\n\n{codes[1]}\n" in both)

    def test_what_is_unknown(self):
        result = onbeat.run("explain", "lag_p9")
        self.assertEqual(result.returncode, 2)
        self.assertIn("did you mean lag_p99?", result.stderr)
        for words in (("completion",), ("completion", "tcsh"), ("man", "http"), ("explain", "--json")):
            self.assertEqual(onbeat.run(*words).returncode, 2, words)


class Manual(unittest.TestCase):
    page = onbeat.run("man").stdout

    def formatted(self, *command):
        result = subprocess.run(command, input=self.page, capture_output=True, text=True, timeout=60, check=False,
                                env={**os.environ, "LC_ALL": "C.UTF-8"})
        return result

    def test_groff_has_no_warning(self):
        result = self.formatted("groff", "-man", "-ww", "-Tutf8", "-P-c")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        for text in ("--on-saturation queue|drop", "onbeat target http", "ONBEAT_MAX_WAIT", "EXIT STATUS"):
            self.assertIn(text, re.sub(".\b", "", result.stdout))

    @onbeat.needs("mandoc", "mandoc")
    def test_mandoc_finds_nothing_to_mend(self):
        found = self.formatted("mandoc", "-T", "lint", "-W", "warning").stdout
        # The page of one program is always the same bytes: it has no date.
        self.assertEqual([line for line in found.splitlines() if "missing date" not in line], [])

    def test_a_broken_page_is_noticed(self):
        broken = self.page.replace(".SH NAME", ".NOSUCH NAME")
        result = subprocess.run(["groff", "-man", "-ww", "-Tutf8"], input=broken, capture_output=True, text=True,
                                check=False)
        self.assertIn("NOSUCH", result.stderr)


if __name__ == "__main__":
    unittest.main()
