/// The table of contents: every page of the book, with its key.
final class ContentsScene: PageScene {
  override var title: String { stage.text(.contents) }
  override var initialFocus: View? { column.rows.first }
  override var columnWidth: Double { 26 }

  override init(stage: Stage) {
    super.init(stage: stage)
    let model = stage.model
    var lines: [(Phrase, String, Action)] = [(.newGame, "N", .newGame)]
    if model.game.isOver {
      lines += [(.review, "", .review), (.keep, "", .keep)]
    } else {
      if model.canRedo { lines.append((.redo, "Ctrl Y", .redo)) }
      if model.acceptsMove { lines += [(.hint, "F2", .hint), (.analysis, "F3", .analysis)] }
    }
    lines += [
      (.network, "", .network), (.listen, "", .listen), (.games, "Ctrl O", .games),
      (.statistics, "", .statistics), (.help, "F1", .help), (.settings, "", .settings), (.resign, "", .resign),
      (model.isMuted ? .unmute : .mute, "M", .mute), (.quit, "Ctrl Q", .quit),
    ]
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
      lines.insert((.talk, "", .talk), at: at + 1)
    }
    // A match is not left for another game before it is over.
    if model.online?.you != nil, !model.game.isOver {
      lines.removeAll { [.newGame, .listen, .undo, .redo, .hint, .analysis].contains($0.0) }
    }
    column.set(
      lines.filter { isRunning || $0.0 != .resign }.map {
        ContentsRow(stage: stage, title: stage.text($0.0), key: stage.keyName($0.1), action: $0.2)
      })
    setFoot([TextButton(stage: stage, title: stage.text(.back), action: .back)])
  }

  override func receive(_ message: Message) -> Bool {
    switch message {
    case .activated(.listen):
      send(.intent(.listen))
      return send(.back)
    case .activated(.resign):
      send(.intent(.resign))
      return send(.back)
    case .activated(.offerDraw):
      send(.intent(.offerDraw))
      return send(.back)
    case .activated(.keep):
      send(.intent(.keepPiece))
      return send(.back)
    case .activated(.redo):
      send(.intent(.redo))
      return send(.back)
    case .activated(.mute):
      send(.intent(.setMuted(!stage.model.isMuted)))
      return send(.back)
    default: return super.receive(message)
    }
  }
}

extension Stage {
  /// A key as the reader's keyboard names it.
  func keyName(_ key: String) -> String { language == .german ? key.replacing("Ctrl", with: "Strg") : key }
}
