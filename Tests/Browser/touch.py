#!/usr/bin/env python3
"""touch.py BROWSER alina-server: tests free play, in which touches of the board make music without a game.

Touches cells by mouse, by another finger and by a key, which must mark no cell. The link and the saved file must have the same touches. The
link opens the piece in another page, and a damaged link changes nothing. In Chromium also touches two cells at once on a phone's screen.
Prints the first failure in one line and exits 1.
"""
import os
import re
import subprocess

from browsers import script, wait
from play import CELL, expect, visit

FINGER = """(([x, y]) => document.querySelector('canvas').dispatchEvent(new PointerEvent('pointerdown',
  { pointerId: 77, isPrimary: false, pointerType: 'touch', button: 0, clientX: x, clientY: y, bubbles: true })))"""
MIDDLE = f"(box => [box.x + box.width / 2, box.y + box.height / 2])({CELL}[8].getBoundingClientRect())"


def touch(player):
    page = player.page
    for name in ("Menu", "Touch the board"):
        player.press(name)
    player.sees("Stop")
    page.until(f"{CELL}.length === 9")
    player.hears("Touch the board")
    page.run("heard.splice(0)")
    player.press("b2")
    page.run(f"{FINGER}({MIDDLE})")
    page.key("7")
    page.until("globalThis.level?.() > 0.001 || heard.some(line => line.includes('No sound device'))")
    expect(set(player.cells().values()) == {"empty"}, f"the cells are {player.cells()}")
    # Single touches are not announced to a screen reader.
    said = page.run("heard.filter(line => line && !line.includes('No sound device'))")
    expect(said == [], f"the touches were announced by {said}")
    player.press("Share link")
    link = page.until("copied.at(-1)")
    expect("/#/f/" in link, f"the link is {link}")
    player.press("Stop")
    word = link.rsplit("/", 1)[1]
    expect(any(f"[%touches {word}]" in game for game in player.games()), f"{word} is not in {player.games()}")
    return link


def two_fingers(player, renderer):
    """Touches two cells at once with two fingers; the rendered piece must begin a bar of X and a bar of O at that time."""
    page = player.page
    page.size(390, 844)
    for name in ("Menu", "Touch the board"):
        player.press(name)
    player.sees("Stop")
    boxes = page.until(f"{CELL}.length === 9 && {CELL}.map(cell => cell.getBoundingClientRect().toJSON())")
    fingers = [{"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2, "id": finger} for finger, box in enumerate(boxes[::8])]
    page.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=fingers)
    # Fingers that move apart must not zoom the page.
    for way in (30, 60, 90):
        moved = [{**finger, "x": finger["x"] + way * (2 * finger["id"] - 1)} for finger in fingers]
        page.call("Input.dispatchTouchEvent", type="touchMove", touchPoints=moved)
    page.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
    expect(page.run("visualViewport.scale") == 1, "two fingers have zoomed the page")
    page.until("globalThis.level?.() > 0.001")
    player.press("Stop")
    path = f"{page.profile}/fingers.pgn"
    with open(path, "w", encoding="utf-8") as file:
        file.write(wait("the saved piece", lambda: next((game for game in player.games() if "[%touches " in game), None)))
    text = subprocess.run([renderer, "render", path, "--text"], check=True, capture_output=True, text=True).stdout
    bars = [(hand, 60 * int(minutes) + float(seconds)) for minutes, seconds, hand in re.findall(r"^bar \d+  (\d+):([\d.]+)  move \d*\s*([XO])", text, re.M)]
    expect(sorted(hand for hand, _ in bars) == ["O", "X"], text)
    expect(abs(bars[0][1] - bars[1][1]) < 0.05, text)


def damaged(player, word):
    page = player.page
    page.run("heard.splice(0)")
    page.run(f"location.hash = '#/f/{word[:-1]}'")
    player.hears("this link is damaged")
    page.until(f"{CELL}.length === 9")


def main(name, program):
    with visit(name, program) as (_, enter):
        player = enter()
        link = touch(player)
        path = link[link.index("#/f/"):]
        damaged(player, path[4:])
        other = enter(path)
        other.sees("Play the music")
        other.press("Play the music")
        other.page.until("globalThis.level?.() > 0.001 || heard.some(line => line.includes('No sound device'))")
        if name == "chromium":
            two_fingers(enter(), f"{os.path.dirname(program)}/alina-score")


if __name__ == "__main__":
    script(main)
