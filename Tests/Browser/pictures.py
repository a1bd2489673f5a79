#!/usr/bin/env python3
"""pictures.py BROWSER alina-server: compares Alina's pages at 1280×720 in a browser with the same pages in the window.

Each control must be within one pixel of the window's. Each drawing must be within one pixel of the window's, each text within two, and
neither picture may have further drawings. To test the comparison itself, the window's picture is shifted by one pixel more: each page
must then fail. Prints the first failure in one line and exits 1.
"""
import json
import math
import os
import shutil
import subprocess
import tempfile

import numpy

from browsers import script
from play import CONTROL, ROOT, Player, Server, expect

with open(f"{ROOT}/docs/heard/game.pgn", encoding="utf-8") as file:
    GAME = file.read()
SIZE = (1280, 720)
SEED = 7
# The drawing commands other than text.
SHAPES = ("fill", "stroke", "rectangle")
# `REACH` (the longest shift that is searched for) and `TILE` (the side of a tile) are in pixels. Tiles with less ink than `LEAST` are not
# compared; ink is the sum of the squared differences from the tile's median grey level.
REACH = 5
TILE = 12
LEAST = 5000
# The labels and keys that lead from the board to each page.
PAGES = (
    # The first entry turns off the staff in the settings, because the staff moves with the music.
    ("settings", "Menu", "Settings", *["ArrowDown"] * 5, "ArrowRight", "Back", "Escape"),
    ("contents", "Menu"),
    ("new-game", "Menu", "New game"),
    ("games", "Menu", "Saved games"),
    ("statistics", "Menu", "Statistics"),
    ("help", "Menu", "Help and music guide"),
    ("help", "Menu", "Help and music guide", "PageDown", "PageDown", "PageDown"),
    ("settings", "Menu", "Settings"),
    ("network", "Menu", "Play online"),
    ("review", "Menu", "Saved games", "Paste"),
)
STILL = "new Promise(done => { const last = drawn; setTimeout(() => done(drawn === last), 400); })"
KEYS = {"PageDown": "pagedown", "ArrowDown": "down", "ArrowRight": "right", "Escape": "escape"}
# Records the box of each drawing, and the words of each text.
NOTE = """(() => {
  Math.random = () => %d / 2 ** 32;
  // Pretends that the sound runs: Firefox has no sound device here, and the page would show a notice.
  if (navigator.userAgent.includes('Firefox')) {
    Object.defineProperty(BaseAudioContext.prototype, 'state', { get: () => 'running' });
    AudioContext.prototype.resume = async () => {};
  }
  globalThis.drawing = [];
  const kinds = [CanvasRenderingContext2D.prototype, OffscreenCanvasRenderingContext2D.prototype];
  const add = (g, what, x0, y0, x1, y1) => {
    const t = g.getTransform(), xs = [], ys = [];
    for (const [x, y] of [[x0, y0], [x1, y0], [x0, y1], [x1, y1]]) xs.push(t.a * x + t.c * y + t.e), ys.push(t.b * x + t.d * y + t.f);
    drawing.push([what, Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)]);
  };
  const wrap = (kind, name, before) => {
    const call = kind[name];
    kind[name] = function (...words) { before(this, ...words); return call.apply(this, words); };
  };
  const path = new WeakMap();
  const reach = g => (...places) => { for (let i = 0; i < places.length; i += 2) path.get(g)?.push([places[i], places[i + 1]]); };
  for (const kind of kinds) {
    wrap(kind, 'beginPath', g => path.set(g, []));
    for (const name of ['moveTo', 'lineTo', 'bezierCurveTo']) wrap(kind, name, (g, ...places) => reach(g)(...places));
    for (const name of ['fill', 'stroke']) wrap(kind, name, g => {
      const places = path.get(g) ?? [], more = name === 'stroke' ? g.lineWidth / 2 : 0;
      const [xs, ys] = [places.map(p => p[0]), places.map(p => p[1])];
      if (xs.length) add(g, name, Math.min(...xs) - more, Math.min(...ys) - more, Math.max(...xs) + more, Math.max(...ys) + more);
    });
    wrap(kind, 'fillRect', (g, x, y, width, height) => { if (x > -9999) add(g, 'rectangle', x, y, x + width, y + height); });
    wrap(kind, 'fillText', (g, text, x, y) => {
      for (const { index, 0: word } of text.matchAll(/\\S+/g)) {
        const box = g.measureText(word), left = x + g.measureText(text.slice(0, index)).width;
        add(g, word, left - box.actualBoundingBoxLeft, y - box.actualBoundingBoxAscent, left + box.actualBoundingBoxRight, y + box.actualBoundingBoxDescent);
      }
    });
  }
})()""" % SEED


def grey(path):
    """A picture as grey levels, 0 is black."""
    data = subprocess.run(["convert", path, "-depth", "8", "gray:-"], check=True, stdout=subprocess.PIPE).stdout
    return numpy.frombuffer(data, numpy.uint8).reshape(SIZE[1], SIZE[0]).astype(float)


def distances(ours, theirs, box):
    """For each shift of up to `REACH` pixels: the sum of the squared grey differences of a box in both pictures."""
    left, top, right, bottom = box
    part = ours[top:bottom, left:right]
    reach = range(-REACH, REACH + 1)
    return {(x, y): ((theirs[top + y:bottom + y, left + x:right + x] - part) ** 2).sum() for y in reach for x in reach}


def tiles(what, box):
    """Splits the box of a shape into tiles, so that each end of a long shape is compared; keeps the box of a text whole."""
    left, top = (max(REACH, int(edge) - 1) for edge in box[:2])
    right, bottom = (min(size - REACH, math.ceil(edge) + 1) for edge, size in zip(box[2:], SIZE))
    step = TILE if what in SHAPES else max(SIZE)
    for y in range(top, bottom, step):
        for x in range(left, right, step):
            yield x, y, min(right, x + step), min(bottom, y + step)


def compare(drawn, ours, theirs):
    """Yields the page's drawings that the window lacks, shifts or changes, and the place outside all drawings that differs most, if by more
    than 8 grey levels."""
    rest = numpy.ones(ours.shape, bool)
    for what, *box in drawn:
        rest[max(0, int(box[1]) - 2):math.ceil(box[3]) + 2, max(0, int(box[0]) - 2):math.ceil(box[2]) + 2] = False
        for tile in tiles(what, box):
            part = ours[tile[1]:tile[3], tile[0]:tile[2]]
            ink = ((part - numpy.median(part)) ** 2).sum()
            if ink < LEAST:
                continue
            found = distances(ours, theirs, tile)
            near = min(value for place, value in found.items() if max(map(abs, place)) <= (1 if what in SHAPES else 2))
            place = min(found, key=found.get)
            if near > 0.1 * ink and found[place] < near / (4 if what in SHAPES else 2):
                yield what, f"at {tile} is {place} aside"
            elif near > 0.6 * ink:
                yield what, f"at {tile} is another"
    if (most := (numpy.abs(ours - theirs) * rest).max()) > 8:
        y, x = numpy.argwhere(numpy.abs(ours - theirs) * rest == most)[0]
        yield "something", f"is at {x}, {y}"


def show(player, server, scene, way, folder):
    """Opens a page by labels and keys, waits until nothing moves, and returns its drawings and controls."""
    page = player.page
    page.run("localStorage.clear()")
    player.open(server.url)
    page.run("navigator.clipboard.writeText(%s)" % json.dumps(GAME))
    for word in way:
        if word in KEYS:
            page.run(f"void dispatchEvent(new KeyboardEvent('keydown', {{ key: '{word}' }}))")
        else:
            player.press(word)
            page.until(STILL)
    page.run("void document.getElementById('screen').dispatchEvent(new PointerEvent('pointerleave', { isPrimary: true }))")
    page.until(STILL)
    page.run("(drawing.splice(0), document.dispatchEvent(new Event('visibilitychange')), null)")
    page.until(STILL)
    page.picture(f"{folder}/page.png")
    return page.run("drawing"), page.run(
        f"{CONTROL}.map(({{ ariaLabel, ariaValueText, style }}) => "
        "[ariaLabel, ariaValueText, [style.left, style.top, style.width, style.height].map(parseFloat)])")


def window(program, scene, way, folder):
    """Opens a page in the window as `show` does in the browser; writes the page's picture, and returns its controls."""
    with open(f"{folder}/script", "w", encoding="utf-8") as script:
        keys = [KEYS[word] for word in way if word in KEYS]
        script.writelines(f"{1 + index / 10}s key {key}\n" for index, key in enumerate(keys))
        script.write(f"{1 + bool(keys)}s show\n")
    what = [f"{folder}/game.pgn"] if scene == "review" else ["--scene", scene]
    subprocess.run([f"{os.path.dirname(program)}/alina", *what, "--as-page", "--seed", str(SEED), "--size", "%dx%d" % SIZE, "--script",
                    f"{folder}/script", "--screenshot", f"{folder}/window.png", "--control-log", f"{folder}/controls"], check=True)
    with open(f"{folder}/controls", encoding="utf-8") as file:
        lines = [line.rstrip("\n").split(" ", 4) for line in file.readlines()[1:]]
    return [(words, [int(edge) for edge in box]) for *box, words in lines]


def main(name, program):
    server, folder, player = Server(program), tempfile.mkdtemp(prefix="alina-"), None
    with open(f"{folder}/game.pgn", "w", encoding="utf-8") as file:
        file.write(GAME)
    try:
        player = Player(name, server.url, before=NOTE, size=(*SIZE, False))
        for scene, *way in PAGES:
            drawn, controls = show(player, server, scene, way, folder)
            for words, box in window(program, scene, way, folder):
                # The window's label of a slider or field contains its value, which the page has in a separate attribute.
                expect(any((words.startswith(name) or words == value) and all(abs(ours - theirs) <= 1 for ours, theirs in zip(place, box))
                           for name, value, place in controls), f"{scene}: {words} is not at {box} as in the window")
            ours, theirs = (grey(f"{folder}/{of}.png") for of in ("page", "window"))
            wrong = [" ".join(words) for words in compare(drawn, ours, theirs)]
            expect(not wrong, f"{scene}: {'; '.join(wrong[:5])}, {len(wrong)} in all")
            # The comparison must notice a shift by one pixel more than is allowed.
            for axis in (0, 1):
                for aside, areShapes in ((3, False), (2, True)):
                    seen = [what for what, _ in compare(drawn, ours, numpy.roll(theirs, aside, axis)) if (what in SHAPES) == areShapes]
                    expect(seen or not any((what in SHAPES) == areShapes for what, *_ in drawn), f"{scene}: {aside} pixels aside go unnoticed")
    finally:
        if player:
            player.close()
        server.kill()
        shutil.rmtree(server.folder, ignore_errors=True)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    script(main)
