#!/usr/bin/env python3
"""spoken.py BROWSER alina-server: plays each variant to its end by keys, reading only the live region.

The player presses keys that ask questions (T: whose turn it is; I: the cells of a row; P: the last move), and chooses cells by
digits. The opponent is level 3. Prints the first failure in one line and exits 1.
"""
import json
import random
import re

from browsers import script
from play import expect, visit

GAMES = ("classic", "infinite", "misere", "ultimate")
OVER = "You win|You lose|A draw"


class Listener:
    def __init__(self, page, seed):
        self.page, self.chance = page, random.Random(seed)

    def press(self, key, pattern):
        """Presses a key; returns the first later line of the live region in which the pattern occurs."""
        self.page.run("heard.splice(0)")
        self.page.key(key)
        return self.page.until(f"heard.find(line => line.search({json.dumps(pattern)}) >= 0)")

    def turn(self):
        """Asks whose turn it is until it is the player's turn, or the game is over."""
        while "thinking" in (line := self.press("t", f"Your move|is thinking|{OVER}")):
            pass
        return line

    def empty(self):
        cells = set()
        for _ in range(3):
            cells |= set(re.findall(r"([abc][123]) empty", self.press("i", "[abc][123] (X|O|empty)")))
            self.page.key("ArrowDown")
        return sorted(cells)

    def mark(self):
        """Marks an empty cell of a variant with one board; the cell is chosen by chance."""
        cell = self.chance.choice(self.empty())
        # The digits are placed as on a keypad: 7 8 9 in the top row.
        digit = 3 * (int(cell[1]) - 1) + "abc".index(cell[0]) + 1
        self.press(str(digit), f"X plays {cell}")

    def mark_in_board(self, line):
        """Marks a cell of Ultimate by digits chosen by chance; a taken cell and a closed board are refused in words."""
        def digit(pattern):
            return self.press(str(self.chance.randint(1, 9)), f"{pattern}|This cell is taken|Play in a highlighted board")
        if "in any open board" in line:
            while not re.search("board [abc][123]", digit("board [abc][123]")):
                pass
        while "X plays" not in digit("X plays"):
            pass


def play(name, program, game):
    with visit(name, program) as (server, enter):
        player = enter()
        page = player.page
        page.run("localStorage.setItem('alina/config/settings', "
                 f"'game = {game}\\nreply = immediate\\nshown-rules = infinite misere ultimate\\nexplain = no\\n')")
        player.open(server.url)
        listener, moves = Listener(page, seed=game), 0
        while not re.search(OVER, line := listener.turn()):
            listener.mark_in_board(line) if game == "ultimate" else listener.mark()
            moves += 1
            expect(moves <= 50, f"{game} does not end")
        listener.press("p", "plays")
        listener.press("c", "unlimited")
        return moves


def main(name, program):
    moves = {game: play(name, program, game) for game in GAMES}
    print(f"spoken in {name}: moves until the end: {moves}")


if __name__ == "__main__":
    script(main)
