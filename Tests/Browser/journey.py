#!/usr/bin/env python3
"""journey.py BROWSER OTHER alina-server: a game by links goes from the window to a browser, to another browser at a phone's size, and back.

The first browser has the page from alina-server, the other the same files from a static host. Each page is loaded again, and the window
is started again. Prints the first failure in one line and exits 1.
"""
import glob
import os
import shutil
import subprocess

from browsers import script, wait
from duels import Window
from letters import receive, send, static_host
from play import Player, Server, expect


class Desk(Window):
    """The native window. Reads letters (games sent as links) from the window's folder, and types them into its field for links."""

    def letter(self):
        """The part after `/l/` of the link in the saved letter; empty if no letter is saved."""
        for path in glob.glob(f"{self.folder}/data/alina/letters/*.letter"):
            with open(path, encoding="utf-8") as file:
                return file.read().split()[2]
        return ""

    def type(self, text):
        subprocess.run(["xdotool", "type", "--delay", "5", text], env=self.environment, check=True)
        subprocess.run(["xdotool", "key", "Return"], env=self.environment, check=True)


def word(link):
    return link.split("/l/")[1]


def main(browser, other, program):
    server, (host, elsewhere) = Server(program), static_host()
    people = []
    try:
        desk = Desk(f"{os.path.dirname(program)}/alina")
        people.append(desk)
        for name in ("Menu", "Play by link", "New game", "b2", "Send"):
            desk.press(name)
        link = wait("the window's letter", desk.letter)
        vera = Player(browser, server.url)
        people.append(vera)
        receive(vera, f"{server.url}#/l/{link}", {"b2": "X"})
        link = word(send(vera, "a1", "O"))
        ida = Player(other, elsewhere, size=(390, 844))
        people.append(ida)
        receive(ida, f"{elsewhere}#/l/{link}", {"b2": "X", "a1": "O"})
        link = word(send(ida, "c3", "X"))
        receive(vera, f"{server.url}#/l/{link}", {"b2": "X", "a1": "O", "c3": "X"})
        link = word(send(vera, "b1", "O"))
        desk.again()
        for name in ("Menu", "Play by link", "Open a link"):
            desk.press(name)
        desk.type(f"{server.url}l/{link}")
        marks = {"b2": "X", "a1": "O", "c3": "X", "b1": "O"}
        wait(lambda: f"{marks} in {desk.cells()}", lambda: {cell: desk.cells().get(cell) for cell in marks} == marks)
        expect(desk.letter() == link, f"the window has kept {desk.letter()} instead of {link}")
        for player in (vera, ida):
            # The browser logs this error if a reload interrupts the load of a module.
            complaints = [line for line in player.page.complaints if "ServiceWorker intercepted" not in line]
            expect(not complaints, f"{complaints}")
    finally:
        for person in people:
            person.close()
        server.kill()
        shutil.rmtree(server.folder, ignore_errors=True)
        host.shutdown()
    print(f"a game by links from the window to {browser}, to {other} at a phone's size, and back")


if __name__ == "__main__":
    script(main)
