#if canImport(CCairo)
  import ArgumentParser
  import Foundation
  import ScoreIO
  import Screen
  import TicTacToe

  struct DrawBoards: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "boards", abstract: "Draw the boards of games for another program, as python/ does.",
      discussion: """
        Reads lines of moves from standard input, such as "b2 a1", each a game from its start. Writes for each line the pixels \
        of its board row by row from the top: three bytes each, red, green and blue.
        """)

    @Option(help: ArgumentHelp("The game: \(Variant.names).", valueName: "game")) var rules = "classic"
    @Option(help: ArgumentHelp("The width and height of a picture.", valueName: "pixels")) var side = 512

    func validate() throws {
      _ = try GameFile.variant(rules)
      guard (32...2_048).contains(side) else { throw ValidationError("--side \(side): 32–2048") }
    }

    func run() throws {
      let variant = try GameFile.variant(rules)
      let picture = BoardPicture(side: side)
      var number = 0
      while let line = readLine() {
        number += 1
        var game = Game(from: VariantState(startOf: variant))
        for name in line.split(separator: " ") {
          guard let cell = variant.cell(named: String(name)), (try? game.play(cell)) != nil else {
            throw ScoreFileError("line \(number): '\(name.prefix(16))' may not be marked there")
          }
        }
        try FileHandle.standardOutput.write(contentsOf: Data(picture.rgb(of: BoardFacts(of: game))))
      }
    }
  }
#endif
