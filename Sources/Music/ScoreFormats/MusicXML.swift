import Base
import GameScore
import ScoreModel
import Tintinnabuli

/// The score as MusicXML 4.0: one piano part on three staves (melody, triad notes, low notes), with one measure per bar. Short notes are
/// quarters without stems, long notes whole notes; a hidden time signature gives each measure its length.
package enum MusicXML {
  package static func text(_ bars: [Bar], rules: ScoreRules, title: String) -> String {
    var xml = """
      <?xml version="1.0" encoding="UTF-8"?>
      <!DOCTYPE score-partwise PUBLIC "-//Recordare//DTD MusicXML 4.0 Partwise//EN" "http://www.musicxml.org/dtds/partwise.dtd">
      <score-partwise version="4.0">
        <work><work-title>\(escapedMarkup(title))</work-title></work>
        <identification><creator type="composer">the game</creator><encoding><software>Alina</software></encoding></identification>
        <part-list>
          <score-part id="P1"><part-name>Piano</part-name><score-instrument id="P1-I1"><instrument-name>Piano</instrument-name></score-instrument><midi-instrument id="P1-I1"><midi-channel>1</midi-channel><midi-program>1</midi-program></midi-instrument></score-part>
        </part-list>
        <part id="P1">

      """
    let written = bars.filter { !$0.sounding.isEmpty }
    var writer = Writer(scale: rules.scale, long: rules.bars.long)
    for (index, bar) in written.enumerated() {
      xml += writer.measure(bar, number: index + 1, isLast: index == written.count - 1)
    }
    return xml + "  </part>\n</score-partwise>\n"
  }

  private struct Writer {
    let scale: Scale
    /// How many short notes last as long as a long note.
    let long: Int
    /// The number of beats of the previous measure; `mark` is the dynamics mark in force.
    private var beats = 0
    private var mark = ""

    init(scale: Scale, long: Int) { (self.scale, self.long) = (scale, long) }

    mutating func measure(_ bar: Bar, number: Int, isLast: Bool) -> String {
      let pairs = bar.sounding
      // Lengths are in eighths: MusicXML counts in `divisions`, here two for each quarter.
      let lengths = pairs.enumerated().map { index, pair in
        pair.isLong ? 2 * long : bar.rhythm == .longShort && index % 2 == 0 ? 4 : 2
      }
      let eighths = lengths.reduce(0, +)
      var xml = "    <measure number=\"\(number)\">\n" + attributes(eighths / 2, isFirst: number == 1)
      if number == 1 { xml += words("free, still", "", and: "<sound tempo=\"\(tempo(bar))\"/>") }
      let caption = bar.caption
      if !caption.isEmpty { xml += words(escapedMarkup(caption), " font-style=\"italic\"") }
      xml += dynamics(bar) + melody(bar, pairs, lengths)
      let backup = "      <backup><duration>\(eighths)</duration></backup>\n"
      xml += backup
      for (pair, length) in zip(pairs, lengths) {
        if let answer = pair.answer {
          xml += note(pair.t, length / 2, voice: 2) + note(answer, length / 2, voice: 2)
        } else {
          xml += note(pair.t, length, voice: 2)
        }
      }
      xml += backup
      var pedals = number == 1 ? [(at: 0, type: "start")] : []
      if let awakening = pairs.firstIndex(where: { $0.isAwakening }) {
        let before = lengths[..<awakening].reduce(0, +)
        pedals += [(before, "stop"), (before, "start")]
      }
      if isLast { pedals.append((eighths, "stop")) }
      xml += bass(pairs, lengths, pedals, backup)
      if isLast {
        xml += "      <barline location=\"right\"><bar-style>light-heavy</bar-style></barline>\n"
      }
      return xml + "    </measure>\n"
    }

    /// The hidden time signature if the number of beats changes; in the first measure also key and clefs. The attribute `symbol="note"`
    /// keeps MuseScore 3 from showing a changed signature at the end of a line although it is hidden. LilyPond and music21 take the length
    /// of a measure from the signature, MuseScore 3 from the notes.
    private mutating func attributes(_ beats: Int, isFirst: Bool) -> String {
      guard isFirst || beats != self.beats else { return "" }
      self.beats = beats
      var xml = "      <attributes>"
      // The number of sharps minus the number of flats.
      let fifths = scale.signature.reduce(0) { $0 + $1.alteration }
      if isFirst { xml += "<divisions>2</divisions><key><fifths>\(fifths)</fifths></key>" }
      xml += "<time print-object=\"no\" symbol=\"note\"><beats>\(beats)</beats><beat-type>4</beat-type></time>"
      if isFirst {
        xml += "<staves>3</staves>"
        for (staff, clef) in [("G", 2), ("G", 2), ("F", 4)].enumerated() {
          xml += "<clef number=\"\(staff + 1)\"><sign>\(clef.0)</sign><line>\(clef.1)</line></clef>"
        }
      }
      return xml + "</attributes>\n"
    }

    /// The dynamics mark nearest to the bar's mean velocity (16 ppp, 33 pp, 49 p, 64 mp); empty if this mark is in force already.
    private mutating func dynamics(_ bar: Bar) -> String {
      guard bar.kind != .undo, let mean = bar.meanVelocity else { return "" }
      let mark = mean < 25 ? "ppp" : mean < 41 ? "pp" : mean < 57 ? "p" : "mp"
      guard mark != self.mark else { return "" }
      self.mark = mark
      return direction("below", "<dynamics><\(mark)/></dynamics>", "<staff>1</staff>")
    }

    /// Writes the melody under one slur. A note held through further pairs has the length of all these pairs.
    private func melody(_ bar: Bar, _ pairs: [Pair], _ lengths: [Int]) -> String {
      var notes: [(note: Note?, length: Int, isAwakening: Bool)] = []
      for (pair, length) in zip(pairs, lengths) {
        if bar.rhythm == .held, pair.m == nil, notes.last?.note != nil {
          notes[notes.count - 1].length += length
        } else {
          notes.append((pair.m, length, pair.isAwakening))
        }
      }
      let sounding = notes.indices.filter { notes[$0].note != nil }
      let slur = sounding.count > 2 ? (sounding.first, sounding.last) : (nil, nil)
      var xml = ""
      for (index, (melody, length, isAwakening)) in notes.enumerated() {
        if isAwakening { xml += words("✿", "") }
        var rest = length
        while rest > 0 {
          // A held note longer than a whole note (8 eighths) is split into tied notes, unless it is as long as a bar's long note.
          let part = melody != nil && rest > 8 && rest != 2 * long ? 8 : rest
          xml += note(
            melody, part, voice: 1, tie: (rest < length, part < rest),
            slur: rest < length ? nil : index == slur.0 ? "start" : index == slur.1 ? "stop" : nil)
          rest -= part
        }
      }
      return xml
    }

    /// From C5 upwards low notes are written on the staff of T, because on the bass staff they would need many ledger lines. Pedal marks
    /// come before a note or rest of the low voice: LilyPond ignores a pedal that begins and ends in different voices, or whose end no note
    /// follows.
    private func bass(_ pairs: [Pair], _ lengths: [Int], _ pedals: [(at: Int, type: String)], _ backup: String)
      -> String
    {
      var held: [(notes: [Note], length: Int)] = [([], 0)]
      for (pair, length) in zip(pairs, lengths) {
        if !pair.bass.isEmpty {
          held.append(([], 0))
          for low in pair.bass.sorted(by: { $0.pitch < $1.pitch })
          where held[held.count - 1].notes.last?.pitch != low.pitch {
            held[held.count - 1].notes.append(low)
          }
        } else if pair.isAwakening, held[held.count - 1].notes.isEmpty {
          held.append(([], 0))
        }
        held[held.count - 1].length += length
      }
      func isHigh(_ notes: [Note]) -> Bool { notes.first.map { $0.pitch.midi >= 72 } ?? false }
      let low = held.flatMap { tied(isHigh($0.notes) ? [] : $0.notes, $0.length, voice: 3, staff: 3) }
      var (xml, at) = ("", 0)
      var pedals = pedals[...]
      for (index, part) in low.enumerated() {
        while let next = pedals.first, next.at < at + part.length || index == low.count - 1 {
          xml += pedal(next.type, after: next.at - at)
          pedals.removeFirst()
        }
        xml += part.xml
        at += part.length
      }
      guard held.contains(where: { isHigh($0.notes) }) else { return xml }
      return xml + backup
        + held.map { notes, length in
          isHigh(notes)
            ? tied(notes, length, voice: 4, staff: 2).map { $0.xml }.joined()
            : length > 0 ? "      <forward><duration>\(length)</duration></forward>\n" : ""
        }.joined()
    }

    /// Writes notes that sound together, or a rest if `notes` is empty, in tied parts of at most a whole note (8 eighths).
    private func tied(_ notes: [Note], _ length: Int, voice: Int, staff: Int) -> [(xml: String, length: Int)] {
      var parts: [(xml: String, length: Int)] = []
      var rest = length
      while rest > 0 {
        let part = min(rest, 8)
        var xml = notes.isEmpty ? note(nil, part, voice: voice) : ""
        for (index, one) in notes.enumerated() {
          xml += note(
            one, part, voice: voice, staff: staff, isChord: index > 0, tie: (rest < length, part < rest))
        }
        parts.append((xml, part))
        rest -= part
      }
      return parts
    }

    private func note(
      _ note: Note?, _ eighths: Int, voice: Int, staff: Int? = nil, isChord: Bool = false,
      tie: (stop: Bool, start: Bool) = (false, false), slur: String? = nil
    ) -> String {
      // MusicXML's `dynamics` is a percentage of the velocity of forte, 90.
      let touch = note.map { " dynamics=\"\((Int($0.velocity) * 100 + 45) / 90)\"" } ?? ""
      var xml = "      <note\(touch)>"
      if isChord { xml += "<chord/>" }
      if let note {
        let spelling = scale.spelling(of: note.pitch.midi)
        xml += "<pitch><step>\(Spelling.letters[spelling.letter])</step>"
        if spelling.alteration != 0 { xml += "<alter>\(spelling.alteration)</alter>" }
        xml += "<octave>\(spelling.octave)</octave></pitch>"
      } else {
        xml += "<rest/>"
      }
      xml += "<duration>\(eighths)</duration>"
      let ties = (tie.stop ? ["stop"] : []) + (tie.start ? ["start"] : [])
      for tie in ties { xml += "<tie type=\"\(tie)\"/>" }
      let (type, isDotted) = Self.type(eighths)
      xml += "<voice>\(voice)</voice><type>\(type)</type>\(isDotted ? "<dot/>" : "")"
      if note != nil && eighths < 8 { xml += "<stem>none</stem>" }
      xml += "<staff>\(staff ?? voice)</staff>"
      let notations =
        ties.map { "<tied type=\"\($0)\"/>" } + (slur.map { ["<slur type=\"\($0)\" number=\"1\"/>"] } ?? [])
      if !notations.isEmpty { xml += "<notations>" + notations.joined() + "</notations>" }
      return xml + "</note>\n"
    }

    /// The longest note value that fits into the given number of eighths, and whether it has a dot.
    private static func type(_ eighths: Int) -> (String, Bool) {
      switch eighths {
      case ...1: ("eighth", false)
      case 2: ("quarter", false)
      case 3: ("quarter", true)
      case 4, 5: ("half", false)
      case 6, 7: ("half", true)
      case 12: ("whole", true)
      default: ("whole", false)
      }
    }
  }

  private static func words(_ text: String, _ style: String, and more: String = "") -> String {
    direction("above", "<words\(style)>\(text)</words>", more)
  }

  /// A pedal mark of `type`, `eighths` eighths after the start of the next note.
  private static func pedal(_ type: String, after eighths: Int) -> String {
    let offset = eighths > 0 ? "<offset>\(eighths)</offset>" : ""
    return direction("below", "<pedal type=\"\(type)\" line=\"no\"/>", offset + "<staff>3</staff>")
  }

  private static func direction(_ place: String, _ type: String, _ more: String) -> String {
    "      <direction placement=\"\(place)\"><direction-type>\(type)</direction-type>\(more)</direction>\n"
  }

  private static func tempo(_ bar: Bar) -> Int {
    guard bar.pairs.count > 1, let first = bar.pairs[0].m?.onset, let second = bar.pairs[1].m?.onset else { return 57 }
    return Int((60 / max((second - first).seconds, 0.1)).rounded())
  }
}

extension Bar {
  /// The word over a bar of a printed score. Most bars have no word, so that the words over neighbouring bars do not touch.
  var caption: String {
    switch kind {
    case .move: signs.first == "calm" ? "" : signs.first ?? ""
    case .echo, .undo: kind.rawValue
    case .opening, .closing, .phrase, .sentence: ""
    }
  }
}
