import Interface
import Oracle
import ScoreModel
import TicTacToe

/// The page with the board, the status of the game, and the score, which grows as the music plays.
final class BoardScene: Scene {
  private let board: BoardView
  private let staff: StaffView
  private let status: StatusView
  private let players: PlayersView
  /// The choice of the variant (Classic, Infinite …), shown before the first move.
  private let choice: ChoiceRow
  private var mayChoose = false
  /// A tournament's table and a match's chat, right of the board if there is room.
  private let table: TableRows
  private let talk: Talk
  private let talkColumn: ScrollView
  private var shownTalk = TalkModel()
  private var titlePlace: (x: Double, y: Double, size: Double, alignment: TextAlignment)?
  /// Which buttons have moved to the menu: 0 none, 1 those with `movesFirst`, 2 all with `isSpare`.
  private var compactness = 0
  private let hintTimer = Motion(0)
  /// Whether a requested hint waits for the search to finish.
  private var awaitsHint = false
  /// The footer button under the pointer when the page last received an intent: the clicked button, unless a key sent the intent.
  private unowned(unsafe) var pressed: TextButton?

  override init(context: ViewContext) {
    board = BoardView(context: context)
    staff = StaffView(context: context)
    status = StatusView(context: context)
    players = PlayersView(context: context)
    choice = ChoiceRow(context: context, selected: context.model.setup.variant)
    table = TableRows(context: context)
    talk = Talk(context: context)
    talkColumn = ScrollView(context: context)
    super.init(context: context)
    for view in [board, status, players, choice, staff, talkColumn] as [View] { add(view) }
    setFooter(context.model.footerControls(unread: 0).map { ($0.phrase, $0.intent) })
    choice.onSelect = { [unowned(unsafe) self] in choose(Variant.allCases[$0]) }
    refresh(animated: false)
  }

  override var initialFocus: View? { board.home }
  override var homeCell: View? { board.home }
  override var title: String { context.text(.title) }

  // MARK: Layout

  /// Left of the board if there is room; in portrait in the first free band that is high enough. The result of the game stays visible.
  override var noticePlace: NoticePlace {
    let m = context.metrics
    let beside = board.frame.x - m.margin - em
    guard m.isLandscape, beside > 11 * em else {
      var place = super.noticePlace
      let isOver = context.model.game.isOver
      if isOver { place.bottom = status.frame.y }
      guard !m.isLandscape else { return place }
      let foot = staff.isHidden ? footerTop : staff.frame.y
      if !players.isHidden, choice.isHidden { place.mayCover(from: players.frame.maxY, to: board.frame.y) }
      place.mayCover(from: isOver ? status.frame.maxY : board.frame.maxY, to: foot)
      if !players.isHidden { place.mayCover(from: 0, to: players.frame.y) }
      if isOver { place.mayCover(from: status.frame.maxY, to: footerTop) }
      return place
    }
    return NoticePlace(midX: m.margin + beside / 2, width: beside, bottom: status.frame.y - em * 0.4)
  }

  override func layout() {
    let m = context.metrics
    frame = m.bounds
    arrangeButtons()
    arrangeFooter()
    titlePlace = nil
    players.isHidden = false
    talkColumn.isHidden = true
    if m.isLandscape { layOutLandscape() } else { layOutPortrait() }
    super.layout()
  }

  /// Moves buttons to the menu if they need more than one row. Buttons with `movesFirst` go first: they disappear at the first move, and
  /// the board would shift if a row disappeared with them.
  private func arrangeButtons() {
    func rows(_ compactness: Int) -> Int {
      self.compactness = compactness
      refreshButtons()
      let width = context.metrics.bounds.width - context.metrics.margin
      return TextButton.rows(footerButtons.filter { !$0.isHidden }, width: width).count
    }
    let all = rows(0)
    guard all > 1 else { return }
    let fewer = rows(1)
    if fewer > 2 { _ = rows(2) } else if fewer == all { _ = rows(0) }
  }

  /// Texts on both sides of the board; below the board the staff, as wide as the page.
  private func layOutLandscape() {
    let m = context.metrics
    let innerWidth = m.bounds.width - 2 * m.margin
    var stripHeight = min(max(m.bounds.height * 0.26, 65), innerWidth * 0.32 + 40)
    let top = m.margin * 0.75
    if !context.settings.showsStrip || footerTop - top - stripHeight < m.bounds.height * 0.36 { stripHeight = 0 }
    let stripTop = footerTop - stripHeight
    let column = max(em * 6, innerWidth * 0.19)
    let side = max(40, min(stripTop - top - em * 0.4, innerWidth - 2 * column))
    board.frame = square(side, midX: m.bounds.midX, y: top + max(0, (stripTop - top - em * 0.4 - side) / 2))
    if BoardView.comesNear(context.model.game.variant, side: side, context) {
      // The cells are too small for a finger, so one of the nine boards is enlarged: extend `board.frame` to the left for the minimap.
      let room = min(side * 0.5, (innerWidth - 2 * column - side) / 2)
      board.frame = Rect(board.frame.x - room, board.frame.y, side + room, side)
    }
    let beside = board.frame.x - m.margin - em
    let titleSize = min(em * 2.3, beside / 3.4)
    titlePlace = (m.margin, m.margin + titleSize * 0.6, titleSize, .left)
    players.isRight = true
    players.frame = Rect(board.frame.maxX + em, m.margin, beside, min(em * 3.4, stripTop - m.margin))
    status.isBeside = true
    status.frame = Rect(m.margin, stripTop - em * 3.4, beside, em * 3.4)
    placeChoice(x: m.margin, y: m.margin + titleSize * 1.15 + em * 1.4, width: beside, to: status.frame.y)
    staff.isHidden = stripHeight == 0
    staff.frame = Rect(m.margin + em * 0.4, stripTop, innerWidth - em * 0.4, stripHeight)
    let (talkTop, foot) = (players.frame.maxY + em, (stripHeight == 0 ? footerTop : stripTop) - em * 0.5)
    let talks = context.model.online?.you != nil
    guard talks || context.pages.tournament != nil, beside > 13 * em, foot - talkTop > 11 * em else { return }
    talkColumn.isHidden = false
    talkColumn.isCentered = false
    talkColumn.frame = Rect(board.frame.maxX + 2 * em, talkTop, beside - em, foot - talkTop)
    shownTalk = context.pages.talk
    talkColumn.set(table.rows(within: (foot - talkTop) * (talks ? 0.5 : 1)) + (talks ? talk.rows : []))
    talkColumn.layout()
    if talks { talkColumn.reveal(talk.field) }
  }

  private func layOutPortrait() {
    let m = context.metrics
    let innerWidth = m.bounds.width - 2 * m.margin
    // The end of a game or of a puzzle may add a second row of buttons, which must not move the board.
    let footerTop =
      context.model.isFilm ? footerTop : min(footerTop, footerFoot - 2 * footerButtons[0].idealSize.height)
    var stripHeight = min(max(m.bounds.height * 0.205, 65), innerWidth * 0.32 + 40)
    var top = m.margin * 0.8
    let statusHeight = em * 2.2
    var linesHeight = em * 1.9
    var left = footerTop - top - linesHeight - statusHeight
    let titleHeight = em * 2.6
    if !context.settings.showsStrip || left - stripHeight < innerWidth * 0.5 { stripHeight = 0 }
    if left - titleHeight - stripHeight > innerWidth * 0.75 {
      let size = min(em * 2.2, innerWidth / 4)
      titlePlace = (m.bounds.midX, top + em * 1.9, size, .center)
      top += titleHeight
      left -= titleHeight
    }
    if left - stripHeight < innerWidth * 0.35 {
      players.isHidden = true
      left += linesHeight
      linesHeight = 0
    }
    // The choice's height stays reserved while the choice is hidden, so that the board does not move.
    let choiceHeight = choice.arrange(x: m.margin, y: top + linesHeight, width: innerWidth)
    let free = left - stripHeight - em * 0.6
    choice.isHidden = !mayChoose || free - choiceHeight < innerWidth
    let isKept = context.model.online == nil && !context.model.isFilm && free - choiceHeight >= innerWidth
    let choiceTaken = isKept ? choiceHeight : 0
    left -= choiceTaken
    let side = max(40, min(innerWidth, left - stripHeight - em * 0.6))
    let slack = max(0, left - stripHeight - em * 0.6 - side)
    players.isRight = false
    players.frame = Rect(m.margin, top, innerWidth, linesHeight)
    top += linesHeight + choiceTaken
    let mapHeight = BoardView.comesNear(context.model.game.variant, side: side, context) ? min(slack, side * 0.5) : 0
    top += (slack - mapHeight) * 0.3
    board.frame = square(side, midX: m.bounds.midX, y: top)
    board.frame = Rect(board.frame.x, board.frame.y, board.frame.width, side + mapHeight)
    top += side + mapHeight + em * 0.3 + (slack - mapHeight) * 0.3
    status.isBeside = false
    status.frame = Rect(m.margin, top, innerWidth, statusHeight)
    top += statusHeight + (slack - mapHeight) * 0.15
    staff.isHidden = stripHeight == 0
    staff.frame = Rect(m.margin + em * 0.4, top, innerWidth - em * 0.4, stripHeight)
  }

  private func placeChoice(x: Double, y: Double, width: Double, to bottom: Double) {
    let height = choice.arrange(x: x, y: y, width: width)
    choice.isHidden = !mayChoose || y + height > bottom + 1
  }

  private func choose(_ variant: Variant) { send(.newGame(context.model.setup.playing(variant))) }

  private func square(_ side: Double, midX: Double, y: Double) -> Rect {
    Rect((midX - side / 2).rounded(), y.rounded(), side.rounded(.down), side.rounded(.down))
  }

  override func drawStatic(_ canvas: Canvas) {
    guard let t = titlePlace else { return }
    let beside = board.frame.x - context.metrics.margin - em
    canvas.text(
      context.text(.title), TextStyle(t.size, tracking: 0.02), context.typeface, x: t.x, baseline: t.y,
      alignment: t.alignment, theme.ink)
    let style = TextStyle(em, italic: true)
    guard t.alignment == .left, context.typeface.block(context.text(.subtitle), style).width < beside else { return }
    canvas.text(
      context.text(.subtitle), style, context.typeface, x: t.x, baseline: t.y + em * 0.3 + t.size * 0.55, theme.faintInk
    )
  }

  // MARK: Changes of the model

  override func modelChanged(from old: BoardModel) {
    if old.game != context.model.game { hideHint() }
    // A notice has different places during a game, after a game and in free play.
    if old.game.isOver != context.model.game.isOver || old.isFree != context.model.isFree { relay() }
    if !context.model.mayHelp { board.showsAnalysis = false }
    if old.game != context.model.game || old.beads != context.model.beads || old.analysis != context.model.analysis
      || old.online?.premove != context.model.online?.premove
    {
      board.setNeedsDisplay()
    }
    refresh(animated: true)
    if board.showsAnalysis, old.game != context.model.game { askJudgement() }
    if awaitsHint, context.analysis != nil { showHint() }
  }

  func showTouch(_ square: Square) { board.cells[square.index].sing(after: 0) }

  override func soundMoved() { staff.showModel(animated: true) }

  private func refresh(animated: Bool) {
    var isOther = board.showModel(animated: animated)
    let (mayChoose, place) = (context.model.mayChooseGame, context.model.setup.variant.place)
    if mayChoose != self.mayChoose || choice.selected != place {
      self.mayChoose = mayChoose
      choice.show(place)
      isOther = true
    }
    staff.showModel(animated: animated)
    players.showModel()
    showStatus(animated: animated)
    if refreshButtons() || isOther { relay() }
  }

  private func showStatus(animated: Bool) {
    var text = context.statusText()
    if let hint = board.hint, let evaluation = context.analysis?[hint] {
      text = (context.model.game.variant.name(of: hint), context.words(forHint: evaluation), false)
    } else if board.showsAnalysis, let seconds = context.model.analysis?.seconds, !context.model.game.isOver {
      text.detail = context.text(.believed, "\(Int((seconds * 1_000).rounded()))")
    }
    status.show(text, animated: animated)
  }

  /// Returns whether the layout of the footer's buttons changed.
  @discardableResult
  private func refreshButtons() -> Bool {
    let before = footerButtons.map { $0.isHidden ? "" : $0.title }
    let wereHidden = footerButtons.map { $0.isHidden }
    for (button, control) in zip(footerButtons, context.model.footerControls(unread: unread)) {
      button.title = context.text(control.phrase) + (control.count > 0 ? " (\(control.count))" : "")
      button.subtitle = control.subtitle.map(context.text)
      button.intent = control.intent
      button.isEnabled = control.isUsable
      button.isHidden =
        !control.isThere || context.model.isFilm
        || control.isSpare && compactness >= (control.movesFirst ? 1 : 2)
    }
    // A button under the pointer must not move away, so keep the layout unless this button was pressed and disappears.
    if let held = footerButtons.first(where: { $0 === context.hovered }), !(held === pressed && held.isHidden) {
      for (button, wasHidden) in zip(footerButtons, wereHidden) { button.isHidden = wasHidden }
      return false
    }
    return before != footerButtons.map { $0.isHidden ? "" : $0.title }
  }

  /// Unread chat lines; 0 if the chat is visible beside the board.
  private var unread: Int { talkColumn.isHidden ? context.pages.talk.unread : 0 }

  override func contentChanged() {
    let isOther = table.hasChanged() && context.metrics.isLandscape
    if refreshButtons() || isOther || !talkColumn.isHidden && shownTalk != context.pages.talk { relay() }
  }

  override func swiped(toLeft: Bool) -> Bool {
    toLeft && context.pages.tournament != nil && !context.model.isFree && send(.show(.tournament))
  }

  override func hoverMoved() {
    pressed = nil
    contentChanged()
  }

  override func nextChange(after now: Double) -> Double { staff.isHidden ? .infinity : staff.nextChange(after: now) }

  // MARK: Hint and analysis

  /// Shows the best cell for five seconds, later if a search must find the cell first.
  private func showHint() {
    guard context.model.mayHelp, context.model.acceptsMove, !context.model.game.isOver else { return }
    guard let analysis = context.analysis else {
      awaitsHint = true
      return askJudgement()
    }
    awaitsHint = false
    board.hint = analysis.best
    showStatus(animated: true)
    context.announce("\(context.text(.hint)): \(context.name(analysis.best, of: context.model.game.variant))")
    context.animator.set(hintTimer, to: 0)
    context.animator.play(.sequence([.pause(seconds: 5), .tween(hintTimer, to: 1, seconds: 0, .linear)])) { finished in
      if finished { self.hideHint() }
    }
  }

  /// Requests an evaluation by search, unless a table has the values.
  private func askJudgement() {
    if context.analysis == nil, context.model.acceptsMove, context.model.mayHelp { send(.judge) }
  }

  private func hideHint() {
    awaitsHint = false
    guard board.hint != nil else { return }
    board.hint = nil
    showStatus(animated: true)
  }

  // MARK: Intents and keys

  override func receive(_ intent: Intent) -> Bool {
    pressed = footerButtons.first { $0 === context.hovered }
    switch intent {
    case .say(let text): return talk.take(text)
    case .preview(let cell):
      staff.preview(cell)
      return false
    case .hint: showHint()
    case .analysis:
      board.showsAnalysis = !board.showsAnalysis && context.model.mayHelp
      if board.showsAnalysis { askJudgement() }
      showStatus(animated: true)
    case .toggleStrip:
      context.settings.showsStrip.toggle()
      relay()
    default: return false
    }
    return true
  }

  /// Handles the board's shortcuts wherever the focus is on this page.
  override func key(_ key: Key, _ modifiers: KeyModifiers) -> Bool {
    if key == .escape, context.focus === talk.field {
      context.moveFocus(to: board.home)
      return true
    }
    if modifiers.contains(.control) {
      switch key {
      case .character("z"): return send(modifiers.contains(.shift) ? .redo : .undo)
      case .character("y"): return send(.redo)
      case .character("s"): return send(.saveGame)
      case .character("c"): return send(.copyGame)
      case .character("v"): return send(.pasteGame)
      default: return false
      }
    }
    if let question = BoardQuestion(key), modifiers.isEmpty {
      context.reply(context.answer(to: question, at: board.focusedCell))
      return true
    }
    switch key {
    case .function(2), .controllerX: return receive(.hint)
    case .function(3), .controllerY: return receive(.analysis)
    case .character("n"): return send(.show(.newGame))
    case .character("r") where context.model.game.isOver: return send(.rematch)
    case .character("a") where context.model.mayPuzzle: return send(.another)
    case .character("s"): return receive(.toggleStrip)
    default: break
    }
    if board.key(key, modifiers) { return true }
    if [.up, .down, .left, .right].contains(key) || ["h", "j", "k", "l"].contains(where: { key == .character($0) }) {
      context.moveFocus(to: board.home)
      return true
    }
    return false
  }
}
