import GameScore
import ScoreModel
import ScoreFormats
import Tintinnabuli

/// The score as text: for each bar, a line of M, a line of T and a line of the bass.
package enum TextScore {
  package static func text(_ bars: [Bar], scale: Scale) -> String {
    bars.map { text($0, scale: scale) }.joined(separator: "\n")
  }

  /// A bar as text: `–` marks long notes, `*` T outside the triad, `+` T's second note. Pairs that a cut silenced are in brackets.
  package static func text(_ bar: Bar, scale: Scale) -> String {
    let sounding = bar.sounding.count
    var rows: [(name: String, cells: [String])] = [("M", []), ("T", [])]
    if bar.pairs.contains(where: { !$0.bass.isEmpty }) { rows.append(("low", [])) }
    for (index, pair) in bar.pairs.enumerated() {
      let answer = pair.answer.map { "+" + scale.name($0) } ?? ""
      var cells = [scale.name(pair.m), scale.name(pair.t) + (pair.isAwakening ? "*" : "") + answer]
      if rows.count > 2 { cells.append(pair.bass.map(scale.name).joined(separator: "+")) }
      let width = (cells.map(\.count).max() ?? 0) + (pair.isLong ? 1 : 0)
      for row in rows.indices {
        var cell = cells[row]
        if pair.isLong && row < 2 { cell += "–" }
        if row < 2 && index == sounding && sounding < bar.pairs.count { cell = "(" + cell }
        if row < 2 && index == bar.pairs.count - 1 && sounding < bar.pairs.count { cell += ")" }
        rows[row].cells.append(cell.padded(to: width))
      }
    }
    let lines = rows.map { "  \($0.name.padded(to: 4))\($0.cells.joined(separator: "  "))".trimmedEnd }
    return ([heading(bar)] + lines).joined(separator: "\n") + "\n"
  }

  static func heading(_ bar: Bar) -> String {
    let hand = bar.voice.map { $0 == .first ? "X" : "O" } ?? "–"
    let ply = bar.ply > 0 ? " \(bar.ply)" : ""
    let signs = bar.signs.joined(separator: ", ")
    return "bar \(bar.index + 1)  \(time(bar.start))  \(bar.kind.rawValue)\(ply)  \(hand)  \(signs)"
  }

  static func time(_ moment: Tick) -> String {
    let milliseconds = (moment.rawValue + 24) / 48
    let rest = milliseconds % 60_000
    let seconds = "\(rest / 1000)".paddedLeft(to: 2, with: "0")
    return "\(milliseconds / 60_000):\(seconds).\("\(rest % 1000)".paddedLeft(to: 3, with: "0"))"
  }
}

extension Scale {
  /// The name of a note; a dot for a rest.
  func name(_ note: Note?) -> String { note.map { spelling(of: $0.pitch.midi).description } ?? "·" }
}

extension String {
  package func padded(to width: Int) -> String { self + String(repeating: " ", count: max(width - count, 0)) }

  var trimmedEnd: String {
    var rest = self[...]
    while rest.last == " " { rest.removeLast() }
    return String(rest)
  }
}
