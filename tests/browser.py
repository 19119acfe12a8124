"""A real Chromium without a screen, driven by chromedriver over the WebDriver protocol.

with Browser() as browser:
    browser.open(path, width=400, height=900, dark=True)
    browser.run("return document.title")

It opens files alone and talks to chromedriver on loopback.
"""

import base64
import json
import pathlib
import re
import select
import subprocess
import tempfile
import urllib.request

LIMIT = 60  # seconds for one command
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
         "--disable-sync", "--no-first-run", "--disable-dev-shm-usage", "--hide-scrollbars"]
# No proxy of the environment stands between this and loopback.
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Browser:
    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="onbeat-browser-", ignore_cleanup_errors=True)
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                       text=True)
        try:
            self.base = f"http://127.0.0.1:{self._port()}"
            options = {"args": [*FLAGS, f"--user-data-dir={self.folder.name}"]}
            session = self._call("POST", "/session", {"capabilities": {"alwaysMatch": {
                "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}})
            self.base += f"/session/{session['sessionId']}"
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if "/session/" in getattr(self, "base", ""):
            self._call("DELETE", "", None)
        self.driver.kill()
        self.driver.wait()
        self.driver.stdout.close()
        self.folder.cleanup()

    def _port(self):
        while select.select([self.driver.stdout], [], [], LIMIT)[0]:
            line = self.driver.stdout.readline()
            found = re.search(r"started successfully on port (\d+)", line)
            if found:
                return int(found.group(1))
            if not line:
                break
        raise RuntimeError("chromedriver did not start (needs the Debian package chromium-driver)")

    def _call(self, method, path, body):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        with OPENER.open(request, timeout=LIMIT) as answer:
            return json.load(answer)["value"]

    def command(self, name, **parameters):
        """A command of the DevTools protocol."""
        return self._call("POST", "/goog/cdp/execute", {"cmd": name, "params": parameters})

    def open(self, path, width, height=900, dark=False):
        """Loads a file at this size; the console's messages of earlier pages are forgotten."""
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.command("Emulation.setEmulatedMedia",
                     features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.console()
        self._call("POST", "/url", {"url": pathlib.Path(path).resolve().as_uri()})

    def run(self, script, *arguments):
        """What the body of a function in JavaScript returns; a policy of the page does not bind it."""
        return self._call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def console(self):
        """The messages of the console since the last call: [{level, message}]."""
        return self._call("POST", "/se/log", {"type": "browser"})

    def hover(self, x, y):
        self.command("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def screenshot(self, path=None):
        """The whole page as PNG, also written to `path`."""
        data = base64.b64decode(self.command("Page.captureScreenshot", captureBeyondViewport=True)["data"])
        if path:
            pathlib.Path(path).write_bytes(data)
        return data
