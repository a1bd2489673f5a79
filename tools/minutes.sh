#!/bin/sh
# Draws ten minutes of each game's music by two builds of alina-score, the earlier one on the left: docs/heard/minutes-GAME.png.
# Draws a game that the earlier build refuses by the later build alone.
# Run: tools/minutes.sh BEFORE AFTER     (needs numpy, scipy and matplotlib)
set -eu
tools=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
for game in classic misere infinite ultimate; do
  case $game in infinite) games=6 ;; ultimate) games=3 ;; *) games=9 ;; esac
  before=before=$work/before.wav
  "$1" simulate --rules "$game" --games "$games" --wav "$work/before.wav" || before=
  "$2" simulate --rules "$game" --games "$games" --wav "$work/after.wav"
  python3 "$tools/plot-form.py" "$tools/../docs/heard/minutes-$game.png" ${before:+"$before"} "after=$work/after.wav" --minutes 10
done
