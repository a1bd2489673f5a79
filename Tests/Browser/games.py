#!/usr/bin/env python3
"""games.py BROWSER alina-server: plays Infinite, Misère and Ultimate between two people to the end, on a desktop and on a phone.

For each game: two people meet in a room by its link, both reload the page in the middle, a third person watches, and the finished
game is opened by its link. Prints the first failure in one line and exits 1.
"""
import contextlib
import random

from browsers import Fault, script, wait
from live import SECOND, again, hash_begins
from play import CELL, CONTROL, expect, open_room, visit, watch


# JavaScript: whether the cell whose label begins with %s is marked.
MARKED = f"(label => label && !label.includes('empty'))({CELL}.map(cell => cell.ariaLabel).find(label => label.startsWith(%s)))"


def open_cells(player, game):
    said = ", empty; " if game == "Ultimate" else ", empty"
    labels = player.page.run(f"{CELL}.map(cell => cell.ariaLabel)")
    return [label.split(", empty")[0] for label in labels if said in label]


def press(player, cell, game):
    """Presses a cell until it is marked. On a phone the first press may only enlarge the cell's board, which moves the cells."""
    # On a phone a board moves for 0.4 s as it is enlarged.
    zooms = game == "Ultimate" and player.page.run("innerWidth < 600")

    def is_marked():
        if zooms:
            player.page.run("new Promise(done => setTimeout(done, 700))")
        if cell in open_cells(player, game):
            player.press(cell)
        with contextlib.suppress(Fault):
            return player.page.until(MARKED % repr(cell + ","), 2)

    wait(f"{cell} to be marked", is_marked)


def is_over(player):
    return player.page.run(f"{CONTROL}.some(control => control.ariaLabel === 'Rematch' && control.ariaDisabled !== 'true')")


def whole(game, ann, ben, enter, moves):
    for name in ("Menu", "Play online", "Connect", f"Game: {game}", "Time control: unlimited"):
        ann.press(name)
    room = open_room(ann)
    ben.open(room)
    side = 81 if game == "Ultimate" else 9
    for player in (ann, ben):
        player.page.until(f"{CELL}.length === {side}")
    wait("somebody to be told to wait", lambda: any(player.page.run(SECOND) for player in (ann, ben)))
    x, o = (ben, ann) if ann.page.run(SECOND) else (ann, ben)
    everybody, plies = [x, o], 0
    while not is_over(x):
        mover = (x, o)[plies % 2]
        cells = open_cells(mover, game)
        expect(cells, f"{game}: nothing may be marked after {plies} plies")
        cell = moves.choice(cells)
        press(mover, cell, game)
        for player in everybody:
            player.page.until(MARKED % repr(cell + ","))
        plies += 1
        if plies in (4, 5):
            # The reloaded page shows the match only a moment after it has loaded.
            again((x, o)[plies % 2])
            (x, o)[plies % 2].page.until(MARKED % repr(cell + ","))
        if plies == 4:
            everybody.append(enter(watch(o)))
            hash_begins(everybody[-1], "#/w/")
        expect(plies < 120, f"{game} does not end")
        wait("the next move", lambda: is_over(x) or open_cells((x, o)[plies % 2], game))
    for player in (x, o):
        player.sees("Rematch")
    return x, plies


def main(name, program):
    moves = random.Random(3)
    for game, size in (("Infinite", None), ("Misère", None), ("Ultimate", (390, 844))):
        with visit(name, program) as (_, enter):
            ann, ben = enter(), enter()
            if size:
                ben.page.size(*size)
            x, plies = whole(game, ann, ben, enter, moves)
            kept = x.games()[-1]
            expect(f'[Variant "{game.replace("è", "e")}"]' in kept, f"the kept game is {kept[:200]}")
            hash_before = x.page.run("location.hash")
            x.press(x.page.until(f"['Review', 'See why'].find(name => {CONTROL}.some(control => control.ariaLabel === name))"))
            hash_begins(x, "#/g/")
            link = x.page.run("location.hash")
            expect(link != hash_before and len(link) < 1_000, f"the link of {plies} plies has {len(link)} characters")
            enter(link).sees("Share link")


if __name__ == "__main__":
    script(main)
