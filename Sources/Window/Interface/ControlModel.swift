import TicTacToe

/// A word that can be pressed: what it says, what it wants, when it is there and whether it can be used.
package struct ControlModel: Sendable, Hashable {
  package var phrase: Phrase
  package var intent: Intent
  /// The key that does the same, as an English keyboard names it.
  package var key = ""
  /// The same as a poem has it, in a small line beneath.
  package var poem: Phrase?
  /// What is new behind the word, where anything is.
  package var count = 0
  package var isThere = true
  package var isUsable = true
  /// Whether a page without room for all words leaves this one to the menu.
  package var isSpare = false

  init(
    _ phrase: Phrase, _ intent: Intent, key: String = "", poem: Phrase? = nil, count: Int = 0, if isThere: Bool = true,
    isUsable: Bool = true, isSpare: Bool = false
  ) {
    (self.phrase, self.intent, self.key, self.poem, self.count) = (phrase, intent, key, poem, count)
    (self.isThere, self.isUsable, self.isSpare) = (isThere, isUsable, isSpare)
  }
}

extension BoardModel {
  /// Whether a person at this machine plays a side; who only listens has nothing to take back, to ask or to give up.
  private var hasHuman: Bool { setup.x == .human || setup.o == .human }
  /// Whether hint and analysis may be had: nobody is helped against a person elsewhere.
  package var mayHelp: Bool { !setup.x.isRemote && !setup.o.isRemote }
  private var isPlayedOnline: Bool { online?.you != nil }
  private var muteControl: ControlModel {
    .init(isMuted ? .unmute : .mute, .setMuted(!isMuted), key: "M", isSpare: true)
  }

  /// The words at the foot of the board, in order; `unread` lines of talk wait.
  package func footControls(unread: Int) -> [ControlModel] {
    let isOver = game.isOver
    let isLive = !isOver && isPlayedOnline
    let mayRematch = online.map { $0.you != nil && $0.rematch != .mine && $0.mayRematch } ?? true
    let isDrawOffered = online?.draw == .theirs
    let mayAbort = online?.mayAbort == true
    let isTaught = !isOver && hasHuman && online == nil
    return [
      .init(.newGame, .show(.newGame), if: online?.mayLeave ?? true),
      .init(online?.rematch == .theirs ? .acceptRematch : .rematch, .rematch, if: isOver && hasHuman && mayRematch),
      .init(.claimWin, .claimWin, if: isLive && online?.claimIn == 0),
      .init(
        isDrawOffered ? .acceptDraw : .offerDraw, .offerDraw,
        if: isLive && (isDrawOffered || online?.mayOfferDraw == true), isSpare: !isDrawOffered),
      .init(.declineDraw, .declineDraw, poem: .declineDrawPoem, if: isLive && isDrawOffered),
      .init(.resign, .resign, if: isLive && !mayAbort, isSpare: true),
      .init(.abortMatch, .abortMatch, if: isLive && mayAbort),
      .init(.talk, .show(.talk), count: unread, if: isPlayedOnline, isSpare: true),
      .init(.review, .show(.review), if: isOver, isSpare: true),
      .init(.keep, .keepPiece, if: isOver, isSpare: true),
      .init(.undo, .undo, if: isTaught, isUsable: canUndo && !game.moves.isEmpty),
      .init(.redo, .redo, if: canRedo, isSpare: true),
      .init(.hint, .hint, if: isTaught, isUsable: mayHelp, isSpare: true),
      .init(.leaveMatch, .leave, if: online != nil && (!isLive || online?.mayLeave == true)),
      muteControl,
      .init(.menu, .show(.contents)),
    ]
  }

  /// The lines of the menu that are there, in order.
  package func menuControls(isPage: Bool, canShare: Bool) -> [ControlModel] {
    let isOver = game.isOver
    let isRunning = !isOver && !game.moves.isEmpty && hasHuman
    let isLive = !isOver && isPlayedOnline
    // A match is not left for another game before it is over.
    let mayLeave = !isLive || online?.mayLeave == true
    let isPair = online == nil && setup.x == .human && setup.o == .human
    let controls: [ControlModel] = [
      .init(.newGame, .show(.newGame), key: "N", if: mayLeave),
      .init(.review, .show(.review), if: isOver),
      .init(.keep, .keepPiece, if: isOver),
      .init(.redo, .redo, key: "Ctrl Y", if: !isOver && canRedo && !isLive),
      .init(.hint, .hint, key: "F2", if: acceptsMove && !isOver && !isLive),
      .init(.analysis, .analysis, key: "F3", if: acceptsMove && !isOver && !isLive),
      .init(.network, .show(.network)),
      .init(.shareMatch, .shareMatch, if: online != nil && canShare),
      .init(.talk, .show(.talk), if: isPlayedOnline),
      .init(.listen, .listen, if: mayLeave),
      .init(.games, .show(.games), key: "Ctrl O"),
      .init(.statistics, .show(.statistics)),
      .init(.help, .show(.help), key: "F1"),
      .init(.settings, .show(.settings)),
      .init(isPair ? .agreeDraw : .offerDraw, .offerDraw, if: isRunning && (isPair || online?.mayOfferDraw == true)),
      .init(.resign, .resign, if: isRunning && (online == nil || isPlayedOnline)),
      muteControl,
      .init(.quit, .quit, key: "Ctrl Q", poem: .quitPoem, if: !isPage),
    ]
    return controls.filter { $0.isThere }
  }
}
