import Base
import Interface
import MatchProtocol
import Records
import TicTacToe

/// The game played by links on the board: each letter is a link with the game so far and a line of text.
package struct LetterGame: Sendable, Hashable {
  /// The newest letter, of either player.
  package internal(set) var letter: Letter {
    didSet { link = letter.link }
  }
  /// The link of `letter`, kept because making a link takes milliseconds.
  package private(set) var link: String
  package let you: Player
  /// The letter with the player's new move on the board, until the player sends the letter.
  package internal(set) var draft: Letter?
  /// A letter that was not accepted because its moves contradict those of `letter`.
  var other: Letter?
  /// The number of moves of `letter` that the board shows.
  var shown: Int
  /// When the board shows the next move of `letter`, in seconds of the platform's clock.
  var nextAt: Double

  init(_ entry: LetterBox.Entry, shown: Int, at now: Double) {
    (letter, you, link) = (entry.letter, entry.you, entry.letter.link)
    self.shown = shown
    nextAt = now + LetterGame.interval
  }

  /// Seconds between two moves, while the board plays the moves that the player has not seen yet.
  static let interval = 1.2
  /// The maximum number of moves that are played one by one when a letter is opened; earlier moves are shown at once.
  static let heard = 12

  var opponent: String { letter[you.opponent] }
  var setup: GameSetup {
    let other = Seat.remote(name: opponent)
    return GameSetup(x: you == .x ? .human : other, o: you == .o ? .human : other, variant: letter.game.variant)
  }
  fileprivate var cells: [Cell] { (draft ?? letter).game.cells }
  private var isAllShown: Bool { shown == letter.game.cells.count }
  fileprivate var mayAnswer: Bool { isAllShown && draft == nil && !letter.game.isOver && letter.game.turn == you }

  fileprivate func entry(at time: String) -> LetterBox.Entry { .init(letter, you: you, since: time) }
}

/// A request to the store of letters.
package enum LetterRequest: Sendable, Hashable {
  case begin(Variant)
  case open(String), show(UInt64)
  /// Store a letter of this player. If the opponent has begun the rematch already, show the opponent's game instead.
  case keep(Letter, you: Player, isRematch: Bool)
  case copy(String)
  case list, delete(UInt64)
}

/// The answer of the store of letters.
package enum LetterNews: Sendable, Hashable {
  /// Show a game, of which the player has already seen `known` moves.
  case game(LetterBox.Entry, known: Int)
  /// The opened letter is older than the stored game.
  case old(LetterBox.Entry)
  /// The opened letter contradicts the stored game.
  case fork(LetterBox.Entry, Letter)
  /// The opened text is not a complete letter.
  case damaged
}

extension WindowState {
  /// Whether the game on the board is saved among the player's games.
  package var isBoardKept: Bool {
    switch mode {
    case .local: puzzleRun == nil
    case .online, .watching, .free: true
    case .listening, .letter: false
    }
  }

  /// The record of the game played by links, with the seed of its music.
  package var letterPiece: Record? {
    guard let letter = self.letter?.letter else { return nil }
    var piece = letter.piece
    piece.seed = WindowState.match(of: letter).seed
    return piece
  }

  /// As in a network match, the seed of the game's music is a hash of the match id.
  private static func match(of letter: Letter) -> MatchID { MatchID(rawValue: letter.name) ?? .blank }

  /// The title of the window while a game played by links is on the board.
  package var letterTitle: Message? {
    guard let game = self.letter, !game.opponent.isEmpty, !game.letter.game.isOver else { return nil }
    return game.mayAnswer ? "\(game.opponent): \(.yourMove)" : "\(.waitingFor, Message(game.opponent))"
  }

  package var letterModel: LetterModel? {
    guard let game = self.letter else { return nil }
    let letter = game.letter
    let isOwn = letter.sender == game.you
    var model = LetterModel(
      step: game.draft != nil ? .send : isOwn ? .wait : letter.game.isOver ? .none : .answer, opponent: game.opponent)
    model.name = letter[game.you]
    if isOwn { (model.words, model.path) = (letter.words, "l/\(game.link)") } else { model.theirWords = letter.words }
    model.isOffering = (game.draft ?? letter).game.drawOffer == game.you
    model.isOffered = game.mayAnswer && letter.game.drawOffer == game.you.opponent
    model.other = game.other.map { BoardFacts(of: $0.game) }
    return model
  }

  // MARK: - Requests of the player

  /// Handles an intent that has another meaning in a game played by links; `nil` for other intents.
  mutating func answerLetter(_ intent: Intent, _ board: Board) -> [Effect]? {
    guard let game = self.letter else { return nil }
    switch intent {
    case .play(let cell):
      if let phrase = reasonNotToPlay(cell, board) { return .refused(phrase) }
      return mark(cell, in: game)
    case .undo:
      guard game.draft != nil else { return .refused(.nothingToUndo) }
      return change { $0.draft = nil } + [follow(game.letter.game.cells)]
    case .resign:
      guard game.mayAnswer else { return .refused(game.letter.game.isOver ? .gameIsOver : .notYourTurn) }
      let answer = confirmation.confirm(.resign, .reallyResign, at: now, [])
      return answer == [.say(nil)] ? answer + end(game, .resignation) : answer
    case .offerDraw:
      if game.mayAnswer, game.letter.game.drawOffer != nil { return end(game, .agreement) }
      guard let draft = game.draft, !draft.game.isOver else { return .refused(.letterFirst) }
      let isOffered = draft.game.drawOffer == nil
      return change { $0.draft?.setOffer(isOffered) } + [.say(isOffered ? "\(.drawOffered)" : nil)]
    case .rematch:
      guard game.letter.game.isOver, game.draft == nil else { return .refused(.gameRuns) }
      var next = game.letter.rematch
      next[game.you.opponent] = preferences.name
      return [.letter(.keep(next, you: game.you.opponent, isRematch: true))]
    case .declineDraw, .claimWin, .abortMatch, .redo: return .refused(.notYourTurn)
    default: return nil
    }
  }

  private mutating func change(_ body: (inout LetterGame) -> Void) -> [Effect] {
    guard var game = self.letter else { return [] }
    body(&game)
    letter = game
    return []
  }

  /// A letter has no times: the music is composed as if the moves had been made at a fixed interval.
  private func follow(_ cells: [Cell]) -> Effect {
    .syncBoard(cells, times: cells.indices.map { Int64($0) * Letter.pause })
  }

  private mutating func mark(_ cell: Cell, in game: LetterGame) -> [Effect] {
    guard game.mayAnswer else { return .refused(game.draft == nil ? .notYourTurn : .letterMarked) }
    var draft = game.letter
    do throws(RuleViolation) { try draft.play(cell) } catch { return .refused(.otherBoard) }
    draft[game.you] = preferences.name
    return change { $0.draft = draft } + [follow(draft.game.cells)]
  }

  private mutating func end(_ game: LetterGame, _ termination: Termination) -> [Effect] {
    var letter = game.letter
    letter.end(termination)
    letter[game.you] = preferences.name
    guard let end = letter.game.end else { return [] }
    return [.end(end)] + keep(letter)
  }

  /// Stores a letter of this player as the newest letter and shows the letter's link.
  private mutating func keep(_ letter: Letter) -> [Effect] {
    guard let game = self.letter else { return [] }
    return change { ($0.letter, $0.draft, $0.shown) = (letter, nil, letter.game.cells.count) }
      + [.letter(.keep(letter, you: game.you, isRematch: false)), .show(.letter)]
  }

  /// Changes text or name in this player's last letter.
  private mutating func rewrite(_ body: (inout Letter) -> Void) -> [Effect] {
    guard let game = self.letter, game.draft == nil, game.letter.sender == game.you else {
      return .refused(.letterFirst)
    }
    var letter = game.letter
    body(&letter)
    return change { $0.letter = letter } + [.letter(.keep(letter, you: game.you, isRematch: false))]
  }

  mutating func answer(_ intent: LetterIntent) -> [Effect] {
    switch intent {
    case .begin: return [.letter(.begin(mode == .local ? setup.variant : preferences.game))]
    case .open(let text): return [.letter(.open(text))]
    case .show(let id): return [.letter(.show(id))]
    case .send:
      if let draft = letter?.draft { return keep(draft) }
      return letter.map { $0.letter.sender == $0.you } == true ? [.show(.letter)] : .refused(.letterFirst)
    case .write(let words): return rewrite { $0.write(words) }
    case .sign(let name):
      return rewrite { [you = letter?.you] in if let you { $0[you] = name } }
    case .copy: return letter.map { [.letter(.copy("l/\($0.link)"))] } ?? .refused(.letterFirst)
    case .share: return letter.map { [.share("l/\($0.link)")] } ?? .refused(.letterFirst)
    case .list: return [.letter(.list)]
    case .delete(let id):
      return confirmation.confirm(.letter(intent), .reallyDelete, at: now, [.letter(.delete(id))])
    }
  }

  // MARK: - News

  mutating func hear(_ news: LetterNews) -> [Effect] {
    switch news {
    case .game(let entry, let known):
      // If the letter on the board is opened again, keep the player's new move, which may be on the board already.
      if let game = self.letter, game.letter == entry.letter, game.other == nil { return [.show(.board)] }
      let invites = entry.letter.game.cells.isEmpty && entry.letter.sender == entry.you
      return leaveMatch(for: true) + show(entry, known: known) + said(in: entry) + (invites ? [.show(.letter)] : [])
    case .old(let entry): return leaveMatch(for: true) + show(entry) + [.say("\(.letterOld)")]
    case .fork(let entry, let other):
      let effects = leaveMatch(for: true) + show(entry) + change { $0.other = other }
      return effects + [.say("\(.letterFork)"), .show(.letter)]
    case .damaged: return .refused(.letterDamaged)
    }
  }

  private func said(in entry: LetterBox.Entry) -> [Effect] {
    let letter = entry.letter
    guard letter.sender != entry.you, !letter.words.isEmpty else { return [] }
    let name = letter[entry.you.opponent]
    let sender: Message = name.isEmpty ? "\(.player)" : Message(name)
    return [.say("\(sender): \(letter.words)")]
  }

  /// The moves after the first `known` are played one by one.
  private mutating func show(_ entry: LetterBox.Entry, known: Int = .max) -> [Effect] {
    let letter = entry.letter
    let cells = letter.game.cells
    let shown = min(cells.count, max(known, cells.count - LetterGame.heard))
    let game = LetterGame(entry, shown: shown, at: now)
    series.nextGame(samePlayers: false)
    lobby.cancelOpening()
    self.letter = game
    let joined = JoinedMatch(
      match: WindowState.match(of: letter), you: entry.you, rules: letter.game.variant,
      names: Sides(x: letter[.x], o: letter[.o]),
      station: 0, moves: Array(cells.prefix(shown)), times: cells.prefix(shown).indices.map { Int64($0) * Letter.pause }
    )
    return [.join(joined), .show(.board)]
  }

  /// Plays the next move that the player has not seen, or the end of the game, once its time has come.
  mutating func showNextMove(_ board: Board) -> [Effect] {
    guard let game = self.letter, now >= game.nextAt else { return [] }
    if game.shown < game.letter.game.cells.count {
      let nextAt = now + LetterGame.interval
      return change { ($0.shown, $0.nextAt) = (game.shown + 1, nextAt) }
        + [follow(Array(game.letter.game.cells.prefix(game.shown + 1)))]
    }
    guard let end = game.letter.game.end, !board.game.isOver else { return [] }
    return [.end(end)]
  }
}
