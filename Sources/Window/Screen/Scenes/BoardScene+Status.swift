import Interface
import TicTacToe

extension ViewContext {
  func name(of seat: Seat) -> String {
    switch seat {
    case .human: text(model.setup.isPair ? .person : .you)
    case .level(let n): pages.levels.first { $0.number == n }?.character ?? "\(text(.level)) \(n)"
    case .random: text(.random)
    case .perfect: text(.perfect)
    case .adaptive: text(.adaptive)
    case .menace: text(.menace)
    case .remote(let name): name.isEmpty ? text(.player) : name
    }
  }

  /// The detail of a network match's status, such as a lost connection; `nil` without a detail.
  private func onlineText() -> String? {
    guard let online = model.online else { return nil }
    if online.isOffline, !online.reconnects { return "" }
    if online.isOffline { return text(online.you == nil || !online.mayLeave ? .reconnecting : .reconnectingOrLeave) }
    if let seconds = online.claimIn, online.you != nil {
      return seconds > 0 ? "\(text(.claimIn)) \(seconds) s" : text(.mayClaim)
    }
    if online.isOpponentAway { return text(.connectionLost) }
    if online.you == nil { return model.soundWaits ? nil : text(.watching) }
    switch online.draw {
    case .mine: return text(.drawOffered)
    case .theirs: return text(.drawOfferedYou)
    case .nobody:
      guard let seconds = online.firstMoveIn, online.you == model.game.turn else { return tournamentText() }
      return text(.firstMoveIn, "\(seconds)")
    }
  }

  /// `nil` while the opponent is to answer.
  private func letterText(_ letter: LetterModel) -> (main: String, detail: String, isLarge: Bool)? {
    switch letter.step {
    case .send: (text(.letterMarked), "", true)
    case .answer where letter.isOffered: (text(.yourMove), text(.drawOfferedYou), true)
    case .answer: (text(.yourMove), letter.theirWords, true)
    case .wait, .none: nil
    }
  }

  /// The game's name, unless it is Classic, and the puzzle's goal. `moves`: `nil` if the goal is a draw, 0 after a missed win (no goal).
  private func goal(moves: Int?) -> String {
    let goal: String? =
      switch moves {
      case nil: text(.todayHold)
      case 0?: nil
      case 1?: text(.todayWinNow)
      case let moves?: text(.todayWin, "\(moves)")
      }
    let game = model.game.variant.isImplied ? nil : name(of: model.game.variant)
    return [game, goal].compactMap { $0 }.joined(separator: ": ")
  }

  private func puzzleText(_ puzzle: PuzzleModel, _ countsDown: Bool) -> (main: String, detail: String, isLarge: Bool) {
    let main = text(puzzle.isSolved.map { $0 ? .solved : .notSolved } ?? .yourMove)
    if puzzle.isSolved != nil, puzzle.sprint == nil { return (main, text(.puzzleRating, "\(puzzle.rating)"), true) }
    let goal = goal(moves: puzzle.moves)
    guard countsDown, let sprint = puzzle.sprint else { return (main, goal, true) }
    let time = "\(sprint.seconds / 60):\(sprint.seconds % 60 < 10 ? "0" : "")\(sprint.seconds % 60)"
    return (main, "\(goal) · \(text(.sprintState, time, "\(sprint.solved)", "\(sprint.mistakes)"))", true)
  }

  /// Without `countsDown`, for screen readers, running countdowns are omitted.
  func statusText(countsDown: Bool = true) -> (main: String, detail: String, isLarge: Bool) {
    let game = model.game
    if model.isFree {
      return (text(.touchBoard), model.isFilm ? "" : text(model.soundWaits ? .soundWaits : .touchHint), true)
    }
    if let puzzle = model.puzzle { return puzzleText(puzzle, countsDown) }
    guard let end = game.end else {
      if let letter = model.letter, let line = letterText(letter) { return line }
      if let words = model.resuming { return (text(.resuming), words.text(in: language), true) }
      let turn = game.turn
      let seat = turn == .x ? model.setup.x : model.setup.o
      let detail =
        onlineText() ?? model.today.map { goal(moves: $0.moves) } ?? (model.soundWaits ? text(.soundWaits) : "")
      if let online = model.online, online.isOffline, online.you != nil { return (text(.offline), detail, true) }
      if let side = model.setup.loneHuman, side == turn { return (text(.yourMove), detail, true) }
      if case .remote = seat, model.setup.loneHuman != nil { return (text(.waitingFor, name(of: seat)), detail, false) }
      if model.isThinking { return (text(.thinking, name(of: seat)), "", false) }
      return (text(turn == .x ? .xToMove : .oToMove), detail, false)
    }
    if let today = model.today {
      return (
        text(today.isSolved ? .solved : .notSolved), today.isSolved ? text(.daysInARow, "\(today.streak)") : "", true
      )
    }
    let reason: Phrase? =
      switch end.termination {
      case .resignation: .byResignation
      case .time: .onTime
      case .agreement: .byAgreement
      case .forfeit: .byForfeit
      case .normal, .abandoned: nil
      }
    let seconds = countsDown ? model.online?.rematchIn : nil
    let rematch: String?
    switch model.online?.rematch {
    case .mine: rematch = text(.rematchAsked) + (seconds.map { " · \($0) s" } ?? "")
    case .theirs: rematch = text(.rematchWanted) + (seconds.map { " · \($0) s" } ?? "")
    case .nobody, nil: rematch = seconds.map { text(.rematchWithin, "\($0)") }
    }
    let rating = model.online?.rating.map { "\($0.before) → \($0.after)" }
    let next = model.online == nil ? nil : tournamentText()
    let why = [reason.map(text), rating, rematch, next].compactMap { $0 }.joined(separator: " · ")
    switch end.outcome {
    case .win(let winner):
      guard let side = model.setup.loneHuman else { return (text(winner == .x ? .xWins : .oWins), why, true) }
      return (text(winner == side ? .youWin : .youLose), why, true)
    case .draw: return (text(.draw), why, true)
    case nil:
      let abort = model.online.map { text($0.isCalledOff ? .wasCalledOff : .nobodyBegan) }
      return (text(.abandoned), [abort, next].compactMap { $0 }.joined(separator: " · "), true)
    }
  }
}
