import Interface
import TicTacToe

/// A cell of the board with its mark, a ghost mark under pointer or focus, and a dot for the last move.
final class CellView: View {
  let cell: Cell
  private let variant: Variant
  /// The drawn mark: a mark removed from the game is drawn until it has faded out.
  private var mark: Player?
  /// The mark that the cell has in the game.
  private var held: Player?
  private lazy var drawn = motion(1)
  private lazy var presence = motion(1)
  private lazy var ghost = motion(0)
  /// How pale the mark is, 0…1: outside of the winning line, on a closed board, or if the next move removes the mark.
  private lazy var pale = motion(0)
  /// How strongly the cell swells, 0…1, while its note sounds in a winning line or in free play.
  private(set) lazy var voice = motion(0)
  private var isLast = false
  /// Whether the next move removes the mark.
  private var isFading = false
  private var isHovered = false
  private var keptSending: String?
  /// Where a finger last touched the cell.
  private var touchedAt = Point(0, 0)

  init(context: ViewContext, cell: Cell, of variant: Variant) {
    (self.cell, self.variant) = (cell, variant)
    super.init(context: context)
  }

  override var inkBounds: Rect { frame }
  override var role: Role { .cell(row: variant.row(of: cell)) }

  private var isOpen: Bool { context.model.isOpen(cell) }

  /// Whether the cell is the player's premove, played once the opponent has moved.
  private var isPremove: Bool { context.model.online?.premove == cell }

  override var isClickable: Bool { true }
  override var showsHand: Bool { isOpen }
  override var accessibilityLabel: String? {
    guard let board = parent as? BoardView else { return nil }
    let place = context.name(cell, on: board.facts)
    if isPremove { return "\(place), \(context.text(.speakPremove))" }
    if isFading { return "\(place), \(context.text(.speakGoes))" }
    return !variant.isOneBoard && isOpen ? "\(place); \(sending)" : place
  }

  /// For screen readers: the board to which a move in this cell sends the opponent.
  private var sending: String {
    // A browser requests the texts of all 81 cells after each frame, so keep the text until the board changes.
    if let keptSending { return keptSending }
    let words = sendingOfTrial
    keptSending = words
    return words
  }

  private var sendingOfTrial: String {
    var state = context.model.game.state
    let other = String(state.turn.opponent.letter)
    guard state.play(cell) == nil else { return context.text(.speakEnds) }
    guard let target = BoardFacts(state).boards?.target else { return context.text(.speakSendsAnywhere, other) }
    return context.text(.speakSends, other, target.name)
  }

  /// `isBeaten`: the mark is outside of the winning line of a won game.
  func show(_ player: Player?, isLast: Bool, isBeaten: Bool, isFading: Bool, isClosed: Bool, animated: Bool) {
    let animator = context.animator
    keptSending = nil
    if player != held {
      held = player
      if let player {
        mark = player
        animator.set(presence, to: 1)
        animator.set(drawn, to: animated ? 0 : 1)
        if animated { animator.move(drawn, to: 1, seconds: player == .x ? 0.42 : 0.5, .sineInOut) }
      } else if animated {
        // A mark that Infinite removes fades out more slowly than a mark that is taken back.
        animator.move(presence, to: 0, seconds: self.isFading ? 0.6 : 0.25, .quadOut) { finished in
          if finished { self.mark = nil }
        }
      } else {
        mark = nil
      }
    }
    if isLast != self.isLast {
      self.isLast = isLast
      setNeedsDisplay()
    }
    self.isFading = isFading
    let target = isBeaten ? 1 : isFading ? 0.9 : isClosed ? 0.6 : 0
    // A mark that fades out keeps its paleness.
    if animated, held == nil, mark != nil {
      animator.stop(pale)
    } else {
      animator.bring(pale, to: target, animated: animated, seconds: 0.6, after: isBeaten ? 0.7 : 0, .sineInOut)
    }
    refreshGhost()
  }

  /// Makes the cell swell `seconds` from now.
  func sing(after seconds: Double) {
    context.animator.play(
      .sequence([
        .pause(seconds: seconds), .tween(voice, to: 1, seconds: 0.16, .sineOut),
        .tween(voice, to: 0, seconds: 1.4, .sineInOut),
      ]))
  }

  var showsGhost: Bool { isOpen && (isHovered || showsFocus) }

  private func refreshGhost() {
    context.animator.move(ghost, to: showsGhost ? 1 : 0, seconds: showsGhost ? 0.14 : 0.25)
  }

  override func hover(_ isInside: Bool) {
    isHovered = isInside
    refreshGhost()
    send(.preview(isInside && isOpen ? cell : nil))
  }

  override func focusChanged(_ isFocused: Bool) {
    refreshGhost()
    if context.showsFocus { send(.preview(isFocused && isOpen ? cell : nil)) }
    setNeedsDisplay()
  }

  /// Asks for a move or, in free play, for the cell's sound. Returns whether a view handled the request.
  @discardableResult
  func play() -> Bool {
    if context.model.isFree { sing(after: 0) }
    return send(.play(cell))
  }

  /// For a second finger, only in free play.
  func touchAlso() {
    guard context.model.isFree else { return }
    sing(after: 0)
    send(.touchAlso(cell))
  }

  override func pointer(_ phase: PointerPhase, at point: Point) -> Bool {
    switch phase {
    // In free play no touch can be a mistake, so a cell sounds before the finger is lifted.
    case .down(isTouch: true) where context.model.isFree: play()
    case .up(isTouch: true) where context.model.isFree: break
    // A mouse plays on press, so that the music responds at once.
    case .down(isTouch: false): play()
    case .down(isTouch: true):
      touchedAt = point
      hover(true)
    case .dragged: break
    case .up(isTouch: true):
      hover(false)
      let way = point - touchedAt
      // A swipe must not play, even if the swipe ends in the cell in which it began.
      if frame.contains(point), max(abs(way.x), abs(way.y)) <= context.metrics.em * 2.5 { play() }
    case .up(isTouch: false): break
    }
    return true
  }

  override func key(_ key: Key, _ modifiers: KeyModifiers) -> Bool {
    guard key == .enter || key == .character(" ") else { return false }
    return play()
  }

  override func draw(_ canvas: Canvas) {
    let size = frame.width
    if let mark {
      let color = theme.ink.faded(presence.value * (1 - 0.68 * pale.value))
      let (strokes, swollen) = (MarkStrokes(mark, in: cell), size * (1 + 0.1 * voice.value))
      canvas.ink(strokes, progress: drawn.value, size: swollen, center: frame.center, color)
      if voice.value > 0 {
        canvas.ink(strokes, size: swollen, center: frame.center, theme.accent.faded(voice.value * 0.55))
      }
      if isLast {
        // The dot of the last move, like a staccato dot.
        let radius = size * variant.dotRadius
        let dot = Path.ellipse(Point(frame.midX, frame.maxY - size * 0.085), radius, radius)
        canvas.fill(dot, theme.accent.faded(drawn.value * presence.value))
      }
    } else if isPremove, let you = context.model.online?.you {
      canvas.ink(MarkStrokes(you, in: cell), size: size * 0.8, center: frame.center, theme.accent.faded(0.5))
    } else if voice.value > 0 {
      let radius = size * (0.16 + 0.1 * voice.value)
      canvas.stroke(
        Path.ellipse(frame.center, radius, radius), width: max(1, size * 0.02), theme.accent.faded(voice.value))
    } else if ghost.value > 0, !context.model.isFree {
      canvas.ink(
        MarkStrokes(context.model.game.turn, in: cell), size: size, center: frame.center,
        theme.ghost.faded(ghost.value * 0.8))
    }
    if showsFocus { drawFocus(canvas) }
  }

  private func drawFocus(_ canvas: Canvas) {
    let size = frame.width
    let box = frame.insetBy(size * 0.075, size * 0.075)
    // Short corners in the small cells of Ultimate would look like the dot that marks the last move.
    let (arm, width) = variant.isOneBoard ? (size * 0.11, size * 0.012) : (size * 0.22, size * 0.035)
    for (x, y, dx, dy) in [
      (box.x, box.y, 1.0, 1.0), (box.maxX, box.y, -1, 1), (box.x, box.maxY, 1, -1), (box.maxX, box.maxY, -1, -1),
    ] {
      let corner = Path(through: [Point(x + dx * arm, y), Point(x, y), Point(x, y + dy * arm)])
      canvas.stroke(corner, width: max(1, width), theme.accent)
    }
  }
}
