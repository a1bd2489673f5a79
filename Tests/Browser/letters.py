#!/usr/bin/env python3
"""letters.py BROWSER alina-server: plays a game by letters (links that contain the game) between two browsers, one of them at a phone's
size; both reload the page.

One browser has the page from alina-server, the other the same files from a static host, which has no paths for letters. Prints the
first failure in one line and exits 1. With a folder as third argument writes pictures there.
"""
import functools
import http.server
import json
import threading
import urllib.request

from browsers import Fault, script
from play import CELL, CONTROL, PAGE, Player, Server, expect

LETTERS = "Object.keys(localStorage).filter(key => key.startsWith('alina/data/letters/'))"


def static_host():
    """Serves the page's files, and nothing else, on this machine."""
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=PAGE))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_port}/"


def begin(player):
    for name in ("Menu", "Play by link", "New game"):
        player.press(name)
    player.page.until(f"{CELL}.length === 9")


def send(player, cell, mark):
    player.press(cell)
    player.until_cell(cell, mark)
    player.press("Send")
    player.sees("Copy")
    player.page.run("copied.splice(0)")
    player.press("Copy")
    link = player.page.until("copied.at(-1)")
    player.press("Back")
    player.page.until(f"{CELL}.length === 9")
    return link


def loaded(player):
    """Waits until the page is loaded; tries up to ten times, because a redirect of the page can make a query fail."""
    for last in (False,) * 9 + (True,):
        try:
            return player.page.until(f"document.getElementById('message')?.hidden && {CONTROL}.length > 2", 6)
        except Fault:
            if last:
                raise


def follow(player, link):
    """Opens a link in the player's tab. A link to the open page changes only the part behind `#` and loads nothing."""
    player.page.run(f"void location.assign({json.dumps(link)})")
    loaded(player)


def receive(player, link, marks):
    follow(player, link)
    for _ in range(2):
        for cell, mark in marks.items():
            player.until_cell(cell, mark)
        player.page.run("location.reload()")
        loaded(player)


def main(browser, program, folder=None):
    server, (host, elsewhere) = Server(program), static_host()
    vera = Player(browser, server.url)
    ida = Player(browser, elsewhere, size=(390, 844))

    def picture(player, name):
        if folder:
            player.page.picture(f"{folder}/{browser}-{name}.png")
    try:
        begin(vera)
        link = send(vera, "b2", "X")
        expect("/l/" in link and "#" not in link, f"our server's link is {link}")
        preview = urllib.request.urlopen(link).read().decode()
        expect('property="og:title"' in preview and "O to move" in preview, preview)
        vera.press("Menu")
        vera.press("Play by link")
        vera.sees("Player · Classic")
        picture(vera, "list")
        receive(ida, f"{elsewhere}#/l/{link.split('/l/')[1]}", {"b2": "X"})
        picture(ida, "opened")
        answer = send(ida, "a1", "O")
        expect(answer.startswith(f"{elsewhere}#/l/"), f"a static host's link is {answer}")
        picture(ida, "sent")
        receive(vera, f"{server.url}#/l/{answer.split('/l/')[1]}", {"b2": "X", "a1": "O"})
        picture(vera, "answered")
        expect("Your move" in vera.page.run("document.title") or vera.page.run("document.title") == "Alina", "the title")
        # The first letter is out of date now.
        follow(vera, link)
        vera.hears("This letter is out of date")
        vera.until_cell("a1", "O")
        expect(len(vera.page.run(LETTERS)) == 1, "one game is kept")
        # A damaged letter changes no saved game.
        kept = vera.page.run(f"{LETTERS}.map(key => localStorage.getItem(key))")
        follow(vera, f"{server.url}#/l/{answer.split('/l/')[1][:-1]}")
        vera.hears("damaged")
        expect(vera.page.run(f"{LETTERS}.map(key => localStorage.getItem(key))") == kept, "a damaged letter changed what is kept")
        for player in (vera, ida):
            # The browser logs this error if a reload interrupts the load of a module.
            complaints = [line for line in player.page.complaints if "ServiceWorker intercepted" not in line]
            expect(not complaints, json.dumps(complaints))
    finally:
        vera.close()
        ida.close()
        server.kill()
        host.shutdown()
    print(f"letters in {browser}: a game by links between our server's page and a static host, with reloads")


if __name__ == "__main__":
    script(main)
