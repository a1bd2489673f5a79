"""Drives Chromium through its DevTools protocol and Firefox through WebDriver BiDi: headless, each with its own profile."""
import base64
import contextlib
import copy
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import websocket

# Seconds to wait for a page, and for a browser to start.
PATIENCE, START = 60, 240
NAMES = {"chromium": "chromium", "firefox": "firefox-esr"}
# Keys by `KeyboardEvent.key`: their WebDriver codes, and their Windows key codes, which Chromium uses.
KEYS = {"Control": ("\ue009", 17), "Alt": ("\ue00a", 18), "Shift": ("\ue008", 16), "Tab": ("\ue004", 9), "Enter": ("\ue007", 13),
        "Escape": ("\ue00c", 27), "ArrowLeft": ("\ue012", 37), "ArrowDown": ("\ue015", 40), "Home": ("\ue011", 36), "ContextMenu": ("", 93),
        **{f"F{n}": (chr(0xE030 + n), 111 + n) for n in range(1, 13)}}
MODIFIERS = {"Alt": 1, "Control": 2, "Shift": 8}


class Fault(Exception):
    """A failed check, or an error in a page."""


def script(main):
    """Runs a script's `main` with the words of the command line; prints the first failure in one line and exits 1."""
    # A test starts the script with signals blocked, which the script's children would inherit.
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    try:
        main(*sys.argv[1:])
    except Fault as fault:
        sys.exit(f"{os.path.basename(sys.argv[0])}: {fault}")


def wait(what, check, seconds=PATIENCE):
    end = time.monotonic() + seconds
    while not (found := check()):
        if time.monotonic() > end:
            raise Fault(f"waited {seconds} s for {what() if callable(what) else what}")
        time.sleep(0.05)
    return found


def downloads(page):
    """The names of the files that the page has saved whole: a browser renames a file when it is complete, perhaps while this looks."""
    names = []
    for entry in os.scandir(page.downloads) if os.path.exists(page.downloads) else []:
        with contextlib.suppress(FileNotFoundError):
            if entry.stat().st_size and not entry.name.endswith((".part", ".crdownload")):
                names.append(entry.name)
    return names


class Browser:
    def __init__(self, name, before=None, text=100):
        """`before` is a script that runs before each page's own scripts; `text` is the text size in per cent of 16 pixels."""
        self.name, self.asked, self.complaints, self.last = name, [], [], 0
        self.profile = tempfile.mkdtemp(prefix="alina-")
        self.downloads = f"{self.profile}/downloads"
        os.makedirs(f"{self.profile}/Default")
        with open(f"{self.profile}/Default/Preferences", "w", encoding="utf-8") as settings:
            json.dump({"webkit": {"webprefs": {"default_font_size": 16 * text // 100}}}, settings)
        with open(f"{self.profile}/user.js", "w", encoding="utf-8") as settings:
            for key, value in (("browser.download.folderList", 2), ("browser.download.dir", self.downloads),
                               ("browser.download.useDownloadDir", True), ("font.size.variable.x-western", 16 * text // 100),
                               # The panel of downloads would take the focus from the page, which would then get no focus events.
                               ("browser.download.alwaysOpenPanel", False),
                               # Pages may read the clipboard without a confirmation by the user.
                               ("dom.events.testing.asyncClipboard", True)):
                settings.write(f"user_pref({json.dumps(key)}, {json.dumps(value)});\n")
        common = ["--remote-debugging-port=0", "--headless"]
        special = {
            "chromium": ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", f"--user-data-dir={self.profile}", "--no-first-run",
                         "--disable-background-networking", "--autoplay-policy=user-gesture-required", "about:blank"],
            "firefox": ["--profile", self.profile, "--no-remote"],
        }[name]
        self.log = open(f"{self.profile}/said", "w+", encoding="utf-8")
        self.process = subprocess.Popen(
            [NAMES[name]] + common + special, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self.log,
            env={**os.environ, "HOME": self.profile})
        # On a busy machine Firefox took more than a minute to answer its first command.
        address = wait(f"{name} to listen", self._address, START)
        if name == "firefox":
            address += "/session"
        self.socket = websocket.create_connection(address, timeout=START, suppress_origin=True)
        self.session, self.before = None, before
        if name == "firefox":
            self.call("session.new", capabilities={})
            self.call("session.subscribe", events=["log.entryAdded", "network.beforeRequestSent"])
            if before:
                self.call("script.addPreloadScript", functionDeclaration=f"() => {{ {before} }}")
        self._enter()

    def _enter(self):
        if self.name == "chromium":
            self.session = None
            self.target = self.call("Target.createTarget", url="about:blank")["targetId"]
            self.session = self.call("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
            for domain in ("Page", "Runtime", "Network"):
                self.call(domain + ".enable")
            # The page has the focus even if several windows are open.
            self.call("Emulation.setFocusEmulationEnabled", enabled=True)
            self.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=self.downloads)
            if self.before:
                self.call("Page.addScriptToEvaluateOnNewDocument", source=self.before)
        else:
            # A new tab would hide the tab before it.
            self.context = self.call("browsingContext.create", type="window")["context"]
            self.call("browsingContext.activate", context=self.context)

    def tab(self):
        """Another tab of the same browser; both tabs append to the same logs."""
        other = copy.copy(self)
        other._enter()
        return other

    def close_tab(self):
        if self.name == "chromium":
            self.call("Page.close")
        else:
            self.call("browsingContext.close", context=self.context)

    def allow(self, url):
        """Allows pages of an address to read the clipboard."""
        if self.name == "chromium":
            self.call("Browser.grantPermissions", origin="/".join(url.split("/")[:3]), permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])

    def key(self, name, *held):
        if self.name == "chromium":
            number = KEYS[name][1] if name in KEYS else ord(name.upper())
            key = {"key": name, "windowsVirtualKeyCode": number, "modifiers": sum(MODIFIERS[word] for word in held)}
            writes = len(name) == 1 and not {"Control", "Alt"} & set(held) or name == "Enter"
            text = {"text": "\r" if name == "Enter" else name} if writes else {}
            self.call("Input.dispatchKeyEvent", type="keyDown" if writes else "rawKeyDown", **key, **text)
            self.call("Input.dispatchKeyEvent", type="keyUp", **key)
        else:
            keys = [KEYS[word][0] if word in KEYS else word for word in (*held, name)]
            self.call("input.performActions", context=self.context, actions=[{"type": "key", "id": "keyboard", "actions": [
                *({"type": "keyDown", "value": key} for key in keys), *({"type": "keyUp", "value": key} for key in reversed(keys))]}])

    def _address(self):
        with open(self.log.name, encoding="utf-8") as said:
            found = re.search(r"listening on (ws://\S+)", said.read())
        return found and found[1]

    def call(self, method, **params):
        """Sends a command and returns its answer; logs the events that come before the answer."""
        self.last += 1
        command = {"id": self.last, "method": method, "params": params}
        if self.session if self.name == "chromium" else False:
            command["sessionId"] = self.session
        self.socket.send(json.dumps(command))
        while True:
            try:
                answer = json.loads(self.socket.recv())
            except websocket.WebSocketTimeoutException:
                raise Fault(f"{method}: {self.name} has not answered for {START} s") from None
            if answer.get("id") == self.last:
                if "error" in answer:
                    raise Fault(f"{method}: {answer.get('message') or answer['error']}")
                return answer["result"]
            self._note(answer)

    def _note(self, event):
        method, params = event.get("method"), event.get("params", {})
        if method in ("Network.requestWillBeSent", "network.beforeRequestSent"):
            self.asked.append(params["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(params["exceptionDetails"].get("exception", {}).get("description", "")))
        elif method == "log.entryAdded" and params.get("level") == "error" and params.get("type") == "javascript":
            self.complaints.append(params.get("text", ""))

    def open(self, url):
        if self.name == "chromium":
            self.run("globalThis.isOld = true")
            self.call("Page.navigate", url=url)
            wait(url, lambda: self.run("!globalThis.isOld && document.readyState === 'complete'"))
        else:
            self.call("browsingContext.navigate", context=self.context, url=url, wait="complete")

    def run(self, expression):
        """Evaluates an expression in the page; if its value is a promise, waits for the promise's result."""
        text = f"(async () => JSON.stringify((await ({expression})) ?? null))()"
        if self.name == "chromium":
            answer = self.call("Runtime.evaluate", expression=text, awaitPromise=True, userGesture=True)
            if "exceptionDetails" in answer:
                raise Fault(f"{expression}: {answer['exceptionDetails'].get('exception', {}).get('description')}")
            return json.loads(answer["result"]["value"])
        answer = self.call(
            "script.evaluate", expression=text, target={"context": self.context}, awaitPromise=True, userActivation=True)
        if answer["type"] != "success":
            raise Fault(f"{expression}: {answer['exceptionDetails']['text']}")
        return json.loads(answer["result"]["value"])

    def until(self, expression, seconds=PATIENCE):
        return wait(lambda: f"{expression} in {self.name}; {self.state()}", lambda: self.run(expression), seconds)

    def state(self):
        seen = "[location.hash, document.readyState, document.getElementById('message')?.innerText, ...(globalThis.heard ?? []).slice(-4)]"
        with contextlib.suppress(Fault):
            return f"{self.run(seen)} {self.complaints[-3:]}"
        return f"the page does not answer {self.complaints[-3:]}"

    def click(self, x, y, isPressed=True):
        """Clicks at a place of the page, or only moves the mouse there."""
        if self.name == "chromium":
            for kind in ("mouseMoved", "mousePressed", "mouseReleased")[:3 if isPressed else 1]:
                button = {} if kind == "mouseMoved" else {"button": "left", "clickCount": 1}
                self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **button)
        else:
            steps = [{"type": "pointerMove", "x": round(x), "y": round(y)}, {"type": "pointerDown", "button": 0},
                     {"type": "pointerUp", "button": 0}][:3 if isPressed else 1]
            self.call("input.performActions", context=self.context, actions=[
                {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": steps}])

    def size(self, width, height, isPhone=True):
        """Sets the page's size, as a phone with touch or as a window."""
        if self.name == "chromium":
            self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1 + isPhone, mobile=isPhone)
            self.call("Emulation.setTouchEmulationEnabled", enabled=isPhone)
        else:
            self.call("browsingContext.setViewport", context=self.context, viewport={"width": width, "height": height})

    def picture(self, path):
        if self.name == "chromium":
            data = self.call("Page.captureScreenshot")["data"]
        else:
            data = self.call("browsingContext.captureScreenshot", context=self.context)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def close(self):
        self.socket.close()
        self.process.kill()
        self.process.wait(PATIENCE)
        self.log.close()
        shutil.rmtree(self.profile, ignore_errors=True)
