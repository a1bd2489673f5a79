import TicTacToe

/// The table of contents: every page of the book, with its key.
final class ContentsScene: PageScene {
  override var title: String { stage.text(.contents) }
  override var columnWidth: Double { 26 }

  override init(stage: Stage) {
    super.init(stage: stage)
    let model = stage.model
    var lines: [(Phrase, String, Intent)] = [(.newGame, "N", .show(.newGame))]
    if model.game.isOver {
      lines += [(.review, "", .show(.review)), (.keep, "", .keepPiece)]
    } else {
      if model.canRedo { lines.append((.redo, "Ctrl Y", .redo)) }
      if model.acceptsMove { lines += [(.hint, "F2", .hint), (.analysis, "F3", .analysis)] }
    }
    lines += [
      (.network, "", .show(.network)), (.listen, "", .listen), (.games, "Ctrl O", .show(.games)),
      (.statistics, "", .show(.statistics)), (.help, "F1", .show(.help)), (.settings, "", .show(.settings)),
      (.resign, "", .resign), (model.isMuted ? .unmute : .mute, "M", .setMuted(!model.isMuted)),
    ]
    if !stage.services.isPage { lines.append((.quit, "Ctrl Q", .quit)) }
    // Who only listens has nothing to give up.
    let isRunning = !model.game.isOver && !model.game.moves.isEmpty && [model.setup.x, model.setup.o].contains(.human)
    if isRunning, let at = lines.firstIndex(where: { $0.0 == .resign }) {
      if let online = model.online {
        if online.you == nil { lines.remove(at: at) }
        if online.mayOfferDraw { lines.insert((.offerDraw, "", .offerDraw), at: at) }
      } else if model.setup.x == .human, model.setup.o == .human {
        lines.insert((.agreeDraw, "", .offerDraw), at: at)
      }
    }
    if model.online?.you != nil, let at = lines.firstIndex(where: { $0.0 == .network }) {
      lines.insert((.talk, "", .show(.talk)), at: at + 1)
    }
    if model.online != nil, stage.services.share != nil, let at = lines.firstIndex(where: { $0.0 == .network }) {
      lines.insert((.shareMatch, "", .shareMatch), at: at + 1)
    }
    // A match is not left for another game before it is over.
    if model.online?.you != nil, !model.game.isOver {
      let taken: [Phrase] = model.online?.mayLeave == true ? [] : [.newGame, .listen]
      lines.removeAll { (taken + [.undo, .redo, .hint, .analysis]).contains($0.0) }
    }
    column.set(
      lines.filter { isRunning || $0.0 != .resign }.map {
        ContentsRow(
          stage: stage, title: stage.text($0.0), key: stage.keyName($0.1), intent: $0.2,
          poem: $0.0 == .quit ? stage.text(.quitPoem) : nil)
      })
    setFoot([TextButton(stage: stage, title: stage.text(.back), intent: .back)])
  }
}

extension Stage {
  /// A key as the reader's keyboard names it.
  func keyName(_ key: String) -> String { language == .german ? key.replacing("Ctrl", by: "Strg") : key }
}
