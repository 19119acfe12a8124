"""Peers of the suites about HTTP: a server that keeps what it is sent, a proxy, nginx with TLS, certificates."""

import base64
import contextlib
import os
import pathlib
import re
import socket
import ssl
import subprocess
import threading

import onbeat



class Request:
    """A request as it came: its bytes, and what stands in them."""

    def __init__(self, connection, number, head, body):
        self.connection, self.number, self.head, self.body = connection, number, head, body
        lines = head.decode("latin-1").split("\r\n")
        self.line = lines[0]
        self.method, self.target, _ = lines[0].split(" ", 2)
        self.fields = [tuple(line.split(": ", 1)) for line in lines[1:] if line]

    def all(self, name):
        return [value for key, value in self.fields if key.lower() == name.lower()]

    def field(self, name):
        """Its only value; None when it is not there."""
        values = self.all(name)
        if len(values) > 1:
            raise AssertionError(f"{name} came {len(values)} times")
        return values[0] if values else None


class Last(bytes):
    """An answer after which the connection is closed."""


def response(body=b"", status="200 OK", *fields):
    """An answer with a Content-Length."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *fields]
    return "".join(line + "\r\n" for line in lines).encode("latin-1") + b"\r\n" + body


class HttpPeer(onbeat.Server):
    """Answers each request with the bytes that answer(request) returns, and keeps the requests. Once `answer` has
    returned None the connection is closed unanswered."""

    def __init__(self, answer=lambda request: response(b"ok"), context=None, **options):
        self.requests, self.context, self._answer = [], context, answer
        self._lock, self._accepted = threading.Lock(), 0
        super().__init__(self._converse, **options)
        if context is not None:
            self.url = self.url.replace("http:", "https:")

    @property
    def accepted(self):
        return self._accepted

    def _converse(self, connection):
        with self._lock:
            number, self._accepted = self._accepted, self._accepted + 1
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1) if connection.family != socket.AF_UNIX else None
        with contextlib.ExitStack() as stack:
            stack.callback(connection.close)
            if self.context is not None:
                connection = stack.enter_context(self.context.wrap_socket(connection, server_side=True))
            data = b""
            while True:
                while b"\r\n\r\n" not in data:
                    part = connection.recv(65536)
                    if not part:
                        return
                    data += part
                head, _, data = data.partition(b"\r\n\r\n")
                length = re.search(rb"(?i)\r\ncontent-length: (\d+)", head)
                length = int(length.group(1)) if length else 0
                while len(data) < length:
                    data += connection.recv(65536)
                with self._lock:
                    request = Request(number, len(self.requests), head, data[:length])
                    self.requests.append(request)
                data = data[length:]
                answer = self._answer(request)
                if answer is None:
                    return
                if callable(answer):
                    answer(connection)
                    continue
                connection.sendall(answer)
                if isinstance(answer, Last):
                    # What the peer has sent meanwhile is read: closing would reset the connection.
                    connection.shutdown(socket.SHUT_WR)
                    while connection.recv(65536):
                        pass
                    return


class UnixPeer(HttpPeer):
    """The same at a socket of the file system."""

    def __init__(self, path, **options):
        self._path = path
        super().__init__(**options)
        self.socket.close()
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(path)
        self.socket.listen()
        threading.Thread(target=self._accept, daemon=True).start()


class Proxy(HttpPeer):
    """A proxy: passes the bytes of CONNECT on, answers other requests itself, with a redirect if one is set. Keeps what it
    was asked."""

    def __init__(self, refuse=None):
        self.redirect = None

        def serve(request):
            if request.method != "CONNECT":
                if self.redirect is not None:
                    return response(b"", "302 Found", f"Location: {self.redirect}")
                return response(b"by proxy")
            if refuse is not None:
                return Last(response(b"", refuse))
            return lambda connection: self._pass_on(request, connection)
        super().__init__(serve)

    @staticmethod
    def _pass_on(request, client):
        host, _, port = request.target.rpartition(":")
        with socket.create_connection((host.strip("[]"), int(port))) as server:
            client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")

            def pump(source, sink):
                with contextlib.suppress(OSError):
                    while part := source.recv(65536):
                        sink.sendall(part)
                    sink.shutdown(socket.SHUT_WR)
            back = threading.Thread(target=pump, args=(server, client), daemon=True)
            back.start()
            pump(client, server)
            back.join()


def basic(user):
    return "Basic " + base64.b64encode(user.encode()).decode()


class Certificates:
    """An authority and what it has signed, in a folder: server.pem, client.pem, each with its .key; other.pem is an
    authority that has signed nothing."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self._authority("ca")
        self._authority("other")
        self._signed("server", "subjectAltName=DNS:localhost,DNS:named.test,IP:127.0.0.1,IP:::1")
        self._signed("client", "extendedKeyUsage=clientAuth")
        both = self.path("client").read_bytes() + self.path("client", "key").read_bytes()
        self.path("both").write_bytes(both)

    def path(self, name, ending="pem"):
        return self.folder / f"{name}.{ending}"

    def _openssl(self, *words):
        subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True, cwd=self.folder)

    def _authority(self, name):
        self._openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                      "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.pem")

    def _signed(self, name, extension):
        self.path(name, "ext").write_text(extension + "\n")
        self._openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj",
                      f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.csr")
        self._openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
                      "-days", "2", "-extfile", f"{name}.ext", "-out", f"{name}.pem")

    def server_context(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.path("server"), self.path("server", "key"))
        return context


class TlsNginx:
    """nginx with TLS, one process; its log says what each handshake came to."""

    CONFIG = """
daemon off;
master_process off;
worker_processes 1;
{user}
worker_rlimit_nofile 8192;
error_log {folder}/error.log notice;
pid {folder}/pid;
events {{ worker_connections 4096; }}
http {{
  log_format tls '$connection|$ssl_session_reused|$ssl_server_name|$ssl_protocol|$ssl_cipher|$ssl_alpn_protocol|'
                 '$ssl_client_verify|$status|$http_host';
  access_log {folder}/access.log tls;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  keepalive_timeout 300s;
  keepalive_requests 1000000;
  default_type text/plain;
  server {{
    listen {listen} ssl {protocol};
    ssl_certificate {certificates}/server.pem;
    ssl_certificate_key {certificates}/server.key;
    ssl_protocols TLSv1.2 TLSv1.3;
    ssl_session_cache shared:all:1m;
    {server}
    location / {{ return 200 "hello\\n"; }}
  }}
}}
"""

    def __init__(self, certificates, server="", host="127.0.0.1", protocol=""):
        self._folder = onbeat.folder()
        self.folder = pathlib.Path(self._folder.name)
        bracketed = f"[{host}]" if ":" in host else host
        for _ in range(5):  # another process may take the port between the look and nginx
            self.port = onbeat.free_port()
            (self.folder / "nginx.conf").write_text(self.CONFIG.format(
                folder=self.folder, certificates=certificates.folder, server=server,
                protocol=protocol,
                listen=f"{bracketed}:{self.port}", user="user root;" if os.getuid() == 0 else ""))
            self.process = subprocess.Popen(["nginx", "-p", str(self.folder), "-c", "nginx.conf"],
                                            stderr=subprocess.DEVNULL, env={**os.environ, "PATH": onbeat.PATH})
            self.url = f"https://{bracketed}:{self.port}/"
            onbeat.wait_until(lambda: self.process.poll() is not None or self._listens(host))
            if self.process.poll() is None:
                return
        raise RuntimeError("nginx did not start: " + (self.folder / "error.log").read_text())

    def _listens(self, host):
        with contextlib.suppress(OSError):
            socket.create_connection((host, self.port), timeout=1).close()
            return True
        return False

    def log(self):
        """Once it has ended: for each request (connection, reused, name, protocol, cipher, alpn, verified, status,
        host); what was not there is an empty text."""
        self.process.terminate()
        self.process.wait()
        rows = (self.folder / "access.log").read_text().splitlines()
        return [TlsRow(*("" if word == "-" else word for word in row.split("|"))) for row in rows]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self._folder.cleanup()


class TlsRow:
    def __init__(self, connection, reused, name, protocol, cipher, alpn, verified, status, host):
        self.connection, self.reused, self.name = connection, reused == "r", name
        self.protocol, self.cipher, self.alpn = protocol, cipher, alpn
        self.verified, self.status, self.host = verified, status, host
