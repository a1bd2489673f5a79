#!/usr/bin/env python3
"""duels.py BROWSER GAMES alina-server: plays a page against a window, another page and a bot, GAMES games each.

Kills the server in every fourth game, lets the side to move make its move meanwhile, and starts the server again. At the end
compares each game in the server's store with each player's copy. Prints the numbers of games and moves, or the first failure in
one line and exits 1.
"""
import glob
import json
import os
import random
import re
import shutil
import sqlite3
import subprocess
import tempfile

from browsers import script, wait
from play import Player, Server, enter_lobby, expect, open_room

LINES = [cells.split() for cells in ("a1 a2 a3", "b1 b2 b3", "c1 c2 c3", "a1 b1 c1", "a2 b2 c2", "a3 b3 c3", "a1 b2 c3", "a3 b2 c1")]


class Window:
    """The native window on a display of its own, with the same interface as a page's `Player`."""

    def __init__(self, program, *arguments):
        self.folder = tempfile.mkdtemp(prefix="alina-")
        self.controls = f"{self.folder}/controls"
        read, write = os.pipe()
        self.display = subprocess.Popen(["Xvfb", "-displayfd", str(write), "-screen", "0", "1280x720x24", "-nolisten", "tcp"],
                                        pass_fds=[write], stderr=subprocess.DEVNULL)
        os.close(write)
        with os.fdopen(read) as number:
            self.environment = {**os.environ, "DISPLAY": f":{number.readline().strip()}", "SDL_VIDEODRIVER": "x11", "SDL_AUDIODRIVER": "dummy",
                                "XDG_DATA_HOME": f"{self.folder}/data", "XDG_CONFIG_HOME": f"{self.folder}/config"}
        self.log = open(f"{self.folder}/said", "w", encoding="utf-8")
        self.command = [program, "--control-log", self.controls, "--piano", "modal", *arguments]
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command, env=self.environment, stdout=subprocess.DEVNULL, stderr=self.log)
        wait("a window", lambda: os.path.exists(self.controls))

    def again(self):
        self.process.terminate()
        self.process.wait()
        os.remove(self.controls)
        self.start()

    def places(self):
        """The middle of each control, by its label."""
        with open(self.controls, encoding="utf-8") as file:
            lines = [line.rstrip("\n").split(" ", 4) for line in file.readlines()[1:]]
        return {words: (int(x) + int(width) // 2, int(y) + int(height) // 2) for x, y, width, height, words in lines}

    def press(self, name):
        at = wait(name, lambda: next((at for words, at in self.places().items() if words.startswith(name)), None))
        subprocess.run(["xdotool", "mousemove", str(at[0]), str(at[1]), "click", "1"], env=self.environment, check=True)

    def cells(self):
        return dict(words.split(", ")[:2] for words in self.places() if re.match(r"[abc][123], ", words))

    def games(self):
        for path in sorted(glob.glob(f"{self.folder}/data/alina/games/*.pgn")):
            with open(path, encoding="utf-8") as file:
                yield file.read()

    def close(self):
        for process in (self.process, self.display):
            process.terminate()
            process.wait()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)


class Bot:
    def __init__(self, program, server, games):
        self.process = subprocess.Popen([program, "bot", "--connect", server.listen, "--games", str(games), "--clock", "none",
                                         "--player", "trap"], stdout=subprocess.PIPE, text=True)

    def close(self):
        self.process.kill()
        self.process.wait()


def is_over(cells):
    return "empty" not in cells.values() or any(
        cells[a] == cells[b] == cells[c] != "empty" for a, b, c in LINES)


def game(people, chance, server=None):
    """Plays a game with random moves. Kills `server` before one move, and restarts it after both players have pressed the move's cell."""
    away = chance.randrange(1, 5)
    while not is_over(cells := people[0].cells()):
        cell = chance.choice([name for name, mark in cells.items() if mark == "empty"])
        is_away = server and away == sum(mark != "empty" for mark in cells.values())
        if is_away:
            server.kill()
        # For the player who is not to move the press chooses a next move, which the page drops when the opponent marks that cell.
        for person in people:
            person.press(cell)
        if is_away:
            server.start()
            server = None
        wait(lambda: f"{cell}: {[person.cells() for person in people]}", lambda: all(
            person.cells() not in (cells, {}) for person in people) and people[0].cells() == people[-1].cells())


def kept(server, count):
    """Waits until the server has stored `count` finished matches; returns their moves, and checks that no log has a gap."""
    def look():
        with sqlite3.connect(f"file:{glob.glob(server.folder + '/*.sqlite')[0]}?mode=ro", uri=True) as store:
            return list(store.execute("SELECT n, id FROM match WHERE ended IS NOT NULL ORDER BY n")), {
                n: [(seq, json.loads(body)) for seq, body in store.execute("SELECT seq, body FROM event WHERE match = ? ORDER BY seq", (n,))]
                for (n,) in store.execute("SELECT n FROM match")}
    wait(f"{count} games in the store", lambda: len(look()[0]) == count)
    matches, logs = look()
    for log in logs.values():
        expect([seq for seq, _ in log] == list(range(1, len(log) + 1)), f"a gap in {log}")
    return {name: [body["cell"] for _, body in logs[n] if body["k"] == "move"] for n, name in matches}


def compare(server, people, count):
    matches = kept(server, count)
    for person in people:
        def theirs():
            return [re.findall(r"\b[abc][123]\b", re.sub(r"\{[^}]*\}|\[[^\]]*\]", "", text)) for text in person.games()]
        wait(lambda: f"what was played: {theirs()} of {list(matches.values())}", lambda: theirs() == list(matches.values()), 20)
    return matches


def duel(name, program, other, games):
    server, chance = Server(program), random.Random(games)
    bin, people, bot = os.path.dirname(program), [], None
    try:
        page = Player(name, server.url)
        people.append(page)
        enter_lobby(page)
        if other == "bot":
            bot = Bot(f"{bin}/alina-arena", server, games)
        else:
            room = open_room(page)
            people.append(Player(name, room) if other == "page" else Window(
                f"{bin}/alina", "--connect", server.listen, "--room", room.split("/")[-1]))
        for number in range(games):
            if bot:
                page.press("Quick match")
                page.press("Play a bot instead")
            elif number:
                page.press("Rematch")
                people[1].press("Accept rematch")
            # A bot that has X moves at once, so one cell may be marked already.
            wait("the next board", lambda: all(list(person.cells().values()).count("empty") >= 8 for person in people))
            game(people, chance, server if number % 4 == 1 else None)
            if bot:
                page.press("Leave the match")
        matches = compare(server, people, games)
        if bot:
            said = [line.split() for line in bot.process.stdout.readlines()]
            expect([words[0] for words in said] == list(matches), f"the bot tells of {said}, the server of {list(matches)}")
        kills = len(range(1, games, 4))
        print(f"page against {other}: {games} games, {sum(map(len, matches.values()))} moves, the server killed {kills} times, nothing lost")
    finally:
        for person in people + ([bot] if bot else []):
            person.close()
        server.kill()
        shutil.rmtree(server.folder, ignore_errors=True)


def main(browser, times, program):
    for other in ("window", "page", "bot"):
        duel(browser, program, other, int(times))


if __name__ == "__main__":
    script(main)
