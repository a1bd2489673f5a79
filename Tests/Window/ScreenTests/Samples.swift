import Base
import Interface
import Foundation
import Oracle
import ScoreModel
import Screen
import TestSupport
import TicTacToe

/// Samples for pictures and tests. A simple rule makes the notes, not the composer.
enum Samples {
  static func services(now: @escaping @Sendable () -> Double = { 0 }) -> PlatformServices {
    var services = PlatformServices(locks: .none)
    services.now = now
    return services
  }

  /// Opponents of six levels, saved games, results and a lobby, as after some weeks of use.
  static func screen(themes: [Theme] = Theme.all, leastTarget: Double = 0, copies: Bool = true) -> RootScreen {
    var services = services()
    services.leastTarget = leastTarget
    services.setClipboard = { $1(copies) }
    services.address = { "https://alina.example/\($0)" }
    let screen = RootScreen(services: services, themes: themes)
    screen.pages.opponents += [.adaptive, .menace]
    let names = ["Pip", "Wren", "Bram", "Odile", "Sorrel", "Alina"]
    screen.pages.levels = names.enumerated().map {
      LevelCard(
        number: $0 + 1, character: $1, againstRandom: Odds(win: 0.861, draw: 0.082, loss: 0.057),
        againstPerfect: Odds(win: 0, draw: 0.414, loss: 0.586))
    }
    let ends: [([Int], String)] = [
      ([4, 1, 0, 8, 6, 2, 3], "you won"), ([1, 4, 8, 2, 0, 6], "Bram won"), ([4, 0, 8, 2, 1, 7, 6, 5, 3], "a draw"),
      ([4, 0, 8], "unfinished"), ([0, 4, 8, 2, 6, 3, 7], "you won"),
    ]
    screen.pages.games = ends.enumerated().map {
      GameEntry(
        path: "/games/\($0).ttt", players: "you and Bram", date: "21 November, 9.4\($0)", result: $1.1,
        board: BoardFacts(of: game($1.0)))
    }
    screen.pages.statistics[.infinite] = StatisticsModel(asX: Tally(wins: 2, losses: 1), results: [1, -1, 1])
    screen.pages.statistics[.classic] = StatisticsModel(
      opponents: names.enumerated().map {
        .init(name: $1, tally: Tally(wins: max(0, 9 - 2 * $0), draws: 2 + $0, losses: $0 * $0 / 3))
      },
      asX: Tally(wins: 18, draws: 11, losses: 6), asO: Tally(wins: 7, draws: 16, losses: 12),
      openings: (0..<9).map { Tally(wins: [3, 0, 2, 1, 9, 0, 2, 0, 1][$0], draws: $0 % 3, losses: $0 % 2) },
      results: [1, 0, 0, -1, 1, 1, 0, -1, -1, 0, 1, 1, 1, 0, 0, 1, -1, 0, 1, 1, 0, 0, 0, 1, 1])
    screen.pages.network = NetworkModel(
      phase: .lobby, matches: [.init(id: "a", title: "Nora and Jan"), .init(id: "b", title: "Ida and a guest")])
    screen.pages.network.you = .init(name: "Vera", ratings: [.classic: 1_542], isGuest: false)
    let captions: [Phrase] = [
      .dialShort, .dialLong, .dialLongest, .dialPhrases, .dialFamiliar, .dialLeap, .dialTension, .dialMelody,
      .dialDrone, .dialReverb,
    ]
    screen.pages.ownMusic.dials = captions.enumerated().map {
      DialModel($1, position: 3 * $0 + 2, texts: (0...32).map { "\(Double($0) / 10)" })
    }
    screen.pages.talk.opponent = "Nora"
    screen.pages.talk.lines = [
      .init(name: "Nora", text: "Good luck"), .init(name: "Vera", text: "Thanks, and to you."),
    ]
    return screen
  }

  /// Twenty players, of whom this player has the second place.
  static func tournament(_ phase: TournamentModel.Phase, isOrganiser: Bool = false) -> TournamentModel {
    var model = TournamentModel()
    (model.code, model.name, model.phase, model.isOrganiser) = ("K7Q2XD", "Friday after school", phase, isOrganiser)
    model.remaining = phase == .running ? 452 : nil
    model.top = phase == .running ? "0123456789ab" : nil
    model.rows = (1...20).map { place in
      var row = TournamentModel.Row()
      (row.number, row.place, row.name, row.points, row.games) = (
        place, place, "guest-Player-\(place)", 60 - 3 * place, 9
      )
      (row.isMine, row.isOnFire) = (place == 2, place % 5 == 1)
      row.status = place == 7 ? .paused : place == 9 ? .left : .playing
      return row
    }
    return model
  }

  /// A draw offer is open.
  static func online() -> BoardModel {
    var model = Samples.model([4, 0, 8], setup: GameSetup(x: .human, o: .remote(name: "Nora (1518)")))
    model.clocks = .init(x: 58_000, o: 41_000)
    var online = OnlineModel(you: .x)
    online.draw = .theirs
    model.online = online
    return model
  }

  static func game(_ moves: [Int]) -> Game {
    var game = Game()
    for move in moves { try? game.play(Cell(move)) }
    return game
  }

  /// O is a computer opponent.
  static func model(_ variant: Variant, _ names: String) -> BoardModel {
    var model = BoardModel()
    model.game = Game(from: VariantState(startOf: variant))
    for name in names.split(separator: " ") {
      guard let cell = variant.cell(named: name), (try? model.game.play(cell)) != nil else {
        preconditionFailure("\(name) cannot be played")
      }
    }
    model.setup = GameSetup(x: .human, o: .level(3), variant: variant)
    model.acceptsMove = !model.game.isOver && model.game.turn == .x
    return model
  }

  /// The mark on b2 is removed next.
  static let infinite = model(.infinite, "b2 a3 c1 b3 c3 a1")
  /// O has completed a line, so X has won.
  static let misere = model(.misere, "b2 a1 c3 a2 b3 a3")
  /// Both sides have won a board, and X must play on the middle board of the right column.
  static let ultimate = model(.ultimate, ultimateMoves.prefix(24).joined(separator: " "))
  /// X has won three boards on a diagonal.
  static let ultimateWon = model(.ultimate, ultimateMoves.joined(separator: " "))
  static let ultimateMoves =
    ("d9 a8 c6 h8 d5 c4 g3 a9 b9 d7 c1 g1 a3 a7 b2 d6 i5"
    + " i6 g9 h5 e4 d2 b4 f2 h6 e8 e6 f9 g7 g4 e5 e2 g8").split(separator: " ").map { String($0) }

  static let cellPitch = [86, 88, 90, 81, 83, 85, 74, 79, 78]
  static let scale = [0, 2, 3, 5, 7, 8, 10]  // natural minor from B

  /// `steps` steps of B minor's scale above the tone `midi`.
  static func scaleTone(from midi: Int, steps: Int) -> Int {
    let fromB = ((midi - 11) % 12 + 12) % 12
    let octave = (midi - 11 - fromB) / 12
    let degree = (scale.lastIndex { $0 <= fromB } ?? 0) + steps
    let wrapped = ((degree % 7) + 7) % 7
    return 11 + (octave + (degree - wrapped) / 7) * 12 + scale[wrapped]
  }

  /// The nearest tone of B minor's triad below `midi`.
  static func bell(below midi: Int) -> Int {
    var t = midi - 1
    while ![11, 2, 6].contains(t % 12) { t -= 1 }
    return t
  }

  static func bars(for game: Game, cut: Bool = true, closing: Bool = true) -> [Bar] {
    let short = 50_400
    var bars: [Bar] = []
    var start = 0
    func bar(
      _ kind: Bar.Kind, first: Int, contour: [Int], ply: Int, voice: Voice?, cut: Int?, long: Bool = true,
      awakens: Bool = false
    ) {
      var pairs: [Pair] = []
      for (i, offset) in contour.enumerated() {
        let m = scaleTone(from: first, steps: offset)
        let isLong = long && i == contour.count - 1
        let note = { (pitch: Int) in
          Note(
            pitch: Pitch(pitch), velocity: 44, onset: Tick(rawValue: Int64(i * short)),
            duration: Tick(rawValue: Int64(isLong ? short * 4 : short)), pan: 0)
        }
        pairs.append(
          Pair(
            m: note(m), t: note(awakens && i == 1 ? m - 5 : bell(below: m)), isLong: isLong,
            isAwakening: awakens && i == 1))
      }
      if kind == .opening || kind == .closing && contour.count == 3 {
        let low = Note(pitch: Pitch(35), velocity: 40, onset: .zero, duration: Tick(rawValue: Int64(short * 4)), pan: 0)
        pairs[0].bass = [low]
      }
      bars.append(
        Bar(
          index: bars.count, kind: kind, ply: ply, voice: voice, start: Tick(rawValue: Int64(start)), pairs: pairs,
          cut: cut.map { Tick(rawValue: Int64($0 * short)) }))
      start += (cut ?? contour.count + 4) * short
    }
    let shapes = [
      [0, 1], [0, -1, -2], [0, 1, 2, 1], [0, -1, 1, 0, -2], [0, 1, 3, 2, 1, 0], [0, -1, -2, -3, -1, -2, 0],
      [0, 1, 2, 0, -1, -2, -1, 0], [0, 2, 1, 0, -1, 1, 2, 3], [0, -1, -3, -2, -1, 0, 1, 0],
    ]
    bar(.opening, first: 83, contour: [0, 1, -1], ply: 0, voice: nil, cut: nil)
    for (i, move) in game.variantMoves.enumerated() {
      let isX = move.mover == .x
      let shape = shapes[i]
      let isLast = i == game.moves.count - 1
      bar(
        .move, first: cellPitch[move.square.index] - (isX ? 0 : 12), contour: shape, ply: i + 1,
        voice: isX ? .first : .second,
        cut: cut && !isLast && shape.count > 2 ? max(2, shape.count - 2) : nil,
        awakens: move == game.variantMoves.first { $0.isDecisive })
    }
    if game.isOver, closing {
      for n in [4, 3, 2] {
        bar(.closing, first: 78, contour: Array(shapes[6].prefix(n)), ply: 0, voice: .first, cut: nil)
      }
    }
    return bars
  }

  static func model(_ moves: [Int], setup: GameSetup = GameSetup(x: .human, o: .level(3))) -> BoardModel {
    var model = BoardModel()
    model.game = game(moves)
    model.setup = setup
    model.acceptsMove = !model.game.isOver
    model.bars = bars(for: model.game)
    if let last = model.bars.last {
      model.soundNow = last.start + Tick(rawValue: Int64(last.pairs.count * 50_400 + 5_000))
    }
    return model
  }

  static let stages: [(name: String, model: BoardModel)] = [
    ("empty", model([])),
    ("middle", model([4, 0, 8, 2])),
    ("threat", model([4, 1, 0, 8, 6])),
    ("win", model([4, 1, 0, 8, 6, 2, 3])),
    ("loss", model([1, 4, 8, 2, 0, 6])),
    ("draw", model([4, 0, 8, 2, 1, 7, 6, 5, 3])),
  ]
}

extension RootScreen {
  func draw(width: Int, height: Int, at now: Double) {
    let buffer = PixelBuffer(width: width, height: height)
    withExtendedLifetime(buffer) { _ = draw(into: buffer.bitmap, isNew: true, at: now) }
  }
}
