import Interface
import ScoreModel
import TicTacToe

/// The board of any game. In Ultimate, if the cells are too small for a finger, the board to play in is enlarged, and a minimap shows the
/// other boards.
final class BoardView: View {
  private(set) var cells: [CellView] = []
  private(set) var facts: BoardFacts
  private lazy var winStroke = motion(0)
  private let marks: BoardMarks
  private var winningLines: [MoveSet] = []

  /// The board's rectangle while no board is enlarged.
  private var whole = Rect.zero
  /// The enlarged board's rectangle.
  private var near = Rect.zero
  /// The minimap's rectangle, beside the enlarged board.
  private var map = Rect.zero
  /// Whether the cells are too small for a finger, so that the board to play in is enlarged.
  private(set) var comesNear = false
  /// How far each of the nine boards is enlarged: 0 in the normal place, 1 in the rectangle `near`.
  private lazy var zoom = Square.all.map { _ in motion(0) }
  /// How far the whole board has become the minimap, 0…1.
  private lazy var minimapAmount = motion(0)
  /// How strongly each of the nine boards is highlighted, 0…1.
  private lazy var light = Square.all.map { _ in motion(0) }
  /// The board selected while several boards may be played in: the next key or touch plays in this board.
  private var chosen: Square?

  override init(context: ViewContext) {
    facts = BoardFacts(of: context.model.game)
    marks = BoardMarks(context: context)
    super.init(context: context)
    build()
  }

  private func build() {
    removeChildren()
    let variant = facts.variant
    cells = variant.cells.map { CellView(context: context, cell: $0, of: variant) }
    for row in 0..<variant.side {
      for column in 0..<variant.side { add(cells[variant.cell(row: row, column: column).index]) }
    }
    add(marks)
    context.staticIsStale = true
  }

  override var inkBounds: Rect { frame.insetBy(-frame.width * 0.02, -frame.width * 0.02) }

  /// The cell that gets the focus first: the middle of the board to play in.
  var home: CellView {
    if facts.variant.isOneBoard { return cells[4] }
    return cells[((chosen ?? facts.boards?.target)?.index ?? 4) * 9 + 4]
  }

  var focusedCell: Cell { (cells.first { $0.isFocused } ?? home).cell }

  // MARK: Layout

  /// Whether the cells of a board `side` pixels wide are too small for a finger.
  static func comesNear(_ variant: Variant, side: Double, _ context: ViewContext) -> Bool {
    let square = BoardGeometry(variant: variant, square: Rect(0, 0, side, side))
    return !variant.isOneBoard && square.place(of: Cell(0)).width < context.metrics.target
  }

  override func layout() {
    let side = min(frame.width, frame.height)
    comesNear = BoardView.comesNear(facts.variant, side: side, context)
    near = Rect(frame.maxX - side, frame.maxY - side, side, side)
    whole = near
    if comesNear {
      // An oblong frame has room for the minimap beside the board; in a square frame the board shrinks and frees a corner for the map.
      let spare = max(frame.width, frame.height) - side
      let edge = spare > side * 0.2 ? min(spare * 0.94, side * 0.5) : side * 0.28
      if spare <= side * 0.2 {
        near = Rect(frame.maxX - (side - edge), frame.maxY - (side - edge), side - edge, side - edge)
        map = Rect(frame.x, frame.y, edge, edge)
      } else {
        map =
          frame.width > frame.height
          ? Rect(near.x - spare + (spare - edge) * 0.3, near.midY - edge / 2, edge, edge)
          : Rect(near.midX - edge / 2, near.y - spare + (spare - edge) * 0.3, edge, edge)
      }
    } else {
      whole = Rect(frame.midX - side / 2, frame.midY - side / 2, side, side)
    }
    marks.frame = frame
    approach(animated: false)
    place()
  }

  override func moved() {
    place()
    setNeedsDisplay()
  }

  /// The boards that are not enlarged: the whole board, the minimap, or a transition between these two.
  private var ground: BoardGeometry {
    let t = comesNear ? minimapAmount.value : 0
    return BoardGeometry(variant: facts.variant, square: mix(whole, map, t))
  }

  /// The current rectangle of one of the nine boards, which changes while the board is being enlarged.
  func room(of board: Square) -> Rect {
    let slot = ground.room(of: board)
    let t = comesNear ? zoom[board.index].value : 0
    return t > 0 ? mix(slot, near, t) : slot
  }

  private func place() {
    if facts.variant.isOneBoard {
      let ground = BoardGeometry(variant: facts.variant, square: whole)
      for cell in cells { cell.frame = ground.place(of: cell.cell) }
      return
    }
    let rooms = Square.all.map { room(of: $0) }
    for cell in cells {
      let place = facts.variant.place(of: cell.cell)
      cell.frame = BoardGeometry.place(place, in: rooms[cell.cell.index / 9], isOneOfNine: true)
    }
  }

  /// The enlarged board: the only board to play in, or the selected board.
  var nearBoard: Square? {
    guard comesNear, let boards = facts.boards else { return nil }
    return boards.target ?? chosen.flatMap { boards.lit.contains($0) ? $0 : nil }
  }

  private func approach(animated: Bool) {
    let next = nearBoard
    func bring(_ motion: Motion, to value: Double) {
      context.animator.bring(motion, to: value, animated: animated, seconds: 0.4, .cubicInOut)
    }
    bring(minimapAmount, to: next == nil ? 0 : 1)
    for board in Square.all { bring(zoom[board.index], to: board == next ? 1 : 0) }
  }

  // MARK: Changes of the model

  /// Returns whether another kind of game is shown, so that the page must be laid out again.
  @discardableResult
  func showModel(animated: Bool) -> Bool {
    let old = facts
    facts = BoardFacts(of: context.model.game)
    let isOther = facts.variant != old.variant
    if isOther { build() }
    if facts != old { chosen = nil }
    let isAnimated = animated && !isOther
    let winning = facts.winning
    for cell in cells {
      let board = facts.variant.board(of: cell.cell)
      cell.show(
        facts[cell.cell], isLast: cell.cell == facts.last && winning.isEmpty,
        isBeaten: !winning.isEmpty && !winning.contains(cell.cell),
        isFading: cell.cell == facts.oldestMark,
        isClosed: board.map { facts.boards?.closed.contains($0) ?? false } ?? false, animated: isAnimated)
    }
    showBoards(animated: isAnimated)
    showLines(winning, animated: isAnimated)
    return isOther
  }

  private func showBoards(animated: Bool) {
    guard let boards = facts.boards else { return marks.clear() }
    for board in Square.all {
      let target = boards.lit.contains(board) ? 1.0 : 0
      context.animator.bring(light[board.index], to: target, animated: animated, seconds: 0.35, .sineInOut)
    }
    marks.show(boards, animated: animated)
    approach(animated: animated)
  }

  private func showLines(_ winning: MoveSet, animated: Bool) {
    guard facts.lines != winningLines else { return }
    winningLines = facts.lines
    context.animator.set(winStroke, to: 0)
    if !winningLines.isEmpty {
      context.animator.bring(winStroke, to: 1, animated: animated, seconds: 0.7, after: 0.55, .cubicInOut)
      if animated, !context.animator.isReduced {
        sing(winning, facts.turn.opponent)
        context.settleDown()
      }
    }
    setNeedsDisplay()
  }

  /// Each mark of the winning line swells when the last move's bar plays the note of the mark's cell.
  private func sing(_ winning: MoveSet, _ winner: Player) {
    let model = context.model
    guard let bar = model.bars.last(where: { $0.kind == .move }) else { return }
    var left = Array(winning)
    for note in bar.pairs.compactMap({ $0.m }) {
      let at = left.firstIndex {
        (model.tonality.pitch(of: facts.variant.place(of: $0), for: winner).midi - note.pitch.midi) % 12 == 0
      }
      guard let at else { continue }
      cells[left.remove(at: at).index].sing(after: max(0, (bar.start + note.onset - model.soundNow).seconds))
    }
  }

  override func drawStatic(_ canvas: Canvas) {
    if facts.variant.isOneBoard { PenGrid().draw(in: whole, canvas, theme.line) }
  }

  // MARK: Hint, analysis, beads

  var hint: Cell? {
    didSet { if hint != oldValue { setNeedsDisplay() } }
  }
  var showsAnalysis = false {
    didSet { if showsAnalysis != oldValue { setNeedsDisplay() } }
  }

  private func drawOverlays(_ canvas: Canvas) {
    // Hint and analysis name cells by coordinates.
    if context.settings.coordinates || hint != nil || showsAnalysis, minimapAmount.value == 0 {
      context.drawCoordinates(in: whole, of: facts.variant, canvas)
    }
    guard !context.model.game.isOver else { return }
    let analysis = showsAnalysis ? context.analysis : nil
    for cell in facts.allowed {
      let box = cells[cell.index].frame
      if hint == cell || analysis?.best == cell && !facts.variant.isSolved { drawRing(in: box, canvas) }
      if let evaluation = analysis?[cell] { draw(evaluation, in: box, canvas) }
      if let beads = context.model.beads, beads.indices.contains(cell.index) {
        drawBeads(beads[cell.index], in: box, canvas)
      }
    }
  }

  private func drawRing(in box: Rect, _ canvas: Canvas) {
    let accent = theme.accent
    canvas.stroke(
      Path.ellipse(box.center, box.width * 0.34, box.width * 0.34), width: max(1, box.width * 0.012), accent)
    if !showsAnalysis { canvas.fill(Path.ellipse(box.center, box.width * 0.03, box.width * 0.03), accent) }
  }

  private func draw(_ evaluation: MoveAnalysis.Evaluation, in box: Rect, _ canvas: Canvas) {
    switch evaluation {
    case .estimated(let share):
      let size = min(em, box.width * 0.34)
      canvas.text(
        "\(Int((share * 100).rounded()))", TextStyle(size, italic: true), context.typeface, x: box.midX,
        baseline: box.midY + size * 0.3, alignment: .center, theme.faintInk)
    case .exact(let value, let plies):
      let isNarrow = plies == nil
      let size = min(em, box.width * (isNarrow ? 0.4 : 0.15))
      // No colour is needed: a win is a filled circle, a draw a half-filled circle, a loss an open circle.
      let at = Point(box.midX, isNarrow ? box.midY : box.y + box.height * 0.15)
      let radius = size * 0.26
      if value == .win { canvas.fill(Path.ellipse(at, radius, radius), theme.ink) }
      if value == .draw {
        canvas.saved {
          canvas.clip(Rect(at.x - radius, at.y, 2 * radius, radius * 2))
          canvas.fill(Path.ellipse(at, radius, radius), theme.ink)
        }
      }
      canvas.stroke(Path.ellipse(at, radius, radius), width: max(1, size * 0.08), theme.ink)
      guard let plies else { return }
      canvas.text(
        context.words(for: value, in: plies), TextStyle(size, italic: true), context.typeface,
        x: box.midX,
        baseline: box.y + box.height * 0.15 + size * 1.35, alignment: .center, theme.faintInk)
    }
  }

  /// Five beads in a row; more than ten beads as a number.
  private func drawBeads(_ count: Int, in cell: Rect, _ canvas: Canvas) {
    guard count > 0 else { return }
    let radius = cell.width * 0.032
    let y = cell.maxY - cell.width * 0.14
    if count > 10 {
      canvas.fill(Path.ellipse(Point(cell.midX - radius * 3, y), radius, radius), theme.line)
      canvas.text(
        "× \(count)", TextStyle(cell.width * 0.12), context.typeface, x: cell.midX - radius,
        baseline: y + cell.width * 0.04, theme.faintInk)
      return
    }
    for bead in 0..<count {
      let row = Double(bead / 5)
      let inRow = Double(min(5, count - bead / 5 * 5))
      let x = cell.midX + (Double(bead % 5) - (inRow - 1) / 2) * radius * 2.6
      canvas.fill(Path.ellipse(Point(x, y + row * radius * 2.6 - radius), radius, radius), theme.line)
    }
  }

  override func draw(_ canvas: Canvas) {
    if !facts.variant.isOneBoard { drawBoards(canvas) }
    drawOverlays(canvas)
    guard winStroke.value > 0 else { return }
    for line in winningLines {
      let line = Array(line)
      guard let first = line.first, let last = line.last else { continue }
      let stroke = InkStroke(
        winning: cells[first.index].frame.center, cells[last.index].frame.center, cell: whole.width / 3)
      canvas.fill(polygon: stroke.outline(upTo: winStroke.value), theme.accent.faded(0.9))
    }
  }

  private func drawBoards(_ canvas: Canvas) {
    PenGrid(thin: 0.006, thick: 0.0105).draw(in: ground.square, canvas, theme.ink.faded(0.75))
    for board in Square.all {
      let room = room(of: board)
      let light = light[board.index].value
      let inner = room.insetBy(room.width * 0.03, room.width * 0.03)
      if nearBoard == board {
        // Mark the place of the enlarged board in the minimap.
        let slot = ground.room(of: board)
        canvas.fill(slot.insetBy(slot.width * 0.08, slot.width * 0.08), theme.accent.faded(0.35))
      }
      if light > 0 {
        // The highlight is weaker if the player may choose among several boards.
        canvas.fill(inner, theme.accent.faded((facts.boards?.target == nil ? 0.045 : 0.085) * light))
        if facts.boards?.target == board { drawFrame(inner, theme.accent.faded(0.7 * light), canvas) }
      }
      PenGrid(thin: 0.006, thick: 0.009, seed: 11 + board.index).draw(
        in: BoardGeometry.inner(room), canvas, theme.line.faded(0.45 + 0.55 * light))
    }
  }

  private func drawFrame(_ box: Rect, _ color: Color, _ canvas: Canvas) {
    let start = Point(box.x, box.y)
    let corners = [start, Point(box.maxX, box.y), Point(box.maxX, box.maxY), Point(box.x, box.maxY), start]
    canvas.stroke(Path(through: corners), width: max(1, box.width * 0.005), color)
  }

  // MARK: Intents and keys

  /// If the cells are too small for a finger and the player may choose the board, a touch of another board only enlarges that board.
  override func receive(_ intent: Intent) -> Bool {
    guard case .play(let cell) = intent, comesNear, let board = facts.variant.board(of: cell), board != nearBoard,
      let boards = facts.boards, boards.target == nil, boards.lit.contains(board)
    else { return false }
    choose(board)
    return true
  }

  private func choose(_ board: Square) {
    chosen = board
    approach(animated: true)
    context.announce(context.text(.speakBoard, board.name))
    setNeedsDisplay()
  }

  override func key(_ key: Key, _ modifiers: KeyModifiers) -> Bool {
    guard modifiers.isDisjoint(with: [.control, .alt]) else { return false }
    if case .character(let c) = key, let digit = c.wholeNumberValue, (1...9).contains(digit) {
      // As on a keypad: 7 8 9 is the top row.
      return press(Square((2 - (digit - 1) / 3) * 3 + (digit - 1) % 3))
    }
    guard let focused = cells.first(where: { $0.isFocused })?.cell else { return false }
    let variant = facts.variant
    var (row, column) = (variant.row(of: focused), variant.column(of: focused))
    switch key {
    case .up, .character("k"): row -= 1
    case .down, .character("j"): row += 1
    case .left, .character("h"): column -= 1
    case .right, .character("l"): column += 1
    default: return false
    }
    let side = variant.side
    let cell = variant.cell(row: (row + side) % side, column: (column + side) % side)
    focus(cell)
    if comesNear, let board = variant.board(of: cell), board != nearBoard, facts.boards?.lit.contains(board) == true {
      choose(board)
    }
    return true
  }

  /// Handles a keypad digit: plays a cell if the board to play in is determined, else selects the board in which the next digit plays.
  private func press(_ square: Square) -> Bool {
    guard let boards = facts.boards else {
      focus(Cell(square.index))
      return cells[square.index].play()
    }
    guard let board = boards.target ?? chosen else {
      let middle = Cell(square.index * 9 + 4)
      guard boards.lit.contains(square) else { return send(.play(middle)) }
      choose(square)
      focus(middle)
      return true
    }
    let cell = Cell(board.index * 9 + square.index)
    focus(cell)
    return send(.play(cell))
  }

  private func focus(_ cell: Cell) { context.moveFocus(to: cells[cell.index]) }
}

extension ViewContext {
  /// The value of a position for the side to move, with the plies to a win or a loss.
  func words(for value: Value, in plies: Int) -> String {
    switch value {
    case .win: "\(text(.win)) \(plies)"
    case .draw: text(.drawShort)
    case .loss: "\(text(.loss)) \(plies)"
    }
  }

  /// Shifts the page down by two pixels for a moment when a winning line is complete.
  func settleDown() {
    animator.play(
      .sequence([
        .pause(seconds: 1.15), .tween(winBounce, to: 2, seconds: 0.12, .quadOut),
        .tween(winBounce, to: 0, seconds: 0.5, .backOut),
      ]))
  }
}
