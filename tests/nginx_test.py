#!/usr/bin/python3
"""nginx as a real peer. Its access log says what it has seen: the report must say the same. ONBEAT names the binary."""

import collections
import gzip
import os
import pathlib
import socket
import subprocess
import unittest

import onbeat

Line = collections.namedtuple("Line", "connection method status body request_length")
BIG = b"".join(b"line %d of a page\n" % number for number in range(60_000))[:1 << 20]  # 1 MiB, compressible


class Nginx:
    """One worker process, all its files in a folder of its own: with Nginx("keepalive_requests 100;") as nginx: ..."""

    CONFIG = """
daemon off;
worker_processes 1;
master_process on;
{user}
error_log {folder}/error.log notice;
pid {folder}/pid;
events {{ worker_connections {worker_connections}; }}
http {{
  log_format books '$connection $request_method $status $body_bytes_sent $request_length';
  access_log {folder}/access.log books;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  limit_conn_zone $server_name zone=all:1m;
  client_max_body_size 4m;
  default_type text/plain;
  {http}
  server {{
    listen {listen};
    server_name test;
    root {folder}/files;
    location /small {{ return 200 "hello\\n"; }}
    location /post {{ client_body_buffer_size 2m; proxy_pass http://unix:{folder}/sink; }}
    location /gzip {{ alias {folder}/files/big; gzip on; gzip_types *; gzip_comp_level 1; }}
    location /limited {{ alias {folder}/files/slow; limit_conn all 10; limit_rate 500k; }}
  }}
  server {{ listen unix:{folder}/sink; access_log off; location / {{ return 200 "$content_length\\n"; }} }}
}}
"""

    def __init__(self, http="", worker_connections=1024, host="127.0.0.1"):
        self._folder = onbeat.folder()
        self.folder = pathlib.Path(self._folder.name)
        self.folder.chmod(0o755)
        (self.folder / "files").mkdir()
        (self.folder / "files/big").write_bytes(BIG)
        (self.folder / "files/slow").write_bytes(BIG[:600_000])
        host = f"[{host}]" if ":" in host else host
        for _ in range(5):  # another process may take the port between the look and nginx
            port = onbeat.free_port()
            listen = f"{host}:{port}"
            user = "user root;" if os.getuid() == 0 else ""
            (self.folder / "nginx.conf").write_text(self.CONFIG.format(
                folder=self.folder, user=user, http=http, worker_connections=worker_connections, listen=listen))
            self.process = subprocess.Popen(["nginx", "-p", str(self.folder), "-c", "nginx.conf"],
                                            stderr=subprocess.DEVNULL, env={**os.environ, "PATH": onbeat.PATH})
            self.url = f"http://{host}:{port}/"
            if self._answers(host.strip("[]"), port):
                return
            self.process.kill()
            self.process.wait()
        raise RuntimeError("nginx did not start: " + (self.folder / "error.log").read_text())

    def _answers(self, host, port):
        def up():
            if self.process.poll() is not None:
                return True
            try:
                socket.create_connection((host, port), timeout=1).close()
                return True
            except OSError:
                return False
        onbeat.wait_until(up)
        return self.process.poll() is None

    def log(self):
        """What it has seen, once it has ended."""
        self.process.terminate()
        self.process.wait()
        return [Line(*(int(word) if word.isdigit() else word for word in line.split()))
                for line in (self.folder / "access.log").read_text().splitlines()]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self._folder.cleanup()


@onbeat.needs("nginx", "nginx-light")
class Peer(unittest.TestCase):
    def agree(self, document, log):
        """The books are exact, and nginx has seen what they say."""
        onbeat.books(self, document)
        self.assertEqual(collections.Counter(str(line.status) for line in log), document["codes"])
        self.assertEqual(sum(line.request_length for line in log), document["bytes"]["sent"])

    def test_connections_that_end_after_100_requests(self):
        with Nginx("keepalive_requests 100;") as nginx:
            document = onbeat.report(nginx.url + "small", "-c", "4", "-n", "5000")
            log = nginx.log()
        self.agree(document, log)
        self.assertEqual(document["counts"]["ok"], 5000)
        self.assertEqual(document["errors"], {})
        connections = document["connections"]
        by_connection = collections.Counter(line.connection for line in log)
        self.assertEqual(max(by_connection.values()), 100)
        self.assertEqual(connections["opened"], len(by_connection))
        self.assertGreaterEqual(connections["reopened"], 46)  # 5,000 / 100 connections, 4 of them at the start
        self.assertEqual(connections["opened"], 4 + connections["reopened"])
        self.assertEqual(connections["failed"], 0)

    def test_the_same_at_a_rate(self):
        with Nginx("keepalive_requests 100;") as nginx:
            document = onbeat.report(nginx.url + "small", "--rate", "1500", "-d", "2s", "--allow-invalid")
            log = nginx.log()
        self.agree(document, log)
        self.assertEqual(document["counts"]["ok"], document["counts"]["planned"])
        self.assertEqual(document["counts"]["planned"], 3000)
        self.assertGreaterEqual(document["connections"]["opened"], 30)
        self.assertEqual(document["connections"]["opened"], len({line.connection for line in log}))

    def test_connections_that_end_while_idle(self):
        # nginx closes what has been idle for 1 s; a request every 1.5 s opens its connection again.
        with Nginx("keepalive_timeout 1s;") as nginx:
            document = onbeat.report(nginx.url + "small", "--rate", "40/m", "-d", "6s", "-c", "1", "--allow-invalid")
            log = nginx.log()
        self.agree(document, log)
        self.assertEqual((document["counts"]["ok"], document["errors"]), (4, {}))
        self.assertGreaterEqual(document["connections"]["reopened"], 3)

    def test_without_keep_alive(self):
        with Nginx("keepalive_timeout 0;") as nginx:
            document = onbeat.report(nginx.url + "small", "-c", "2", "-n", "300")
            log = nginx.log()
        self.agree(document, log)
        self.assertEqual(document["counts"]["ok"], 300)
        self.assertEqual(len({line.connection for line in log}), 300)

    def test_a_limit_of_10_connections(self):
        # 20 at once, each answer takes its time: 503 for those beyond the tenth.
        with Nginx() as nginx:
            document = onbeat.report(nginx.url + "limited", "-c", "20", "-n", "400")
            log = nginx.log()
        self.agree(document, log)
        self.assertEqual(set(document["codes"]), {"200", "503"})
        self.assertEqual(document["errors"], {"status": document["codes"]["503"]})
        self.assertEqual(document["counts"]["failed"], document["codes"]["503"])
        self.assertEqual(document["failed_latency"]["count"], document["codes"]["503"])
        self.assertEqual(document["connections"]["open_peak"], 20)

    def test_a_server_that_has_no_connection_left(self):
        with Nginx("keepalive_timeout 60s;", worker_connections=12) as nginx:
            document = onbeat.report(nginx.url + "small", "-c", "40", "-d", "2s", code=None)
            log = nginx.log()
        onbeat.books(self, document)
        self.assertGreater(document["counts"]["ok"], 0)
        self.assertEqual(document["counts"]["ok"], len(log))
        self.assertGreater(sum(count for name, count in document["errors"].items() if name != "status"), 0)
        self.assertLess(document["connections"]["open_peak"], 40 + 1)

    def test_chunked_answers(self):
        with Nginx() as nginx:
            once = onbeat.run("http", nginx.url + "gzip", "-H", "Accept-Encoding: gzip", "--once", text=False)
            self.assertIn(b"< Transfer-Encoding: chunked\n", once.stdout)
            document = onbeat.report(nginx.url + "gzip", "-H", "Accept-Encoding: gzip", "-n", "100", "-c", "3")
            log = nginx.log()[1:]
        self.agree(document, log)
        self.assertEqual((document["counts"]["ok"], document["errors"]), (100, {}))
        self.assertEqual(document["connections"]["opened"], 3)  # every body was read to its end
        self.assertEqual(len({line.body for line in log}), 1)
        self.assertGreaterEqual(document["bytes"]["received"], sum(line.body for line in log))
        self.assertLess(log[0].body, len(gzip.compress(BIG, 1)) * 2)

    def test_large_bodies(self):
        with Nginx() as nginx:
            document = onbeat.report(nginx.url + "big", "-n", "200", "-c", "4")
            log = nginx.log()
        self.agree(document, log)
        self.assertEqual({line.body for line in log}, {1 << 20})
        self.assertGreater(document["bytes"]["received"], 200 << 20)
        self.assertLess(document["bytes"]["received"], 200 * ((1 << 20) + 1000))
        self.assertEqual(document["connections"]["opened"], 4)
        if not os.environ.get("SANITIZERS"):  # they keep memory that has been given back
            self.assertLess(document["client_cost"]["peak_rss_bytes"], 32 << 20)

    def test_head(self):
        with Nginx() as nginx:
            document = onbeat.report(nginx.url + "big", "-X", "HEAD", "-n", "200", "-c", "2")
            log = nginx.log()
        self.agree(document, log)
        self.assertEqual({(line.method, line.body) for line in log}, {("HEAD", 0)})
        self.assertEqual((document["counts"]["ok"], document["connections"]["opened"]), (200, 2))

    def test_post(self):
        with onbeat.folder() as folder, Nginx() as nginx:
            path = pathlib.Path(folder) / "body"
            path.write_bytes(BIG)
            once = onbeat.run("http", nginx.url + "post", "--body", "12345", "--once")
            self.assertIn("\n5\n", once.stdout)  # the length that has arrived
            document = onbeat.report(nginx.url + "post", "-X", "POST", "--body-file", str(path), "-n", "50", "-c", "2")
            log = nginx.log()[1:]
        self.agree(document, log)
        self.assertEqual({(line.method, line.status) for line in log}, {("POST", 200)})
        self.assertGreater(document["bytes"]["sent"], 50 << 20)
        self.assertEqual(document["connections"]["opened"], 2)

    def test_not_modified(self):
        with Nginx("if_modified_since before;") as nginx:
            document = onbeat.report(nginx.url + "big", "-H", "If-Modified-Since: Fri, 01 Jan 2100 00:00:00 GMT",
                                     "-n", "200", "-c", "2", code=None)
            log = nginx.log()
        self.agree(document, log)
        self.assertEqual(document["codes"], {"304": 200})
        self.assertEqual((document["counts"]["ok"], document["connections"]["opened"]), (200, 2))

    def test_not_found(self):
        with Nginx() as nginx:
            document = onbeat.report(nginx.url + "absent", "-n", "100", "-c", "2", code=4)
            log = nginx.log()
        self.agree(document, log)
        self.assertEqual(document["codes"], {"404": 100})
        self.assertEqual(document["errors"], {"status": 100})

    def test_ipv6(self):
        try:
            socket.create_server(("::1", 0), family=socket.AF_INET6).close()
        except OSError:
            self.skipTest("this host has no IPv6")
        with Nginx(host="::1") as nginx:
            document = onbeat.report(nginx.url + "small", "-n", "200", "-c", "2")
            log = nginx.log()
        self.agree(document, log)
        self.assertEqual(document["counts"]["ok"], 200)
        self.assertEqual(list(document["connections"]["by_address"].values()), [2])

    def test_a_reload_loses_nothing(self):
        # The old worker process ends its idle connections; the new one goes on.
        with Nginx() as nginx, onbeat.folder() as folder:
            path = pathlib.Path(folder) / "r"
            process = onbeat.start("http", nginx.url + "small", "--rate", "300", "-d", "3s", "--quiet",
                                   "--allow-invalid", f"--out=json={path}")
            onbeat.wait_until(lambda: (nginx.folder / "access.log").read_text().count("\n") > 300)
            subprocess.run(["nginx", "-p", str(nginx.folder), "-c", "nginx.conf", "-s", "reload"], check=True,
                           stderr=subprocess.DEVNULL, env={**os.environ, "PATH": onbeat.PATH})
            process.communicate(timeout=30)
            document = onbeat.json.loads(path.read_text())
            log = nginx.log()
        onbeat.books(self, document)
        self.assertEqual(document["counts"]["planned"], 900)
        self.assertEqual(len(log), document["counts"]["ok"])
        # A request that was on its way as its connection ended is a failure, honestly; there are few.
        self.assertLessEqual(document["counts"]["failed"], 2)
        self.assertGreaterEqual(document["connections"]["opened"], 2)


if __name__ == "__main__":
    unittest.main()
