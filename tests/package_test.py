#!/usr/bin/python3
"""The packages of cpack: package_test.py BUILD_DIR

The .deb is read by lintian and dpkg, unpacked into an empty root and run there; the tarball likewise.
"""

import gzip
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import unittest

BUILD = pathlib.Path()
PROGRAM = {"bin/onbeat", "share/man/man1/onbeat.1.gz", "share/bash-completion/completions/onbeat",
           "share/fish/vendor_completions.d/onbeat.fish"}
DEBIAN = {"share/zsh/vendor-completions/_onbeat", "share/doc/onbeat/copyright", "share/doc/onbeat/changelog.gz",
          "share/doc/onbeat/changelog.Debian.gz", "share/lintian/overrides/onbeat"}
PLAIN = {"share/zsh/site-functions/_onbeat", "share/doc/onbeat/LICENSE", "share/doc/onbeat/README.md",
         "share/doc/onbeat/CHANGELOG.md"}


def output(*words, **options):
    result = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=300, check=False, **options)
    if result.returncode != 0:
        raise AssertionError(f"{words}: exit {result.returncode}\n{result.stdout}\n{result.stderr}")
    return result.stdout


def files(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="onbeat-package-")))
        output("cpack", "-G", "DEB;TGZ", "--config", BUILD / "CPackConfig.cmake", "-B", cls.folder / "out",
               cwd=cls.folder)
        cls.deb, = (cls.folder / "out").glob("*.deb")
        cls.tarball, = (cls.folder / "out").glob("*.tar.gz")

    def fields(self):
        text = output("dpkg-deb", "-f", self.deb)
        return dict(re.findall(r"^(\S+): ?(.*)", text, re.M))

    def runs(self, root):
        """The unpacked program says what it is, and loads a target that is itself."""
        program = root / "bin/onbeat"
        self.assertRegex(output(program, "--version"), r"^onbeat \d+\.\d+\.\d+\n$")
        target = subprocess.Popen([program, "target", "http"], stdout=subprocess.PIPE, text=True)
        try:
            url = re.search(r"at ([\d.:]+)", target.stdout.readline()).group(1)
            said = subprocess.run([program, "http", f"http://{url}/", "-n", "20", "-c", "2", "--allow-invalid"],
                                  capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(said.returncode, 0, said.stdout + said.stderr)
            self.assertIn("ok 20", said.stdout)
        finally:
            target.kill()
            target.wait()
            target.stdout.close()

    def test_deb_name(self):
        self.assertRegex(self.deb.name, r"^onbeat_\d+\.\d+\.\d+-1_\w+\.deb$")

    def test_deb_fields(self):
        fields = self.fields()
        self.assertEqual(fields["Package"], "onbeat")
        depends = re.findall(r"(?:^|, )([a-z0-9.+-]+)", fields["Depends"])
        self.assertIn("libc6", depends)
        self.assertIn("libssl3", depends)
        for name in depends:
            self.assertNotRegex(name, r"clang|llvm|^g\+\+|gcc-\d|-dev$", "a runtime package needs no compiler")
        self.assertEqual(fields["Suggests"], "clang-19")
        self.assertNotIn("Recommends", fields)

    def test_every_library_is_depended_on(self):
        """Each library that the program loads is in a package of Depends, or in what these need."""
        names = re.findall(r"NEEDED +(\S+)", output("objdump", "-p", self.unpacked() / "bin/onbeat"))
        self.assertIn("libssl.so.3", names)
        depends = {entry.split()[0] for entry in self.fields()["Depends"].split(", ")}
        for name in names:
            owners = {line.split(":")[0] for line in output("dpkg-query", "-S", f"*/{name}").splitlines()}
            self.assertTrue(owners & depends, f"{name} is in {owners}")

    def unpacked(self):
        root = self.folder / "root"
        if not root.exists():
            output("dpkg-deb", "-x", self.deb, root)
        return root / "usr"

    def test_deb_has_what_it_should_and_runs(self):
        self.assertEqual(files(self.unpacked()), PROGRAM | DEBIAN)
        self.runs(self.unpacked())

    def test_lintian_finds_nothing(self):
        environment = {**os.environ, "LC_ALL": "C.UTF-8"}
        # Spelling is guessed from any run of letters, machine code among them: not a function of what we wrote.
        found = output("lintian", "--info", "--fail-on", "none", "--display-info",
                       "--suppress-tags", "spelling-error-in-binary", self.deb, env=environment)
        self.assertEqual(re.findall(r"^[EWI]: .*", found, re.M), [])

    def test_tarball_has_what_it_should_and_runs(self):
        with tarfile.open(self.tarball) as archive:
            archive.extractall(self.folder / "tar")
        top, = (self.folder / "tar").iterdir()
        self.assertEqual(files(top), PROGRAM | PLAIN)
        self.runs(top)

    def test_the_manual_is_that_of_the_program(self):
        page = gzip.decompress((self.unpacked() / "share/man/man1/onbeat.1.gz").read_bytes()).decode()
        self.assertEqual(page, output(self.unpacked() / "bin/onbeat", "man"))


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
