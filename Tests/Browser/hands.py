#!/usr/bin/env python3
"""hands.py BROWSER alina-server: tests keyboard, clipboard, full screen, two tabs, interrupted sound, sound that is fetched late, the lock
screen, full storage, a flight across the date line, a crash.

The page leaves the browser its own keys, two tabs do not disturb each other's saved games, and no failure ends the game.
Prints the first failure in one line and exits 1.
"""
import datetime

from browsers import script, wait
from play import CELL, CONTROL, expect, visit

FIELD = "document.getElementById('text')"
TEXTS = f"{CONTROL}.filter(control => control.role === 'textbox').map(control => [control.ariaLabel, control.textContent])"
GAMES = "Object.keys(localStorage).filter(key => /data\\/games\\/.*\\.pgn$/.test(key))"
# Records each key and whether the page prevented the browser's action.
NOTE_KEYS = """addEventListener('DOMContentLoaded', () => {
  globalThis.keys = [];
  // The timeout runs after the page's own listeners.
  addEventListener('keydown', event => setTimeout(() => keys.push(`${event.key} ${event.defaultPrevented}`)));
});"""
# Records the audio contexts in `devices`, and adds an audio session, which otherwise only Safari has. `call(true)` imitates a telephone
# call: `resume()` is refused until `call(false)`.
NOTE_SOUND = """(() => {
  Object.defineProperty(Navigator.prototype, 'audioSession', { value: { type: 'auto' } });
  const state = Object.getOwnPropertyDescriptor(BaseAudioContext.prototype, 'state').get, resume = AudioContext.prototype.resume;
  globalThis.devices = [];
  let isCalling = false;
  globalThis.AudioContext = class extends AudioContext { constructor(options) { super(options); devices.push(this); } };
  Object.defineProperty(BaseAudioContext.prototype, 'state', { get() { return isCalling ? 'interrupted' : state.call(this); } });
  AudioContext.prototype.resume = function () {
    return isCalling ? Promise.reject(new DOMException('a call', 'InvalidStateError')) : resume.call(this);
  };
  globalThis.states = () => devices.map(device => device.state);
  globalThis.call = async is => {
    isCalling = is;
    for (const device of devices.filter(device => state.call(device) !== 'closed')) {
      if (is) await device.suspend();
      device.dispatchEvent(new Event('statechange'));
    }
  };
})();"""
# While `trapNext` or `sessionStorage.trapAtStart` is set, the program's function `turn` traps by `unreachable`, as Swift's traps do.
TRAP = """(() => {
  const bytes = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 7, 5, 1, 1, 102, 0, 0, 10, 5, 1, 3, 0, 0, 11]);
  const trap = new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports.f, stream = WebAssembly.instantiateStreaming;
  globalThis.turns = 0;
  WebAssembly.instantiateStreaming = async (...words) => {
    const { instance } = await stream(...words), { turn } = instance.exports;
    const traps = words => { turns++; if (globalThis.trapNext || sessionStorage.trapAtStart) trap(); return turn(words); };
    return { instance: { exports: { ...instance.exports, turn: traps } } };
  };
})();"""
# Removes Web Locks if `localStorage` has `no-locks`, as on a page without a secure origin.
LOCKLESS = """if (location.protocol.startsWith('http') && localStorage.getItem('no-locks')) Object.defineProperty(Navigator.prototype, 'locks', { value: undefined });
"""
# JavaScript: the files that other tabs have locked, asked for over the channel that replaces Web Locks.
ASKED = """new Promise(done => {
    const channel = new BroadcastChannel('alina-files'), names = [];
    channel.onmessage = ({ data }) => data !== 'ask' && names.push(...data);
    channel.postMessage('ask');
    setTimeout(() => { channel.close(); done(names); }, 200);
})"""
# If `sessionStorage.now` is set (milliseconds since 1970, UTC), the page's clock stands still at that time, and the page is told that its
# time zone is Sydney's, eleven hours ahead of UTC.
SYDNEY = """if (location.protocol.startsWith('http') && sessionStorage.now) {
  const now = Number(sessionStorage.now);
  Date = class extends Date {
    constructor(...words) { super(...(words.length ? words : [now])); }
    static now() { return now; }
    getTimezoneOffset() { return -660; }
  };
}
"""
# While `sessionStorage.soundless` is set, the page cannot fetch the program of its sound, as if the network were away.
SOUNDLESS = """if (location.protocol.startsWith('http')) {
  const load = globalThis.fetch, isRefused = what => sessionStorage.soundless && String(what).endsWith('sound.wasm');
  globalThis.fetch = (...words) => isRefused(words[0]) ? Promise.reject(new TypeError('Failed to fetch')) : load(...words);
}"""


def keyboard(player):
    """Checks that the page handles the keys it uses, and leaves other keys and the zoom to the browser."""
    page = player.page
    page.until(f"{CELL}.length === 9")
    for key in ("F1", "Escape", "ArrowLeft"):
        page.run("keys.splice(0)")
        page.key(key)
        said = page.until("keys.at(-1)")
        expect(said == f"{key} true", f"the page is told {said} of {key}")
    # The page leaves these keys to the browser. Real keys would make the browser go back, open a menu or print.
    for left in ("{ key: 'F6' }", "{ key: 'F10', shiftKey: true }", "{ key: 'ContextMenu' }", "{ key: 'ArrowLeft', altKey: true }",
                 "{ key: 'Home', altKey: true }", "{ key: 'p', ctrlKey: true }", "{ key: 'c', ctrlKey: true, shiftKey: true }"):
        expect(page.run(f"document.body.dispatchEvent(new KeyboardEvent('keydown', {{ ...{left}, bubbles: true, cancelable: true }}))"),
               f"the page takes {left} from the browser")
    for is_zoom in (True, False):
        expect(page.run("document.getElementById('screen').dispatchEvent(new WheelEvent('wheel', "
                        f"{{ deltaY: 1, ctrlKey: {str(is_zoom).lower()}, cancelable: true }}))") == is_zoom, "the wheel zooms, or the page scrolls")
    page.until(f"{CELL}.length === 9")
    seen = set()
    for _ in range(40):
        page.key("Tab")
        seen.add(page.run("document.activeElement.ariaLabel"))
        if page.run("document.activeElement.ariaLabel === 'Menu'"):
            break
    expect("Menu" in seen, f"by Tab one gets to {seen}")
    page.key("Enter")
    player.sees("Settings")


def text(player):
    """Checks that text is pasted once, and that the text field has a label."""
    page = player.page
    for name in ("Play online", "Connect"):
        player.press(name)
    player.sees("Open a room")
    code = page.until(f"{CONTROL}.find(control => control.role === 'textbox')?.ariaLabel")
    page.run("navigator.clipboard.writeText('ABC234')")
    player.press(code)
    page.until(f"document.activeElement === {FIELD}")
    expect(page.run(f"{FIELD}.ariaLabel").startswith(code), "the field is not called as the page calls it")
    for word in ("ABC234", "ABC234"):
        page.key("v", "Control")
        page.until(f"{TEXTS}.some(([, text]) => text === {word!r})")
        # Selects everything, so that the next paste replaces it.
        page.key("a", "Control")
    page.key("7")
    page.until(f"{TEXTS}.some(([, text]) => text === '7')")
    expect(page.run(f"{FIELD}.hidden") is False, "the field is hidden while one writes")
    page.key("Escape")
    page.until(f"{FIELD}.hidden")


def clipboard(player):
    """Copies and pastes a game with keys; a refused copy must not be reported as copied."""
    page = player.page
    page.until(f"{CELL}.length === 9")
    player.press("b2")
    player.until_cell("b2", "X")
    page.key("c", "Control")
    player.hears("Copied")
    expect("[Event" in page.run("navigator.clipboard.readText()"), "the clipboard has no game")
    page.key("v", "Control")
    player.sees("Share link")
    page.run("(Clipboard.prototype.writeText = () => Promise.reject(new DOMException('no', 'NotAllowedError')), "
             "document.execCommand = () => false, heard.splice(0))")
    player.press("Share link")
    player.hears("Could not copy")
    expect(not page.run("heard.some(line => line.includes('Copied'))"), "a copy that failed is said to be done")


def full_screen(player, server):
    """Checks that the setting `full-screen` changes when the browser enters or leaves full screen."""
    page = player.page
    setting = "localStorage.getItem('alina/config/settings')?.match(/full-screen = (.*)/)?.[1]"
    page.key("F11")
    page.until(f"document.fullscreenElement && {setting} === 'yes'")
    # As the browser does on Esc.
    page.run("document.exitFullscreen()")
    page.until(f"!document.fullscreenElement && {setting} === 'no'")
    page.key("F11")
    page.until("Boolean(document.fullscreenElement)")
    page.run("document.exitFullscreen()")
    page.until(f"{setting} === 'no'")
    # Browsers allow full screen only after a press, so the page starts without it in spite of the setting.
    page.run("localStorage.setItem('alina/config/settings', 'full-screen = yes\\n')")
    player.open(server.url)
    page.key("F11")
    page.until("Boolean(document.fullscreenElement)")
    page.run("document.exitFullscreen()")


def saved(page, count):
    """Waits until `count` games are saved; a failure names the first entries of the storage and the last spoken lines."""
    wait(lambda: f"{count} saved games, not {page.run('JSON.stringify([Object.keys(localStorage).slice(0, 20), heard.slice(-5)])')}",
         lambda: page.run(f"{GAMES}.length === {count}"))


def tabs(player, server, has_locks):
    """Checks that two tabs save separate games, even if both start in the same second, and that a new tab resumes neither game."""
    page = player.page
    page.run("localStorage.clear()")
    if not has_locks:
        page.run("localStorage.setItem('no-locks', 'yes')")
    player.open(server.url)
    other = player.tab(server.url)
    for each in (player, other):
        each.page.until(f"{CELL}.length === 9")
    # Stops the clock, so that both games start in the same second.
    for each in (player, other):
        each.page.run("(Date = class extends Date { constructor(...words) { super(...(words.length ? words : [1e12])); } static now() { return 1e12; } }, 0)")
    player.press("b2")
    other.press("a1")
    saved(page, 2)
    player.until_cell("b2", "X")
    other.until_cell("a1", "X")
    third = player.tab(server.url)
    third.page.until(f"{CELL}.length === 9")
    expect("X" not in third.cells().values(), "a tab takes up a game that another one plays")
    third.page.close_tab()
    # After the tab with the game that was started last is closed, a new tab resumes that game.
    other.page.close_tab()
    held = "navigator.locks.query().then(({ held }) => held.map(lock => lock.name))" if has_locks else ASKED
    page.until(f"{held}.then(names => names.filter(name => name.includes('data/games')).length === 1)")
    fourth = player.tab(server.url)
    fourth.until_cell("a1", "X")
    fourth.page.close_tab()


def phone_call(player, server):
    """Checks that a muted page opens no device, and that sound returns after a telephone call and after a device is removed or closed."""
    page = player.page
    page.run("(localStorage.clear(), localStorage.setItem('alina/config/settings', 'muted = yes\\n'))")
    player.open(server.url)
    page.until(f"{CELL}.length === 9")
    player.press("b2")
    player.until_cell("b2", "X")
    expect(page.run("devices.length") == 0, "a muted page has opened a device")
    page.key("m")
    page.until("states()[0] === 'running' && globalThis.level?.() > 0.001")
    page.key("m")
    page.until("states()[0] === 'suspended'")
    page.key("m")
    page.until("states()[0] === 'running'")
    # The sound stops during a telephone call and returns without a touch.
    page.run("call(true)")
    page.key("ArrowLeft")
    page.key("ArrowLeft")
    page.run("call(false)")
    page.until("states()[0] === 'running' && globalThis.level?.() > 0.001")
    # If the browser closes the sound device, the page opens a new one.
    page.run("devices[0].close()")
    page.until("states()[1] === 'running' && globalThis.level?.() > 0.001")
    # After a telephone call before the first touch, the sound starts with the next touch.
    player.open(server.url)
    page.run("call(true)")
    player.press("Menu")
    player.press("Back")
    page.run("call(false)")
    page.until(f"{CELL}.length === 9")
    page.key("ArrowLeft")
    page.until("states().at(-1) === 'running'")
    expect(not page.run("heard.some(line => line.includes('without sound'))"), "the sound is given up during a call")


def late_sound(player, server):
    """Checks that the sound starts with a later touch if its files could not be fetched at the first touch."""
    page = player.page
    page.run("(localStorage.clear(), sessionStorage.soundless = 1)")
    player.open(server.url)
    player.press("Menu")
    page.until("devices.length > 0 && states().every(state => state === 'closed')")
    page.run("delete sessionStorage.soundless")
    player.press("Back")
    page.until("states().at(-1) === 'running'")
    expect(not page.run("heard.some(line => line.includes('cannot play sound'))"), "the sound is given up without the network")


def lock_screen(player, server):
    """Checks that the listening mode shows its title on the lock screen and may sound there, and that a game does neither."""
    page = player.page
    page.run("localStorage.clear()")
    player.open(server.url)
    state = "[navigator.mediaSession.metadata?.title, navigator.mediaSession.playbackState, navigator.audioSession.type].join()"
    player.press("Menu")
    player.press("Watch a demo game")
    page.until(f"{state} === 'Watch a demo game,playing,playback'")
    page.key("m")
    page.until(f"{state} === 'Watch a demo game,paused,playback'")
    player.press("Stop")
    page.until(f"{state} === ',none,ambient'")


def full_store(player, server):
    """Checks that a login is saved even if the browser's storage is full."""
    page = player.page
    page.run("localStorage.clear()")
    player.open(server.url)
    page.run("""(() => { for (let n = 2 ** 22; n >= 1; n >>= 1) try { for (let i = 0; ; i++) localStorage.setItem(`full${n}/${i}`, 'x'.repeat(n)); } catch {} })()""")
    for name in ("Menu", "Play online", "Connect"):
        player.press(name)
    page.until("localStorage.getItem('alina/data/credentials')?.includes('resume')")
    # The page keeps a reserve of storage for the login (`alina-reserve`). The player is told if even the reserve is full.
    page.run("""(() => { localStorage.removeItem('alina/data/credentials'); localStorage.removeItem('alina-reserve');
      for (let n = 2 ** 12; n >= 1; n >>= 1) try { for (let i = 0; ; i++) localStorage.setItem(`fuller${n}/${i}`, 'x'.repeat(n)); } catch {} })()""")
    player.press("Disconnect")
    player.press("Connect")
    player.hears("Your login could not be saved")
    page.run("localStorage.clear()")


LINES = [[f"{a}{b}" for a, b in zip(*line)] for line in [
    ("abc", "111"), ("abc", "222"), ("abc", "333"), ("aaa", "123"), ("bbb", "123"), ("ccc", "123"), ("abc", "123"), ("abc", "321")]]


def best_move(cells):
    """Returns the best cell for the side to move on a board of Classic; of several wins the quickest."""
    def value(mine, theirs):
        if any(all(cell in theirs for cell in line) for line in LINES):
            return -10, None
        free = [cell for cell in cells if cell not in mine + theirs]
        return max(((-value(theirs, mine + [cell])[0] * 0.9, cell) for cell in free), default=(0, None))
    marks = {mark: [cell for cell, held in cells.items() if held == mark] for mark in "XO"}
    is_x = len(marks["X"]) == len(marks["O"])
    return value(marks["X" if is_x else "O"], marks["O" if is_x else "X"])[1]


def flight(player, server):
    """Checks that a flight from Los Angeles to Sydney, which skips a date, does not end a streak of daily puzzles."""
    page = player.page
    day = (datetime.date(2026, 11, 25) - datetime.date(1970, 1, 1)).days
    page.run(f"localStorage.setItem('alina/config/settings', 'solved-day = {day - 2}\\nstreak = 5\\nsolved-zone = -480\\n')")
    page.run("sessionStorage.now = Date.UTC(2026, 10, 24, 19, 30)")
    player.open(server.url)
    player.press("Menu")
    player.press("Daily puzzle")
    solved = "/^streak = (?!5$)/m.test(localStorage.getItem('alina/config/settings'))"
    empty = f"{CELL}.filter(cell => cell.ariaLabel.endsWith('empty')).length"
    page.until(f"{empty} > 0 && {empty} < 9")
    while not page.run(solved):
        count = page.run(empty)
        player.press(best_move(player.cells()))
        page.until(f"{solved} || {empty} <= {count - 2}")
    settings = page.run("localStorage.getItem('alina/config/settings')").splitlines()
    expect("streak = 6" in settings and "solved-zone = 660" in settings, f"{settings}")
    page.run("(localStorage.clear(), sessionStorage.clear())")


def trap(player, server):
    """Checks that a trap shows a message and a button at once, and that the game is intact after a reload."""
    page = player.page
    page.run("localStorage.clear()")
    player.open(server.url)
    page.until(f"{CELL}.length === 9")
    player.press("b2")
    player.until_cell("b2", "X")
    saved(page, 1)
    page.run("globalThis.trapNext = true")
    page.key("ArrowLeft")
    button = "document.querySelector('#message:not([hidden]) button')"
    page.until(f"{button}?.textContent === 'Reload'")
    expect(page.run(f"document.activeElement === {button} && {CONTROL}.length === 0"), "what no longer works is still offered")
    count = page.run("turns")
    page.key("ArrowLeft")
    page.run("new Promise(requestAnimationFrame)")
    expect(page.run("turns") == count, "the program runs on after a trap")
    expect(page.run("globalThis.devices.every(device => device.state === 'closed')"), "the sound goes on after a trap")
    page.run(f"(globalThis.isOld = true, setTimeout(() => {button}.click()), 0)")
    page.until(f"!globalThis.isOld && document.getElementById('message')?.hidden && {CELL}.length === 9")
    player.until_cell("b2", "X")
    # After a crash (a trap) at the start, the game that was being resumed stays in the list, and the next start begins a new game.
    page.run("sessionStorage.trapAtStart = 1")
    page.open(server.url)
    page.until(f"{button}?.textContent === 'Reload'")
    page.run("sessionStorage.clear()")
    player.open(server.url)
    page.until(f"{CELL}.length === 9")
    expect(set(player.cells().values()) == {"empty"} and page.run(f"{GAMES}.length") == 1, "a game that traps is taken up again")
    page.complaints[:] = [line for line in page.complaints if "unreachable" not in line]


def main(name, program):
    with visit(name, program, before=f"{NOTE_KEYS}{NOTE_SOUND}{TRAP}{LOCKLESS}{SYDNEY}{SOUNDLESS}") as (server, enter):
        player = enter()
        keyboard(player)
        text(player)
        player.open(server.url)
        clipboard(player)
        player.open(server.url)
        full_screen(player, server)
        for has_locks in (True, False):
            tabs(player, server, has_locks)
        player.page.run("localStorage.clear()")
        # Firefox has no sound output here, so only Chromium is tested with a telephone call.
        if name == "chromium":
            phone_call(player, server)
            late_sound(player, server)
        lock_screen(player, server)
        flight(player, server)
        trap(player, server)
        # This test comes last, because a browser may take long to empty a storage that was full.
        full_store(player, server)
        expect(player.page.complaints == [], f"{player.page.complaints}")


if __name__ == "__main__":
    script(main)
