#!/usr/bin/python3
"""TLS: nginx and Python's ssl as peers, certificates made for the test. ONBEAT names the binary."""

import collections
import pathlib
import re
import socket
import ssl
import subprocess
import unittest

import onbeat
import peers
from peers import Certificates, HttpPeer, TlsNginx


@onbeat.needs("nginx", "nginx-light")
class Tls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = onbeat.folder()
        cls.addClassCleanup(folder.cleanup)
        cls.certificates = Certificates(folder.name)
        cls.ca = ("--cacert", str(cls.certificates.path("ca")))

    def file(self, name, ending="pem"):
        return str(self.certificates.path(name, ending))

    def run_at(self, peer, *words, code=0):
        load = () if "-n" in words else ("-n", "20")
        workers = () if "-c" in words else ("-c", "2")
        document = onbeat.report(peer.url, *load, *workers, *words, "--allow-invalid", code=code)
        onbeat.books(self, document)
        return document

    def fails(self, peer, *words, says, kind="tls"):
        """No connection comes about: the run ends with this class and these words."""
        document = self.run_at(peer, *words, code=4)
        self.assertEqual(document["run"]["error"]["class"], kind)
        self.assertRegex(document["run"]["error"]["message"], says)
        self.assertEqual(document["counts"]["started"], 0)


class Verifying(Tls):
    def test_cacert(self):
        with TlsNginx(self.certificates) as nginx:
            document = self.run_at(nginx, *self.ca)
            log = nginx.log()
        self.assertEqual((document["counts"]["ok"], document["errors"]), (20, {}))
        self.assertEqual(len(log), 20)
        self.assertEqual(len({row.connection for row in log}), 2)

    def test_without_it_the_certificate_is_not_trusted(self):
        with TlsNginx(self.certificates) as nginx:
            self.fails(nginx, says="certificate")
            self.fails(nginx, "--cacert", self.file("other"), says="certificate")
            self.assertEqual(nginx.log(), [])  # nothing was sent

    def test_insecure(self):
        for flag in ("--insecure", "-k"):
            with self.subTest(flag=flag), TlsNginx(self.certificates) as nginx:
                self.assertEqual(self.run_at(nginx, flag)["counts"]["ok"], 20)

    def test_the_name_is_verified(self):
        with TlsNginx(self.certificates) as nginx:
            self.fails(nginx, *self.ca, "--server-name", "elsewhere.test", says="(?i)name")
            self.fails(nginx, *self.ca, "--server-name", "127.0.0.2", says="(?i)address")
            self.assertEqual(self.run_at(nginx, *self.ca, "--server-name", "named.test")["counts"]["ok"], 20)
            self.assertEqual(self.run_at(nginx, "-k", "--server-name", "elsewhere.test")["counts"]["ok"], 20)

    def test_mutual(self):
        server = f"ssl_client_certificate {self.file('ca')}; ssl_verify_client on;"
        with TlsNginx(self.certificates, server) as nginx:
            document = self.run_at(nginx, *self.ca, code=4)
            self.assertEqual(document["counts"]["ok"], 0)
            for words in (("--cert", self.file("client"), "--key", self.file("client", "key")),
                          ("--cert", self.file("both"))):
                document = self.run_at(nginx, *self.ca, *words)
                self.assertEqual(document["counts"]["ok"], 20)
            rows = [row for row in nginx.log() if row.status == "200"]
        self.assertEqual([row.verified for row in rows], ["SUCCESS"] * 40)

    def test_files_that_do_not_fit(self):
        with TlsNginx(self.certificates) as nginx:
            for words, says in ((("--cacert", "/absent.pem"), "No such file"),
                                (("--cacert", self.file("ca", "key")), "no certificate"),
                                (("--cert", self.file("client"), "--key", self.file("server", "key")), "mismatch"),
                                (("--cert", self.file("client")), "no key in the certificate's file"), (("--ciphers", "NONSENSE"), "cipher")):
                with self.subTest(words=words):
                    result = onbeat.run("http", nginx.url, *words, "-n", "1")
                    self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
                    self.assertIn(words[-1], result.stderr)  # the file
                    self.assertIn(says, result.stderr)


class Choosing(Tls):
    def rows(self, *words, server="", n="20"):
        with TlsNginx(self.certificates, server) as nginx:
            document = self.run_at(nginx, *self.ca, "-n", n, *words)
            return document, nginx.log()

    def test_versions(self):
        for version, wanted in (("1.2", "TLSv1.2"), ("1.3", "TLSv1.3"), ("1.2-1.3", "TLSv1.3")):
            with self.subTest(version=version):
                _, log = self.rows("--tls-version", version)
                self.assertEqual({row.protocol for row in log}, {wanted})

    def test_a_version_that_the_server_does_not_know(self):
        context = self.certificates.server_context()
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        with HttpPeer(context=context) as peer:
            self.fails(peer, *self.ca, "--tls-version", "1.3", says="(?i)version|alert")
            self.assertEqual(self.run_at(peer, *self.ca)["counts"]["ok"], 20)

    def test_ciphers(self):
        for version, cipher in (("1.2", "ECDHE-ECDSA-AES256-GCM-SHA384"), ("1.2", "ECDHE-ECDSA-CHACHA20-POLY1305"),
                                ("1.3", "TLS_CHACHA20_POLY1305_SHA256"), ("1.3", "TLS_AES_128_GCM_SHA256")):
            with self.subTest(cipher=cipher):
                _, log = self.rows("--tls-version", version, "--ciphers", cipher)
                self.assertEqual({row.cipher for row in log}, {cipher})

    def test_alpn(self):
        _, log = self.rows()
        self.assertEqual({row.alpn for row in log}, {"http/1.1"})
        _, log = self.rows("--alpn", "http/1.0")
        self.assertEqual({row.alpn for row in log}, {"http/1.0"})

    def test_sessions_are_reused(self):
        for version in ("1.2", "1.3"):
            for server in ("", "ssl_session_tickets off;"):
                with self.subTest(version=version, server=server):
                    words = ("--tls-version", version, "--no-keepalive", "-c", "1")
                    document, log = self.rows(*words, server=server)
                    self.assertEqual(len({row.connection for row in log}), 20)
                    self.assertEqual([row.reused for row in log], [False] + [True] * 19)
                    _, log = self.rows(*words, "--new-session", server=server)
                    self.assertEqual([row.reused for row in log], [False] * 20)
                    self.assertEqual(document["breakdown"]["tls"]["count"], 19)

    def test_full_handshakes_take_their_time_in_the_breakdown(self):
        document, _ = self.rows("--no-keepalive", "--new-session", "-c", "1", n="50")
        parts = document["breakdown"]
        self.assertEqual((parts["connect"]["count"], parts["tls"]["count"]), (49, 49))
        # A handshake computes; a connect on loopback does not.
        self.assertGreater(parts["tls"]["mean"], 2 * parts["connect"]["mean"])
        response = document["latency"]["service"]["mean"]
        self.assertLess(parts["tls"]["mean"] + parts["connect"]["mean"], response)

    def test_kept_connections_shake_hands_once(self):
        document, log = self.rows("-c", "2", n="200")
        self.assertEqual(len({row.connection for row in log}), 2)
        self.assertEqual(document["connections"]["opened"], 2)
        self.assertEqual(document["breakdown"]["tls"]["count"], 0)  # before the measured part


class ServerName(Tls):
    """H17."""

    def names(self, url, *words):
        """What arrived as SNI, by handshake, and in Host."""
        names = []
        context = self.certificates.server_context()
        context.sni_callback = lambda _, name, __: names.append(name)
        with HttpPeer(context=context) as peer:
            document = onbeat.report(url.format(port=peer.port), *self.ca, *words, "-n", "4", "-c", "2",
                                     "--allow-invalid")
            self.assertEqual(document["counts"]["ok"], 4)
            return set(names), {request.field("Host") for request in peer.requests}, peer.port

    def test_H17_a_name_without_its_port(self):
        names, hosts, port = self.names("https://localhost:{port}/")
        self.assertEqual(names, {"localhost"})
        self.assertEqual(hosts, {f"localhost:{port}"})

    def test_H17_none_for_an_ip_literal(self):
        names, _, _ = self.names("https://127.0.0.1:{port}/")
        self.assertEqual(names, {None})

    def test_H17_the_override(self):
        names, hosts, port = self.names("https://127.0.0.1:{port}/", "--server-name", "named.test")
        self.assertEqual(names, {"named.test"})
        self.assertEqual(hosts, {f"127.0.0.1:{port}"})

    def test_H17_none_for_an_ipv6_literal(self):
        try:
            socket.create_server(("::1", 0), family=socket.AF_INET6).close()
        except OSError:
            self.skipTest("this host has no IPv6")
        names, context = [], self.certificates.server_context()
        context.sni_callback = lambda _, name, __: names.append(name)
        with HttpPeer(context=context, host="::1") as peer:
            document = onbeat.report(peer.url, *self.ca, "-n", "4", "-c", "1", "--allow-invalid")
        self.assertEqual((document["counts"]["ok"], names), (4, [None]))

    def test_H17_two_hosts_each_its_own_name(self):
        contexts, names = [], collections.defaultdict(set)
        for key in ("one", "other"):
            context = self.certificates.server_context()
            context.sni_callback = lambda _, name, __, key=key: names[key].add(name)
            contexts.append(context)
        with HttpPeer(context=contexts[0]) as one, HttpPeer(context=contexts[1]) as other:
            document = onbeat.report(f"https://localhost:{one.port}/", f"https://named.test:{other.port}/",
                                     "--resolve", f"named.test:{other.port}:127.0.0.1",
                                     "--resolve", f"localhost:{one.port}:127.0.0.1", *self.ca, "-n", "40", "-c", "1",
                                     "--allow-invalid")
        self.assertEqual(document["counts"]["ok"], 40)
        self.assertEqual(names, {"one": {"localhost"}, "other": {"named.test"}})


class Failing(Tls):
    def test_a_server_that_speaks_no_tls(self):
        with onbeat.Server(lambda c: (c.recv(1000), c.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n"), c.recv(9))) as peer:
            peer.url = peer.url.replace("http:", "https:")
            self.fails(peer, *self.ca, says="version|record")

    def test_plain_http_to_a_server_with_tls(self):
        with TlsNginx(self.certificates) as nginx:
            nginx.url = nginx.url.replace("https:", "http:")
            document = self.run_at(nginx, code=4)
        self.assertEqual(document["codes"], {"400": 20})

    def test_a_connection_that_ends_in_the_handshake(self):
        with onbeat.Server(lambda connection: (connection.recv(1000), connection.close())) as peer:
            peer.url = peer.url.replace("http:", "https:")
            self.fails(peer, *self.ca, says="handshake.*(closed the connection|reset)")

    def test_in_the_course_of_a_run(self):
        # The certificate is shown to the first three; what comes later fails with its class.
        context, other = self.certificates.server_context(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        other.load_cert_chain(self.file("other"), self.file("other", "key"))
        shaken = []

        def choose(connection, *_):
            shaken.append(connection)
            if len(shaken) > 3:
                connection.context = other
        context.sni_callback = choose
        with HttpPeer(context=context) as peer:
            document = self.run_at(peer, *self.ca, "--no-keepalive", "--new-session", "-c", "1", "-n", "6")
        self.assertEqual((document["counts"]["ok"], document["errors"]), (3, {"tls": 3}))

    def test_a_server_that_says_nothing(self):
        with onbeat.Server(wait_for_the_end) as peer:
            peer.url = peer.url.replace("http:", "https:")
            self.fails(peer, *self.ca, "-c", "1", "--connect-timeout", "200ms", says="in time", kind="connect_timeout")

    def test_a_body_that_is_cut_off_is_short(self):
        # Whether or not TLS was ended in order.
        short = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort"

        def in_order(connection):
            connection.sendall(short)
            connection.unwrap()
        for answer in (peers.Last(short), in_order):
            with HttpPeer(lambda _, answer=answer: answer, context=self.certificates.server_context()) as peer:
                document = self.run_at(peer, *self.ca, code=4)
            self.assertEqual((document["counts"]["ok"], document["errors"]), (0, {"short_body": 20}))

    def test_a_body_that_ends_with_the_connection(self):
        answer = peers.Last(b"HTTP/1.1 200 OK\r\n\r\nuntil the end")
        with HttpPeer(lambda _: answer, context=self.certificates.server_context()) as peer:
            document = self.run_at(peer, *self.ca, "-c", "1")
        self.assertEqual((document["counts"]["ok"], document["errors"]), (20, {}))

    def test_bodies_of_any_size(self):
        for size in (0, 1, 16_383, 16_384, 16_385, 1_000_000):
            with self.subTest(size=size):
                with HttpPeer(lambda r: peers.response(b"x" * size),
                              context=self.certificates.server_context()) as peer:
                    document = self.run_at(peer, *self.ca, "--body", "y" * (size // 10))
                    self.assertEqual((document["counts"]["ok"], document["errors"]), (20, {}))
                    self.assertEqual({request.body for request in peer.requests}, {b"y" * (size // 10)})
                    self.assertEqual(peer.accepted, 2)

    def test_once(self):
        with TlsNginx(self.certificates) as nginx:
            result = onbeat.run("http", nginx.url, *self.ca, "--once")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("hello", result.stdout)
            self.assertEqual(onbeat.run("http", nginx.url, "--once").returncode, 4)


def wait_for_the_end(connection):
    """Reads until the peer goes."""
    while connection.recv(65536):
        pass


@onbeat.needs("nginx", "nginx-light")
class MeasuredMemory(Tls):
    """What an idle connection costs: printed, and held to a limit."""

    CONNECTIONS, LIMIT = 1000, 28 << 10  # the goal is 24 KiB; a buffer that is not given back has 16

    def resident(self, url, connections):
        """Bytes of a run that has sent its first request over one of them."""
        process = onbeat.start("http", url, "-k", "--connections", str(connections), "--rate", "1", "-d", "30s",
                               "--threads", "1", "--quiet", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            log = self.nginx.folder / "access.log"
            onbeat.wait_until(lambda: log.read_text().count("\n") > self.seen, 30)
            self.seen = log.read_text().count("\n")
            status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        finally:
            process.kill()
            process.wait()
        return int(re.search(r"VmRSS:\s+(\d+) kB", status).group(1)) << 10

    def test_bytes_per_idle_connection(self):
        self.seen = 0
        with TlsNginx(self.certificates) as self.nginx:
            few = self.resident(self.nginx.url, 10)
            many = self.resident(self.nginx.url, 10 + self.CONNECTIONS)
        each = (many - few) / self.CONNECTIONS
        print(f"an idle TLS connection: {each / 1024:.1f} KiB")
        self.assertLess(each, self.LIMIT)


if __name__ == "__main__":
    unittest.main()
