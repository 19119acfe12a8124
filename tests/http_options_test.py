#!/usr/bin/python3
"""Every option of HTTP from the command line to the wire, against peers that keep what they are sent. ONBEAT names the
binary."""

import collections
import json
import os
import pathlib
import re
import shlex
import time
import unittest
import uuid

import onbeat
from peers import Certificates, HttpPeer, Last, Proxy, UnixPeer, basic, response


class Options(unittest.TestCase):
    def run_at(self, url, *words, code=0, **options):
        load = () if "-n" in words or "--rate" in words else ("-n", "10")
        workers = () if "-c" in words else ("-c", "1")
        document = onbeat.report(*([url] if url else []), *load, *workers, *words, "--allow-invalid", code=code, **options)
        onbeat.books(self, document)
        return document

    def sent(self, *words, answer=None, **options):
        """The one request that arrives with these options."""
        with HttpPeer(answer or (lambda _: response(b"ok"))) as peer:
            self.run_at(peer.url, "-n", "1", *words, **options)
            self.assertEqual(len(peer.requests), 1)
            return peer.requests[0]


class WhatIsSent(Options):
    def test_plain(self):
        request = self.sent()
        self.assertEqual(request.line, "GET / HTTP/1.1")
        self.assertEqual({name for name, _ in request.fields}, {"Host", "User-Agent", "Accept"})
        self.assertEqual(request.body, b"")

    def test_user(self):
        for flag in ("--user", "-u"):
            request = self.sent(flag, "näme:pass:word")
            self.assertEqual(request.field("Authorization"), basic("näme:pass:word"))

    def test_user_in_the_url(self):
        with HttpPeer() as peer:
            self.run_at(peer.url.replace("//", "//me:a%40b@"), "-n", "1")
            self.assertEqual(peer.requests[0].field("Authorization"), basic("me:a@b"))
            self.assertEqual(peer.requests[0].field("Host"), peer.authority)

    def test_the_users_own_authorization_wins(self):
        request = self.sent("-u", "me:x", "-H", "Authorization: Bearer y")
        self.assertEqual(request.field("Authorization"), "Bearer y")

    def test_user_agent(self):
        for flag in ("--user-agent", "-A"):
            self.assertEqual(self.sent(flag, "me/1.0").field("User-Agent"), "me/1.0")

    def test_method_and_headers(self):
        request = self.sent("-X", "PATCH", "-H", "A: 1", "-H", "A: 2", "-H", "Accept: x/y", "-H", "Empty:")
        self.assertEqual((request.method, request.all("A"), request.field("Accept")), ("PATCH", ["1", "2"], "x/y"))

    def test_headers_from_environment_and_file(self):
        with onbeat.folder() as folder:
            path = pathlib.Path(folder) / "headers"
            path.write_text("One: 1\nTwo: 2\n")
            request = self.sent("-H", "Token: $SECRET_TOKEN", "-H", f"@{path}", env={**os.environ, "SECRET_TOKEN": "t0k"})
        self.assertEqual([request.field(name) for name in ("Token", "One", "Two")], ["t0k", "1", "2"])

    def test_body(self):
        request = self.sent("--body", "a=b")
        self.assertEqual((request.method, request.body, request.field("Content-Length")), ("POST", b"a=b", "3"))

    def test_json_body(self):
        request = self.sent("--json-body", '{"a": [1, 2]}')
        self.assertEqual((request.method, request.body), ("POST", b'{"a": [1, 2]}'))
        self.assertEqual(request.field("Content-Type"), "application/json")
        self.assertEqual(request.field("Accept"), "application/json")

    def test_form(self):
        with onbeat.folder() as folder:
            path = pathlib.Path(folder) / "picture.bin"
            path.write_bytes(bytes(range(256)))
            request = self.sent("--form", "name=Ann B", "--form", f"file=@{path};type=image/x", "--form", f"text=<{path}")
        kind = request.field("Content-Type")
        boundary = re.fullmatch(r'multipart/form-data; boundary="?([^"]+)"?', kind).group(1).encode()
        first, *parts, last = request.body.split(b"--" + boundary)
        self.assertEqual((first, last, len(parts)), (b"", b"--\r\n", 3))
        heads, bodies = zip(*(part.strip(b"\r\n").split(b"\r\n\r\n", 1) if number == 0 else part[2:-2].split(b"\r\n\r\n", 1)
                              for number, part in enumerate(parts)))
        self.assertEqual(bodies, (b"Ann B", bytes(range(256)), bytes(range(256))))
        self.assertIn(b'name="name"', heads[0])
        self.assertIn(b'name="file"; filename="picture.bin"', heads[1])
        self.assertIn(b"Content-Type: image/x", heads[1])
        self.assertIn(b'name="text"', heads[2])
        self.assertNotIn(b"filename", heads[2])

    def test_body_from_a_file_and_from_standard_input(self):
        with onbeat.folder() as folder:
            path = pathlib.Path(folder) / "body"
            path.write_bytes(bytes(range(256)) * 300)
            self.assertEqual(self.sent("--body-file", str(path)).body, path.read_bytes())
            with path.open() as stream:
                self.assertEqual(self.sent("--body-file", "-", stdin=stream).body, path.read_bytes())

    def test_decompress_is_asked_for(self):
        self.assertEqual(self.sent("--decompress").field("Accept-Encoding"), "gzip, deflate")
        self.assertEqual(self.sent("--decompress", "-H", "Accept-Encoding: br").field("Accept-Encoding"), "br")


class Endpoints(Options):
    def test_weights(self):
        with HttpPeer() as peer:
            document = self.run_at(f"3={peer.url}a", f"{peer.url}b", "-n", "400")
            seen = collections.Counter(request.target for request in peer.requests)
        self.assertEqual(sum(seen.values()), 400)
        self.assertLess(abs(seen["/a"] - 300), 45)  # five deviations of a drawn share
        rows = {row["name"]: row["counts"]["started"] for row in document["endpoints"]}
        self.assertEqual(sorted(rows.values()), sorted(seen.values()))

    def write(self, folder, name, text):
        path = pathlib.Path(folder) / name
        path.write_text(text)
        return str(path)

    def targets(self, path, peer, *words, **options):
        self.run_at(None, "--urls", path, "-n", "60", *words, **options)
        return {(r.method, r.target, r.field("X"), r.body) for r in peer.requests}

    def test_a_file_of_urls(self):
        with HttpPeer() as peer, onbeat.folder() as folder:
            path = self.write(folder, "urls", f"{peer.url}a\n{peer.url}b\n")
            self.assertEqual(self.targets(path, peer), {("GET", "/a", None, b""), ("GET", "/b", None, b"")})

    def test_a_file_of_blocks(self):
        with HttpPeer() as peer, onbeat.folder() as folder:
            body = self.write(folder, "body", "content")
            path = self.write(folder, "urls", f"GET {peer.url}a\nX: 1\n\nPUT 2={peer.url}b\nX: 2\n@{body}\n")
            self.assertEqual(self.targets(path, peer), {("GET", "/a", "1", b""), ("PUT", "/b", "2", b"content")})
            with open(path, encoding="utf-8") as stream:
                peer.requests.clear()
                self.assertEqual(len(self.targets("-", peer, stdin=stream)), 2)

    def test_a_file_of_json_lines(self):
        with HttpPeer() as peer, onbeat.folder() as folder:
            path = self.write(folder, "urls.jsonl", "\n".join(json.dumps(line) for line in (
                {"url": peer.url + "a", "header": {"X": "1"}, "name": "first", "weight": 2},
                {"url": peer.url + "b", "method": "PUT", "body_text": "content"},
                {"url": peer.url + "c", "method": "POST", "body": "Y29udGVudA=="})) + "\n")
            document = self.run_at(None, "--urls", path, "-n", "60")
            self.assertEqual({(r.method, r.target, r.field("X"), r.body) for r in peer.requests},
                             {("GET", "/a", "1", b""), ("PUT", "/b", None, b"content"),
                              ("POST", "/c", None, b"content")})
            self.assertIn("first", {row["name"] for row in document["endpoints"]})

    def test_curl(self):
        with HttpPeer() as peer:
            self.run_at(None, "--curl", f"curl -X PUT '{peer.url}a?b=c' -H 'X: y z' -u me:pw -A agent --data-raw '{{\"a\": 1}}'",
                        "-n", "1")
            request = peer.requests[0]
        self.assertEqual((request.method, request.target, request.field("X"), request.body, request.field("User-Agent"),
                          request.field("Authorization")),
                         ("PUT", "/a?b=c", "y z", b'{"a": 1}', "agent", basic("me:pw")))

    @onbeat.needs("curl", "curl")
    def test_print_curl_is_the_same_request(self):
        words = ("-X", "PUT", "-H", "X: it's \"quoted\" $HOME", "--body", "line\nö'\"\\", "-u", "me:p'w", "-A", "agent")
        with HttpPeer() as peer:
            printed = onbeat.run("http", peer.url + "a%20b?c=d", *words, "--print-curl",
                                 env={**os.environ, "HOME": "/home/me"})
            self.assertEqual(printed.returncode, 0, printed.stderr)
            self.assertEqual(peer.accepted, 0)
            command = printed.stdout.strip()
            self.assertEqual(shlex.split(command)[0], "curl")
            import subprocess
            subprocess.run([*shlex.split(command), "-s", "--noproxy", "*"], check=True, capture_output=True, timeout=20)
            self.run_at(peer.url + "a%20b?c=d", *words, "-n", "1", env={**os.environ, "HOME": "/home/me"})
            self.run_at(None, "--curl", command, "-n", "1")
            def of(request):
                return (request.line, request.body, *(request.field(name) for name in (
                    "Host", "X", "User-Agent", "Authorization", "Content-Length", "Content-Type")))
            by_curl, direct, again = map(of, peer.requests)
        self.assertEqual(by_curl[:-1], direct[:-1])  # curl adds a Content-Type of its own to a body unless told
        self.assertEqual(again, direct)

    def test_print_curl_says_what_it_leaves_out(self):
        printed = onbeat.run("http", "https://h/{{seq()}}", "http://h/b", "--print-curl", "--server-name", "x",
                             "--expect-status", "200")
        self.assertEqual((printed.returncode, printed.stdout.count("\n")), (0, 2), printed.stderr)
        for left_out in ("the first of 2 requests", "templates stand as they are written",
                         "curl has nothing like --server-name", "curl has nothing like --expect-status"):
            self.assertIn(left_out, printed.stderr)


class Connections(Options):
    def test_connect_timeout(self):
        # A backlog that is full: the kernel does not answer a further SYN.
        import socket
        with socket.socket() as full:
            full.bind(("127.0.0.1", 0))
            full.listen(0)
            port = full.getsockname()[1]
            fillers = []
            for _ in range(3):
                filler = socket.socket()
                filler.setblocking(False)
                filler.connect_ex(("127.0.0.1", port))
                fillers.append(filler)
            began = time.monotonic()
            document = onbeat.report(f"http://127.0.0.1:{port}/", "--connect-timeout", "300ms", "-n", "1", "-c", "1", code=4)
            took = time.monotonic() - began
            for filler in fillers:
                filler.close()
        self.assertEqual(document["run"]["error"]["class"], "connect_timeout")
        self.assertTrue(0.3 <= took < 4, took)

    def test_no_keepalive(self):
        with HttpPeer() as peer:
            document = self.run_at(peer.url, "--no-keepalive")
            self.assertEqual(document["counts"]["ok"], 10)
            self.assertEqual(len({r.connection for r in peer.requests}), 10)
            self.assertEqual({r.field("Connection") for r in peer.requests}, {"close"})

    def test_requests_per_connection(self):
        with HttpPeer() as peer:
            document = self.run_at(peer.url, "--requests-per-connection", "4")
            seen = collections.Counter(r.connection for r in peer.requests)
        self.assertEqual((document["counts"]["ok"], document["errors"]), (10, {}))
        self.assertEqual(sorted(seen.values()), [2, 4, 4])

    def test_pipeline(self):
        # No answer before four requests are there.
        held = []

        def answer(request):
            held.append(request)
            return response(b"ok") * 4 if len(held) % 4 == 0 else b""
        with HttpPeer(answer) as peer:
            document = self.run_at(peer.url, "--pipeline", "4", "-c", "4", "-n", "40", "--timeout", "5s")
            self.assertEqual((document["counts"]["ok"], document["errors"]), (40, {}))
            self.assertEqual(len({r.connection for r in peer.requests}), 1)

    def test_connect_to(self):
        with HttpPeer() as peer:
            # The first that fits both host and port holds.
            self.run_at("http://example.test:81/", "--connect-to", "example.test:80:127.0.0.1:1", "--connect-to",
                        "other.test:81:127.0.0.1:1", "--connect-to", f"example.test:81:127.0.0.1:{peer.port}")
            self.assertEqual({r.field("Host") for r in peer.requests}, {"example.test:81"})
            self.assertEqual(len(peer.requests), 10)

    def test_resolve(self):
        with HttpPeer() as peer:
            document = self.run_at(f"http://example.test:{peer.port}/", "--resolve", f"example.test:{peer.port}:127.0.0.1")
            self.assertEqual({r.field("Host") for r in peer.requests}, {f"example.test:{peer.port}"})
        self.assertEqual(document["connections"]["by_address"], {peer.authority: 1})

    def test_resolve_to_several_addresses(self):
        with HttpPeer(host="0.0.0.0") as peer:
            document = self.run_at(f"http://example.test:{peer.port}/", "-c", "4", "--resolve",
                                   f"example.test:{peer.port}:127.0.0.1,127.0.0.2")
        self.assertEqual(document["connections"]["by_address"],
                         {f"127.0.0.1:{peer.port}": 2, f"127.0.0.2:{peer.port}": 2})

    def test_unix_socket(self):
        with onbeat.folder() as folder:
            path = str(pathlib.Path(folder) / "socket")
            with UnixPeer(path) as peer:
                document = self.run_at("http://somewhere.test/a", "--unix-socket", path)
                self.assertEqual({(r.target, r.field("Host")) for r in peer.requests}, {("/a", "somewhere.test")})
                self.assertEqual(document["counts"]["ok"], 10)

    def test_source_ip(self):
        with HttpPeer() as peer:
            self.run_at(peer.url, "--source-ip", "127.0.0.3")
            self.assertEqual({c.getpeername()[0] for c in peer.connections if c.fileno() >= 0} or {"127.0.0.3"}, {"127.0.0.3"})
        sources = set()

        def look(connection):
            sources.add(connection.getpeername()[0])
            while onbeat.read_request(connection):
                connection.sendall(response(b"ok"))
        with onbeat.Server(look) as server:
            self.run_at(server.url, "--source-ip", "127.0.0.3")
        self.assertEqual(sources, {"127.0.0.3"})


class Proxies(Options):
    def test_http(self):
        with HttpPeer() as peer, Proxy() as proxy:
            for flag in ("--proxy", "-x"):
                proxy.requests.clear()
                self.run_at(peer.url + "a?b", flag, proxy.url.replace("//", "//me:pw@"))
                self.assertEqual(peer.accepted, 0)
                self.assertEqual({(r.line, r.field("Host"), r.field("Proxy-Authorization"), r.field("Authorization"))
                                  for r in proxy.requests},
                                 {(f"GET {peer.url}a?b HTTP/1.1", peer.authority, basic("me:pw"), None)})

    def test_redirects(self):
        # What follows a redirect goes through the proxy as well; past it, to https, the proxy's password does not go.
        with onbeat.folder() as folder:
            certificates = Certificates(folder)
            with HttpPeer(context=certificates.server_context()) as secure, Proxy() as proxy:
                proxy.redirect = f"https://localhost:{secure.port}/there"
                self.run_at("http://example.test/a", "-L", "-n", "3", "-x", proxy.url.replace("//", "//me:pw@"),
                            "--cacert", str(certificates.path("ca")))
                self.assertEqual({(r.line, r.field("Proxy-Authorization")) for r in secure.requests},
                                 {("GET /there HTTP/1.1", None)})
                self.assertEqual({r.field("Proxy-Authorization") for r in proxy.requests}, {basic("me:pw")})
                proxy.requests.clear()
                proxy.redirect = "/there"
                self.run_at("http://example.test/a", "--redirects", "1", "-n", "1", "-x",
                            proxy.url.replace("//", "//me:pw@"))
                self.assertEqual([(r.line, r.field("Proxy-Authorization")) for r in proxy.requests],
                                 [("GET http://example.test/a HTTP/1.1", basic("me:pw")),
                                  ("GET http://example.test/there HTTP/1.1", basic("me:pw"))])

    def test_https_through_a_tunnel(self):
        with onbeat.folder() as folder:
            certificates = Certificates(folder)
            with HttpPeer(context=certificates.server_context()) as peer, Proxy() as proxy:
                document = self.run_at(f"https://localhost:{peer.port}/a", "-c", "2", "-u", "you:secret",
                                       "--cacert", str(certificates.path("ca")), "-x", proxy.url.replace("//", "//me:pw@"))
                self.assertEqual((document["counts"]["ok"], document["errors"]), (10, {}))
                self.assertEqual([r.line for r in proxy.requests], [f"CONNECT localhost:{peer.port} HTTP/1.1"] * 2)
                # Each side sees its own credentials alone.
                self.assertEqual({(r.field("Proxy-Authorization"), r.field("Authorization")) for r in proxy.requests},
                                 {(basic("me:pw"), None)})
                self.assertEqual({(r.target, r.field("Proxy-Authorization"), r.field("Authorization"))
                                  for r in peer.requests}, {("/a", None, basic("you:secret"))})

    def test_a_proxy_that_refuses(self):
        with Proxy("407 Proxy Authentication Required") as proxy:
            document = onbeat.report("https://localhost:1/", "-x", proxy.url, "-n", "2", code=4)
        self.assertEqual(document["run"]["error"]["class"], "proxy")
        self.assertIn("407", document["run"]["error"]["message"])

    def test_the_environment_does_not_count(self):
        with HttpPeer() as peer:
            self.run_at(peer.url, env={**os.environ, "http_proxy": "http://127.0.0.1:1", "HTTP_PROXY": "http://127.0.0.1:1"})
            self.assertEqual(len(peer.requests), 10)


class Expecting(Options):
    def verdict(self, answer, *words):
        with HttpPeer(lambda _: answer) as peer:
            document = self.run_at(peer.url, *words, code=None)
            self.assertEqual(peer.accepted, 1)
        return document["counts"]["ok"], document["errors"]

    def test_status(self):
        self.assertEqual(self.verdict(response(b"", "404 No"), "--expect-status", "404"), (10, {}))
        self.assertEqual(self.verdict(response(b"", "204 No"), "--expect-status", "200-204,404"), (10, {}))
        self.assertEqual(self.verdict(response(b"", "200 OK"), "--expect-status", "3xx"), (0, {"status": 10}))
        self.assertEqual(self.verdict(response(b"", "500 No")), (0, {"status": 10}))

    def test_header(self):
        answer = response(b"", "200 OK", "X-Cache: HIT from a")
        self.assertEqual(self.verdict(answer, "--expect-header", "x-cache"), (10, {}))
        self.assertEqual(self.verdict(answer, "--expect-header", "x-cache: ^HIT"), (10, {}))
        self.assertEqual(self.verdict(answer, "--expect-header", "x-cache: ^MISS"), (0, {"expectation": 10}))
        self.assertEqual(self.verdict(answer, "--expect-header", "x-cache", "--expect-header", "absent"),
                         (0, {"expectation": 10}))

    def test_body(self):
        answer = response(b'{"status": "done"}\n')
        self.assertEqual(self.verdict(answer, "--expect-body", '"status": *"done"'), (10, {}))
        self.assertEqual(self.verdict(answer, "--expect-body", "failed"), (0, {"expectation": 10}))
        chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\ndon\r\n1\r\ne\r\n0\r\n\r\n"
        self.assertEqual(self.verdict(chunked, "--expect-body", "^done$"), (10, {}))

    def test_of_a_single_request(self):
        with HttpPeer(lambda _: response(b"done", "200 OK", "X: y")) as peer:
            for words, code in ((("--expect-body", "done", "--expect-header", "x: y"), 0), (("--expect-body", "failed"), 4),
                                (("--expect-header", "x: z"), 4), (("--expect-status", "404"), 4)):
                result = onbeat.run("http", peer.url, "--once", *words)
                self.assertEqual(result.returncode, code, (words, result.stderr))
                if words[0] != "--expect-status":
                    self.assertEqual("error: expectation" in result.stderr, code == 4)

    def test_a_pattern_that_is_none(self):
        result = onbeat.run("http", "http://127.0.0.1:1/", "--expect-body", "(")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--expect-body", result.stderr)


class Sources(Options):
    def test_config_with_endpoints(self):
        with HttpPeer() as peer, onbeat.folder() as folder:
            path = pathlib.Path(folder) / "load.yaml"
            path.write_text(f"""
requests: 200
concurrency: 2
header: {{X-All: yes, X: all}}
threshold: [error_rate < 1%]
endpoints:
  - name: reading
    weight: 3
    url: {peer.url}a
  - name: writing
    url: {peer.url}b
    method: PUT
    header: {{X: own}}
    body: text
    threshold: ['error_rate < 2%']
""")
            document = onbeat.report("--config", str(path), "--allow-invalid")
            onbeat.books(self, document)
            self.assertEqual({(r.method, r.target, r.field("X"), r.body, r.field("X-All")) for r in peer.requests},
                             {("GET", "/a", "all", b"", "yes"), ("PUT", "/b", "own", b"text", "yes")})
            rows = {row["name"]: row["counts"]["started"] for row in document["endpoints"]}
            self.assertEqual(set(rows), {"reading", "writing"})
            self.assertGreater(rows["reading"], rows["writing"])
            self.assertEqual(len(document["thresholds"]), 2)
            # C1: a flag comes first, and the report says where a value is from.
            document = onbeat.report("--config", str(path), "-n", "20", "--allow-invalid")
            self.assertEqual(document["counts"]["planned"], 20)
            self.assertEqual(document["options"]["requests"], {"value": "20", "source": "cli"})
            self.assertEqual(document["options"]["concurrency"], {"value": "2", "source": "file"})

    def test_C1_what_a_config_file_cannot_say(self):
        with onbeat.folder() as folder:
            path = pathlib.Path(folder) / "load.yaml"
            for text, says in (("reqests: 5\n", "requests"), ("requests: many\n", "requests"),
                               ("endpoints: [{url: 'http://a/', wieght: 3}]\n", "weight"), ("a: [\n", "load.yaml")):
                path.write_text(text)
                result = onbeat.run("http", "http://127.0.0.1:1/", "--config", str(path))
                self.assertEqual(result.returncode, 2, text)
                self.assertIn(says, result.stderr)
                self.assertRegex(result.stderr, r"load\.yaml:\d")

    def test_environment(self):
        with HttpPeer() as peer:
            environment = {**os.environ, "ONBEAT_REQUESTS": "7", "ONBEAT_CONCURRENCY": "1", "ONBEAT_USER_AGENT": "env"}
            document = onbeat.report(peer.url, "--allow-invalid", env=environment)
            self.assertEqual({r.field("User-Agent") for r in peer.requests}, {"env"})
            self.assertEqual(document["counts"]["planned"], 7)
            self.assertEqual(document["options"]["requests"]["source"], "env")
            document = onbeat.report(peer.url, "-n", "3", "--allow-invalid", env=environment)
            self.assertEqual(document["counts"]["planned"], 3)
        result = onbeat.run("http", "http://127.0.0.1:1/", env={**os.environ, "ONBEAT_REQUESTS": "many"})
        self.assertEqual(result.returncode, 2)
        self.assertIn("ONBEAT_REQUESTS", result.stderr)

    def test_profiles(self):
        listed = onbeat.run("profiles")
        for name in ("functional", "load", "stress", "spike", "soak"):
            self.assertIn(name, listed.stdout)
            shown = onbeat.run("http", "http://127.0.0.1:1/", "--profile", name, "--dry-run")
            self.assertEqual(shown.returncode, 0, shown.stderr)
            self.assertIn("(profile", shown.stdout)
        with onbeat.folder() as folder, HttpPeer() as peer:
            path = pathlib.Path(folder) / "profiles.yaml"
            path.write_text("base: {requests: 9, concurrency: 1}\n"
                            "mine: {description: my own, extends: base, requests: 5}\n")
            document = onbeat.report(peer.url, "--profile-file", str(path), "--profile", "mine", "--allow-invalid", code=None)
            self.assertEqual(document["counts"]["planned"], 5)
            self.assertEqual(document["options"]["concurrency"]["value"], "1")
        result = onbeat.run("http", "http://127.0.0.1:1/", "--profile", "laod")
        self.assertEqual(result.returncode, 2)
        self.assertIn("load", result.stderr)


class Templates(Options):
    def test_in_url_header_and_body(self):
        with HttpPeer() as peer, onbeat.folder() as folder:
            path = pathlib.Path(folder) / "user.csv"
            path.write_text("id,name\n" + "".join(f"{number},\"N {number}\"\n" for number in range(5)))
            document = self.run_at(peer.url + "u/{{user.id}}?q={{user.name}}", "--data", str(path), "-H", "X-Id: {{user.id}}",
                                   "-H", "X-Uuid: {{uuid()}}", "--body", '{"n": "{{user.name}}", "s": {{seq()}}}', "-n", "20")
            self.assertEqual(document["counts"]["ok"], 20)
            rows = []
            for request in peer.requests:
                body = json.loads(request.body)
                number = request.field("X-Id")
                self.assertEqual(request.target, f"/u/{number}?q=N%20{number}")
                self.assertEqual(body["n"], f"N {number}")
                self.assertEqual(int(request.field("Content-Length")), len(request.body))
                uuid.UUID(request.field("X-Uuid"))
                rows.append((int(number), body["s"], request.field("X-Uuid")))
            self.assertEqual(collections.Counter(number for number, _, _ in rows), {n: 4 for n in range(5)})
            self.assertEqual(len({s for _, s, _ in rows}), 20)
            self.assertEqual(len({u for _, _, u in rows}), 20)

    def test_tsv_and_json_lines(self):
        with onbeat.folder() as folder:
            for name, text in (("user.tsv", "id\tname\n1\ta b\n"), ("user.ndjson", '{"id": 1, "name": "a b"}\n')):
                path = pathlib.Path(folder) / name
                path.write_text(text)
                with HttpPeer() as peer:
                    self.run_at(peer.url + "{{u.id}}", "--data", f"u={path}", "-H", "X: {{u.name}}", "-n", "3")
                    self.assertEqual({(r.target, r.field("X")) for r in peer.requests}, {("/1", "a b")})

    def test_values_are_escaped_in_json(self):
        with HttpPeer() as peer, onbeat.folder() as folder:
            path = pathlib.Path(folder) / "user.csv"
            path.write_text('name\n"a ""b"" \\ c\n"\n')
            for body in ("--body", "--json-body"):
                self.run_at(peer.url, "--data", str(path), body, ' {"n": "{{user.name}}"}', "-n", "1")
            self.assertEqual([json.loads(r.body) for r in peer.requests], [{"n": 'a "b" \\ c\n'}] * 2)

    def test_rows_in_shuffled_order(self):
        with HttpPeer() as peer, onbeat.folder() as folder:
            path = pathlib.Path(folder) / "user.csv"
            path.write_text("id\n" + "".join(f"{number}\n" for number in range(20)))
            for order in ("sequential", "random"):
                self.run_at(peer.url + order + "/{{user.id}}", "--data", f"{path},order={order}", "-n", "40")
            def rows(order):
                return [int(r.target.rpartition("/")[2]) for r in peer.requests if r.target.startswith(f"/{order}/")]
            self.assertEqual(rows("sequential"), [*range(20), *range(20)])
            first, second = rows("random")[:20], rows("random")[20:]
        self.assertEqual((sorted(first), sorted(second)), ([*range(20)], [*range(20)]))
        self.assertNotIn([*range(20)], (first, second))
        self.assertNotEqual(first, second)

    def test_a_file_that_is_not_there(self):
        result = onbeat.run("http", "http://127.0.0.1:1/{{user.id}}", "--data", "user=/absent.csv", "-n", "1")
        self.assertEqual(result.returncode, 2)
        self.assertIn("error: --data: /absent.csv: No such file", result.stderr)
        self.assertNotIn("unknown variable", result.stderr)

    def test_a_variable_that_is_not_there(self):
        result = onbeat.run("http", "http://127.0.0.1:1/{{user.id}}", "-n", "1")
        self.assertEqual(result.returncode, 2)
        self.assertIn('error: URL: unknown variable "user.id"', result.stderr)

    def test_a_value_cannot_break_out(self):
        with HttpPeer() as peer, onbeat.folder() as folder:
            path = pathlib.Path(folder) / "u.ndjson"
            path.write_text(json.dumps({"v": "a\r\nX-Injected: yes"}) + "\n")
            document = self.run_at(peer.url, "--data", str(path), "-H", "X: {{u.v}}", "-n", "3", code=4)
            self.assertEqual(document["errors"], {"template_forbidden_byte": 3})
            self.assertEqual(peer.requests, [])

    def test_the_echo_of_the_target(self):
        with onbeat.Target() as target:
            result = onbeat.run("http", target.url + "echo", "--body", "n={{seq()}}", "--once")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertRegex(result.stdout, r"\nn=\d+\n")


class Secrets(Options):
    def test_C8_in_no_report_of_urls_users_and_proxies(self):
        with HttpPeer() as peer, Proxy() as proxy, onbeat.folder() as folder:
            path = pathlib.Path(folder) / "r.html"
            result = onbeat.run("http", peer.url.replace("//", "//me:s3cr3t1@"), "-u", "me:s3cr3t2", "-x",
                                proxy.url.replace("//", "//me:s3cr3t3@"), "-n", "5", "--json", f"--out=html={path}")
            shown = result.stdout + result.stderr + path.read_text()
            self.assertEqual(result.returncode in (0, 3), True)
            self.assertNotIn("s3cr3t", shown)
            self.assertNotIn(basic("me:s3cr3t3")[6:], shown)
            # An error about them shows none either.
            result = onbeat.run("http", "http://me:s3cr3t@ bad/", "-x", "ftp://me:s3cr3t@h/", "-n", "1")
            self.assertEqual(result.returncode, 2)
            self.assertNotIn("s3cr3t", result.stdout + result.stderr)


if __name__ == "__main__":
    unittest.main()
