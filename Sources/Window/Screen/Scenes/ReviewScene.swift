import Interface
import Oracle
import ScoreModel
import TicTacToe

/// The review of a game, ply by ply, with its music and the evaluation of each move.
final class ReviewScene: Scene {
  private let board: MiniBoard
  private let staff: StaffView
  private let scrubber: ScrubberView
  private let notes: ScrollView
  private let comment: TextRow
  private let summary: TextRow
  private var replay: ReplayModel
  private let steps: [ReviewStep]
  private var ply: Int
  private var headBaseline = 0.0
  private var isPlaying = false

  override var title: String { context.text(.review) }
  override var initialFocus: View? { scrubber }

  override init(context: ViewContext) {
    let replay =
      context.pages.replay
      ?? ReplayModel(
        game: context.model.game, title: "", bars: context.model.bars, scale: context.model.tonality.scale)
    self.replay = replay
    steps = replay.game.variantMoves.map { ReviewStep($0) }
    ply = replay.game.cells.count
    board = MiniBoard(context: context)
    staff = StaffView(context: context)
    scrubber = ScrubberView(context: context, marks: steps.map { $0.move.mover })
    notes = ScrollView(context: context)
    comment = TextRow(context: context, "", faint: false, size: 1.15, gap: 0.5)
    summary = TextRow(context: context, "", italic: true)
    super.init(context: context)
    staff.source = { [unowned(unsafe) self] in (self.replay.bars, context.pages.replay?.soundNow ?? restingMoment) }
    staff.key = { [unowned(unsafe) self] in self.replay.scale }
    notes.isCentered = false
    notes.set([comment, summary])
    for view in [board, scrubber, notes, staff] as [View] { add(view) }
    var words: [(Phrase, Intent)] = [
      (.playMusic, .playAll), (.playOn, .playOn(replay.game.startState)), (.keep, .keepPiece), (.copy, .copyGame),
      (.back, .back),
    ]
    if context.services.share != nil { words.insert((.share, .shareGame), at: 4) }
    if context.pages.mayFilm { words.insert((.film, .makeFilm), at: 3) }
    setFooter(words)
    show()
    showFilm()
  }

  private func showFilm() {
    guard context.pages.mayFilm else { return }
    let (button, percent) = (footerButtons[3], context.pages.filmPercent)
    button.title = percent.map { "\(context.text(.stopFilm)), \($0) %" } ?? context.text(.film)
    guard (percent == nil) != (button.intent == .makeFilm) else { return }
    button.intent = percent == nil ? .makeFilm : .stopFilm
    relay()
  }

  /// The time up to which the score is shown while no music plays: the end of the shown ply's bar or, for the last ply, of all music.
  private var restingMoment: Tick {
    if ply == replay.game.cells.count, let end = replay.bars.last { return end.start + .seconds(60) }
    guard let last = replay.bars.last(where: { $0.ply <= ply && ($0.kind == .move || $0.kind == .opening) }) else {
      return Tick(rawValue: -1)
    }
    return last.start + (last.cut ?? .seconds(30)) - Tick(rawValue: 1)
  }

  private func seek(_ next: Int) {
    let clamped = next.clamped(to: 0...replay.game.cells.count)
    guard clamped != ply else { return }
    ply = clamped
    if isPlaying { send(.replay(fromPly: ply)) }
    show()
    context.announce(comment.text)
  }

  private func show() {
    let state = ply == 0 ? replay.game.startState : steps[ply - 1].move.after
    board.board = BoardFacts(state, last: ply == 0 ? nil : steps[ply - 1].move.cell)
    scrubber.mistakes = mistakes
    scrubber.ply = ply
    footerButtons[1].isEnabled = state.outcome == nil
    footerButtons[1].intent = .playOn(state)
    comment.text =
      ply == 0 ? beginning() : context.sentence(steps[ply - 1], evaluations: evaluations(ply), isFirst: isFirst)
    summary.text = summaryText()
    if notes.frame.width > 0 {
      notes.layout()
      notes.setNeedsDisplay()
    }
    staff.showModel(animated: true)
    staff.setNeedsDisplay()
  }

  /// The estimates before and after a move; `nil` until the search has made them.
  private func evaluations(_ ply: Int) -> (before: ReplayModel.Evaluation, after: ReplayModel.Evaluation)? {
    replay.evaluations.count > ply ? (replay.evaluations[ply - 1], replay.evaluations[ply]) : nil
  }

  /// The expected score (0…1) that the player of ply `ply` lost by the move; 0 without an estimate.
  private func loss(_ ply: Int) -> Double { evaluations(ply).map { $0.before.loss(to: $0.after) } ?? 0 }

  private static let markedCount = 3

  /// For Ultimate, which is not solved: the plies of the moves that lost the most expected score by the search's estimate.
  private var costly: [Int] {
    let plies = steps.indices.map { $0 + 1 }.filter { loss($0) >= ReviewStep.leastLoss }
    return Array(plies.sorted { loss($0) > loss($1) }.prefix(ReviewScene.markedCount))
  }

  private var mistakes: [Bool] {
    if replay.game.variant.isSolved { return steps.map { $0.isMistake } }
    let costly = costly
    return steps.indices.map { costly.contains($0 + 1) }
  }

  /// Whether the shown move is the first after which a threat cannot be blocked.
  private var isFirst: Bool {
    !replay.game.variant.isLong && steps.firstIndex { $0.move.isDecisive } == ply - 1
  }

  /// The text before the first move, with the value of the position unless the board is empty.
  private func beginning() -> String {
    let start = replay.game.startState
    guard !replay.game.isFromStart else { return context.text(.atStart) }
    guard start.outcome == nil, let worth = start.evaluation else { return context.text(.position) }
    let words = context.words(for: worth.value, in: worth.distance)
    return "\(context.text(.position)) \(context.text(start.turn == .x ? .xToMove : .oToMove)): \(words)."
  }

  /// In solved games the share of each side's moves that kept the value, and the first mistake; in Ultimate the costliest moves.
  private func summaryText() -> String {
    guard !steps.isEmpty else { return replay.game.isFromStart ? context.text(.noReplay) : "" }
    func name(_ step: ReviewStep) -> String { "\(step.move.ply). \(step.move.mover.letter) \(step.name)" }
    if !replay.game.variant.isSolved {
      guard replay.evaluations.count > steps.count else {
        return context.text(.reviewing, "\(max(0, replay.evaluations.count - 1))", "\(steps.count)")
      }
      let costly = costly.map { "\(name(steps[$0 - 1])) (−\(context.percent(loss($0))))" }
      let words =
        costly.isEmpty ? context.text(.lostLittle) : "\(context.text(.lostMost)): \(costly.joined(separator: ", "))"
      return "\(words); \(context.text(.expected))."
    }
    let shares = Player.allCases.map { player in
      let own = steps.filter { $0.move.mover == player }
      let kept = own.filter { !$0.isMistake }.count
      return "\(player.letter) \(own.isEmpty ? 100 : Int((Double(kept) / Double(own.count) * 100).rounded())) %"
    }
    let mistake = steps.first { $0.isMistake }.map { "\(context.text(.firstMistake)): \(name($0))." }
    return "\(context.text(.accuracy)): \(shares.joined(separator: ", ")). \(mistake ?? context.text(.noMistake))"
  }

  /// Below the comments if there is room, else above the footer.
  override var noticePlace: NoticePlace {
    guard !notes.isHidden else { return super.noticePlace }
    var place = NoticePlace(midX: notes.frame.midX, width: notes.frame.width, bottom: footerTop)
    place.mayCover(
      from: min(notes.frame.maxY, notes.frame.y + notes.contentHeight), to: staff.isHidden ? footerTop : staff.frame.y)
    return place
  }

  override func layout() {
    let m = context.metrics
    frame = m.bounds
    let innerWidth = m.bounds.width - 2 * m.margin
    arrangeFooter()
    headBaseline = m.margin * 0.8 + em * 1.9
    var strip = min(m.bounds.height * 0.24, innerWidth * 0.32 + 40)
    let top = headBaseline + em * 0.9
    var room = footerTop - top - strip
    if room < em * 11 {
      strip = 0
      room = footerTop - top
    }
    staff.isHidden = strip == 0 || replay.bars.isEmpty
    if staff.isHidden { room = footerTop - top }
    let scrubberHeight = em * 3.6
    let bottom = top + room
    if m.isLandscape {
      let side = max(40, min(room - em * 0.5, innerWidth * 0.42))
      board.frame = Rect(m.margin, top, side, side)
      let x = board.frame.maxX + em * 2
      let width = m.bounds.width - m.margin - x
      scrubber.frame = Rect(x, top, width, min(scrubberHeight, room))
      notes.frame = Rect(x, scrubber.frame.maxY + em * 0.5, width, bottom - scrubber.frame.maxY - em * 0.5)
    } else {
      // The board shrinks for comments and notices, but keeps two fifths of the height between heading and staff.
      let words = em * (m.bounds.height > 40 * em ? 8 : 6)
      let side = max(40, min(innerWidth, max(room * 0.4, room - scrubberHeight - words)))
      board.frame = Rect(m.bounds.midX - side / 2, top, side, side)
      scrubber.frame = Rect(m.margin, top + side + em * 0.3, innerWidth, min(scrubberHeight, room - side - em * 0.3))
      notes.frame = Rect(
        m.margin, scrubber.frame.maxY + em * 0.3, innerWidth, bottom - scrubber.frame.maxY - em * 0.6)
    }
    let isBroad = m.isLandscape && notes.frame.width > 34 * em && notes.frame.height > 12 * em
    (comment.size, summary.size) = isBroad ? (1.8, 1.3) : (1.15, 1)
    board.layout()
    notes.isHidden = notes.frame.height < em * 1.4
    notes.layout()
    staff.frame = Rect(m.margin + em * 0.4, footerTop - strip, innerWidth - em * 0.4, strip)
    staff.layout()
  }

  override func drawStatic(_ canvas: Canvas) {
    let isNamed = !replay.title.isEmpty
    drawHeading(
      isNamed ? replay.title : title, size: em * (isNamed ? 1.6 : 2.2), baseline: headBaseline, on: canvas)
  }

  override func contentChanged() {
    if let next = context.pages.replay, next.game == replay.game {
      if next.evaluations != replay.evaluations {
        replay.evaluations = next.evaluations
        show()
      }
      if next.bars != replay.bars {
        let wasEmpty = replay.bars.isEmpty
        replay.bars = next.bars
        if wasEmpty { relay() }
      }
    }
    let now = context.pages.replay?.soundNow
    if let now, isPlaying {
      let sounding = replay.bars.last { $0.start <= now && ($0.kind == .move || $0.kind == .opening) }
      // Free play has bars but no moves, so limit the ply to the number of moves.
      if let next = sounding.map({ min($0.ply, replay.game.cells.count) }), next != ply {
        ply = next
        show()
      }
    }
    let plays = now != nil
    if plays != isPlaying {
      isPlaying = plays
      refreshFooter()
    }
    staff.showModel(animated: true)
    showFilm()
  }

  private func refreshFooter() { footerButtons[0].title = context.text(isPlaying ? .stopMusic : .playMusic) }

  override func nextChange(after now: Double) -> Double {
    staff.isHidden || !isPlaying ? .infinity : staff.nextChange(after: now)
  }

  override func willClose() { if isPlaying { send(.replay(fromPly: nil)) } }

  override func receive(_ intent: Intent) -> Bool {
    switch intent {
    case .playAll:
      isPlaying.toggle()
      send(.replay(fromPly: isPlaying ? (ply == replay.game.cells.count ? 0 : ply) : nil))
      refreshFooter()
    case .seek(let ply): seek(ply)
    default: return false
    }
    return true
  }

  override func key(_ key: Key, _ modifiers: KeyModifiers) -> Bool {
    switch key {
    case .left, .character("h"): seek(ply - 1)
    case .right, .character("l"): seek(ply + 1)
    case .home: seek(0)
    case .end: seek(replay.game.cells.count)
    case .character(" ") where !(context.focus is TextButton): return receive(.playAll)
    case .character("c") where modifiers.contains(.control): return send(.copyGame)
    case .character("v") where modifiers.contains(.control): return send(.pasteGame)
    default: return false
    }
    return true
  }
}

/// The plies of a game on a line, along which the player drags a note head.
final class ScrubberView: View {
  private let marks: [Player]
  var mistakes: [Bool] {
    didSet { if mistakes != oldValue { setNeedsDisplay() } }
  }
  var ply = 0 {
    didSet {
      guard ply != oldValue else { return }
      context.animator.move(place, to: Double(ply), seconds: 0.25, .cubicOut)
    }
  }
  private lazy var place = motion(0)

  init(context: ViewContext, marks: [Player]) {
    self.marks = marks
    mistakes = marks.map { _ in false }
    super.init(context: context)
  }

  override var isClickable: Bool { true }
  override var accessibilityLabel: String? { "\(ply) / \(marks.count)" }
  override var role: Role {
    .slider(
      caption: context.text(.position), value: "\(ply) / \(marks.count)",
      numbers: [Double(ply), 0, Double(marks.count)])
  }

  private func x(of ply: Double) -> Double {
    return mix(frame.x + em, frame.maxX - em, ply / Double(max(1, marks.count)))
  }

  override func pointer(_ phase: PointerPhase, at point: Point) -> Bool {
    guard phase.slides else { return true }
    let share = ((point.x - frame.x - em) / max(1, frame.width - 2 * em)).clamped(to: 0...1)
    send(.seek(Int((share * Double(marks.count)).rounded())))
    return true
  }

  override func draw(_ canvas: Canvas) {
    let y = frame.y + em * 2.2
    canvas.fill(Rect(frame.x + em, y - em * 0.03, frame.width - 2 * em, max(1, em * 0.06)), theme.line)
    // A long game needs smaller marks, and a tick only at every tenth ply.
    let spacing = (frame.width - 2 * em) / Double(max(1, marks.count))
    let isDense = spacing < em
    for step in 0...marks.count {
      let at = x(of: Double(step))
      if !isDense || step % 10 == 0 {
        canvas.fill(Rect(at - 0.5, y - em * 0.2, max(1, em * 0.05), em * 0.4), theme.line)
      }
      guard step > 0 else { continue }
      canvas.ink(
        MarkStrokes(marks[step - 1], seed: step), size: min(em * 1.5, spacing * 1.25),
        center: Point(at, y - em * 1.15), step <= ply ? theme.ink : theme.ghost)
      if mistakes[step - 1] {
        canvas.text(
          "?", TextStyle(em, italic: true), context.typeface, x: at, baseline: y + em * 1.15, alignment: .center,
          theme.accent)
      }
    }
    let head = Glyphs.blackHead.scaled(em * 0.58, em * 0.58).moved(x(of: place.value), y)
    canvas.fill(head, showsFocus ? theme.accent : theme.ink)
  }
}
