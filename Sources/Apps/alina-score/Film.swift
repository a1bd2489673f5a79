#if canImport(CCairo)
  import ArgumentParser
  import Foundation
  import GameScore
  import Interface
  import Records
  import ScoreFormats
  import ScoreIO
  import ScoreModel
  import Screen
  import Synth
  import TicTacToe
  import Tintinnabuli

  struct Film: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Make a film of a game, by ffmpeg: board, score and sound, long pauses left out.")

    @OptionGroup var source: GameOptions
    @Option(help: ArgumentHelp("The film.", valueName: "file.mp4")) var out: String
    @Option(help: ArgumentHelp("Its size: wide, square or upright.", valueName: "WxH")) var size = "1280x720"
    @OptionGroup var piano: PianoOption

    private static let rate = 30.0

    private var pixels: (width: Int, height: Int)? {
      let sides = size.split(separator: "x").map { Int($0) ?? 0 }
      // Half as many colours lie beside and above each other.
      guard sides.count == 2, sides.allSatisfy({ (320...3_840).contains($0) && $0 % 2 == 0 }) else { return nil }
      return (sides[0], sides[1])
    }

    func validate() throws {
      guard pixels != nil else { throw ValidationError("--size \(size): two even numbers, 320x320 to 3840x3840") }
    }

    func run() throws {
      let folders = ProcessInfo.processInfo.environment["PATH", default: ""].split(separator: ":")
      let programs: [String] = folders.map { "\($0)/ffmpeg" }
      guard let ffmpeg = programs.first(where: { FileManager.default.isExecutableFile(atPath: $0) }) else {
        throw ScoreFileError("a film needs ffmpeg, which is not installed")
      }
      let record = try source.record()
      let rendition = Rendition(
        of: record, rules: try source.rules(for: record), seed: source.seed, human: source.side, trimmed: true)
      let folder = FileManager.default.temporaryDirectory.appending(path: "alina-film-\(getpid())")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let sound = folder.appending(path: "sound.wav").path
      try WholeFile.write(out) { path in
        guard FileManager.default.createFile(atPath: path, contents: nil) else {
          throw ScoreFileError("\(out): cannot be written: \(String(cString: strerror(errno)))")
        }
        try OfflineSound(rendition.events, end: rendition.end).write(
          to: sound, format: .wav, rules: rendition.rules, piano: piano.name)
        try shoot(record, rendition, sound: sound, by: ffmpeg, to: path)
      }
    }

    /// Draws every picture of the film and hands it to ffmpeg.
    private func shoot(_ record: Record, _ rendition: Rendition, sound: String, by program: String, to path: String)
      throws
    {
      guard let (width, height) = pixels else { return }
      signal(SIGPIPE, SIG_IGN)
      let input = Pipe()
      let ffmpeg = Process()
      ffmpeg.executableURL = URL(fileURLWithPath: program)
      ffmpeg.arguments =
        ["-y", "-nostdin", "-loglevel", "error", "-f", "rawvideo", "-pixel_format", "bgr0"]
        + ["-video_size", "\(width)x\(height)", "-framerate", "\(Int(Self.rate))", "-i", "pipe:0", "-i", sound]
        + [
          "-c:v", "libx264", "-preset", "veryfast", "-crf", "20", "-pix_fmt", "yuv420p", "-c:a", "aac", "-b:a", "192k",
        ]
        + ["-movflags", "+faststart", "-shortest", "-f", "mp4", path]
      ffmpeg.standardInput = input
      let errors = sound + ".errors"
      guard FileManager.default.createFile(atPath: errors, contents: nil) else {
        throw ScoreFileError("\(errors): cannot be written: \(String(cString: strerror(errno)))")
      }
      ffmpeg.standardError = FileHandle(forWritingAtPath: errors)
      try ffmpeg.run()
      let length = (rendition.end + OfflineRenderer.tail).seconds
      let progress = Progress(of: length)
      defer { progress.end() }
      var stage = Stage(record, rendition)
      let buffer = PixelBuffer(width: width, height: height)
      var picture = Data(count: 4 * width * height)
      for frame in 0..<Int(length * Self.rate) {
        let now = Double(frame) / Self.rate
        let changed = stage.draw(into: buffer.bitmap, isNew: frame == 0, at: now)
        if !changed.isEmpty {
          picture.withUnsafeMutableBytes { target in
            for y in 0..<height {
              let row = UnsafeRawBufferPointer(start: buffer.bitmap.pixels + y * buffer.bitmap.stride, count: 4 * width)
              UnsafeMutableRawBufferPointer(rebasing: target[(4 * width * y)..<(4 * width * (y + 1))]).copyMemory(
                from: row)
            }
          }
        }
        // It says why it has ended.
        do { try input.fileHandleForWriting.write(contentsOf: picture) } catch { break }
        progress.tell(now)
      }
      try input.fileHandleForWriting.close()
      ffmpeg.waitUntilExit()
      guard ffmpeg.terminationStatus == 0 else {
        let said = (try? String(contentsOfFile: errors, encoding: .utf8))?.split(separator: "\n").last ?? ""
        throw ScoreFileError("\(out): ffmpeg could not make the film: \(said)")
      }
    }
  }

  /// The board as it was at each moment of the music.
  private struct Stage {
    private let screen = RootScreen(services: PlatformServices())
    private var happenings: ArraySlice<(moment: Tick, happening: Happening)>

    init(_ record: Record, _ rendition: Rendition) {
      happenings = rendition.happenings[...]
      func seat(_ side: Player) -> Seat {
        let name = record[player: side] ?? "\(side.letter)"
        return .remote(name: name == "you" ? "Player" : GameOptions.called(name))
      }
      screen.model.game = Game(from: record.game.startState)
      screen.model.setup = GameSetup(x: seat(.x), o: seat(.o), variant: record.game.variant)
      screen.model.acceptsMove = false
      screen.model.isFilm = true
      screen.model.bars = rendition.bars
      let (scale, cells) = (rendition.rules.scale, rendition.rules.cells)
      screen.model.tonality = Tonality(scale: scale, x: cells, o: cells)
    }

    mutating func draw(into bitmap: Bitmap, isNew: Bool, at now: Double) -> [PixelRect] {
      while let next = happenings.first, next.moment.seconds <= now {
        happenings.removeFirst()
        switch next.happening {
        case .moved(let move): try? screen.model.game.play(move.cell)
        case .undone: _ = screen.model.game.undo()
        case .ended(let end): screen.model.game.finish(end)
        default: break
        }
      }
      screen.model.soundNow = .seconds(now)
      screen.handle([], at: now)
      return screen.draw(into: bitmap, isNew: isNew, at: now)
    }
  }
#endif
