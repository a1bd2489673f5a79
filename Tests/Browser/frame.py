#!/usr/bin/env python3
"""frame.py BROWSER alina-server: tests the page's scripts in a real browser, with a small program in place of the game.

Prints the first failure in one line and exits 1.
"""
import json
import os
import shutil
import subprocess
import tempfile

from browsers import Browser, Fault, script, wait

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = """
import { Controls } from './controls.js';
import * as files from './files.js';
import { Socket } from './socket.js';
export const isRunning = () => true;
const seen = [], told = {};
for (const what of ['activate', 'focus', 'opened', 'line', 'closed']) told[what] = (...words) => seen.push([what, ...words]);
globalThis.page = { files, seen, controls: new Controls(told), socket: new Socket(told), build: '%s' };
"""
CELLS = [{"id": i, "role": "gridcell", "name": f"cell {i}", "state": "", "box": [i % 3 * 50, i // 3 * 50, 48, 48], "row": i // 3}
         for i in range(9)]
MORE = [{"id": 20, "role": "button", "name": "Menu", "state": "", "box": [0, 200, 80, 44]},
        {"id": 21, "role": "switch", "name": "Sound", "state": "on", "box": [100, 200, 80, 44]},
        {"id": 22, "role": "slider", "name": "Volume", "state": "7 of 10", "box": [200, 200, 80, 44], "numbers": ["7", "0", "10"]},
        {"id": 23, "role": "paragraph", "name": "won 3, lost 1", "state": "", "box": [0, 300, 80, 44]},
        {"id": 24, "role": "button", "name": "Redo", "state": "disabled", "box": [100, 300, 80, 44]},
        {"id": 128, "role": "radio", "name": "Theme: light", "state": "on", "box": [0, 250, 80, 44]},
        {"id": 129, "role": "radio", "name": "Theme: dark", "state": "off", "box": [100, 250, 80, 44]}]


def expect(holds, what):
    if not holds:
        raise Fault(what)


class Server:
    def __init__(self, program):
        self.program, self.folder, self.process, self.page = program, tempfile.mkdtemp(prefix="alina-"), None, "127.0.0.1:0"
        self.address = ""

    def build(self, build, without=()):
        modules = f"{self.folder}/modules"
        os.makedirs(modules, exist_ok=True)
        for name, text in (("alina.js", PROGRAM % build), ("alina.wasm", "")):
            with open(f"{modules}/{name}", "w", encoding="utf-8") as file:
                file.write(text)
        subprocess.run(["/usr/bin/python3", f"{ROOT}/scripts/web-files", f"{self.folder}/web", self.address]
                       + [f"{modules}/{name}" for name in ("alina.js", "alina.wasm")], check=True, stdout=subprocess.DEVNULL)
        for version in os.listdir(f"{self.folder}/web/v"):
            for name in without:
                for ending in ("", ".br", ".gz"):
                    os.remove(f"{self.folder}/web/v/{version}/{name}{ending}")

    def start(self):
        self.process = subprocess.Popen(
            [self.program, "--listen", "127.0.0.1:0", "--page", self.page, "--no-admin", "--memory", "--web", f"{self.folder}/web"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.process.stdout.readline()
        self.url = self.process.stdout.readline().split()[-1]
        self.page = self.url.split("/")[2]

    def kill(self):
        self.process.kill()
        self.process.wait()


def files(page):
    run = page.run
    run("localStorage.setItem('other', 'of somebody else')")
    expect(run("page.files.read('settings')") is None and run("page.files.list('')") == [], "what is not ours is there")
    expect(run("page.files.write('games/2026/b.pgn', 'ß ♯') && page.files.write('games/a.pgn', '1')"), "cannot write")
    expect(run("[page.files.read('games/2026/b.pgn'), page.files.list(''), page.files.list('games')]")
           == ["ß ♯", ["games"], ["2026", "a.pgn"]], "read and list")
    expect(run("page.files.write('games/a.pgn', 'x'.repeat(2 ** 24))") is False, "more than there is room for was taken")
    expect(run("page.files.read('games/a.pgn')") == "1", "what was there before a full quota is lost")
    run("page.files.remove('games/a.pgn')")
    expect(run("page.files.list('games')") == ["2026"], "remove")
    expect(run("['r/K7Q2XD', 'w/m1/K7Q2XD', 'g/AQ-_'].map(page.files.address).map(url => url.replace(location.origin, ''))")
           == ["/r/K7Q2XD", "/w/m1/K7Q2XD", "/#/g/AQ-_"], "links")


def controls(page):
    def update(controls):
        page.run(f"page.controls.update({json.dumps(controls)})")

    update(CELLS + MORE)
    expect(page.run("[...document.querySelectorAll('#controls [role=grid] > [role=row]')].map(row => "
                    "[...row.querySelectorAll('[role=gridcell] > button')].map(cell => cell.ariaLabel))")
           == [[f"cell {row * 3 + i}" for i in range(3)] for row in range(3)], "nine named buttons in a grid")
    at = "document.querySelector('[data-id=\"%d\"]')"
    box = page.run(f"(({at % 20}.getBoundingClientRect().toJSON()))")
    expect((box["left"], box["top"], box["width"], box["height"]) == (0, 200, 80, 44), f"a control is at {box}")
    page.run("page.controls.focus(4)")
    expect(page.run(f"document.activeElement === {at % 4}"), "the focus follows the program")
    expect(page.run("page.seen") == [], "the program is told what it did")
    update(CELLS[:4] + [{**CELLS[4], "name": "b2, X"}] + MORE)
    expect(page.run(f"document.activeElement === {at % 4} && {at % 4}.ariaLabel === 'b2, X'"), "an update takes the focus away")
    page.run(f"{at % 20}.focus()")
    page.run(f"{at % 21}.click()")
    seen = page.run("page.seen.splice(0)")
    # A window without the focus sends its elements no focus events.
    wanted = ([["focus", 20]] if page.run("document.hasFocus()") else []) + [["activate", 21]]
    expect(seen == wanted, f"of what is done to elements {seen} is told")
    expect(page.run(f"[{at % 21}.getAttribute('aria-checked'), {at % 22}.getAttribute('aria-valuetext')]") == ["true", "7 of 10"],
           "states")
    expect(page.run(f"['now', 'min', 'max'].map(what => {at % 22}.getAttribute('aria-value' + what))") == ["7", "0", "10"], "bounds")
    expect(page.run("[...document.querySelectorAll('#controls > [role=radiogroup]')].map(group => [group.ariaLabel, group.children.length])")
           == [["Theme", 2]], "answers of one question in a group")
    expect(page.run("[...document.querySelectorAll('#controls > p')].map(text => text.textContent)") == ["won 3, lost 1"], "what is only read")
    expect(page.run(f"{at % 24}.getAttribute('aria-disabled')") == "true", "what cannot be used")
    page.run(f"[{at % 20}.ariaLabel, 'X plays b2', 'O to move'].forEach(line => page.controls.say(line))")
    page.until("document.getElementById('say').textContent === 'X plays b2. O to move'")
    # The page's elements must have the order of the newest list.
    rows = [{"id": 1000 + n, "role": "paragraph", "name": f"row {n}", "state": "", "box": [0, n, 80, 1]} for n in range(300)]
    for order in (rows, rows[150:] + rows[:150:2] + MORE, rows[::-1]):
        update(order)
        expect(page.run("[...document.querySelectorAll('#controls p')].map(text => text.textContent)")
               == [row["name"] for row in order if row["role"] == "paragraph"], "the order of a list")
    update(MORE)
    expect(page.run("document.querySelectorAll('#controls button').length") == 6, "what is gone is still there")


def socket(page, server):
    page.run("page.socket.open()")
    page.until("page.seen.length >= 2")
    seen = page.run("page.seen.splice(0)")
    expect(seen[0] == ["opened"] and json.loads(seen[1][1])["t"] == "hello", f"{seen}")
    page.run("""page.socket.send('{"t":"hello","v":[1]}')""")
    page.until("page.seen.some(([what, line]) => what === 'line' && JSON.parse(line).t === 'welcome')")
    page.run("page.seen.splice(0)")
    server.kill()
    page.until("page.seen.some(([what]) => what === 'closed')")
    expect(page.run("page.seen.splice(0)") == [["closed", ""]], "the end of a connection is told once")
    page.run("page.socket.open()")
    page.until("page.seen.length > 0")
    expect(page.run("page.seen.splice(0)") == [["closed", "no server answers"]], "a server that is away")


def main(name, program):
    server = Server(program)
    page = Browser(name)
    try:
        server.build("1")
        server.start()
        page.open(server.url + "r/k7q2xd")
        page.until("globalThis.page")
        expect(page.run("page.files.asked()") == ["r", "k7q2xd"], "a link leads elsewhere")
        expect(page.run("document.getElementById('message').hidden"), "the message stays")
        for size in ((360, 740), (740, 360)):
            page.size(*size)
            page.until(f"innerWidth === {size[0]} && innerHeight === {size[1]}")
            expect(page.run("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]") == list(size), "it scrolls")
        picture = "document.querySelector('meta[property=\"og:image\"]')?.content"
        expect(page.run(picture) is None, "the picture of a link has no whole address")
        files(page)
        controls(page)
        page.until("navigator.serviceWorker.ready.then(() => caches.keys()).then(keys => keys.length === 1)")
        socket(page, server)
        # The page also loads while the server does not run.
        page.open(server.url)
        page.until("globalThis.page?.build === '1'")
        page.open(server.url + "w/abc")
        page.until("globalThis.page?.files.asked()?.[1] === 'abc'")
        # The page must load all files from the newer build, none from the cache of the earlier build.
        server.address = "https://alina.example/play/"
        server.build("2")
        server.start()
        page.open(server.url)
        page.until("globalThis.page?.build === '2'")
        expect(page.run(picture) == "https://alina.example/play/icon-512.png", "the picture of a link is elsewhere")
        versions = page.run("[...new Set(performance.getEntries().map(entry => entry.name.match(/\\/v\\/(\\w+)\\//)?.[1]).filter(Boolean))]")
        expect(len(versions) == 1, f"files of {versions}")
        server.kill()
        # If a file of the new build is missing, the page says so in one line, and keeps all saved data.
        server.build("3", without=["controls.js"])
        server.start()
        page.open(server.url)
        page.until("document.getElementById('message').textContent.startsWith('Not all of the page arrived')")
        expect(page.run("localStorage.getItem('alina/games/2026/b.pgn')") == "ß ♯", "what was kept is lost")
        foreign = [url for url in page.asked if url.startswith("http") and not url.startswith(server.url)]
        expect(foreign == [], f"it asked {foreign}")
    finally:
        server.kill()
        shutil.rmtree(server.folder, ignore_errors=True)
        page.close()


if __name__ == "__main__":
    script(main)
