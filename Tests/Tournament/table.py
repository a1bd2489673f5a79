#!/usr/bin/env python3
"""Prints the final table of a tournament, made from an export of the server's match logs alone.

table.py FILE CODE   FILE: the output of `alina-server export`. One line a player who finished a game, the best first:
                     NAME POINTS STREAK GAMES OPPOSITION

Written from docs/protocol.md, without the server's code, as an independent check of the server's table.
"""
import json
import sys


def games(path, code):
    """The finished games of the tournament, in the order of their ends: (x, o, result)."""
    found = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            match = json.loads(line)
            if "match" not in match:
                continue
            events = [json.loads(event) for event in match["events"]]
            start = next((event for event in events if event["k"] == "start"), None)
            end = next((event for event in events if event["k"] == "end"), None)
            if start is None or start.get("tournament") != code or end is None or end["result"] == "none":
                continue
            found.append((match["ended"], match["match"], start["x"]["name"], start["o"]["name"], end["result"]))
    return [game[2:] for game in sorted(found)]


def table(played):
    """The rows by name: points, streak, games, opposition."""
    rows = {}
    for x, o, result in played:
        before = {name: rows.setdefault(name, [0, 0, 0, 0])[0] for name in (x, o)}
        for name, other, side in ((x, o, "x"), (o, x, "o")):
            row = rows[name]
            if result == side:
                row[0] += 4 if row[1] >= 2 else 2
                row[1] += 1
            else:
                row[0] += result == "draw"
                row[1] = 0
            row[2] += 1
            row[3] += before[other]
    return rows


def main():
    path, code = sys.argv[1:]
    rows = table(games(path, code))
    for name, row in sorted(rows.items(), key=lambda item: (-item[1][0], item[1][2], -item[1][3], item[0])):
        print(name, *row)


if __name__ == "__main__":
    main()
