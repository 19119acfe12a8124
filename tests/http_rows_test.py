#!/usr/bin/python3
"""HTTP/1.1 as a client of real peers and of faulty ones: rows H1 to H20. ONBEAT names the binary."""

import collections
import gzip
import pathlib
import socket
import time
import unittest

import onbeat
from peers import HttpPeer, Last, response


class Rows(unittest.TestCase):
    def run_at(self, peer, *words, path="", code=0):
        """A short closed run on one connection."""
        load = () if "-n" in words else ("-n", "20")
        workers = () if "-c" in words else ("-c", "1")
        document = onbeat.report(peer.url + path, *load, *workers, *words, "--allow-invalid", code=code)
        onbeat.books(self, document)
        return document

    def all_ok(self, document, peer, count=20, connections=1):
        self.assertEqual(document["counts"]["ok"], count)
        self.assertEqual(document["errors"], {})
        self.assertEqual(len(peer.requests), count)
        self.assertEqual(document["connections"]["opened"], connections)
        self.assertEqual(len({request.connection for request in peer.requests}), connections)


class Framing(Rows):
    CHUNKED = (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n"
               b"5;name=\"a;b\"\r\nhello\r\n6\r\n world\r\n0\r\nX-Sum: 11\r\nX-More: yes\r\n\r\n")

    def test_H1_chunks_and_trailer_fields(self):
        with HttpPeer(lambda _: self.CHUNKED) as peer:
            document = self.run_at(peer, "--expect-body", "^hello world$")
            self.all_ok(document, peer)
        self.assertEqual(document["bytes"]["received"], 20 * len(self.CHUNKED))

    def test_H2_bytes_that_belong_to_no_request(self):
        with HttpPeer(lambda _: response(b"whole") + b"more") as peer:
            document = self.run_at(peer)
            self.assertEqual(document["counts"]["ok"], 20)  # the responses count
            self.assertEqual(document["codes"], {"200": 20})
            self.assertEqual(document["errors"], {"excess_data": 20})
            self.assertEqual(document["connections"]["opened"], 20)  # none was used again
            self.assertEqual(len({request.connection for request in peer.requests}), 20)

    def test_H2_a_second_response_is_nobodys(self):
        with HttpPeer(lambda _: response(b"mine") + response(b"", "500 No")) as peer:
            document = self.run_at(peer)
        self.assertEqual((document["codes"], document["counts"]["ok"]), ({"200": 20}, 20))

    def test_H2_of_a_wrong_status(self):
        with HttpPeer(lambda _: response(b"", "500 No") + b"more") as peer:
            document = self.run_at(peer, code=4)
        self.assertEqual((document["codes"], document["counts"]["failed"]), ({"500": 20}, 20))
        self.assertEqual(document["connections"]["opened"], 20)

    def test_H3_interim_responses(self):
        interim = (b"HTTP/1.1 100 Continue\r\n\r\n"
                   b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n")
        with HttpPeer(lambda _: interim + response(b"final")) as peer:
            document = self.run_at(peer, "--expect-body", "^final$")
            self.all_ok(document, peer)
        self.assertEqual(document["codes"], {"200": 20})

    def test_H3_interim_responses_apart(self):
        def answer(_):
            def send(connection):
                for part in (b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 103 Early Hints\r\n\r\n", response(b"final")):
                    connection.sendall(part)
                    time.sleep(0.01)
            return send
        with HttpPeer(answer) as peer:
            self.all_ok(self.run_at(peer), peer)

    def test_H4_head(self):
        with HttpPeer(lambda _: b"HTTP/1.1 200 OK\r\nContent-Length: 357\r\n\r\n") as peer:
            document = self.run_at(peer, "-X", "HEAD", "--timeout", "2s")
            self.all_ok(document, peer)
            self.assertEqual({request.method for request in peer.requests}, {"HEAD"})

    def test_H4_head_and_get_of_the_same_bytes(self):
        # The header of both is the same; behind that of GET comes a body, later.
        def answer(request):
            def send(connection):
                connection.sendall(response(b"body")[:-4])
                if request.method == "GET":
                    time.sleep(0.02)
                    connection.sendall(b"body")
            return send
        with HttpPeer(answer) as peer, onbeat.folder() as folder:
            urls = pathlib.Path(folder) / "urls"
            urls.write_text(f"HEAD {peer.url}\n\nGET {peer.url}\n")
            document = onbeat.report("--urls", str(urls), "-n", "20", "-c", "1", "--allow-invalid")
            self.all_ok(document, peer)
            self.assertEqual(collections.Counter(r.method for r in peer.requests), {"HEAD": 10, "GET": 10})

    def test_H5_no_body_by_status(self):
        for status, field in (("204 No Content", "Content-Length: 7"), ("304 Not Modified", "Content-Length: 7"),
                              ("204 No Content", "Content-Encoding: gzip"),
                              ("304 Not Modified", "Content-Encoding: gzip"),
                              ("304 Not Modified", "Transfer-Encoding: chunked")):
            for words in ((), ("--decompress",)):
                with self.subTest(status=status, field=field, words=words):
                    head = f"HTTP/1.1 {status}\r\n{field}\r\n\r\n".encode()
                    with HttpPeer(lambda _, head=head: head) as peer:
                        self.all_ok(self.run_at(peer, "--timeout", "2s", *words), peer)

    def test_H6_a_body_that_ends_with_the_connection(self):
        with HttpPeer(lambda _: Last(b"HTTP/1.1 200 OK\r\n\r\nuntil the end")) as peer:
            document = self.run_at(peer, "--expect-body", "^until the end$")
            self.all_ok(document, peer, connections=20)
        self.assertEqual(document["connections"]["reopened"], 19)

    def test_H7_a_body_that_is_too_short(self):
        with HttpPeer(lambda _: Last(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\ntoo short")) as peer:
            document = self.run_at(peer, code=4)
        self.assertEqual((document["counts"]["ok"], document["errors"]), (0, {"short_body": 20}))

    def test_H7_chunks_without_an_end(self):
        with HttpPeer(lambda _: Last(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")) as peer:
            document = self.run_at(peer, code=4)
        self.assertEqual((document["counts"]["ok"], document["errors"]), (0, {"short_body": 20}))

    def test_H8_garbage(self):
        for garbage in (b"SSH-2.0-OpenSSH_9.2\r\n\r\n", b"\x15\x03\x01\x00\x02\x02\x46", b"HTTP/1.1 abc\r\n\r\n",
                        b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"):
            with self.subTest(garbage=garbage):
                with HttpPeer(lambda _, garbage=garbage: Last(garbage)) as peer:
                    document = self.run_at(peer, code=4)
                self.assertEqual(document["counts"]["failed"], 20)
                self.assertEqual(document["errors"], {"protocol": 20})

    def test_H20_one_byte_at_a_time(self):
        whole = self.CHUNKED

        def answer(_):
            def send(connection):
                for at in range(len(whole)):
                    connection.sendall(whole[at:at + 1])
                    time.sleep(0.0005)
            return send
        with HttpPeer(answer) as peer:
            document = self.run_at(peer, "-n", "5", "--expect-body", "^hello world$")
            self.all_ok(document, peer, 5)
        self.assertEqual(document["bytes"]["received"], 5 * len(whole))


class Keeping(Rows):
    def test_H9_a_connection_that_ends_while_idle(self):
        def answer(_):
            def send(connection):
                connection.sendall(response(b"ok"))
                time.sleep(0.01)
                connection.shutdown(socket.SHUT_RDWR)
            return send
        with HttpPeer(answer) as peer:
            document = onbeat.report(peer.url + "{{seq()}}", "--rate", "5", "-d", "2s", "-c", "1", "--allow-invalid")
            onbeat.books(self, document)
            self.all_ok(document, peer, 10, 10)
            # Each went out once.
            self.assertEqual(len({request.target for request in peer.requests}), 10)
        self.assertEqual(document["connections"]["reopened"], 9)
        self.assertLess(document["client_cost"]["cpu_seconds"], 0.2)

    def test_connections_that_the_peer_says_it_closes(self):
        with HttpPeer(lambda _: Last(response(b"ok", "200 OK", "Connection: close"))) as peer:
            document = self.run_at(peer)
            self.all_ok(document, peer, connections=20)
        self.assertEqual((document["connections"]["closed_by_peer"], document["connections"]["reset"]), (20, 0))

    def test_H10_close_amid_a_pipeline(self):
        # The fourth answer on each connection says that it is the last; what was sent behind it gets none.
        answered = collections.Counter()
        on_connection = collections.Counter()

        def answer(request):
            on_connection[request.connection] += 1
            answered[request.target] += 1
            if on_connection[request.connection] == 4:
                return Last(response(b"ok", "200 OK", "Connection: close"))
            return response(b"ok")
        with HttpPeer(answer) as peer:
            document = onbeat.report(peer.url + "{{seq()}}", "--pipeline", "8", "-c", "8", "-n", "80", "--allow-invalid",
                                     code=None)
        onbeat.books(self, document)
        counts, errors = document["counts"], document["errors"]
        self.assertEqual(counts["ok"] + counts["failed"], 80)
        self.assertLessEqual(set(errors), {"reset"})
        self.assertEqual(counts["ok"], sum(answered.values()))  # none lost
        self.assertEqual(max(answered.values()), 1)             # none doubled
        self.assertGreaterEqual(document["connections"]["opened"], 20)

    def test_H18_each_to_its_own_host(self):
        with HttpPeer() as one, HttpPeer() as other:
            document = onbeat.report(one.url + "one", other.url + "other", "-c", "2", "-n", "200", "--allow-invalid")
            onbeat.books(self, document)
            self.assertEqual(document["counts"]["ok"], 200)
            self.assertEqual({r.field("Host") for r in one.requests}, {one.authority})
            self.assertEqual({r.field("Host") for r in other.requests}, {other.authority})
            self.assertEqual({r.target for r in one.requests}, {"/one"})
            self.assertEqual({r.target for r in other.requests}, {"/other"})
            self.assertEqual(len(one.requests) + len(other.requests), 200)
            # Two workers, each with a connection of its own to each of them.
            self.assertEqual((one.accepted, other.accepted), (2, 2))
            self.assertEqual(document["connections"]["by_address"], {one.authority: 2, other.authority: 2})
            check = {check["name"]: check for check in document["verdict"]["checks"]}["connections"]
            self.assertEqual((check["status"], check["actual"]), ("ok", "4 (2 for each host) open"))

    def test_H19_100_of_1000(self):
        with onbeat.Target("--fault", "refuse:beyond=100") as target:
            document = onbeat.report(target.url, "--connections", "1000", "--rate", "200", "-d", "2s", code=None)
        onbeat.books(self, document)
        check = {check["name"]: check for check in document["verdict"]["checks"]}["connections"]
        # A few more are open for the moment until their reset arrives.
        self.assertRegex(check["actual"], r"^1[0-4]\d of 1,000 open$")
        self.assertEqual(check["status"], "degraded")
        self.assertIn(check["actual"], onbeat.reasons(document)["connections"]["message"])


class Sending(Rows):
    def test_H11_host_of_an_ipv6_literal(self):
        try:
            socket.create_server(("::1", 0), family=socket.AF_INET6).close()
        except OSError:
            self.skipTest("this host has no IPv6")
        with HttpPeer(host="::1") as peer:
            self.all_ok(self.run_at(peer), peer)
            self.assertEqual({r.field("Host") for r in peer.requests}, {f"[::1]:{peer.port}"})

    def test_H12_the_path_byte_for_byte(self):
        for path in ("a%2Fb?q=%20%7B", "a//b/../c/./d", "?x=1&y=%zz", "%C3%A4;p=1/'~$@!*()"):
            with self.subTest(path=path), HttpPeer() as peer:
                self.run_at(peer, path=path)
                self.assertEqual({r.target for r in peer.requests}, {"/" + path})

    def test_H13_the_users_own_host(self):
        with HttpPeer() as peer:
            self.run_at(peer, "-H", "host: other.example:81")
            self.assertEqual({r.field("Host") for r in peer.requests}, {"other.example:81"})


class Redirects(Rows):
    def answer(self, status, *fields):
        """That at /, and 200 elsewhere."""
        def result(request):
            return response(b"", status, *fields) if request.target == "/" else response(b"there")
        return result

    def test_H14_what_leads_nowhere_is_final(self):
        for status, fields in (("302 Found", ()), ("302 Found", ("Location: ",)),
                               ("300 Multiple Choices", ("Location: /other",)),
                               ("305 Use Proxy", ("Location: /other",)),
                               ("304 Not Modified", ("Location: /other",))):
            with self.subTest(status=status, fields=fields), HttpPeer(self.answer(status, *fields)) as peer:
                document = self.run_at(peer, "-L")
                self.all_ok(document, peer)
                self.assertEqual(document["codes"], {status[:3]: 20})

    def test_H15_307_and_308_repeat_method_and_body(self):
        for status in ("307 Temporary Redirect", "308 Permanent Redirect"):
            with self.subTest(status=status), HttpPeer(self.answer(status, "Location: /other?x=1")) as peer:
                document = self.run_at(peer, "-L", "-X", "PUT", "--body", "text", "-H", "Content-Type: a/b")
                self.assertEqual(document["codes"], {"200": 20})
                self.assertEqual(document["counts"]["ok"], 20)
                led = [r for r in peer.requests if r.target == "/other?x=1"]
                self.assertEqual(len(led), 20)
                self.assertEqual({(r.method, r.body, r.field("Content-Type")) for r in led}, {("PUT", b"text", "a/b")})

    def test_H15_303_becomes_get(self):
        for method in ("POST", "PUT"):
            with self.subTest(method=method), HttpPeer(self.answer("303 See Other", "Location: /other")) as peer:
                document = self.run_at(peer, "-L", "-X", method, "--body", "text", "-H", "Content-Type: a/b")
                self.assertEqual(document["codes"], {"200": 20})
                led = [r for r in peer.requests if r.target == "/other"]
                self.assertEqual({(r.method, r.body, r.field("Content-Type"), r.field("Content-Length")) for r in led},
                                 {("GET", b"", None, None)})

    def test_H15_301_and_302_after_post(self):
        for status in ("301 Moved Permanently", "302 Found"):
            with self.subTest(status=status), HttpPeer(self.answer(status, "Location: other")) as peer:
                self.run_at(peer, "-L", "--body", "text")
                self.assertEqual({(r.method, r.body) for r in peer.requests if r.target == "/other"}, {("GET", b"")})

    def test_head_stays_head(self):
        for status in ("301 Moved", "303 See"):
            with self.subTest(status=status), HttpPeer(self.answer(status, "Location: other")) as peer:
                self.run_at(peer, "-L", "-X", "HEAD")
                self.assertEqual({r.method for r in peer.requests if r.target == "/other"}, {"HEAD"})

    def test_off_by_default(self):
        with HttpPeer(self.answer("302 Found", "Location: /other")) as peer:
            document = self.run_at(peer)
            self.all_ok(document, peer)
        self.assertEqual(document["codes"], {"302": 20})

    def test_at_most_n(self):
        # Each leads one further on.
        with HttpPeer(lambda r: response(b"", "302 Found", f"Location: {r.target}x")) as peer:
            document = self.run_at(peer, "--redirects", "3", "-n", "1")
            self.assertEqual([r.target for r in peer.requests], ["/", "/x", "/xx", "/xxx"])
        self.assertEqual(document["codes"], {"302": 1})
        # All that was exchanged for it counts.
        self.assertEqual(document["bytes"]["received"],
                         sum(len(response(b"", "302 Found", f"Location: /{'x' * n}")) for n in range(1, 5)))
        self.assertEqual(document["bytes"]["sent"], sum(len(r.head) + 4 for r in peer.requests))
        with HttpPeer(lambda r: response(b"", "302 Found", f"Location: {r.target}x")) as peer:
            self.run_at(peer, "-L", "-n", "1")
            self.assertEqual(len(peer.requests), 11)

    def test_to_another_host_without_secrets(self):
        with HttpPeer() as other:
            with HttpPeer(lambda r: response(b"", "302 Found", f"Location: {other.url}there")) as peer:
                document = self.run_at(peer, "-L", "-u", "me:secret", "-H", "Cookie: a=b", "-H", "X-Kept: yes")
            onbeat.books(self, document)
            self.assertEqual(document["counts"]["ok"], 20)
            self.assertEqual({(r.target, r.field("Host"), r.field("Authorization"), r.field("Cookie"), r.field("X-Kept"))
                              for r in other.requests}, {("/there", other.authority, None, None, "yes")})
            self.assertEqual(other.accepted, 1)  # kept, as every other connection
            self.assertTrue(all(r.field("Authorization") for r in peer.requests))


class Decoding(Rows):
    TEXT = b"some text that is long enough to be worth it " * 50

    def test_H16_a_truncated_gzip_stream(self):
        # Every second answer; the run goes on, on another connection.
        whole = gzip.compress(self.TEXT)

        def answer(request):
            body = whole if request.number % 2 == 0 else whole[:-20]
            return response(body, "200 OK", "Content-Encoding: gzip")
        with HttpPeer(answer) as peer:
            document = self.run_at(peer, "--decompress")
            self.assertEqual(document["counts"]["ok"], 10)
            self.assertEqual(document["errors"], {"body": 10})
            self.assertEqual(document["connections"]["opened"], 10)
            by_connection = collections.Counter(r.connection for r in peer.requests)
            self.assertEqual(set(by_connection.values()), {2})

    def test_gzip_and_deflate(self):
        import zlib
        for coding, body in (("gzip", gzip.compress(self.TEXT)), ("x-gzip", gzip.compress(self.TEXT)),
                             ("deflate", zlib.compress(self.TEXT)), ("GZIP", gzip.compress(self.TEXT))):
            with self.subTest(coding=coding):
                answer = response(body, "200 OK", f"Content-Encoding: {coding}")
                with HttpPeer(lambda _, answer=answer: answer) as peer:
                    document = self.run_at(peer, "--decompress", "--expect-body", "^(some text[a-z ]*){50}$")
                    self.all_ok(document, peer)
                    self.assertEqual({r.field("Accept-Encoding") for r in peer.requests}, {"gzip, deflate"})

    def test_garbage_instead_of_gzip(self):
        with HttpPeer(lambda _: response(b"no gzip at all", "200 OK", "Content-Encoding: gzip")) as peer:
            document = self.run_at(peer, "--decompress", code=4)
        self.assertEqual(document["errors"], {"body": 20})

    def test_not_asked_for(self):
        with HttpPeer(lambda _: response(b"no gzip at all", "200 OK", "Content-Encoding: gzip")) as peer:
            self.all_ok(self.run_at(peer), peer)
            self.assertEqual({r.field("Accept-Encoding") for r in peer.requests}, {None})


class Breakdown(Rows):
    def test_first_byte_and_body_apart_only_where_they_are(self):
        with HttpPeer(lambda _: response(b"at once")) as peer:
            parts = self.run_at(peer)["breakdown"]
        self.assertEqual((parts["first_byte"]["count"], parts["body"]["count"], parts["tls"]["count"]), (20, 0, 0))

        def answer(request):
            def send(connection):
                whole = response(b"later")
                connection.sendall(whole[:-5])
                time.sleep(0.05)
                connection.sendall(whole[-5:])
            return send if request.number % 4 == 0 else response(b"at once")
        with HttpPeer(answer) as peer:
            parts = self.run_at(peer)["breakdown"]
        self.assertEqual((parts["first_byte"]["count"], parts["body"]["count"]), (20, 5))
        self.assertGreaterEqual(parts["body"]["min"], 45_000_000)
        self.assertLess(parts["first_byte"]["percentiles"]["50"] or parts["first_byte"]["mean"], 45_000_000)

    def test_connecting_only_where_it_took_place(self):
        with HttpPeer() as peer:
            parts = self.run_at(peer)["breakdown"]
            self.assertEqual(parts["connect"]["count"], 0)  # opened before the measured part
        with HttpPeer() as peer:
            parts = self.run_at(peer, "--no-keepalive")["breakdown"]
            self.assertEqual(parts["connect"]["count"], 19)

    def test_resolving_only_of_a_name(self):
        with HttpPeer() as peer:
            self.assertNotIn("dns", self.run_at(peer)["breakdown"])
            port = peer.authority.rsplit(":", 1)[1]
            document = onbeat.report(f"http://localhost:{port}/", "-n", "1", "-c", "1", "--allow-invalid")
            self.assertEqual(document["breakdown"]["dns"]["count"], 1)


if __name__ == "__main__":
    unittest.main()
