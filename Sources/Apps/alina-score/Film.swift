#if canImport(CCairo)
  import ArgumentParser
  import Film
  import Play
  import TicTacToe
  import Tintinnabuli

  struct MakeFilm: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "film", abstract: "Make a film of a game, by ffmpeg: board, score and sound, in about a minute.")

    @OptionGroup var source: GameOptions
    @Option(help: ArgumentHelp("The film.", valueName: "file.mp4")) var out: String
    @Option(help: ArgumentHelp("Its size: wide, square or upright.", valueName: "WxH")) var size = "1280x720"
    @OptionGroup var sounding: SoundOptions

    private var pixels: (width: Int, height: Int)? {
      let sides = size.split(separator: "x").map { Int($0) ?? 0 }
      // Width and height must be even: the video stores colours at half the resolution in both directions.
      guard sides.count == 2, sides.allSatisfy({ (320...3_840).contains($0) && $0 % 2 == 0 }) else { return nil }
      return (sides[0], sides[1])
    }

    func validate() throws {
      guard pixels != nil else { throw ValidationError("--size \(size): two even numbers, 320x320 to 3840x3840") }
    }

    func run() throws {
      guard let pixels else { return }
      let record = try source.record()
      let rendition = FilmStage.music(
        of: record, rules: try source.rules(for: record), seed: source.seed, human: source.side)
      func name(_ side: Player) -> String {
        let name = record[player: side] ?? "\(side.letter)"
        return name == "you" ? "Player" : GameOptions.called(name)
      }
      let film = FilmMaker(record, rendition, names: (name(.x), name(.o)))
      try sounding.playing(rendition.rules) { engine in
        let progress = Progress()
        defer { progress.end() }
        try film.write(to: out, width: pixels.width, height: pixels.height, engine: engine) {
          try progress.tell($0, of: $1)
        }
      }
    }
  }
#endif
