#!/usr/bin/env python3
"""Composes a game of chess: reads its PGN, writes the lines of JSON that `alina-score live` plays.

    pip install chess
    examples/chess-score.py game.pgn | alina-score live --score-rules examples/chess.yaml --wav game.wav

White is the first voice, black the second. A square's rank is its height, its file moves it by up to three degrees.
"""

import json
import math
import sys

import chess
import chess.pgn

VALUES = {chess.PAWN: 1, chess.KNIGHT: 3, chess.BISHOP: 3, chess.ROOK: 5, chess.QUEEN: 9, chess.KING: 0}
SECONDS = 4.0


def material(board, side):
    return sum(VALUES[piece.piece_type] * (1 if piece.color == side else -1) for piece in board.piece_map().values())


def facts(board, move):
    """The facts of a move, as named in chess.yaml."""
    words = []
    if board.is_capture(move): words.append("capture")
    if board.is_castling(move): words.append("castling")
    if move.promotion: words.append("promotion")
    if board.gives_check(move): words.append("check")
    if board.is_check(): words.append("answer")
    return words


def main():
    game = chess.pgn.read_game(open(sys.argv[1], encoding="utf-8") if len(sys.argv) > 1 else sys.stdin)
    if game is None or game.errors:
        sys.exit(f"chess-score.py: no game that can be read: {game.errors if game else 'the file is empty'}")
    board, at = game.board(), 12.0
    for node in game.mainline():
        side, square = board.turn, node.move.to_square
        line = {"at": round(at, 3), "voice": "first" if side == chess.WHITE else "second", "pace": SECONDS,
                "degree": chess.square_rank(square) + chess.square_file(square) // 2, "facts": facts(board, node.move)}
        board.push(node.move)
        line["standing"] = round(math.tanh(material(board, side) / 6), 3)
        if board.is_checkmate():
            line["end"] = {"kind": "win", "winner": line["voice"]}
        elif board.is_game_over():
            line["end"] = {"kind": "draw"}
        print(json.dumps(line), flush=True)
        at += SECONDS
    if not board.is_game_over() and game.headers.get("Result") in ("1-0", "0-1", "1/2-1/2"):
        winner = {"1-0": "first", "0-1": "second"}.get(game.headers["Result"])
        print(json.dumps({"at": round(at, 3), "end": {"kind": "win", "winner": winner} if winner else {"kind": "draw"}}))


if __name__ == "__main__":
    main()
