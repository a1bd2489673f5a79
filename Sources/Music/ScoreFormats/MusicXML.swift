import GameScore
import ScoreModel
import Tintinnabuli

/// Exports the score as MusicXML 4.0: a piano part with three staves (M, T, bass), a measure a bar.
///
/// Short notes are quarters without stems, long notes whole notes; each measure has a hidden time signature of its true length.
package enum MusicXML {
  package static func text(_ bars: [Bar], rules: ScoreRules, title: String) -> String {
    let scale = rules.scale
    var xml = """
      <?xml version="1.0" encoding="UTF-8"?>
      <!DOCTYPE score-partwise PUBLIC "-//Recordare//DTD MusicXML 4.0 Partwise//EN" "http://www.musicxml.org/dtds/partwise.dtd">
      <score-partwise version="4.0">
        <work><work-title>\(escaped(title))</work-title></work>
        <identification><creator type="composer">the game</creator><encoding><software>Alina</software></encoding></identification>
        <part-list>
          <score-part id="P1"><part-name>Piano</part-name><score-instrument id="P1-I1"><instrument-name>Piano</instrument-name></score-instrument><midi-instrument id="P1-I1"><midi-channel>1</midi-channel><midi-program>1</midi-program></midi-instrument></score-part>
        </part-list>
        <part id="P1">

      """
    let written = bars.filter { !$0.sounding.isEmpty }
    for (number, bar) in written.enumerated() {
      xml += measure(bar, number: number + 1, isLast: number == written.count - 1, scale: scale, long: rules.bars.long)
    }
    return xml + "  </part>\n</score-partwise>\n"
  }

  private static func measure(_ bar: Bar, number: Int, isLast: Bool, scale: Scale, long: Int) -> String {
    let pairs = bar.sounding
    let lengths = pairs.map { $0.isLong ? long : 1 }
    let beats = lengths.reduce(0, +)
    var xml = "    <measure number=\"\(number)\">\n      <attributes>"
    // The number of sharps minus flats.
    let fifths = scale.signature.reduce(0) { $0 + $1.alteration }
    if number == 1 { xml += "<divisions>2</divisions><key><fifths>\(fifths)</fifths></key>" }
    xml += "<time print-object=\"no\"><beats>\(beats)</beats><beat-type>4</beat-type></time>"
    if number == 1 {
      xml += "<staves>3</staves>"
      for (staff, clef) in [("G", 2), ("G", 2), ("F", 4)].enumerated() {
        xml += "<clef number=\"\(staff + 1)\"><sign>\(clef.0)</sign><line>\(clef.1)</line></clef>"
      }
    }
    xml += "</attributes>\n"
    if number == 1 {
      xml += words("free, still", "", and: "<sound tempo=\"\(tempo(bar))\"/>") + pedal("start")
    }
    let sign = bar.kind == .move ? bar.signs.first ?? "" : bar.kind.rawValue
    if !sign.isEmpty { xml += words(escaped(sign), " font-style=\"italic\"") }
    for (pair, length) in zip(pairs, lengths) {
      if pair.isAwakening { xml += words("✿", "") + pedal("change") }
      xml += note(pair.m?.pitch, length, voice: 1, scale: scale)
    }
    xml += "      <backup><duration>\(2 * beats)</duration></backup>\n"
    for (pair, length) in zip(pairs, lengths) {
      let isHalf = pair.answer != nil
      xml += note(pair.t?.pitch, length, voice: 2, scale: scale, isHalf: isHalf)
      if isHalf { xml += note(pair.answer?.pitch, length, voice: 2, scale: scale, isHalf: true) }
    }
    xml += "      <backup><duration>\(2 * beats)</duration></backup>\n"
    xml += bass(pairs, lengths, beats, scale)
    if isLast { xml += "      <barline location=\"right\"><bar-style>light-heavy</bar-style></barline>\n" }
    return xml + "    </measure>\n"
  }

  private static func words(_ text: String, _ style: String, and more: String = "") -> String {
    direction("above", "<words\(style)>\(text)</words>", more)
  }

  private static func pedal(_ type: String) -> String {
    direction("below", "<pedal type=\"\(type)\" line=\"no\"/>", "<staff>3</staff>")
  }

  private static func direction(_ place: String, _ type: String, _ more: String) -> String {
    "      <direction placement=\"\(place)\"><direction-type>\(type)</direction-type>\(more)</direction>\n"
  }

  /// Bass notes last until the next one or the end of the measure.
  private static func bass(_ pairs: [Pair], _ lengths: [Int], _ beats: Int, _ scale: Scale) -> String {
    var xml = ""
    var held: [Pitch] = []
    var length = 0
    func flush() {
      var rest = length
      var isTied = false
      while rest > 0 {
        let part = min(rest, 4)
        rest -= part
        if held.isEmpty { xml += note(nil, part, voice: 3, scale: scale) }
        for (index, pitch) in held.enumerated() {
          xml += note(pitch, part, voice: 3, scale: scale, isChord: index > 0, tie: (isTied, rest > 0))
        }
        isTied = true
      }
    }
    for (pair, pairLength) in zip(pairs, lengths) {
      if !pair.bass.isEmpty {
        flush()
        held = Set(pair.bass.map { $0.pitch }).sorted()
        length = 0
      }
      length += pairLength
    }
    flush()
    return xml
  }

  private static func note(
    _ pitch: Pitch?, _ length: Int, voice: Int, scale: Scale, isChord: Bool = false, isHalf: Bool = false,
    tie: (stop: Bool, start: Bool) = (false, false)
  ) -> String {
    var xml = "      <note>"
    if isChord { xml += "<chord/>" }
    if let pitch {
      let spelling = scale.spelling(of: pitch.midi)
      xml += "<pitch><step>\(Spelling.letters[spelling.letter])</step>"
      if spelling.alteration != 0 { xml += "<alter>\(spelling.alteration)</alter>" }
      xml += "<octave>\(spelling.octave)</octave></pitch>"
    } else {
      xml += "<rest/>"
    }
    xml += "<duration>\(isHalf ? length : 2 * length)</duration>"
    let ties = (tie.stop ? ["stop"] : []) + (tie.start ? ["start"] : [])
    for tie in ties { xml += "<tie type=\"\(tie)\"/>" }
    let type = isHalf ? "eighth" : length >= 4 ? "whole" : length >= 2 ? "half" : "quarter"
    xml += "<voice>\(voice)</voice><type>\(type)</type>"
    if length == 3 || length == 6 { xml += "<dot/>" }
    if pitch != nil && length < 4 { xml += "<stem>none</stem>" }
    xml += "<staff>\(voice)</staff>"
    if !ties.isEmpty {
      xml += "<notations>" + ties.map { "<tied type=\"\($0)\"/>" }.joined() + "</notations>"
    }
    return xml + "</note>\n"
  }

  private static func tempo(_ bar: Bar) -> Int {
    guard bar.pairs.count > 1, let first = bar.pairs[0].m?.onset, let second = bar.pairs[1].m?.onset else { return 57 }
    return Int((60 / max((second - first).seconds, 0.1)).rounded())
  }

  static func escaped(_ text: String) -> String {
    text.unicodeScalars.map { scalar in
      switch scalar {
      case "&": "&amp;"
      case "<": "&lt;"
      case ">": "&gt;"
      case "\"": "&quot;"
      default: String(scalar)
      }
    }.joined()
  }
}
