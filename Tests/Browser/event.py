#!/usr/bin/env python3
"""event.py BROWSER alina-server [FOLDER [SECONDS [GAME [BOTS]]]]: tests a whole tournament with programs and three browsers.

The organiser makes the tournament on a desktop, a projector shows the organiser's link, a player uses a phone. In the middle the server
is killed and started again, and the organiser's browser is killed and opens the link again. At the end the saved table is compared with
the one that Tests/Tournament/table.py makes from the exported logs, and the saved games with these logs. Pictures go to FOLDER.
Prints the first failure in one line and exits 1.
"""
import contextlib
import os
import random
import signal
import subprocess
import tempfile
import time

from browsers import downloads, script, wait
from play import CELL, CONTROL, ROOT, Player, Server, expect

LEVELS = ["levels:1", "levels:2", "levels:3", "levels:4", "levels:5", "levels:6"]
GAMES = {"classic": "Classic", "infinite": "Infinite", "misere": "Misère", "ultimate": "Ultimate"}


def labels(player):
    return player.page.run("[...document.querySelectorAll('body *')].filter(part => !part.children.length || part.ariaLabel)"
                           ".map(part => part.ariaLabel || part.textContent)")


def places(player):
    return [label for label in labels(player) if label.startswith("Place ")]


def path(player):
    return player.page.until("location.href.includes('t/') && location.href.split('t/')[1]")


class Tournament:
    def __init__(self, name, program, folder, game, bots):
        self.name, self.program, self.folder, self.game, self.bots = name, program, folder, game, bots
        # All players share one address, and by default the server accepts fewer logins a minute from one address.
        self.server = Server(program, more=["--logins-per-minute", "300"])
        self.players, self.children = [], []

    def enter(self, address, size, is_phone=False):
        player = Player(self.name, self.server.url + address)
        player.page.size(*size, isPhone=is_phone)
        self.players.append(player)
        return player

    def picture(self, player, name):
        # Waits until the page has slid in.
        time.sleep(1)
        player.page.picture(f"{self.folder}/{name}.png")

    def make(self, seconds):
        """Makes a tournament that lasts longer than `seconds`; returns the organiser's page and the path of its address."""
        length = next(length for length in (5, 10, 15, 20) if length * 60 > seconds + 30)
        desktop = self.enter("", (1366, 768))
        for name in ("Menu", "Tournament", f"Game: {GAMES[self.game]}", f"Length: {length} min", "Players: people and programs"):
            desktop.press(name)
        self.picture(desktop, "form")
        desktop.press("Create tournament")
        desktop.sees("Start")
        return desktop, path(desktop)

    def start_bots(self, code):
        for index, level in enumerate(LEVELS):
            count = (self.bots + len(LEVELS) - 1 - index) // len(LEVELS)
            if count == 0:
                continue
            self.children.append(subprocess.Popen(
                [f"{os.path.dirname(self.program)}/alina-arena", "bot", "--connect", self.server.listen, "--player", level, "--event", code,
                 "--rules", self.game, "--concurrency", str(count), "--name", level.replace(":", "-")],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    def play(self, phone, until, ends="false"):
        """Plays on the phone, marking free cells at random, until a time or until an expression of JavaScript is true."""
        while time.monotonic() < until and not phone.page.run(ends):
            free = phone.page.run(f"{CELL}.filter(cell => /, empty($|;)/.test(cell.ariaLabel) && cell.ariaDisabled !== 'true')"
                                  ".map(cell => [cell.getBoundingClientRect()].map(box => [box.x + box.width / 2, box.y + box.height / 2])[0])")
            if free:
                phone.page.click(*random.choice(free))
            time.sleep(0.4)

    def close(self):
        for child in self.children:
            with contextlib.suppress(ProcessLookupError):
                child.kill()
            child.wait()
        for player in self.players:
            with contextlib.suppress(Exception):
                player.close()
        self.server.kill()


def saved(player, word, ending):
    """Presses a control that saves a file, and returns the file's content."""
    player.press(word)
    # The page receives some hundred games a second, of thousands in all. An earlier file of this kind may exist, so the newest is taken.
    found = wait(f"a file *.{ending}", lambda: [name for name in downloads(player.page) if name.endswith(f".{ending}")], 600)
    time.sleep(1)
    newest = max((f"{player.page.downloads}/{name}" for name in found), key=os.path.getmtime)
    with open(newest, encoding="utf-8") as file:
        return file.read()


def main(name, program, folder=None, seconds="150", game="classic", bots="30"):
    folder = folder or tempfile.mkdtemp(prefix="event-")
    os.makedirs(folder, exist_ok=True)
    event = Tournament(name, program, folder, game, int(bots))
    half = int(seconds) / 2
    try:
        desktop, address = event.make(int(seconds))
        code = address.split("/")[0]
        projector = event.enter(f"#/t/{address}", (1920, 1080))
        phone = event.enter(f"t/{code}", (390, 844), is_phone=True)
        event.picture(phone, "phone-join")
        phone.press("Join")
        event.start_bots(code)
        wait(lambda: f"all players in {labels(desktop)[:20]}", lambda: any(f"Players: {event.bots + 1}" in label for label in labels(desktop)), 120)
        event.picture(projector, "projector-lobby")
        desktop.press("Start")
        event.play(phone, time.monotonic() + half)
        for player, picture in ((desktop, "desktop"), (projector, "projector"), (phone, "phone")):
            event.picture(player, picture)
        event.server.process.send_signal(signal.SIGKILL)
        desktop.page.process.kill()
        event.server.process.wait()
        event.server.start()
        desktop = event.enter(f"#/t/{address}", (1366, 768))
        event.play(phone, time.monotonic() + half)
        expect(desktop.page.until(f"{CONTROL}.some(control => control.ariaLabel.startsWith('End tournament'))"), "the organiser may end it")
        for _ in range(2):
            desktop.press("End tournament")
        # The tournament is over only when all its games are over, so the phone plays its game to the end.
        event.play(phone, time.monotonic() + 240, "heard.some(line => line.includes('The tournament is over'))")
        for player in (desktop, projector):
            player.hears("The tournament is over")
        phone.hears("The tournament is over")
        phone.press("Tournament")
        for player, picture in ((desktop, "desktop-end"), (projector, "projector-end"), (phone, "phone-end")):
            event.picture(player, picture)
        table = [line.split(",") for line in saved(desktop, "Save table", "csv").splitlines()[1:]]
        games = saved(desktop, "Save games", "pgn")
        event.server.process.send_signal(signal.SIGTERM)
        event.server.process.wait()
        subprocess.run([program, "export", "--data", event.server.folder, f"{folder}/export"], check=True, stdout=subprocess.DEVNULL)
        script = subprocess.run(["python3", f"{ROOT}/Tests/Tournament/table.py", f"{folder}/export", code], check=True, capture_output=True, text=True)
        ours = [[name, points, games] for _, name, points, games in table if games != "0"]
        theirs = [[row[0], row[1], row[3]] for row in (line.split() for line in script.stdout.splitlines())]
        expect(sorted(ours) == sorted(theirs), f"the page's table is {ours}, the script's {theirs}")
        expect([row[1] for row in ours] == [row[1] for row in theirs], "the ranking differs")
        played = sum(int(row[2]) for row in theirs) // 2
        expect(games.count("[Event ") == played, f"{games.count('[Event ')} games are saved of {played}")
        complaints = [line for player in event.players[1:] for line in player.page.complaints if "/play" not in line]
        expect(complaints == [], f"{complaints}")
        print(f"{event.bots + 1} players, {played} games; the table is that of the logs; pictures in {folder}")
    finally:
        event.close()


if __name__ == "__main__":
    script(main)
