import Interface
import ScoreModel
import TicTacToe

/// The score: two treble staves, voice M above and voice T below, which grow as the music plays.
final class StaffView: View {
  /// A pair of notes of voices M and T; `x` in staff spaces from the first bar.
  struct Column {
    var pair: Pair
    var x: Double
    var start: Tick
    var isCut: Bool
    /// The notes of voice T: the pair's note, and the answering note if there is one.
    var lower: [Note] { [pair.t, pair.answer].compactMap { $0 } }
  }

  /// A bar; `x` and `width` in staff spaces.
  struct Measure {
    var bar: Bar
    var x: Double
    var width: Double
    var columns: [Column]
    /// Staff steps by which the upper staff's notes are written lower (negative: 8va, 15ma) or higher (positive: 8vb) than they sound.
    var shiftM = 0
    /// Like `shiftM`, for the lower staff.
    var shiftT = 0
    /// Whether this bar is the last of the music after the end of the game.
    var isFinal = false
  }

  private(set) var measures: [Measure] = []
  private lazy var scroll = motion(0)
  private var shownBars: [Bar] = []
  private var shownUntil = Tick.zero
  private var scrolledTo = 0.0
  /// The cell under pointer or focus.
  private var previewed: Cell?
  /// The cell `previewed` if a move is possible there; the score shows the cell's note.
  private(set) var ghost: Cell?

  /// The bars to show and the current time of their sound, for a replay or for the game on the board.
  var source: () -> (bars: [Bar], now: Tick)
  var key: () -> Scale

  override init(context: ViewContext) {
    source = { [unowned(unsafe) context] in (context.model.bars, context.model.soundNow) }
    key = { [unowned(unsafe) context] in context.model.tonality.scale }
    super.init(context: context)
  }

  // MARK: Measures of the engraving

  /// A staff space in pixels. The height has room for 4.8 spaces below the lower staff, for the lowest note and its octave sign.
  var space: Double { (frame.height / 21.4).rounded(.down).clamped(to: 3...24) }
  private var upperBottom: Double { (frame.y + space * 8.6).rounded() }
  private var lowerBottom: Double { upperBottom + space * 8 }
  /// The left edge of the bars, right of brace, clef and key signature.
  private var musicLeft: Double { frame.x + space * (5.6 + Double(scale.signature.count)) }
  private var musicWidth: Double { frame.maxX - musicLeft - space }
  private var lineWidth: Double { max(1, (space * 0.11).rounded()) }

  private var scale: Scale { key() }

  /// The diatonic steps above C0, and the accidental: −1 flat, 0 natural, 1 sharp, `nil` if the key signature implies the accidental.
  private func spell(_ pitch: Pitch) -> (step: Int, accidental: Int?) {
    let spelling = scale.spelling(of: pitch.midi)
    let step = spelling.octave * 7 + spelling.letter
    return (step, spelling.alteration == scale.alterationInKey(of: spelling.letter) ? nil : spelling.alteration)
  }

  /// The diatonic steps from C0 to E4, the bottom line of a treble staff.
  private static let bottomStep = 30

  private func y(step: Int, bottom: Double) -> Double {
    bottom - Double(step - StaffView.bottomStep) * space / 2
  }

  override func layout() {
    scrolledTo = scrollTarget
    context.animator.set(scroll, to: scrolledTo)
  }

  /// The scroll offset in pixels that shows the newest bar.
  private var scrollTarget: Double {
    let now = source().now
    let newest = measures.last { $0.bar.start <= now } ?? measures.first
    return max(0, (newest.map { ($0.x + $0.width) * space } ?? 0) - musicWidth)
  }

  // MARK: Content

  func preview(_ cell: Cell?) {
    previewed = cell
    refreshGhost()
  }

  private func refreshGhost() {
    let open = previewed.flatMap { context.model.isOpen($0) ? $0 : nil }
    guard ghost != open else { return }
    ghost = open
    setNeedsDisplay()
  }

  func showModel(animated: Bool) {
    refreshGhost()
    let (bars, soundNow) = source()
    let isNew = bars != shownBars
    if isNew {
      shownBars = bars
      rebuild()
      setNeedsDisplay()
    }
    if isNew || scrollTarget != scrolledTo {
      scrolledTo = scrollTarget
      context.animator.bring(scroll, to: scrollTarget, animated: animated, seconds: 0.7, .sineInOut)
    }
    if soundNow != shownUntil {
      let range = min(soundNow, shownUntil)...max(soundNow, shownUntil)
      for measure in measures {
        if let cut = measure.bar.cut, range.contains(measure.bar.start + cut) { damage(measure) }
        for column in measure.columns
        where range.contains(column.start) || isInking(column, at: shownUntil) || isInking(column, at: soundNow) {
          damage(column)
        }
      }
      shownUntil = soundNow
    }
  }

  private func damage(_ measure: Measure) {
    let x = musicLeft - scroll.value + measure.x * space
    context.damage(Rect(x - space, frame.y - 2, (measure.width + 3) * space, frame.height + 4))
  }

  /// Redraws a pair with its ledger lines, signs and barline.
  private func damage(_ column: Column) {
    let x = musicLeft - scroll.value + column.x * space
    context.damage(Rect(x - 3 * space, frame.y - 2, 11 * space, frame.height + 4))
  }

  /// Seconds for which a note head grows as it appears.
  private static let inking = 0.18

  private func isInking(_ column: Column, at moment: Tick) -> Bool {
    let age = (moment - column.start).seconds
    return !column.isCut && age >= 0 && age <= StaffView.inking
  }

  /// When the next pair appears, or at once while a note head grows; in seconds of the platform's clock.
  func nextChange(after now: Double) -> Double {
    let sound = source().now
    var next = Double.infinity
    for measure in measures.suffix(3) {
      for column in measure.columns where !column.isCut {
        let wait = (column.start - sound).seconds
        if wait > -StaffView.inking { next = min(next, now + max(0, wait)) }
      }
    }
    return next
  }

  private func rebuild() {
    measures = []
    var x = 1.0
    // The widest staff shows fewer than 64 bars.
    for bar in shownBars.suffix(64) where bar.kind != .undo && !bar.pairs.isEmpty {
      var columns: [Column] = []
      let left = x
      x += 1.7
      for pair in bar.pairs {
        let onset = pair.onset ?? .zero
        let isCut = bar.cut.map { onset >= $0 } ?? false
        columns.append(Column(pair: pair, x: x, start: bar.start + onset, isCut: isCut))
        x += pair.isLong ? 4.4 : 2.9
      }
      var measure = Measure(bar: bar, x: left, width: x - left, columns: columns)
      measure.shiftM = shift(columns.compactMap { $0.pair.m?.pitch })
      measure.shiftT = shift(columns.flatMap { $0.lower.map { $0.pitch } })
      if let before = measures.last?.bar, before.kind == .closing, bar.kind == .closing {
        measure.isFinal = bar.pairs.count > before.pairs.count
      }
      measures.append(measure)
    }
  }

  /// Staff steps: −7 or −14 writes notes far above the staff lower, 7 writes notes far below the staff higher, else 0.
  private func shift(_ pitches: [Pitch]) -> Int {
    let bottomStep = StaffView.bottomStep
    let steps = pitches.map { spell($0).step }
    guard let low = steps.min(), let high = steps.max() else { return 0 }
    if high > bottomStep + 12 { return high > bottomStep + 20 && low > bottomStep + 7 ? -14 : -7 }
    if low < bottomStep - 7 { return 7 }
    return 0
  }

  // MARK: Drawing

  override func drawStatic(_ canvas: Canvas) {
    for bottom in [upperBottom, lowerBottom] {
      for line in 0..<5 {
        let y = bottom - Double(line) * space
        canvas.fill(Rect(frame.x, (y - lineWidth / 2).rounded(), frame.width, lineWidth), theme.line)
      }
      let clefX = frame.x + space * 1.9
      for stroke in Glyphs.trebleClef {
        canvas.fill(polygon: stroke.placed(scale: space, at: Point(clefX, bottom - space)).outline(), theme.ink)
      }
      for (index, sign) in scale.signature.enumerated() {
        let glyph = sign.alteration > 0 ? Glyphs.sharp : Glyphs.flat
        let y = y(step: StaffView.bottomStep + sign.treblePlace, bottom: bottom)
        canvas.fill(
          glyph.scaled(space * 0.92, space * 0.92).moved(frame.x + space * (4.3 + Double(index)), y), theme.ink)
      }
    }
    let top = upperBottom - 4 * space
    canvas.fill(
      Rect(frame.x, top - lineWidth / 2, lineWidth * 1.4, lowerBottom - top + lineWidth), theme.ink)
    let half = (lowerBottom - top) / 2
    for sign in [1.0, -1.0] {
      let outline = Glyphs.braceHalf.outline().map {
        Point(frame.x - space * 0.55 + $0.x * half * 0.9, (top + lowerBottom) / 2 + $0.y * half * sign)
      }
      canvas.fill(polygon: outline, theme.ink)
    }
  }

  override var inkBounds: Rect { frame.insetBy(-space * 1.5, -2) }

  override func draw(_ canvas: Canvas) {
    canvas.saved {
      canvas.clip(Rect(musicLeft - space * 0.4, frame.y, musicWidth + space * 1.4, frame.height))
      let origin = musicLeft - scroll.value
      for measure in measures {
        let left = origin + measure.x * space
        guard left + measure.width * space > musicLeft - 2 * space, left < frame.maxX else { continue }
        draw(measure, origin: origin, canvas)
      }
      drawPreview(canvas, origin: origin)
    }
  }

  private func opacity(at x: Double) -> Double { ((x - musicLeft + space * 0.5) / (space * 2)).clamped(to: 0...1) }

  /// A pair is shown from its start on. A pair that never sounds, because the bar was cut, is shown from the cut on.
  private func isVisible(_ column: Column, in measure: Measure, at now: Tick) -> Bool {
    guard column.isCut, let cut = measure.bar.cut else { return column.start <= now }
    return measure.bar.start + cut <= now
  }

  private func draw(_ measure: Measure, origin: Double, _ canvas: Canvas) {
    let now = source().now
    guard measure.bar.start <= now else { return }
    let isCue = measure.bar.kind == .echo
    let size = isCue ? 0.72 : 1.0
    for column in measure.columns {
      let age = (now - column.start).seconds
      guard isVisible(column, in: measure, at: now) else { continue }
      let appear = column.isCut ? 1 : Easing.cubicOut(age + 0.03, StaffView.inking)
      let x = origin + column.x * space
      let color = (column.isCut ? theme.ghost : isCue ? theme.faintInk : theme.ink).faded(appear * opacity(at: x))
      let grow = size * (0.6 + 0.4 * appear)
      func write(_ note: Note?, _ shift: Int, x: Double, bottom: Double, isLong: Bool) {
        if let note { head(note.pitch, shift: shift, x: x, bottom: bottom, isLong: isLong, grow, color, canvas) }
      }
      write(column.pair.m, measure.shiftM, x: x, bottom: upperBottom, isLong: column.pair.isLong)
      write(column.pair.t, measure.shiftT, x: x, bottom: lowerBottom, isLong: column.pair.isLong)
      write(column.pair.answer, measure.shiftT, x: x + space, bottom: lowerBottom, isLong: false)
      if !column.isCut { drawBass(column.pair.bass, x: x, color, canvas) }
      // The flower of an awakening (a win can no longer be prevented). The next bar repeats a cut pair, with the flower.
      if column.pair.isAwakening, !column.isCut {
        // The flower is below the lower staff and the pair's note, or between the staves if the pair has bass notes.
        let bell = column.pair.t.map { spell($0.pitch).step + measure.shiftT } ?? StaffView.bottomStep
        let below = max(lowerBottom + space * 2.2, y(step: bell, bottom: lowerBottom) + space * 2)
        let at = Point(x, column.pair.bass.isEmpty ? below : upperBottom + space * 2.2)
        for petal in Glyphs.petals {
          canvas.fill(petal.scaled(space * 1.0, space * 1.0).moved(at.x, at.y), theme.accent.faded(appear))
        }
        canvas.fill(Path.ellipse(at, space * 0.16, space * 0.16), theme.accent.faded(appear))
      }
    }
    drawFrame(of: measure, origin: origin, canvas)
  }

  private func drawFrame(of measure: Measure, origin: Double, _ canvas: Canvas) {
    let now = source().now
    let left = origin + measure.x * space
    let first = left + 1.7 * space
    let color = theme.ink.faded(opacity(at: first))
    let signY = upperBottom - 7.7 * space
    if let voice = measure.bar.voice, measure.bar.kind == .move {
      let mark = MarkStrokes(voice == .first ? .x : .o, seed: measure.bar.index)
      canvas.ink(mark, size: space * 2.8, center: Point(first, signY), color)
    }
    let end = origin + ((measure.columns.last { isVisible($0, in: measure, at: now) }?.x ?? 0) + 1) * space
    let signs = octaveSigns(of: measure)
    octaveSign(measure.shiftM, at: signs.m + Point(origin, 0), to: end, color, canvas)
    octaveSign(measure.shiftT, at: signs.t + Point(origin, 0), to: end, color, canvas)
    // The barline appears when the last pair of the bar begins or the bar is cut.
    let last = measure.columns.last?.start ?? measure.bar.start
    let isOver = measure.bar.cut.map { measure.bar.start + $0 <= now } ?? (last <= now)
    guard isOver else { return }
    let x = (left + measure.width * space).rounded()
    let top = upperBottom - 4 * space - lineWidth / 2
    let height = lowerBottom - upperBottom + 4 * space + lineWidth
    let heavy = theme.ink.faded(opacity(at: x))
    if measure.isFinal {
      canvas.fill(Rect(x - space * 0.95, top, lineWidth, height), heavy)
      canvas.fill(Rect(x - space * 0.5, top, space * 0.5, height), heavy)
    } else {
      canvas.fill(Rect(x, top, lineWidth, height), theme.line.faded(opacity(at: x)))
    }
  }

  /// Draws each pitch class as a small open head. A label (8, 15) marks a note written one or two octaves higher than it sounds.
  private func drawBass(_ bass: [Note], x: Double, _ color: Color, _ canvas: Canvas) {
    var shown: Set<Int> = []
    for note in bass.sorted(by: { $0.pitch < $1.pitch }) where shown.insert(note.pitch.midi % 12).inserted {
      let (octaves, y) = bassPlace(note)
      head(note.pitch, shift: octaves * 7, x: x, bottom: lowerBottom, isLong: true, 0.85, color, canvas)
      guard octaves > 0 else { continue }
      let label = context.typeface.block(octaves == 1 ? "8" : "15", TextStyle(space * 1.75, italic: true))
      // The label is below the note head, because the next note may be beside the head; a very low head has the label at its right.
      let isDeep = y > lowerBottom + space * 2.6
      let at = isDeep ? Point(x + space * 1.5, y + space * 0.55) : Point(x - label.width / 2, y + space * 1.9)
      canvas.draw(label, at: Point(at.x, at.y - label.baseline), color)
    }
  }

  /// The octaves by which a bass note is written higher, so that it needs at most four ledger lines; and the y of its head.
  private func bassPlace(_ note: Note) -> (octaves: Int, y: Double) {
    let step = spell(note.pitch).step
    let octaves = (StaffView.bottomStep - 2 - step) / 7
    return (octaves, y(step: step + octaves * 7, bottom: lowerBottom))
  }

  /// The octave signs (8va, 15ma, 8vb) of voices M and T, relative to the left edge of the music. The sign of M is beside the mover's mark;
  /// the sign of T is above all heads of T, or below these heads, beside the bass (8vb).
  func octaveSigns(of measure: Measure) -> (m: Point, t: Point) {
    let first = (measure.x + 1.7) * space
    let hasSign = measure.bar.voice != nil && measure.bar.kind == .move
    let heads = measure.columns.flatMap { $0.lower }.map { headY($0, measure.shiftT, lowerBottom) }
    let isBeside = measure.shiftT > 0 && measure.columns.first?.pair.bass.isEmpty == false
    return (
      m: Point(
        first + space * (hasSign ? 1.9 : -0.6), upperBottom + space * (measure.shiftM < 0 ? -7.1 : 3.2)),
      t: Point(
        first + space * (isBeside ? 3.6 : -0.6),
        measure.shiftT < 0
          ? min(lowerBottom - space * 5.4, (heads.min() ?? lowerBottom) - space) : lowerBottom + space * 4.6)
    )
  }

  private func headY(_ note: Note, _ shift: Int, _ bottom: Double) -> Double {
    y(step: spell(note.pitch).step + shift, bottom: bottom)
  }

  /// The centres of the note heads of voice T and of the bass, relative to the left edge of the music.
  func lowerHeads(of measure: Measure) -> (t: [Point], bass: [Point]) {
    (
      t: measure.columns.flatMap { column in
        column.lower.map { Point(column.x * space, headY($0, measure.shiftT, lowerBottom)) }
      },
      bass: measure.columns.flatMap { column in column.pair.bass.map { Point(column.x * space, bassPlace($0).y) } }
    )
  }

  /// Draws "8va" or "15ma" above or "8vb" below the staff, with a dashed line to the end of the bar.
  private func octaveSign(_ shift: Int, at place: Point, to end: Double, _ color: Color, _ canvas: Canvas) {
    guard shift != 0 else { return }
    let size = space * 2.0
    let number = context.typeface.block(abs(shift) == 14 ? "15" : "8", TextStyle(size, italic: true))
    let suffix = shift > 0 ? "vb" : shift == -14 ? "ma" : "va"
    let ending = context.typeface.block(suffix, TextStyle(size * 0.66, italic: true))
    let (x, y) = (place.x, place.y)
    canvas.draw(number, at: Point(x, y - number.baseline), color)
    canvas.draw(ending, at: Point(x + number.width, y - ending.baseline - size * 0.22), color)
    var dash = x + number.width + ending.width + space * 0.6
    let level = (y - size * 0.3).rounded()
    while dash + space * 0.6 < end {
      canvas.fill(Rect(dash, level, space * 0.6, lineWidth), color.faded(0.6))
      dash += space * 1.2
    }
    canvas.fill(Rect(end, level, lineWidth, space * (shift < 0 ? 0.8 : -0.8)), color.faded(0.6))
  }

  private func head(
    _ pitch: Pitch, shift: Int, x: Double, bottom: Double, isLong: Bool, _ size: Double, _ color: Color,
    _ canvas: Canvas
  ) {
    let (sounding, accidental) = spell(pitch)
    let step = sounding + shift
    let y = y(step: step, bottom: bottom)
    let glyph = isLong ? Glyphs.openHead : Glyphs.blackHead
    canvas.fill(glyph.scaled(space * size, space * size).moved(x, y), color)
    let half = space * (isLong ? 1.45 : 1.2) * size
    let (above, below) = (StaffView.bottomStep + 10, StaffView.bottomStep - 2)
    let ledgers = Array(stride(from: above, through: step, by: 2)) + Array(stride(from: below, through: step, by: -2))
    for line in ledgers {
      let ly = self.y(step: line, bottom: bottom)
      canvas.fill(Rect(x - half, (ly - lineWidth / 2).rounded(), 2 * half, lineWidth), color.faded(0.8))
    }
    if let accidental {
      let sign = accidental > 0 ? Glyphs.sharp : accidental < 0 ? Glyphs.flat : Glyphs.natural
      canvas.fill(sign.scaled(space * 0.85 * size, space * 0.85 * size).moved(x - space * 1.5 * size, y), color)
    }
  }

  /// The note of `ghost` is drawn where the next bar will begin.
  private func drawPreview(_ canvas: Canvas, origin: Double) {
    guard let ghost else { return }
    let end = measures.last.map { $0.x + $0.width } ?? 1
    let x = min(origin + (end + 1.7) * space, frame.maxX - space * 2)
    let pitch = context.model.tonality.pitch(
      of: context.model.game.variant.place(of: ghost), for: context.model.game.turn)
    let shift = shift([pitch])
    head(pitch, shift: shift, x: x, bottom: upperBottom, isLong: false, 1, theme.ghost, canvas)
  }
}
