#!/usr/bin/python3
"""HTTP/2 with real peers: nghttpd, nginx and the built-in target. ONBEAT names the binary."""

import contextlib
import pathlib
import socket
import subprocess
import unittest

import onbeat
from peers import Certificates, TlsNginx

H2 = ("--http-version", "2")


class Nghttpd:
    """Serves a folder with one file, /index.html; echoes what is sent to it."""

    def __init__(self, *options, certificates=None):
        self._folder = onbeat.folder()
        (pathlib.Path(self._folder.name) / "index.html").write_text("hello\n")
        secure = [str(certificates.path("server", "key")), str(certificates.path("server"))] if certificates else []
        port = onbeat.free_port()
        self.process = subprocess.Popen(
            ["nghttpd", "-a", "127.0.0.1", "-d", self._folder.name, *([] if secure else ["--no-tls"]), *options,
             str(port), *secure],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.url = f"{'https' if certificates else 'http'}://127.0.0.1:{port}/"
        onbeat.wait_until(lambda: self._listens(port))

    @staticmethod
    def _listens(port):
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return True
        return False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self._folder.cleanup()


class Http2(unittest.TestCase):
    def run_at(self, url, *words, code=0):
        document = onbeat.report(url, *words, "--allow-invalid", code=code)
        onbeat.books(self, document)
        return document

    def all_ok(self, document, count):
        self.assertEqual((document["counts"]["ok"], document["errors"]), (count, {}))


@onbeat.needs("nghttpd", "nghttp2-server")
class PriorKnowledge(Http2):
    def test_workers_share_the_connections(self):
        with Nghttpd() as peer:
            document = self.run_at(peer.url, *H2, "--connections", "4", "--streams", "5", "-n", "2000")
        self.all_ok(document, 2000)
        self.assertEqual(document["codes"], {"200": 2000})
        self.assertEqual(document["load"]["concurrency"], 20)
        connections = document["connections"]
        self.assertEqual((connections["opened"], connections["asked"], connections["open_peak"]), (4, 4, 4))
        self.assertEqual(connections["reused"], 1996)

    def test_concurrency_over_connections(self):
        with Nghttpd() as peer:
            document = self.run_at(peer.url, *H2, "-c", "30", "--connections", "3", "-n", "600")
            self.all_ok(document, 600)
            self.assertEqual(document["connections"]["opened"], 3)
            document = self.run_at(peer.url, *H2, "-c", "30", "--streams", "8", "-n", "600")
            self.all_ok(document, 600)
            self.assertEqual(document["connections"]["opened"], 4)

    def test_open_loads_open_what_they_need(self):
        with Nghttpd() as peer:
            document = self.run_at(peer.url, *H2, "--rate", "500", "-d", "1s")
        self.all_ok(document, 500)
        self.assertEqual(document["connections"]["opened"], 1)

    def test_bodies_templates_and_expectations(self):
        with Nghttpd("--echo-upload") as peer:
            document = self.run_at(peer.url, *H2, "--body", "n{{seq()}}" + "x" * 100_000, "--expect-body", "^n[0-9]+x+$",
                                   "-n", "50", "-c", "10")
        self.all_ok(document, 50)
        self.assertGreater(document["bytes"]["sent"], 50 * 100_000)
        self.assertGreater(document["bytes"]["received"], 50 * 100_000)

    def test_once_shows_the_exchange(self):
        with Nghttpd("--trailer=sum: 1") as peer:
            shown = onbeat.run("http", peer.url + "a%2Fb?q=%20", *H2, "--once", "-H", "Authorization: secret")
        for text in (":path: /a%2Fb?q=%20\n", ":authority: 127.0.0.1:", "< HTTP/2 404\n", "> accept: */*\n"):
            self.assertIn(text, shown.stdout)
        self.assertNotIn("secret", shown.stdout)

    def test_what_belongs_to_the_connection(self):
        with Nghttpd() as peer:
            done = onbeat.run("http", peer.url, *H2, "-n", "5", "-H", "Keep-Alive: 5", "-H", "Host: mine", "--allow-invalid")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("the header Keep-Alive is not sent in HTTP/2", done.stderr)
            shown = onbeat.run("http", peer.url, *H2, "--once", "-H", "Keep-Alive: 5", "-H", "Host: mine").stdout
        self.assertIn(":authority: mine\n", shown)
        self.assertNotIn("keep-alive", shown)
        self.assertNotIn("> host", shown)

    def test_requests_per_connection(self):
        with Nghttpd() as peer:
            document = self.run_at(peer.url, *H2, "-c", "4", "-n", "100", "--requests-per-connection", "10")
        self.all_ok(document, 100)
        self.assertEqual(document["connections"]["opened"], 10)

    def test_the_builtin_target(self):
        with onbeat.Target() as target:
            document = self.run_at(target.url, *H2, "--connections", "2", "--streams", "10", "-n", "1000")
        self.all_ok(document, 1000)

    def test_small_windows(self):
        with Nghttpd("--echo-upload") as peer:
            document = self.run_at(peer.url, *H2, "--window", "1KiB", "--connection-window", "64KiB", "--body",
                                   "x" * 30_000, "-n", "20", "-c", "4")
        self.all_ok(document, 20)

    def test_settings_are_told(self):
        told = []

        def take(connection):
            data = b""
            while len(data) < 33 or len(data) < 33 + int.from_bytes(data[24:27], "big"):  # the preface and a frame's head
                more = connection.recv(1000)
                if not more:
                    return
                data += more
            told.append(data)
        with onbeat.Server(take) as peer:
            onbeat.run("http", peer.url, *H2, "--header-table-size", "8KiB", "--window", "1MiB", "--max-frame-size", "32KiB",
                       "--max-header-list", "16KiB", "-n", "1", "-c", "1")
        self.assertTrue(told[0].startswith(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))
        self.assertEqual(told[0][27], 4)  # SETTINGS (RFC 9113, 6.5)
        entries = told[0][33:33 + int.from_bytes(told[0][24:27], "big")]
        self.assertEqual({int.from_bytes(entries[i:i + 2], "big"): int.from_bytes(entries[i + 2:i + 6], "big")
                          for i in range(0, len(entries), 6)}, {1: 8192, 2: 0, 4: 1 << 20, 5: 32768, 6: 16384})

    def test_the_largest_header_of_a_response(self):
        with onbeat.Target() as target:
            document = self.run_at(target.url, *H2, "--max-header-list", "20", "-n", "5", code=4)
            self.assertEqual(document["errors"], {"protocol": 5})
            self.all_ok(self.run_at(target.url, *H2, "--max-header-list", "2KiB", "-n", "5"), 5)

    def test_the_table_that_compresses_headers(self):
        words = (*H2, "-n", "50", "-c", "1", "-H", "X: " + "x" * 500)
        with onbeat.Target() as target:
            with_table, without = (self.run_at(target.url, *words, "--encoder-header-table-size", size)["bytes"]["sent"]
                                   for size in ("4KiB", "0"))
        # Huffman's code makes 7 bits of an "x". With the table it is sent once.
        self.assertGreater(without - with_table, 49 * 400)

    def test_a_server_of_http1(self):
        def refuse(connection):
            connection.recv(1000)
            connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            connection.recv(1000)
        with onbeat.Server(refuse) as peer:
            document = self.run_at(peer.url, *H2, "-n", "5", code=4)
        self.assertEqual(document["run"]["error"]["class"], "protocol")
        self.assertIn("does not speak HTTP/2", document["run"]["error"]["message"])


class Options(unittest.TestCase):
    def test_contradictions(self):
        for words, says in ((("--streams", "5"), "--streams: is for HTTP/2"),
                            ((*H2, "--pipeline", "5"), "--pipeline: is for HTTP/1.1"),
                            ((*H2, "--alpn", "h2"), "--alpn: is for HTTP/1.1"),
                            ((*H2, "--max-frame-size", "1KiB"), "--max-frame-size: must be 16384 to 16777215 bytes"),
                            (("--http-version", "3"), "--http-version")):
            with self.subTest(words=words):
                done = onbeat.run("http", "http://127.0.0.1:9/", *words)
                self.assertEqual(done.returncode, 2)
                self.assertIn(says, done.stderr)


@onbeat.needs("nginx", "nginx-light")
class OverTls(Http2):
    @classmethod
    def setUpClass(cls):
        folder = onbeat.folder()
        cls.addClassCleanup(folder.cleanup)
        cls.certificates = Certificates(folder.name)
        cls.ca = ("--cacert", str(cls.certificates.path("ca")))

    def nginx(self, server="", http2=True):
        return TlsNginx(self.certificates, server, protocol="http2" if http2 else "")

    def test_nginx(self):
        with self.nginx() as nginx:
            document = self.run_at(nginx.url, *self.ca, *H2, "--connections", "2", "--streams", "10", "-n", "400")
            log = nginx.log()
        self.all_ok(document, 400)
        self.assertEqual({row.alpn for row in log}, {"h2"})
        self.assertEqual(len(log), 400)
        self.assertEqual(len({row.connection for row in log}), 2)
        self.assertEqual({row.host for row in log}, {nginx.url.split("/")[2]})

    def test_nghttpd(self):
        with Nghttpd(certificates=self.certificates) as peer:
            document = self.run_at(peer.url, *self.ca, *H2, "-c", "10", "-n", "200")
        self.all_ok(document, 200)
        self.assertEqual(document["connections"]["opened"], 1)

    def test_auto_speaks_what_the_server_chooses(self):
        for http2, alpn in ((True, "h2"), (False, "http/1.1")):
            with self.subTest(http2=http2), self.nginx(http2=http2) as nginx:
                document = self.run_at(nginx.url, *self.ca, "--http-version", "auto", "-n", "100", "-c", "4")
                log = nginx.log()
                self.all_ok(document, 100)
                self.assertEqual({row.alpn for row in log}, {alpn})
                self.assertEqual(document["connections"]["opened"], 1 if http2 else 4)

    def test_a_server_that_does_not_agree(self):
        with self.nginx(http2=False) as nginx:
            document = self.run_at(nginx.url, *self.ca, *H2, "-n", "5", code=4)
        self.assertEqual(document["run"]["error"]["class"], "tls")

    def test_G1_connections_that_the_server_ends(self):
        """GOAWAY after 10 requests each: what comes too late goes to the next one."""
        with self.nginx("keepalive_requests 10;") as nginx:
            document = self.run_at(nginx.url, *self.ca, *H2, "-c", "8", "-n", "300")
            log = nginx.log()
        self.all_ok(document, 300)
        self.assertEqual(len(log), 300)
        self.assertGreaterEqual(document["connections"]["opened"], 30)
        self.assertEqual(document["connections"]["closed_by_peer"], document["connections"]["opened"])

    def test_G5_no_more_streams_than_allowed(self):
        with self.nginx("http2_max_concurrent_streams 3;") as nginx:
            document = self.run_at(nginx.url, *self.ca, *H2, "-c", "20", "-n", "400")
        self.all_ok(document, 400)
        self.assertEqual(document["connections"]["opened"], 1)

    def test_redirects(self):
        with self.nginx("location /from { return 302 /to; }") as nginx:
            document = self.run_at(nginx.url + "from", *self.ca, *H2, "-L", "-n", "50")
            log = nginx.log()
        self.assertEqual(document["codes"], {"200": 50})
        self.assertEqual(len(log), 100)


if __name__ == "__main__":
    unittest.main()
