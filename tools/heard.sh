#!/bin/sh
# Makes the sounds and pictures of docs/what-you-hear.md from the games in docs/heard, and docs/alina.ogg.
# Run: tools/heard.sh ALINA_SCORE     (needs ffmpeg and musescore3)
set -eu
score=$1
docs=$(cd "$(dirname "$0")/../docs" && pwd)

# part FILE RULES FROM TO OPTION…: renders $game from second FROM to second TO as FILE.png and FILE.ogg; OPTION… is for ffmpeg's encoder.
part() {
  file=$1 rules=$2 from=$3 to=$4
  shift 4
  "$score" render "$docs/heard/$game.pgn" --score-rules "$rules" --from "$from" --to "$to" --wav "$file.wav" --png "$file.png"
  # At these low bit rates a peak can come back 3 dB higher than it was; so the sound is 3 dB softer, and no player clips it.
  ffmpeg -hide_banner -loglevel error -y -i "$file.wav" -af "volume=-3dB,areverse,afade=t=in:d=2,areverse" "$@" "$file.ogg"
  rm "$file.wav"
}

heard=$docs/heard
game=game
part "$heard/mistake" score 12.435 23.935 -c:a libvorbis -q:a 2
part "$heard/threat" score 23.935 31.835 -c:a libvorbis -q:a 2
part "$heard/block" score 31.835 40.135 -c:a libvorbis -q:a 2
part "$heard/fork" score 40.135 56.235 -c:a libvorbis -q:a 2
part "$heard/game" score 0 104 -ac 1 -c:a libopus -vbr off -b:a 22k
part "$heard/night" night 0 142 -ac 1 -c:a libopus -vbr off -b:a 17k
part "$docs/alina" score 6 67 -c:a libvorbis -q:a 1
rm "$docs/alina.png"
game=ultimate
part "$heard/ultimate" score 303.634 470 -ac 1 -c:a libopus -vbr off -b:a 17k

# sheet GAME PAGE: engraves the game's MusicXML with MuseScore 3, and keeps the page number PAGE.
sheet() {
  "$score" render "$docs/heard/$1.pgn" --musicxml "$heard/$1.musicxml"
  QT_QPA_PLATFORM=offscreen mscore3 -r 80 -o "$heard/$1.sheet.png" "$heard/$1.musicxml"
  mv "$heard/$1.sheet-$2.png" "$heard/sheet-$1.png"
  rm -f "$heard/$1.musicxml" "$heard/$1".sheet-*.png
}
sheet game 1
sheet misere 1
sheet infinite 2
sheet ultimate 2
