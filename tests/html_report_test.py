#!/usr/bin/python3
"""The HTML report in a real browser: on a phone and on a wide screen, light and dark. Reports of real runs, and the kept
one of src/report/testdata.

With ONBEAT_SCREENSHOTS=FOLDER the screenshots stay there, for people to look at.
"""

import os
import pathlib
import shutil
import struct
import tempfile
import unittest
import zlib

import browser
import onbeat

WIDTHS = (400, 1400)
QUESTIONS = ["Was it good?", "What was reached?", "What was the tail?", "Can I trust it?"]

# What sticks out, what overlaps, what cannot be read: a list of sentences, empty when all is well.
FAULTS = r"""
const faults = [], slack = 2;
const page = document.documentElement;
if (page.scrollWidth > innerWidth) faults.push(`the page is ${page.scrollWidth} wide in ${innerWidth}`);
const visible = e => e.getClientRects().length > 0 && getComputedStyle(e).visibility === 'visible';
for (const e of document.querySelectorAll('h1,h2,p,li,figure,summary,.scroll,.card')) {
  if (!visible(e)) continue;
  const box = e.getBoundingClientRect();
  if (box.left < -slack || box.right > innerWidth + slack) faults.push(`${e.tagName} ${e.textContent.slice(0, 40)} sticks out`);
}
const overlap = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
for (const figure of document.querySelectorAll('figure')) {
  const name = figure.querySelector('b').textContent, frame = figure.getBoundingClientRect();
  const plot = figure.querySelector('svg.plot > svg').getBoundingClientRect();
  const square = figure.querySelector('.plot').getBoundingClientRect();
  if (square.height < 150 || square.width < 200) faults.push(`${name}: the plot is ${square.width} x ${square.height}`);
  const labels = [...figure.querySelectorAll('.plot > text')].filter(visible).map(e => [e.textContent, e.getBoundingClientRect()]);
  if (labels.length < 4) faults.push(`${name}: ${labels.length} labels`);
  labels.forEach(([text, box], i) => {
    if (box.left < frame.left || box.right > frame.right || box.bottom > frame.bottom) faults.push(`${name}: label ${text} sticks out`);
    for (const [other, there] of labels.slice(i + 1)) if (overlap(box, there)) faults.push(`${name}: ${text} lies on ${other}`);
  });
  for (const path of figure.querySelectorAll('path')) {
    const box = path.getBoundingClientRect();
    if (box.left < square.left - 6 || box.right > square.right + 6 || box.top < square.top - 6 || box.bottom > square.bottom + 6)
      faults.push(`${name}: a line leaves the plot`);
  }
  if (figure.querySelectorAll('path').length === 0) faults.push(`${name}: no line`);
}
// Contrast by WCAG 2: 4.5 for text, 3 for lines.
const channels = color => color.match(/[\d.]+/g).map(Number);
const luminance = color => channels(color).slice(0, 3).map(c => c / 255)
  .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
  .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
const contrast = (a, b) => { const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
const ground = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (channels(c)[3] !== 0) return c; } return 'rgb(255,255,255)'; };
for (const e of document.querySelectorAll('h1,h2,p,td,th,summary,figcaption,b,code,label,footer,.answer')) {
  if (!visible(e)) continue;
  const value = contrast(getComputedStyle(e).color, ground(e));
  if (value < 4.5) faults.push(`${e.tagName} ${e.textContent.slice(0, 30)}: contrast ${value.toFixed(1)}`);
}
for (const e of document.querySelectorAll('.plot path')) {
  const value = contrast(getComputedStyle(e).stroke, ground(e.closest('figure')));
  if (value < 3) faults.push(`a line of class ${e.getAttribute('class')}: contrast ${value.toFixed(1)}`);
}
return faults;
"""


def pixels_differ(png):
    """Whether the picture shows anything: more than one colour. And its width and height."""
    width, height = struct.unpack(">II", png[16:24])
    data, at = b"", 8
    while at < len(png):
        size, kind = struct.unpack(">I4s", png[at:at + 8])
        if kind == b"IDAT":
            data += png[at + 8:at + 8 + size]
        at += size + 12
    return len(set(zlib.decompress(data))) > 16, width, height


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.addClassCleanup(shutil.rmtree, scratch := tempfile.mkdtemp(prefix="onbeat-"))
        cls.pages = {"kept": onbeat.ROOT / "src/report/testdata/report.html"}

        def page(name, *words, code):
            path = pathlib.Path(scratch) / f"{name}.html"
            result = onbeat.run("http", *words, "--out", f"html={path}", "--quiet")
            assert result.returncode in code, result.stderr + result.stdout
            cls.pages[name] = path

        with onbeat.Target("--fault", "status:code=503,share=5%", "--fault", "reset:share=2%") as target:
            page("open", target.url, target.url + "search?q=1", "--rate", "50..400 over 3s", "--threshold",
                 "p(99) < 1ns", "--threshold", "error_rate < 50%", "--name", "Shop: the front page", code={1, 3})
            page("closed", target.url, "-c", "3", "-d", "1500ms", code={0, 3})
            # Labels from hell, in whatever can be named from outside. C5.
            hell = "a\"b',c\n<script>document.title='run'</script><img src=x onerror=alert(1)>&amp;" + "x" * 200
            page("hostile", target.url + "?<script>alert(1)</script>", "-n", "50", "--name", hell, "--tag", f"k={hell}",
                 "--header", f"X: {'w' * 300}", code={0, 3})
        with onbeat.Target("--service-time", "2ms") as target:
            page("adaptive", target.url, "--mode", "adaptive", "--threshold", "p(90) < 50ms", "--rate", "1600",
                 "-d", "7s", code={0, 1, 3})
        page("nothing", f"http://127.0.0.1:{onbeat.free_port()}/", code={4})  # C6
        cls.browser = cls.enterClassContext(browser.Browser())

    def each(self, check):
        for name, path in self.pages.items():
            for width in WIDTHS:
                for dark in (False, True):
                    with self.subTest(page=name, width=width, dark=dark):
                        self.browser.open(path, width, dark=dark)
                        check(name, width, dark)

    def test_nothing_sticks_out_overlaps_or_is_hard_to_read(self):
        self.each(lambda *_: self.assertEqual(self.browser.run(FAULTS), []))

    def test_unfolded_tables_fit_too(self):
        def check(*_):
            self.browser.run("for (const e of document.querySelectorAll('details')) e.open = true;")
            self.assertEqual(self.browser.run(FAULTS), [])
        self.each(check)

    def test_the_console_is_silent(self):
        def check(*_):
            self.assertEqual(self.browser.console(), [])
            self.assertEqual(self.browser.run("return performance.getEntriesByType('resource').length"), 0)
        self.each(check)

    def test_nothing_of_a_label_runs(self):
        self.browser.open(self.pages["hostile"], 1400)
        self.assertTrue(self.browser.run("return document.title").startswith("a\"b',c"))
        self.assertEqual(self.browser.run("return document.querySelectorAll('script,img').length"), 0)

    def test_the_first_screen_answers_the_questions(self):
        def check(name, width, _):
            questions = self.browser.run("return [...document.querySelectorAll('.card h2')].map(e => e.textContent)")
            self.assertEqual(questions, QUESTIONS)
            last = self.browser.run("return Math.max(...[...document.querySelectorAll('.card')]"
                                    ".map(e => e.getBoundingClientRect().bottom))")
            # A label of two hundred letters pushes them down on a phone.
            self.assertLess(last, 900 if name != "hostile" or width > 400 else 1300)
        self.each(check)

    def test_themes_follow_the_system_and_the_choice(self):
        light, dark = (lambda ground: sum(ground) > 600), (lambda ground: sum(ground) < 150)
        look = "return getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)"
        for system, by_system in ((False, light), (True, dark)):
            self.browser.open(self.pages["open"], 1400, dark=system)
            self.assertTrue(by_system(self.browser.run(look)))
            for choice, looks in (("dark", dark), ("light", light), ("auto", by_system)):
                self.browser.run("document.getElementById(arguments[0]).click()", choice)
                self.assertTrue(looks(self.browser.run(look)), f"{choice} over {system}")

    def test_the_pointer_reads_a_chart(self):
        self.browser.open(self.pages["open"], 1400, height=2000)
        x, y = self.browser.run("const b = document.querySelector('figure .plot').getBoundingClientRect();"
                                "return [b.left + b.width / 2, b.top + b.height / 2]")
        shown = ("return [...document.querySelectorAll('.point text')]"
                 ".filter(e => getComputedStyle(e).visibility === 'visible').map(e => e.textContent)")
        self.assertEqual(self.browser.run(shown), [])
        self.browser.hover(x, y)
        texts = self.browser.run(shown)
        self.assertEqual(len(texts), 1)
        self.assertRegex(texts[0], r"^1 s to 2 s:  planned [\d,.]+  started [\d,.]+  ok [\d,.]+$")

    def test_screenshots(self):
        folder = os.environ.get("ONBEAT_SCREENSHOTS")

        def check(name, width, dark):
            path = folder and pathlib.Path(folder) / f"{name}-{width}-{'dark' if dark else 'light'}.png"
            shows, wide, high = pixels_differ(self.browser.screenshot(path))
            self.assertTrue(shows)
            self.assertEqual(wide, width)
            self.assertGreater(high, 300)
            self.assertLess(high, 4500 if width > 400 else 9000)
        self.each(check)


if __name__ == "__main__":
    unittest.main()
