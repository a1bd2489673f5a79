#!/usr/bin/env python3
"""play.py BROWSER alina-server: tests the page in a real browser as players use it.

Plays a game against Bram with sound, opens it by its link and saves its piece as files. Plays three games in a room that is joined by its
link; in the second game the server is killed and restarted, and a third person begins to watch. Plays a match from the queue with a
spectator. Then tries damaged and foreign data, and refusals. Prints the first failure in one line and exits 1.
"""
import contextlib
import copy
import glob
import json
import os
import shutil
import signal
import subprocess
import tempfile

from browsers import Browser, Fault, downloads, script, wait

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGE = os.environ.get("ALINA_PAGE", f"{ROOT}/.build-web/page")
CELL = "[...document.querySelectorAll('[role=gridcell] [data-id]')]"
CONTROL = "[...document.querySelectorAll('#controls [data-id]')]"
# Records copied texts, spoken lines, the number of drawn frames and their times, and the sound's level.
WATCH = """(() => {
  // A tab begins with an empty page, in which this script does nothing.
  if (!globalThis.Clipboard) return;
  globalThis.copied = [];
  globalThis.drawn = 0;
  globalThis.spent = [];
  const write = Clipboard.prototype.writeText;
  Clipboard.prototype.writeText = function (text) { copied.push(text); return write.call(this, text); };
  globalThis.heard = [];
  addEventListener('DOMContentLoaded', () => {
    const say = document.getElementById('say');
    if (say) new MutationObserver(() => heard.push(say.textContent)).observe(say, { childList: true, characterData: true, subtree: true });
  });
  const request = requestAnimationFrame;
  globalThis.requestAnimationFrame = call => request(time => {
    const begun = performance.now();
    call(time);
    drawn++;
    spent.push(performance.now() - begun);
  });
  const connect = AudioNode.prototype.connect;
  AudioNode.prototype.connect = function (to, ...more) {
    if (this instanceof AudioWorkletNode) {
      const analyser = this.context.createAnalyser(), samples = new Float32Array(analyser.fftSize);
      connect.call(this, analyser);
      globalThis.level = () => { analyser.getFloatTimeDomainData(samples); return Math.max(...samples.map(Math.abs)); };
    }
    return connect.call(this, to, ...more);
  };
})()"""


def expect(holds, what):
    if not holds:
        raise Fault(what)


class Server:
    """An alina-server that stores its matches in a folder, so that they survive a kill."""

    def __init__(self, program, site=PAGE, more=()):
        self.program, self.site, self.more, self.folder = program, site, more, tempfile.mkdtemp(prefix="alina-")
        self.listen = self.page = "127.0.0.1:0"
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [self.program, "--listen", self.listen, "--page", self.page, "--no-admin", "--data", self.folder, "--web", self.site, *self.more],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.listen = self.process.stdout.readline().split()[-1]
        self.url = self.process.stdout.readline().split()[-1]
        self.page = self.url.split("/")[2]

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


class Player:
    """A player in a browser, who finds controls by the names given to screen readers."""

    def __init__(self, name, url, before="", text=100, size=None):
        self.page = Browser(name, before=f"{WATCH};{before}", text=text)
        self.page.allow(url)
        # Firefox's own window is only 682 pixels high: the menu would scroll, and a press could hit the footer.
        if size or name == "firefox":
            self.page.size(*(size or (1366, 960)))
        self.open(url)

    def tab(self, url):
        other = copy.copy(self)
        other.page = self.page.tab()
        other.open(url)
        return other

    def open(self, url):
        self.page.open(url)
        self.page.until(f"document.getElementById('message')?.hidden && {CONTROL}.length > 2")

    def press(self, name):
        # The focus scrolls a control near the upper or lower edge into view, which takes some frames.
        place = (f"(control => {{ if (!control) return null; const box = control.getBoundingClientRect();"
                 f"const isNearEdge = box.y < innerHeight * 0.15 || box.bottom > innerHeight * 0.85;"
                 f"if (isNearEdge) control.focus();"
                 f"const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];"
                 f"return y > 0 && y < innerHeight ? [x, y, isNearEdge] : null; }})({CONTROL}.find(control => "
                 f"control.ariaLabel.startsWith({json.dumps(name)}) && control.ariaDisabled !== 'true'))")
        # Pages slide in and controls move. So the click waits until the control's place no longer changes.
        before, at = None, self.page.until(place)
        while before != at:
            self.page.click(*at[:2], isPressed=False)
            self.page.run(f"new Promise(done => setTimeout(done, {400 if at[2] else 20}))")
            before, at = at, self.page.until(place)
        self.page.click(*at[:2])

    def sees(self, name):
        self.page.until(f"{CONTROL}.some(control => control.ariaLabel.startsWith({json.dumps(name)}))")

    def hears(self, words):
        self.page.until(f"heard.some(line => line.includes({json.dumps(words)}))")

    def cells(self):
        """The mark of each cell, by the cell's name: X, O or empty. A cell that is chosen for the next turn is still empty."""
        return dict(label.split(", ")[:2] for label in self.page.run(f"{CELL}.map(cell => cell.ariaLabel)"))

    def until_cell(self, name, mark):
        self.page.until(f"{CELL}.some(cell => cell.ariaLabel === '{name}, {mark}')")

    def games(self):
        return self.page.run("Object.keys(localStorage).filter(key => key.startsWith('alina/data/games/')).sort().map(key => localStorage.getItem(key))")

    def close(self):
        self.page.close()


def alone(player):
    page = player.page
    page.until(f"{CELL}.length === 9")
    for count in range(1, 6):
        free = [name for name, mark in player.cells().items() if mark == "empty"]
        choice = "b2" if "b2" in free else free[0]
        player.press(choice)
        player.until_cell(choice, "X")
        page.until(f"{CELL}.filter(cell => cell.ariaLabel.endsWith(', O')).length === {count} || "
                   f"{CONTROL}.some(control => control.ariaLabel === 'Rematch')")
        if page.run(f"{CONTROL}.some(control => control.ariaLabel === 'Rematch')"):
            break
    player.sees("Rematch")
    # Firefox has no sound device here, and the page says so.
    page.until("globalThis.level?.() > 0.001 || heard.some(line => line.includes('No sound device'))")
    expect(page.name == "firefox" or page.run("level() > 0.001"), "a game without a sound")


def keep(player, program, rules=None):
    """Exports the piece, and compares the files with those of alina-score; `rules` is the rule file that the page has saved, if any."""
    page = player.page
    for name in ("Menu", "Export the music"):
        player.press(name)
    kinds = {"pgn", "mid", "musicxml", "svg", "wav"}

    def made():
        return [name for name in downloads(page) if not name.endswith(".yaml")]

    wait(lambda: f"the piece in {made()}", lambda: {name.split(".")[-1] for name in made()} == kinds)
    stem = f"{page.downloads}/{made()[0].rsplit('.', 1)[0]}"
    subprocess.run([program, "render", f"{stem}.pgn", *(["--score-rules", rules] if rules else []), "--times", "trimmed", "--wav", f"{stem}.2.wav", "--midi", f"{stem}.2.mid", "--musicxml", f"{stem}.2.musicxml",
                    "--svg", f"{stem}.2.svg"], check=True, stdout=subprocess.DEVNULL)
    for kind in kinds - {"pgn"}:
        ours, theirs = (open(f"{stem}{number}.{kind}", "rb").read() for number in ("", ".2"))
        expect(ours == theirs, f"the piece's {kind} has {len(ours)} bytes, alina-score's {len(theirs)}")


def whole(player):
    """Checks that all files of the page are available, also offline."""
    for name in ("Menu", "Settings"):
        player.press(name)
    player.sees("Theme: dark")
    player.page.until("navigator.serviceWorker.ready.then(() => caches.keys()).then(keys => keys.length === 1)")
    for _ in range(2):
        player.press("Back")
    player.page.until(f"{CELL}.length === 9")


def review(player):
    """Opens the review of the finished game, and returns the game's link."""
    # The loser sees the label "See why".
    player.press(player.page.until(f"['Review', 'See why'].find(name => {CONTROL}.some(control => control.ariaLabel === name))"))
    player.press("Share link")
    link = player.page.until("copied.at(-1)")
    expect("/#/g/" in link, f"the link of a game is {link}")
    return link


def enter_lobby(player):
    for name in ("Menu", "Play online", "Connect", "Time control: unlimited"):
        player.press(name)


def open_room(player):
    for name in ("Open a room", "Share link"):
        player.press(name)
    return player.page.until("copied.at(-1)?.includes('/r/') && copied.at(-1)")


def next_move(ann, ben):
    """Plays a game in which X chooses moves while O is to move: a chosen move is shown, spoken, taken back, and played after O's move."""
    for player in (ann, ben):
        player.page.run("heard.splice(0)")
        player.press("b2")
    for player in (ann, ben):
        player.until_cell("b2", "X")
        player.page.run("heard.splice(0)")
        player.page.key("t")
    # The answer to the key may be in one line with the sentence about the move before.
    is_ann = ann.page.until("heard.join().match(/Your move|Waiting/g)?.at(-1)") == "Your move"
    o, x = (ann, ben) if is_ann else (ben, ann)
    x.press("c3")
    x.hears("Your next move: c3")
    x.page.until(f"{CELL}.some(cell => cell.ariaLabel === 'c3, empty, your next move')")
    x.press("c3")
    x.hears("Your next move was taken back")
    x.until_cell("c3", "empty")
    x.press("a1")
    o.press("a3")
    for player in (ann, ben):
        player.until_cell("a1", "X")
    x.press("c3")
    o.press("b1")
    for player in (ann, ben):
        player.until_cell("c3", "X")
        player.sees("Rematch")


def watch(player):
    for name in ("Menu", "Share spectator link"):
        player.press(name)
    return player.page.until("copied.at(-1)?.includes('/w/') && copied.at(-1)").split("/", 3)[3]


def match(ann, ben, server=None, enter=None, watchers=()):
    """Plays a game that X wins; everybody sees each move. After O's first move restarts `server` and calls `enter` for a spectator."""
    watchers = list(watchers)
    for cell, mark in (("b2", "X"), ("a3", "O"), ("a1", "X"), ("c1", "O"), ("c3", "X")):
        # For the player who is not to move the press chooses a next move, which the page drops when the opponent marks that cell.
        ann.press(cell)
        ben.press(cell)
        for player in (ann, ben, *watchers):
            player.until_cell(cell, mark)
        if server and cell == "a3":
            server.kill()
            server.start()
        if enter and cell == "a3":
            watchers.append(enter())
            watchers[-1].until_cell("a3", "O")
            watchers[-1].press("c3")
            watchers[-1].hears("You are only watching")
    for player in (ann, ben):
        player.sees("Rematch")
    return watchers


def refusals(player, server):
    """Checks that data of other programs are kept, and that a full storage is reported in one line."""
    page = player.page
    page.run("""localStorage.setItem('alina/config/settings', '\\0 of somebody else = ?\\n')""")
    page.run("localStorage.setItem('other', '1')")
    player.open(server.url)
    page.until(f"{CELL}.length === 9")
    expect(page.run("localStorage.getItem('other')") == "1", "what is somebody else's is gone")
    # The next game cannot be saved in a full storage.
    page.run("""(() => { for (let n = 2 ** 22; n >= 1; n >>= 1) try { for (let i = 0; ; i++) localStorage.setItem(`full${n}/${i}`, 'x'.repeat(n)); } catch {} })()""")
    player.press("b2")
    player.hears("The game could not be saved")
    page.run("localStorage.clear()")


def other_version(player):
    """Checks that a server with another protocol version is reported in one line."""
    player.page.run("""void (globalThis.WebSocket = class {
      static OPEN = 1;
      readyState = 1;
      constructor() { setTimeout(() => { this.onopen(); this.onmessage({ data: '{"t":"hello","server":"future","v":[99],"mid":"x"}' }); }); }
      send() {}
      close() { this.readyState = 3; }
    })""")
    for name in ("Menu", "Play online", "Connect"):
        player.press(name)
    player.hears("Update the older of the two")


def half_loaded(name, program):
    """Checks that a truncated WebAssembly module is reported in one line and loses no data."""
    for module, words in (("alina", "Not all of the page arrived"), ("sound", "This browser cannot play sound here")):
        folder = tempfile.mkdtemp(prefix="alina-")
        shutil.copytree(PAGE, folder, dirs_exist_ok=True)
        path = glob.glob(f"{folder}/v/*/{module}.wasm")[0]
        os.truncate(path, os.path.getsize(path) // 2)
        for ending in (".br", ".gz"):
            os.remove(path + ending)
        server, page = Server(program, folder), Browser(name, before=WATCH)
        try:
            page.open(server.url)
            page.run("localStorage.setItem('alina/data/games/a.pgn', 'kept')")
            if module == "sound":
                page.click(*page.until(f"{CELL}.length === 9 && (box => [box.x + 9, box.y + 9])({CELL}[4].getBoundingClientRect())"))
            page.until(f"[...heard, document.getElementById('message').textContent].some(line => line.includes('{words}'))")
            # Waits for a second report: the missing file of the sound must not also be reported as a missing sound device.
            page.run("new Promise(done => setTimeout(done, 3500))")
            expect(not page.run("heard.some(line => line.includes('No sound device'))"), "half a sound is told of twice")
            expect(page.run("localStorage.getItem('alina/data/games/a.pgn')") == "kept", "what was kept is lost")
        finally:
            page.close()
            server.kill()
            for left in (folder, server.folder):
                shutil.rmtree(left, ignore_errors=True)


@contextlib.contextmanager
def visit(name, program, before=""):
    """Runs a server for a `with` block; `enter(path)` opens the page for a player. No page may log errors or contact another host."""
    server = Server(program)
    players = []

    def enter(path=""):
        players.append(Player(name, server.url + path, before=before))
        return players[-1]

    try:
        yield server, enter
        for player in players:
            # Firefox also logs that the server is unreachable.
            complaints = [line for line in player.page.complaints if "/play" not in line]
            expect(complaints == [], f"{complaints}")
            foreign = [url for url in player.page.asked if url.startswith("http") and not url.startswith(server.url)]
            expect(foreign == [], f"it asked {foreign}")
    finally:
        for player in players:
            player.close()
        server.kill()
        shutil.rmtree(server.folder, ignore_errors=True)


def main(name, program):
    half_loaded(name, program)
    with visit(name, program) as (server, enter):
        ann = enter()
        expect(ann.page.run("globalThis.level === undefined"), "there is sound before the first touch")
        alone(ann)
        keep(ann, f"{os.path.dirname(program)}/alina-score")
        whole(ann)
        link = review(ann)
        ben = enter(link.split("/", 3)[3])
        ben.sees("Share link")
        ben.page.run("location.hash = '#/g/' + %s" % json.dumps(link.split("/g/")[1][:-3]))
        ben.hears("this link is damaged")
        ann.press("Back")
        enter_lobby(ann)
        room = open_room(ann)
        ann.hears("Tell your friend this code: " + " ".join(room.split("/")[-1]))
        ben.open(room)
        for player in (ann, ben):
            player.page.until(f"{CELL}.length === 9")
        watchers = []
        for game in range(3):
            # The spectator of the second game follows the players into the third.
            watchers = match(ann, ben, server if game == 1 else None, (lambda: enter(watch(ann))) if game == 1 else None, watchers)
            if game < 2:
                ann.press("Rematch")
                ben.press("Accept rematch")
                for player in (ann, ben, *watchers):
                    player.page.until(f"{CELL}.length === 9 && {CELL}.every(cell => cell.ariaLabel.endsWith('empty'))")
        ann.press("Rematch")
        ben.press("Accept rematch")
        for player in (ann, ben):
            player.page.until(f"{CELL}.length === 9 && {CELL}.every(cell => cell.ariaLabel.endsWith('empty'))")
        next_move(ann, ben)
        for player in (ann, ben):
            for what in ("Leave the match", "Time control: unlimited", "Quick match"):
                player.press(what)
        for player in (ann, ben):
            player.page.until(f"{CELL}.length === 9")

        def look():
            looker = enter()
            for name in ("Menu", "Play online", "Connect", "guest"):
                looker.press(name)
            return looker

        match(ann, ben, enter=look)
        refusals(ben, server)
        other_version(ben)


if __name__ == "__main__":
    script(main)
