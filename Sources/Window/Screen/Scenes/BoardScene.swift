import ScoreModel
import TicTacToe

/// The page the game is played on: the board, whose turn it is, the score that writes itself below.
final class BoardScene: Scene {
  private let board: BoardView
  private let staff: StaffView
  private let status: StatusView
  private let players: PlayersView
  private var buttons: [TextButton] = []
  private var titlePlace: (x: Double, y: Double, size: Double, alignment: TextAlignment)?
  private var isCompact = false
  private var footerTop = 0.0
  private let hintTimer = Motion(0)
  /// The word under the pointer, once it was pressed.
  private unowned(unsafe) var pressed: TextButton?

  override init(stage: Stage) {
    board = BoardView(stage: stage)
    staff = StaffView(stage: stage)
    status = StatusView(stage: stage)
    players = PlayersView(stage: stage)
    super.init(stage: stage)
    for view in [board, status, players, staff] as [View] { add(view) }
    let intents: [Intent] = [
      .show(.newGame), .rematch, .claimWin, .offerDraw, .declineDraw, .resign, .abortMatch, .show(.talk),
      .show(.review), .keepPiece, .undo, .redo, .hint, .leave, .setMuted(true), .show(.contents),
    ]
    for intent in intents {
      let button = TextButton(stage: stage, title: "", intent: intent)
      buttons.append(button)
      add(button)
    }
    refresh(animated: false)
  }

  override var initialFocus: View? { board.cells[4] }
  override var title: String { stage.text(.title) }

  // MARK: Layout

  /// Between title and players where they stand beside the board; else at the foot.
  override var noticePlace: (width: Double, foot: Double?)? {
    let m = stage.metrics
    guard m.isLandscape, board.frame.width > 20 * m.em else { return (frame.width - 2 * m.margin, footerTop) }
    return (board.frame.width, nil)
  }

  override func layout() {
    let m = stage.metrics
    frame = m.bounds
    isCompact = false
    refreshButtons()
    // Where the words would take more than two rows, all but three move to the table of contents.
    isCompact =
      m.bounds.height - m.margin * 0.45
      - TextButton.arrangeInRows(
        buttons.filter { !$0.isHidden }, width: m.bounds.width - m.margin, midX: 0,
        bottom: m.bounds.height - m.margin * 0.45) > 2.5 * (buttons[0].idealSize.height)
    refreshButtons()
    footerTop = TextButton.arrangeInRows(
      buttons.filter { !$0.isHidden }, width: m.bounds.width - m.margin, midX: m.bounds.midX,
      bottom: m.bounds.height - m.margin * 0.45)
    titlePlace = nil
    players.isHidden = false
    if m.isLandscape { layOutLandscape() } else { layOutPortrait() }
    super.layout()
  }

  /// Text in columns beside the board, the staff across the whole page.
  private func layOutLandscape() {
    let m = stage.metrics
    let em = m.em
    let innerWidth = m.bounds.width - 2 * m.margin
    var stripHeight = (m.bounds.height * 0.26).clamped(to: 62...(innerWidth * 0.32 + 40))
    let top = m.margin * 0.75
    if !stage.settings.showsStrip || footerTop - top - stripHeight < m.bounds.height * 0.36 { stripHeight = 0 }
    let stripTop = footerTop - stripHeight
    let column = max(em * 6, innerWidth * 0.19)
    let side = max(40, min(stripTop - top - em * 0.4, innerWidth - 2 * column))
    board.frame = square(side, midX: m.bounds.midX, y: top + max(0, (stripTop - top - em * 0.4 - side) / 2))
    let beside = board.frame.x - m.margin - em
    let titleSize = min(em * 2.3, beside / 3.4)
    titlePlace = (m.margin, m.margin + titleSize * 0.6, titleSize, .left)
    players.isRight = true
    players.frame = Rect(board.frame.maxX + em, m.margin, beside, min(em * 3.4, stripTop - m.margin))
    status.isBeside = true
    status.frame = Rect(m.margin, stripTop - em * 3.4, beside, em * 3.4)
    staff.isHidden = stripHeight == 0
    staff.frame = Rect(m.margin + em * 0.4, stripTop, innerWidth - em * 0.4, stripHeight)
  }

  /// Everything in one column.
  private func layOutPortrait() {
    let m = stage.metrics
    let em = m.em
    let innerWidth = m.bounds.width - 2 * m.margin
    var stripHeight = (m.bounds.height * 0.205).clamped(to: 62...(innerWidth * 0.32 + 40))
    var top = m.margin * 0.8
    let statusHeight = em * 2.2
    var linesHeight = em * 1.9
    var left = footerTop - top - linesHeight - statusHeight
    let titleHeight = em * 2.6
    if !stage.settings.showsStrip || left - stripHeight < innerWidth * 0.5 { stripHeight = 0 }
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
    let side = max(40, min(innerWidth, left - stripHeight - em * 0.6))
    let slack = max(0, left - stripHeight - em * 0.6 - side)
    players.isRight = false
    players.frame = Rect(m.margin, top, innerWidth, linesHeight)
    top += linesHeight + slack * 0.3
    board.frame = square(side, midX: m.bounds.midX, y: top)
    top += side + em * 0.3 + slack * 0.3
    status.isBeside = false
    status.frame = Rect(m.margin, top, innerWidth, statusHeight)
    top += statusHeight + slack * 0.15
    staff.isHidden = stripHeight == 0
    staff.frame = Rect(m.margin + em * 0.4, top, innerWidth - em * 0.4, stripHeight)
  }

  private func square(_ side: Double, midX: Double, y: Double) -> Rect {
    Rect((midX - side / 2).rounded(), y.rounded(), side.rounded(.down), side.rounded(.down))
  }

  override func drawStatic(_ canvas: Canvas) {
    guard let t = titlePlace else { return }
    let theme = stage.theme
    let em = stage.metrics.em
    let beside = board.frame.x - stage.metrics.margin - em
    canvas.text(
      stage.text(.title), TextStyle(t.size, tracking: 0.02), stage.typeface, x: t.x, baseline: t.y,
      alignment: t.alignment, theme.ink)
    let style = TextStyle(em, italic: true)
    guard t.alignment == .left, stage.typeface.block(stage.text(.subtitle), style).width < beside else { return }
    canvas.text(
      stage.text(.subtitle), style, stage.typeface, x: t.x, baseline: t.y + em * 0.3 + t.size * 0.55, theme.faintInk)
  }

  // MARK: Model

  override func modelChanged(from old: BoardModel) {
    if old.game != stage.model.game { hideHint() }
    if old.game != stage.model.game || old.beads != stage.model.beads { board.setNeedsDisplay() }
    refresh(animated: true)
  }

  override func soundMoved() { staff.showModel(animated: true) }

  private func refresh(animated: Bool) {
    board.showModel(animated: animated)
    staff.showModel(animated: animated)
    players.showModel()
    showStatus(animated: animated)
    if refreshButtons() { relay() }
  }

  private func relay() {
    guard frame.width > 0 else { return }
    layout()
    stage.staticIsStale = true
  }

  private func showStatus(animated: Bool) {
    var text = stage.statusText()
    if let hint = board.hint {
      let worth = BoardView.worth(of: hint, in: stage.model.game.position)
      let phrase: Phrase = worth.value == .win ? .hintWins : worth.value == .draw ? .hintDraws : .hintLoses
      text = ("\(hint.name)", stage.text(phrase))
    }
    status.show(text, animated: animated)
  }

  /// Brings titles and presence of the words at the foot up to date; returns whether their room has changed.
  @discardableResult
  private func refreshButtons() -> Bool {
    let model = stage.model
    let isOver = model.game.isOver
    // Who only listens has nothing to take back, to ask or to play again.
    let hasHuman = [model.setup.x, model.setup.o].contains(.human)
    let before = buttons.map { $0.isHidden ? "" : $0.title }
    let wereHidden = buttons.map { $0.isHidden }
    for button in buttons {
      switch button.intent {
      case .show(.newGame):
        button.title = stage.text(.newGame)
        button.isHidden = model.online.map { !$0.mayLeave } ?? false
      case .rematch:
        button.title = stage.text(model.online?.rematch == .theirs ? .acceptRematch : .rematch)
        button.isHidden =
          !isOver || !hasHuman
          || model.online.map { $0.you == nil || $0.rematch == .mine || !$0.mayRematch } ?? false
      case .show(.review):
        button.title = stage.text(.review)
        button.isHidden = !isOver
      case .keepPiece:
        button.title = stage.text(.keep)
        button.isHidden = !isOver
      case .undo:
        button.title = stage.text(.undo)
        button.isHidden = isOver || !hasHuman || model.online != nil
        button.isEnabled = model.canUndo && !model.game.moves.isEmpty
      case .redo:
        button.title = stage.text(.redo)
        button.isHidden = !model.canRedo
      case .hint:
        button.title = stage.text(.hint)
        button.isHidden = isOver || !hasHuman || model.online != nil
        button.isEnabled = mayHelp
      case .setMuted:
        button.title = stage.text(model.isMuted ? .unmute : .mute)
        button.intent = .setMuted(!model.isMuted)
        button.isHidden = false
      case .show(.contents): button.title = stage.text(.menu)
      default: showOnline(button)
      }
      if isCompact {
        switch button.intent {
        case .setMuted, .hint, .keepPiece, .show(.review), .redo, .resign, .show(.talk): button.isHidden = true
        case .offerDraw where model.online?.draw != .theirs: button.isHidden = true
        default: break
        }
      }
    }
    // Nothing moves under the pointer: words come and go once it has left them, or has pressed the one that goes.
    if let held = buttons.first(where: { $0 === stage.hovered }), !(held === pressed && held.isHidden) {
      for (button, wasHidden) in zip(buttons, wereHidden) { button.isHidden = wasHidden }
      return false
    }
    return before != buttons.map { $0.isHidden ? "" : $0.title }
  }

  /// The words that only a match over the network has.
  private func showOnline(_ button: TextButton) {
    let online = stage.model.online
    let isLive = !stage.model.game.isOver && online?.you != nil
    switch button.intent {
    case .claimWin:
      button.title = stage.text(.claimWin)
      button.isHidden = !isLive || online?.claimIn != 0
    case .offerDraw:
      button.title = stage.text(online?.draw == .theirs ? .acceptDraw : .offerDraw)
      button.isHidden = !isLive || !(online?.draw == .theirs || online?.mayOfferDraw == true)
    case .declineDraw:
      button.title = stage.text(.declineDraw)
      button.poem = stage.text(.declineDrawPoem)
      button.isHidden = !isLive || online?.draw != .theirs
    case .resign:
      button.title = stage.text(.resign)
      button.isHidden = !isLive || online?.mayAbort == true
    case .abortMatch:
      button.title = stage.text(.abortMatch)
      button.isHidden = !isLive || online?.mayAbort != true
    case .show(.talk):
      let unread = stage.talk.unread
      button.title = stage.text(.talk) + (unread > 0 ? " (\(unread))" : "")
      button.isHidden = online?.you == nil
    case .leave:
      button.title = stage.text(.leaveMatch)
      button.isHidden = online == nil || isLive && online?.mayLeave != true
    default: break
    }
  }

  /// What is said beside the match changes the word that leads there.
  override func contentChanged() {
    if refreshButtons() { relay() }
  }

  override func hoverMoved() {
    pressed = nil
    contentChanged()
  }

  override func nextChange(after now: Double) -> Double { staff.isHidden ? .infinity : staff.nextChange(after: now) }

  // MARK: Hint and analysis

  /// Nobody is helped against a person elsewhere.
  private var mayHelp: Bool { !stage.model.setup.x.isRemote && !stage.model.setup.o.isRemote }

  /// Shows the best cell for a few seconds.
  private func showHint() {
    let position = stage.model.game.position
    guard mayHelp, stage.model.acceptsMove, !position.legalMoves.isEmpty else { return }
    // The best value; among winning moves the quickest, among losing ones the slowest.
    func rank(_ square: Square) -> (Int, Int) {
      let worth = BoardView.worth(of: square, in: position)
      return (Int(worth.value.rawValue), worth.value == .win ? -worth.distance : worth.distance)
    }
    board.hint = position.legalMoves.max { rank($0) < rank($1) }
    showStatus(animated: true)
    stage.say(board.hint.map { "\(stage.text(.hint)): \($0.name)" })
    stage.animator.set(hintTimer, to: 0)
    stage.animator.play(.sequence([.pause(seconds: 5), .tween(hintTimer, to: 1, seconds: 0, .linear)])) { finished in
      if finished { self.hideHint() }
    }
  }

  private func hideHint() {
    guard board.hint != nil else { return }
    board.hint = nil
    showStatus(animated: true)
  }

  // MARK: Responding

  override func receive(_ intent: Intent) -> Bool {
    pressed = buttons.first { $0 === stage.hovered }
    switch intent {
    case .preview(let square):
      staff.preview(square)
      return false
    case .hint: showHint()
    case .analysis: board.showsAnalysis = !board.showsAnalysis && mayHelp
    case .toggleStrip:
      stage.settings.showsStrip.toggle()
      relay()
    default: return false
    }
    return true
  }

  /// Keys that mean the board wherever the focus is on this page.
  override func key(_ key: Key, _ modifiers: KeyModifiers) -> Bool {
    if modifiers.contains(.control) {
      switch key {
      case .character("z"): return send(modifiers.contains(.shift) ? .redo : .undo)
      case .character("y"): return send(.redo)
      case .character("s"): return send(.saveGame)
      case .character("c"): return send(.copyGame)
      case .character("v"):
        return send(.pasteGame)
      default: return false
      }
    }
    switch key {
    case .function(2): return receive(.hint)
    case .function(3): return receive(.analysis)
    case .character("n"): return send(.show(.newGame))
    case .character("r") where stage.model.game.isOver: return send(.rematch)
    case .character("s"): return receive(.toggleStrip)
    default: break
    }
    if board.key(key, modifiers) { return true }
    if [.up, .down, .left, .right].contains(key) || ["h", "j", "k", "l"].contains(where: { key == .character($0) }) {
      stage.moveFocus(to: board.cells[4])
      return true
    }
    return false
  }
}

extension Stage {
  /// Who sits in a seat, in words.
  func name(of seat: Seat) -> String {
    switch seat {
    case .human: text(model.setup.x == .human && model.setup.o == .human ? .person : .you)
    case .level(let n): levels.first { $0.number == n }?.character ?? "\(text(.level)) \(n)"
    case .random: text(.random)
    case .perfect: text(.perfect)
    case .adaptive: text(.adaptive)
    case .menace: text(.menace)
    case .remote(let name): name
    }
  }

  /// What a match over the network waits for, if for anything but a move.
  private func onlineText() -> String? {
    guard let online = model.online else { return nil }
    if online.isOffline { return text(online.you == nil || !online.mayLeave ? .reconnecting : .reconnectingOrLeave) }
    if let seconds = online.claimIn, online.you != nil {
      return seconds > 0 ? "\(text(.claimIn)) \(seconds) s" : text(.mayClaim)
    }
    if online.isAlone { return text(.connectionLost) }
    if online.you == nil { return model.soundWaits ? nil : text(.watching) }
    switch online.draw {
    case .mine: return text(.drawOffered)
    case .theirs: return text(.drawOfferedYou)
    case .nobody:
      guard let seconds = online.firstMoveIn, online.you == model.game.turn else { return nil }
      return Phrase.firstMoveIn.text(in: language, ["\(seconds)"])
    }
  }

  /// The one line that says how the game stands, and why it ended so.
  func statusText() -> (main: String, detail: String) {
    let game = model.game
    guard let end = game.end else {
      let turn = game.turn
      let (toMove, thinking) = turn == .x ? (Phrase.xToMove, Phrase.thinkingX) : (.oToMove, .thinkingO)
      if model.isThinking { return (text(thinking), model.waitsForMusic ? text(.waitsForMusic) : "") }
      // Who is away is not said to think.
      let isTheirs = model.online.map { $0.you == turn.opponent && !$0.isAlone && !$0.isOffline } ?? false
      let main = text(isTheirs ? thinking : toMove)
      let seat = turn == .x ? model.setup.x : model.setup.o
      let other = turn == .x ? model.setup.o : model.setup.x
      if let online = onlineText() { return (main, online) }
      if model.soundWaits { return (main, text(.soundWaits)) }
      return (main, seat == .human && other != .human ? text(.yourMove) : "")
    }
    var why: String
    switch end.termination {
    case .resignation: why = text(.byResignation)
    case .time: why = text(.onTime)
    case .agreement: why = text(.byAgreement)
    case .forfeit: why = text(.byForfeit)
    case .normal, .abandoned: why = ""
    }
    if let online = model.online {
      if let rating = online.rating { why += (why.isEmpty ? "" : " · ") + "\(rating.before) → \(rating.after)" }
      if online.rematch == .mine { why += (why.isEmpty ? "" : " · ") + text(.rematchAsked) }
      if online.rematch == .theirs { why += (why.isEmpty ? "" : " · ") + text(.rematchWanted) }
    }
    switch end.outcome {
    case .win(let winner):
      let seats = (model.setup.x, model.setup.o)
      let lone = [seats.0, seats.1].filter { $0 == .human }.count == 1
      let sign = text(winner == .x ? .xWins : .oWins)
      guard lone else { return (sign, why) }
      let isMine = (winner == .x ? seats.0 : seats.1) == .human
      return (text(isMine ? .youWin : .youLose), why)
    case .draw: return (text(.draw), why)
    case nil:
      let why = model.online.map { text($0.isCalledOff ? .wasCalledOff : .nobodyBegan) } ?? ""
      return (text(.abandoned), why)
    }
  }
}
