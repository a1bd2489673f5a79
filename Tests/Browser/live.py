#!/usr/bin/env python3
"""live.py BROWSER alina-server: tests that a live match survives events of the page.

Two friends play in a room, and a third watches. All reload the page during the match, one while the server does not run. A hidden page
shows in its title whose move it is; the browser's Back goes back to Alina's last page; the address names the room, match or game that is
shown; a piece in another key is saved as it was heard. Prints the first failure in one line and exits 1.
"""
import contextlib
import os
import re
import subprocess

from browsers import Fault, downloads, script, wait
from play import CELL, CONTROL, enter_lobby, expect, open_room, visit, watch

# Simulates a hidden page on request, with no frames, and timers once a minute.
HIDE = """(() => {
  let isHidden = false;
  const [request, after, kept] = [globalThis.requestAnimationFrame, globalThis.setTimeout, []];
  Object.defineProperty(document, 'hidden', { get: () => isHidden });
  Object.defineProperty(document, 'visibilityState', { get: () => isHidden ? 'hidden' : 'visible' });
  globalThis.requestAnimationFrame = call => request(time => { if (isHidden) kept.push(call); else call(time); });
  globalThis.setTimeout = (call, time, ...words) => after(call, isHidden ? Math.max(time ?? 0, 60_000) : time, ...words);
  globalThis.hide = now => {
    isHidden = now;
    document.dispatchEvent(new Event('visibilitychange'));
    if (!now) for (const call of kept.splice(0)) requestAnimationFrame(call);
  };
})()"""
# Simulates Chrome on Android, where only the service worker can show notifications.
NOTICES = """(() => {
  globalThis.notices = [];
  globalThis.Notification = class {
    static permission = 'granted';
    constructor() { throw new TypeError('Illegal constructor'); }
  };
  // Firefox lacks this class in a page that has no address yet, where this script also runs.
  Object.assign(globalThis.ServiceWorkerRegistration?.prototype ?? {}, {
    showNotification: async title => void notices.push(title),
    getNotifications: async () => notices.map(title => ({ close() { notices.splice(notices.indexOf(title), 1); } })),
  });
})()"""

# JavaScript: whether the player was told to wait for the first move.
SECOND = "heard.some(line => line.includes('Waiting for guest'))"


def again(player):
    page = player.page
    page.run("(globalThis.isOld = true, setTimeout(() => location.reload()), 0)")

    def is_back():
        # A query during the reload gets no answer, which raises a `Fault`.
        with contextlib.suppress(Fault):
            return page.run(f"!globalThis.isOld && document.getElementById('message')?.hidden && {CONTROL}.length > 2")
        return False

    wait(lambda: f"the page to be loaded again; {page.state()}", is_back)


def shows(players, cells):
    for player in players:
        for name, mark in cells.items():
            player.until_cell(name, mark)


def plays(player, cell, mark, players):
    player.press(cell)
    shows(players, {cell: mark})


def hash_begins(player, start):
    player.page.until(f"location.hash.startsWith({start!r})")


def loads_again(x, o, server, enter):
    """Plays a match in which all players reload the page."""
    everybody = [x, o]
    hash_begins(x, "#/r/")
    plays(x, "b2", "X", everybody)
    again(x)
    shows([x], {"b2": "X"})
    plays(o, "a3", "O", everybody)
    looker = enter(watch(x))
    everybody.append(looker)
    hash_begins(looker, "#/w/")
    shows([looker], {"b2": "X", "a3": "O"})
    again(looker)
    shows([looker], {"a3": "O"})
    again(o)
    shows([o], {"b2": "X", "a3": "O"})
    # The address names another page than the board.
    for name in ("Menu", "Settings", "Your own music"):
        o.press(name)
    hash_begins(o, "#/m/")
    again(o)
    shows([o], {"b2": "X", "a3": "O"})
    # A page that is reloaded while the server does not run shows the match once the server runs.
    x.page.until("navigator.serviceWorker.ready.then(() => caches.keys()).then(keys => keys.length > 0)")
    server.kill()
    again(x)
    x.hears("Returning to your match")
    server.start()
    shows([x], {"b2": "X", "a3": "O"})
    return everybody


def hidden(x, o, everybody):
    """Checks that a match goes on in a hidden page, and that the page's title names the side to move."""
    o.page.run("hide(true)")
    plays(x, "a1", "X", [x])
    o.page.until("document.title === 'Your move – Alina'", 20)
    o.page.until("notices.join() === 'Your move – Alina'")
    o.page.run("hide(false)")
    o.page.until("document.title === 'Alina' && notices.length === 0")
    shows(everybody, {"a1": "X"})


def back(player):
    """Checks that the browser's Back goes from page to page, and leaves a match only after a confirmation."""
    page = player.page
    player.press("Menu")
    player.press("Settings")
    player.sees("Theme: dark")
    page.run("history.back()")
    player.sees("Statistics")
    page.run("history.back()")
    page.until(f"{CELL}.length === 9")
    page.run("history.back()")
    player.hears("Go back again to leave")
    page.until("history.state?.level === 1")
    expect(page.run(f"{CELL}.length") == 9, "Back leaves a match")


def kept(player, program):
    """Checks that a piece in another key equals alina-score's byte for byte."""
    page = player.page
    game = re.sub(r"\[Station .*\n", "", player.games()[-1]).replace("\n\n", "\n[Station \"2 2\"]\n\n", 1)
    page.run(f"navigator.clipboard.writeText({game!r})")
    for name in ("Menu", "Saved games", "Paste", "Export the music"):
        player.press(name)
    sounds = wait("the sound of the piece", lambda: [name for name in downloads(page) if name.endswith(".wav")])
    stem = f"{page.downloads}/{sounds[0][:-4]}"
    subprocess.run([program, "render", f"{stem}.pgn", "--times", "trimmed", "--wav", f"{stem}.2.wav"], check=True, stdout=subprocess.DEVNULL)
    ours, theirs = (open(f"{stem}{number}.wav", "rb").read() for number in ("", ".2"))
    expect(ours == theirs, "a piece in another key sounds otherwise than alina-score's")


def filmed(player):
    """Checks that a film can be cancelled, and that a recorded one has pictures and sound."""
    page = player.page
    player.press("Save as video")
    player.sees("Cancel video")
    player.press("Cancel video")
    player.sees("Save as video")
    player.press("Save as video")
    page.until("heard.some(line => line.includes('Video saved to'))", 120)
    wait("the film", lambda: [name for name in os.listdir(page.downloads) if name.endswith((".webm", ".mp4"))])
    film = next(name for name in os.listdir(page.downloads) if name.endswith((".webm", ".mp4")))
    told = subprocess.run(
        ["ffprobe", "-v", "error", "-count_packets", "-show_entries", "stream=codec_type,width,height,nb_read_packets", "-of", "compact=nk=1:p=0",
         f"{page.downloads}/{film}"], check=True, capture_output=True, text=True).stdout.split()
    kinds = {line.split("|")[0]: [int(word) for word in line.split("|")[1:] if word.isdigit()] for line in told}
    length = subprocess.run(
        ["ffprobe", "-v", "error", "-show_entries", "format=duration", "-of", "compact=nk=1:p=0", f"{page.downloads}/{film}"],
        check=True, capture_output=True, text=True).stdout.strip()
    expect(length != "N/A" and float(length) > 1, f"a player cannot seek in the film: its length is {length}")
    # Firefox has no sound output here, so its film is silent.
    sound = {"audio"} if page.name == "chromium" else set()
    expect(set(kinds) == {"video"} | sound and kinds["video"][:2] == [1280, 720] and kinds["video"][-1] > 100, f"the film is {told}")


def main(name, program):
    with visit(name, program, before=f"{HIDE};{NOTICES}") as (server, enter):
        ann = enter()
        enter_lobby(ann)
        room = open_room(ann)
        again(ann)
        ann.hears("Tell your friend this code")
        ben = enter("r/" + room.split("/")[-1])
        for player in (ann, ben):
            player.page.until(f"{CELL}.length === 9 && {CELL}.every(cell => cell.ariaLabel.endsWith('empty'))")
        # The server chooses the sides at random.
        wait("somebody to be told to wait", lambda: any(player.page.run(SECOND) for player in (ann, ben)))
        x, o = (ben, ann) if ann.page.run(SECOND) else (ann, ben)
        everybody = loads_again(x, o, server, enter)
        hidden(x, o, everybody)
        back(x)
        plays(o, "c1", "O", everybody)
        plays(x, "c3", "X", everybody)
        x.press("Review")
        hash_begins(x, "#/g/")
        cal = enter(x.page.run("location.hash"))
        cal.sees("Share link")
        cal.page.run("history.back()")
        cal.page.until(f"{CELL}.length === 9")
        filmed(x)
        x.press("Back")
        kept(x, f"{os.path.dirname(program)}/alina-score")


if __name__ == "__main__":
    script(main)
