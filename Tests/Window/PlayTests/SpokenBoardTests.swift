import Base
import Interface
import Screen
import Testing
import TicTacToe

@testable import Play

@Suite("The spoken board")
struct SpokenBoardTests {
  private final class Listener {
    private let app: App
    private let bench: Bench
    private var lines: [String] = []

    init(_ bench: Bench, _ app: App) {
      (self.bench, self.app) = (bench, app)
      let buffer = PixelBuffer(width: 800, height: 600)
      _ = app.draw(into: buffer.bitmap, isNew: true, at: bench.now)
      app.screen.onSpeak = { [unowned self] in lines.append($0) }
    }

    /// The lines that are spoken within half a second after the key.
    func press(_ key: Key) -> [String] {
      lines = []
      app.update(input: [.key(key, [], isRepeat: false)], at: bench.now)
      bench.pass(app, 0.5)
      return lines
    }

    func ask(_ letter: Character) -> String { press(.character(letter)).first ?? "" }

    /// Digits as on a keypad, with 7 8 9 on top.
    func digit(_ cell: some StringProtocol) -> [String] {
      let letters = Array(cell.utf8)
      let (column, row) = (Int(letters[0]) - 0x61, Int(letters[1]) - 0x31)
      return press(.character(Character("\(row * 3 + column + 1)")))
    }

    /// Row by row, on the board that has the focus.
    func emptyCells() -> [String] {
      (0..<3).flatMap { _ -> [String] in
        let row = ask("i").split(separator: ": ").last ?? ""
        _ = press(.down)
        return row.split(separator: "; ").filter { $0.hasSuffix(" empty") }.map { String($0.prefix(2)) }
      }
    }
  }

  @Test(arguments: Variant.allCases)
  func `a game can be played to its end by keys and spoken lines alone`(_ variant: Variant) throws {
    let bench = Bench()
    let app = try bench.app()
    bench.pass(app)
    app.want(.newGame(GameSetup(x: .human, o: .human, variant: variant)))
    app.screen.show(.board)
    bench.pass(app)
    let listener = Listener(bench, app)
    var generator = SplitMix64(seed: 7)
    var turns = 0
    while listener.ask("t").contains(" to move"), turns < 300 {
      turns += 1
      if listener.ask("t").contains("in any open board") {
        // A digit chooses a board first; a board that is won or full is refused.
        while !listener.press(.character(Character("\(1 + generator.below(9))"))).contains(where: {
          $0.hasPrefix("board ")
        }) {}
      }
      var heard: [String] = []
      if variant == .ultimate {
        repeat {
          heard = listener.press(.character(Character("\(1 + generator.below(9))")))
        } while !heard.contains { $0.contains(" plays ") }
      } else {
        _ = listener.press(.left)
        let cells = listener.emptyCells()
        heard = listener.digit(cells[generator.below(cells.count)])
      }
      let move = try #require(heard.first { $0.contains(" plays ") }, "\(heard)")
      #expect(listener.ask("p") == move)
      #expect(listener.ask("c") == "Time control: unlimited")
    }
    #expect(app.session.game.isOver && app.session.game.cells.count == turns)
    #expect(["X wins", "O wins", "A draw"].contains { listener.ask("t").hasPrefix($0) })
  }
}
