import TicTacToe

/// A text button.
package struct ControlModel: Sendable, Hashable {
  package var phrase: Phrase
  package var intent: Intent
  /// The shortcut key's name on an English keyboard, such as `Ctrl Y`; empty without a shortcut.
  package var key = ""
  package var subtitle: Phrase?
  /// A number shown after the text if positive, such as the number of unread chat lines.
  package var count = 0
  package var isThere = true
  package var isUsable = true
  /// Whether the button moves to the menu if the page has no room for all buttons.
  package var isSpare = false
  /// Whether this button moves to the menu first if the page has no room for all buttons.
  package var movesFirst = false

  init(
    _ phrase: Phrase, _ intent: Intent, key: String = "", subtitle: Phrase? = nil, count: Int = 0,
    if isThere: Bool = true,
    isUsable: Bool = true, isSpare: Bool = false, movesFirst: Bool = false
  ) {
    (self.phrase, self.intent, self.key, self.subtitle, self.count) = (phrase, intent, key, subtitle, count)
    (self.isThere, self.isUsable, self.isSpare) = (isThere, isUsable, isSpare || movesFirst)
    self.movesFirst = movesFirst
  }
}

extension BoardModel {
  /// Whether hint and analysis are allowed.
  package var mayHelp: Bool { !setup.x.isRemote && !setup.o.isRemote && today == nil && puzzle == nil && !isFree }
  /// Whether the player may ask for another puzzle.
  package var mayPuzzle: Bool {
    puzzle.map { $0.isSolved != nil && $0.sprint == nil } ?? (today != nil && game.isOver)
  }
  /// Listening mode: two computer opponents play each other.
  private var isListening: Bool { online == nil && !setup.hasHuman }
  private var hasLost: Bool {
    guard let side = setup.loneHuman, case .win(let winner) = game.end?.outcome else { return false }
    return winner != side
  }
  private var isPlayedOnline: Bool { online?.you != nil }
  private var isLive: Bool { !game.isOver && isPlayedOnline }
  private var mayLeave: Bool { !isLive || online?.mayLeave == true }
  private var muteControl: ControlModel {
    .init(isMuted ? .unmute : .mute, .setMuted(!isMuted), key: "M", isSpare: true)
  }

  /// The buttons below the board; `unread` is the number of unread chat lines.
  package func footerControls(unread: Int) -> [ControlModel] {
    let isOver = game.isOver
    let mayRematch = online.map { $0.you != nil && $0.rematch != .mine && $0.mayRematch } ?? true
    let isDrawOffered = online?.draw == .theirs
    let mayAbort = online?.mayAbort == true
    let isTaught = !isOver && setup.hasHuman && online == nil && letter == nil && puzzle == nil && !isFree
    let isBare = online == nil && puzzle == nil && !isFree && (isOver || game.cells.isEmpty)
    return [
      .init(.stopListening, .stopListening, if: isListening || isFree),
      .init(.sleep, .sleep, count: sleepMinutes ?? 0, if: isListening),
      .init(.another, .another, if: mayPuzzle),
      .init(.sprint, .sprint, if: mayPuzzle, isSpare: true),
      .init(.newGame, .show(.newGame), isUsable: mayLeave, isSpare: isLive),
      .init(
        today != nil ? .tryAgain : online?.rematch == .theirs ? .acceptRematch : .rematch, .rematch,
        if: isOver && setup.hasHuman && mayRematch && puzzle == nil),
      .init(.shareToday, .shareToday, if: isOver && today?.isSolved == true),
      .init(.playFriend, .playFriend, if: isBare, movesFirst: true),
      .init(.today, .today, if: isBare && today == nil, movesFirst: true),
      .init(
        .letterSend, .letter(.send),
        if: letter?.step == .send || letter?.path.isEmpty == false),
      .init(.undo, .undo, if: letter?.step == .send),
      .init(
        letter?.isOffered == true ? .acceptDraw : letter?.isOffering == true ? .withdrawDraw : .offerDraw, .offerDraw,
        if: letter?.isOffered == true || letter?.step == .send && !isOver, isSpare: letter?.isOffered == false),
      .init(.resign, .resign, if: letter?.step == .answer, isSpare: true),
      .init(.letters, .show(.letters), if: letter != nil, isSpare: true),
      .init(.tournament, .show(.tournament), if: tournament != nil),
      .init(.claimWin, .claimWin, if: isLive && online?.isOpponentAway == true, isUsable: online?.claimIn == 0),
      .init(
        isDrawOffered ? .acceptDraw : .offerDraw, .offerDraw, if: isLive,
        isUsable: isDrawOffered || online?.mayOfferDraw == true, isSpare: !isDrawOffered),
      .init(.declineDraw, .declineDraw, subtitle: .declineDrawSubtitle, if: isLive && isDrawOffered),
      .init(mayAbort ? .abortMatch : .resign, mayAbort ? .abortMatch : .resign, if: isLive, isSpare: !mayAbort),
      .init(.talk, .show(.talk), count: unread, if: isPlayedOnline, isSpare: true),
      .init(hasLost ? .seeWhy : .review, .show(.review), if: isOver, isSpare: true),
      .init(.share, .shareGame, if: isFree),
      .init(.keep, .keepPiece, if: isOver || isFree, isSpare: true),
      .init(.undo, .undo, if: isTaught, isUsable: canUndo && !game.cells.isEmpty),
      .init(.redo, .redo, if: isTaught, isUsable: canRedo, isSpare: true),
      .init(.hint, .hint, if: isTaught, isUsable: mayHelp && acceptsMove, isSpare: true),
      .init(.leaveMatch, .leave, if: online != nil, isUsable: mayLeave, isSpare: !mayLeave),
      muteControl,
      .init(.menu, .show(.contents)),
    ]
  }

  package func menuControls(isPage: Bool, canShare: Bool) -> [ControlModel] {
    let isOver = game.isOver
    let isRunning = !isOver && !game.cells.isEmpty && setup.hasHuman && puzzle == nil
    let isPair = online == nil && setup.isPair
    let mayHint = acceptsMove && !isOver && !isLive && letter == nil && puzzle == nil && !isFree
    let controls: [ControlModel] = [
      .init(.newGame, .show(.newGame), key: "N", if: mayLeave),
      .init(.review, .show(.review), if: isOver),
      .init(.keep, .keepPiece, if: isOver || isFree),
      .init(.redo, .redo, key: "Ctrl Y", if: !isOver && canRedo && !isLive),
      .init(.hint, .hint, key: "F2", if: mayHint),
      .init(.analysis, .analysis, key: "F3", if: mayHint),
      .init(.playFriend, .playFriend, if: mayLeave),
      .init(.tournament, .show(.tournament)),
      .init(.quickMatch, .quickMatch, if: mayLeave),
      .init(.today, .today, if: mayLeave),
      .init(.another, .another, if: mayLeave && puzzle?.sprint == nil),
      .init(.sprint, .sprint, if: mayLeave),
      .init(.playByLink, .show(.letters)),
      .init(.network, .show(.network)),
      .init(.shareMatch, .shareMatch, if: online != nil && canShare),
      .init(.talk, .show(.talk), if: isPlayedOnline),
      .init(.listen, .listen, if: mayLeave && !isListening),
      .init(.touchBoard, .touchBoard, if: mayLeave && !isFree),
      .init(.stopListening, .stopListening, if: isListening || isFree),
      .init(.share, .shareGame, if: isFree),
      .init(.sleep, .sleep, if: isListening),
      .init(.games, .show(.games), key: "Ctrl O"),
      .init(.statistics, .show(.statistics)),
      .init(.rules, .show(.rules)),
      .init(.help, .show(.help), key: "F1"),
      .init(.settings, .show(.settings)),
      .init(isPair ? .agreeDraw : .offerDraw, .offerDraw, if: isRunning && (isPair || online?.mayOfferDraw == true)),
      .init(.resign, .resign, if: isRunning && (online == nil || isPlayedOnline)),
      muteControl,
      .init(.quit, .quit, key: "Ctrl Q", if: !isPage),
    ]
    return controls.filter { $0.isThere }
  }
}
