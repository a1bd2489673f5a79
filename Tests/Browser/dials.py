#!/usr/bin/env python3
"""dials.py BROWSER alina-server: a player's own music, and games of each kind by what is spoken alone.

A music is opened by its link and used in a game, whose piece equals what alina-score renders with the saved rule file; a damaged link
changes nothing. Then a player who presses keys and knows only what the live region says plays each game to its end. Prints what went
wrong in one line and exits 1.
"""
import os
import random
import shutil
import sys

from browsers import Fault, wait
from play import CONTROL, Player, Server, alone, expect, keep

WORD = "night-20--6------30-40"
DIALS = f"{CONTROL}.filter(control => control.role === 'slider').map(control => control.getAttribute('aria-valuetext'))"


def music(player, server, program):
    page = player.page
    player.sees("Length of short notes")
    first, last = page.run(DIALS)[0], page.run(DIALS)[-1]
    expect((first, last) == ("1.4", "-20"), f"the link's dials are shown as {first} and {last}")
    player.press("Use in games")
    player.press("Save as rule file")
    path = wait("the rule file", lambda: os.path.exists(page.downloads) and f"{page.downloads}/{WORD}.yaml")
    player.press("Hear it")
    page.until("globalThis.level?.() > 0.001 || heard.some(line => line.includes('No sound device'))")
    player.press("Stop")
    player.press("Back")
    alone(player)
    keep(player, f"{os.path.dirname(program)}/alina-score", path)
    # A dial moves by keys, is kept, and is still there when the page is loaded again.
    player.open(server.url)
    for name in ("Menu", "Settings", "Your own music"):
        player.press(name)
    player.press("Length of long notes")
    page.key("Home")
    page.until("localStorage.getItem('alina/config/settings').includes('own-music = night-20-0-6------30-40')")
    page.until(f"location.hash === '#/m/night-20-0-6------30-40' && {DIALS}[1] === '2'")
    page.run("location.hash = '#/m/night-99---------'")
    player.hears("its number 1 must be between 0 and 32")
    page.until(f"{DIALS}[1] === '2'")


class Listener:
    """A player who presses keys and knows only what is spoken."""

    def __init__(self, page, seed):
        self.page, self.chance = page, random.Random(seed)

    def ask(self, key):
        self.page.run("heard.splice(0)")
        self.page.key(key)
        return self.page.until("heard.at(-1)").replace("\u00a0", "")

    def empty_cells(self):
        """The empty cells of the rows of the board with the focus."""
        cells = []
        for _ in range(3):
            cells += [words[:2] for words in self.ask("i").split("; ") if words.endswith(" empty")]
            self.ask("ArrowDown")
        return cells

    def play(self):
        """Plays both sides of a game to its end; returns the number of moves."""
        moves = 0
        while " to move" in (turn := self.ask("t")):
            if "in any open board" in turn:
                while not self.ask(str(self.chance.randrange(1, 10))).startswith("board "):
                    pass
            if "board" in turn:
                while " plays " not in self.ask(str(self.chance.randrange(1, 10))):
                    pass
            else:
                self.ask("ArrowLeft")
                cell = self.chance.choice(self.empty_cells())
                heard = self.ask(str((int(cell[1]) - 1) * 3 + "abc".index(cell[0]) + 1))
                expect(f"plays {cell}" in heard, f"{cell} is empty, but its key says {heard}")
            moves += 1
        expect(any(end in turn for end in ("X wins", "O wins", "A draw")), f"the end is said as {turn}")
        return moves


def spoken(player, server):
    page = player.page
    page.run("(localStorage.clear(), localStorage.setItem('alina/config/settings', "
             "'shown-rules = infinite misere ultimate\\nexplain = no\\n'))")
    player.open(server.url)
    for game in ("Classic", "Misère", "Infinite", "Ultimate"):
        for name in ("New game", f"Game: {game}", "Opponent (Pip is the easiest, Alina never loses): human", "Start"):
            player.press(name)
        page.until("document.querySelectorAll('[role=gridcell]').length > 8")
        listener = Listener(page, 7)
        listener.ask("ArrowLeft")
        expect("unlimited" in listener.ask("c"), "the key for the clocks says nothing of them")
        listener.play()
        expect(" plays " in listener.ask("p"), "the key for the last move does not say it")


def main(name, program):
    server = Server(program)
    player = None
    try:
        player = Player(name, f"{server.url}#/m/{WORD}")
        music(player, server, program)
        spoken(player, server)
        expect(player.page.complaints == [], f"{player.page.complaints}")
    finally:
        if player:
            player.close()
        server.kill()
        shutil.rmtree(server.folder, ignore_errors=True)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except Fault as fault:
        sys.exit(f"dials.py: {fault}")
