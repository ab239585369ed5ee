# SPDX-License-Identifier: Apache-2.0
"""Load pages in a headless Chromium and see what became of them."""
import html.parser
import os
import shutil
import subprocess
import sys
import tempfile

SKIP = 77
NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--enable-logging=stderr", "--window-size=1280,800",
)


def find():
    """The browser's path; ends the test as skipped when there is none."""
    for name in NAMES:
        path = shutil.which(name)
        if path:
            return path
    print("skipped: no chromium (apt-get install chromium)")
    sys.exit(SKIP)


class Page(html.parser.HTMLParser):
    """The document after its scripts ran: elements by id, tags counted."""

    VOID = {"input", "meta", "br", "img", "link", "hr"}

    def __init__(self, dom, console):
        super().__init__()
        self.console = console  # what it said to the console: warnings, errors, logs
        self.attributes, self.text, self.tags = {}, {}, {}
        self.all_text = ""
        self._open = []
        self.feed(dom)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        name = attributes.get("id")
        self.tags[tag] = self.tags.get(tag, 0) + 1
        if tag == "html":
            self.root = attributes
        if name:
            self.attributes[name] = attributes
            self.text[name] = ""
        if tag not in self.VOID:
            self._open.append(name)

    def handle_endtag(self, tag):
        if tag not in self.VOID and self._open:
            self._open.pop()

    def handle_data(self, data):
        self.all_text += data
        for name in self._open:
            if name:
                self.text[name] += data


def load(url):
    """The page at the address, given some seconds of its own time."""
    browser = find()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        done = subprocess.run(
            [browser, *FLAGS, "--user-data-dir=" + profile, "--virtual-time-budget=3000",
             "--dump-dom", url],
            capture_output=True, timeout=60, check=False,
            env={**os.environ, "LC_ALL": "C.UTF-8", "HOME": profile})
    console = [line for line in done.stderr.decode(errors="replace").splitlines() if "CONSOLE" in line]
    return Page(done.stdout.decode(errors="replace"), console)
