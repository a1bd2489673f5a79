#!/usr/bin/env python3
"""Plays tic-tac-toe on an Alina server; written with Python's standard library from docs/protocol.md alone.

    examples/bot.py 127.0.0.1:4664 --games 3

Plays perfectly (a few lines of minimax), checks the hash of every event, survives a lost
connection with its resume token, and prints a line for each game it ends.
"""

import argparse
import functools
import hashlib
import json
import random
import socket
import ssl
import sys
import time

LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]
NAMES = ["a3", "b3", "c3", "a2", "b2", "c2", "a1", "b1", "c1"]  # reading order from the top left


def winner(board):
    for a, b, c in LINES:
        if board[a] != "." and board[a] == board[b] == board[c]:
            return board[a]
    return None


@functools.lru_cache(maxsize=None)
def value(board, turn):
    """The value of a position for the side to move: 1, 0 or -1."""
    if winner(board):
        return -1
    if "." not in board:
        return 0
    other = "o" if turn == "x" else "x"
    return max(-value(board[:i] + turn + board[i + 1:], other) for i in range(9) if board[i] == ".")


def best(board, turn):
    other = "o" if turn == "x" else "x"
    moves = [i for i in range(9) if board[i] == "."]
    scores = {i: -value(board[:i] + turn + board[i + 1:], other) for i in moves}
    top = max(scores.values())
    return random.choice([i for i in moves if scores[i] == top])


class Match:
    """A match as folded from its events; `digest` is the running hash."""

    def __init__(self, name):
        self.name, self.seq, self.board, self.side, self.phase = name, 0, "." * 9, None, "open"
        self.digest = hashlib.sha256(b"alina1" + name.encode()).digest()

    @property
    def ply(self):
        return 9 - self.board.count(".")

    @property
    def turn(self):
        return "xo"[self.ply % 2]

    def load(self, state):
        self.seq, self.board, self.phase = state["seq"], state["board"], state["phase"]
        self.digest = bytes.fromhex(state["hash"])
        self.side = state.get("you", self.side)

    def add(self, event, raw):
        """Folds an event whose body has the bytes `raw`; False if it does not follow."""
        digest = hashlib.sha256(self.digest + raw).digest()
        if event["seq"] != self.seq + 1 or digest.hex()[:32] != event["hash"]:
            return False
        self.digest, self.seq, body = digest, event["seq"], event["body"]
        if body["k"] == "start":
            self.phase = "live"
        elif body["k"] == "move":
            i = NAMES.index(body["cell"])
            self.board = self.board[:i] + body["side"] + self.board[i + 1:]
        elif body["k"] == "end":
            self.phase = "over"
        return True


class Bot:
    def __init__(self, options):
        self.options, self.resume, self.matches, self.done, self.asked = options, None, {}, 0, 0
        self.key, self.pending, self.over = None, {}, set()

    def send(self, message):
        self.asked += 1
        message.setdefault("id", "c%d" % self.asked)
        self.file.write(json.dumps(message).encode() + b"\n")
        self.file.flush()

    def connect(self):
        host, _, port = self.options.server.rpartition(":")
        sock = socket.create_connection((host.strip("[]"), int(port)), timeout=30)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self.options.tls:
            context = ssl.create_default_context()
            if self.options.tls == "self-signed":
                context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            sock = context.wrap_socket(sock, server_hostname=host)
        self.file = sock.makefile("rwb")
        hello = {"t": "hello", "v": [1], "client": "bot.py", "caps": ["bot"]}
        hello.update({"resume": self.resume} if self.resume else {"guest": self.options.name})
        self.send(hello)

    def seek(self):
        self.key = self.key or "k%d" % random.getrandbits(48)
        self.send({"t": "seek", "clock": self.options.clock, "rated": False, "bots": True, "key": self.key})

    def think(self, match):
        if match.phase == "live" and match.side == match.turn and not winner(match.board) and "." in match.board:
            if match.name not in self.pending or self.pending[match.name]["ply"] != match.ply:
                self.pending[match.name] = {"t": "move", "m": match.name, "ply": match.ply,
                                            "cell": NAMES[best(match.board, match.turn)],
                                            "mid": "m%d" % random.getrandbits(48)}
            self.send(dict(self.pending[match.name]))

    def handle(self, line):
        message = json.loads(line)
        kind = message["t"]
        if kind == "welcome":
            self.resume = message["resume"]
            if message["matches"]:
                self.key = None
            else:
                self.seek()
        elif kind == "ping":
            self.send({"t": "pong", "ts": message["ts"]})
        elif kind == "paired":
            self.key = None
            match = self.matches.setdefault(message["m"], Match(message["m"]))
            match.side = message["side"]
        elif kind == "state":
            match = self.matches.setdefault(message["m"], Match(message["m"]))
            match.load(message)
            self.think(match)
        elif kind == "event":
            match = self.matches.setdefault(message["m"], Match(message["m"]))
            raw = line.rstrip(b"\r\n")
            raw = raw[raw.index(b',"body":') + 8:-1]  # the stored bytes: body is always the last field
            if message["seq"] <= match.seq:
                return
            if not match.add(message, raw):
                self.send({"t": "sync", "m": match.name, "seq": 0})
            elif message["body"]["k"] in ("start", "move"):
                self.think(match)
            elif message["body"]["k"] == "draw" and message["body"]["a"] == "offer":
                if message["body"]["side"] != match.side:
                    self.send({"t": "draw", "m": match.name, "a": "accept", "offer": message["seq"],
                               "mid": "d%d" % random.getrandbits(48)})
            elif message["body"]["k"] == "end" and match.name not in self.over:
                self.over.add(match.name)
                body = message["body"]
                print(match.name, "I was", match.side, "result", body["result"], body["reason"], flush=True)
                self.done += 1
                if self.done < self.options.games:
                    self.seek()
        elif kind == "err":
            if message.get("state"):
                match = self.matches.setdefault(message["state"]["m"], Match(message["state"]["m"]))
                match.load(message["state"])
                self.pending.pop(match.name, None)
                self.think(match)
            elif message["code"] == "auth":
                self.resume = None
            elif message["code"] in ("busy", "rate", "draining"):
                time.sleep(0.2)
                for match in list(self.matches.values()):
                    self.think(match)
            else:
                print("refused:", message["code"], message["msg"], file=sys.stderr)

    def run(self):
        tries = 0
        while self.done < self.options.games:
            try:
                self.connect()
                tries = 0
                for line in self.file:
                    self.handle(line)
                    if self.done >= self.options.games:
                        self.send({"t": "bye"})
                        return
            except (OSError, ValueError) as problem:
                tries += 1
                if tries > 20:
                    sys.exit("bot.py: %s: %s" % (self.options.server, problem))
            time.sleep(random.uniform(0.1, 0.3) * min(tries + 1, 10))


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("server", help="HOST:PORT")
parser.add_argument("--games", type=int, default=1, help="games to play (default 1)")
parser.add_argument("--name", default="bot", help="guest name to ask for")
parser.add_argument("--clock", default="60+2", help="SECONDS+SECONDS or none (default 60+2)")
parser.add_argument("--tls", choices=["verified", "self-signed"], help="use TLS; self-signed checks nothing")
Bot(parser.parse_args()).run()
