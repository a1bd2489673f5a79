#!/usr/bin/env python3
"""dials.py BROWSER alina-server: tests score rules that a player has made with the dials of the page "Your own music".

Opens the link of such rules and uses them in a game; the piece must equal what alina-score renders with the saved rule file. A damaged
link must change nothing. Prints the first failure in one line and exits 1.
"""
import os

from browsers import script, wait
from play import CONTROL, alone, expect, keep, visit

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
    player.open(server.url)
    for name in ("Menu", "Settings", "Your own music"):
        player.press(name)
    player.press("Length of long notes")
    page.key("Home")
    page.until("localStorage.getItem('alina/config/settings').includes('own-music = night-20-0-6------30-40')")
    page.until(f"location.hash === '#/m/night-20-0-6------30-40' && {DIALS}[1] === '2'")
    # Browsers refuse changes of the address that come too fast. The dial turns all the same, and the address follows later.
    page.run("(history.replaceState = () => { throw new DOMException('too many calls', 'SecurityError'); }, 0)")
    player.press("Length of short notes")
    page.key("Home")
    page.until("localStorage.getItem('alina/config/settings').includes('own-music = night-0-0-6------30-40')")
    page.run("delete history.replaceState")
    page.until("location.hash === '#/m/night-0-0-6------30-40'")
    page.run("location.hash = '#/m/night-99---------'")
    player.hears("its number 1 must be between 0 and 32")
    page.until(f"{DIALS}[1] === '2'")


def main(name, program):
    with visit(name, program) as (server, enter):
        player = enter(f"#/m/{WORD}")
        music(player, server, program)
        expect(player.page.complaints == [], f"{player.page.complaints}")


if __name__ == "__main__":
    script(main)
