import Interface
import Foundation
import TestSupport
import Testing
import TicTacToe

@testable import Screen

/// `UPDATE_GOLDENS=1` redraws the pictures in `Goldens/`.
@Suite("Golden pictures")
struct GoldenTests {
  static let folder = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
    .appendingPathComponent("Goldens")
  /// Pictures of failed comparisons, and the page that shows them side by side.
  static let report = repository.appending(path: ".build/golden-report")
  static let sizes = [(320, 480), (640, 360), (960, 600)]

  struct Scene: Sendable {
    var name: String
    var prepare: @Sendable (RootScreen) -> Void
  }

  static let scenes: [Scene] =
    Samples.stages.map { sample in Scene(name: "board-\(sample.name)") { $0.model = sample.model } } + [
      Scene(name: "board-focus") {
        $0.model = Samples.model([4, 0])
        $0.handle([.key(.left, [], isRepeat: false)], at: 1)
      },
      Scene(name: "board-analysis") {
        $0.model = Samples.model([4, 0, 8, 2])
        $0.handle([.key(.function(3), [], isRepeat: false)], at: 1)
      },
      Scene(name: "board-online") {
        $0.model = Samples.online()
        $0.pages.talk.unread = 2
      },
      Scene(name: "board-infinite") { $0.model = Samples.infinite },
      Scene(name: "board-infinite-analysis") {
        $0.model = Samples.infinite
        $0.handle([.key(.function(3), [], isRepeat: false)], at: 1)
      },
      Scene(name: "board-ultimate") { $0.model = Samples.ultimate },
      Scene(name: "board-ultimate-won") { $0.model = Samples.ultimateWon },
      Scene(name: "board-ultimate-analysis") {
        $0.model = Samples.ultimate
        $0.handle([.key(.function(3), [], isRepeat: false)], at: 1)
        let moves = Array($0.model.game.state.moves)
        $0.model.analysis = MoveAnalysis(
          moves: moves.enumerated().map {
            .init(cell: $1, evaluation: $0 == 0 ? .exact(.loss, plies: nil) : .estimated(0.3 + 0.07 * Double($0)))
          }, best: moves[moves.count - 1], seconds: 0.4)
      },
      Scene(name: "review-ultimate") {
        $0.model = Samples.ultimateWon
        $0.handle([], at: 1)
        $0.pages.replay = ReplayModel(game: $0.model.game, title: "Vera – Bram")
        $0.pages.replay?.evaluations = (0...33).map { .init(share: [0.5, 0.52, 0.7][$0 % 3], best: Cell($0)) }
        $0.show(.review)
      },
      Scene(name: "board-coordinates") {
        $0.model = Samples.model([4, 0])
        $0.settings.coordinates = true
      },
      Scene(name: "network-room") {
        $0.pages.network.phase = .room(code: "K7Q2XD")
        $0.show(.network)
      },
      Scene(name: "board-beads") {
        $0.model = Samples.model([4], setup: GameSetup(x: .human, o: .menace, clockSeconds: 180))
        $0.model.beads = [12, 1, 4, 2, 0, 2, 7, 0, 10]
        $0.model.clocks = .init(x: 171_000, o: 9_400)
      },
    ]
    + SceneName.allCases.filter { $0 != .board }.map { name in
      Scene(name: name.rawValue) {
        if name == .review {
          $0.model = Samples.model([4, 1, 0, 8, 6, 2, 3])
          $0.handle([], at: 1)
        }
        if name == .letter {
          var letter = LetterModel(step: .wait, opponent: "Ida")
          (letter.words, letter.path) = ("See you on Sunday", "l/x")
          letter.address = "https://play.example.org/#/l/AnDn-_8Bef8NJwHY3aerZtw7gIrvvFS5Io"
          $0.model.letter = letter
          $0.handle([], at: 1)
        }
        $0.show(name)
        if name == .review { $0.handle([.key(.left, [], isRepeat: false), .key(.left, [], isRepeat: false)], at: 2) }
      }
    }

  /// At rest, and without paper grain, which PNG cannot compress.
  static func draw(_ scene: Scene, width: Int, height: Int, theme: Theme) -> [UInt8] {
    var plain = theme
    plain.grain = 0
    plain.falloff = 0
    let screen = Samples.screen(themes: [plain])
    screen.draw(width: width, height: height, at: 0)
    scene.prepare(screen)
    screen.handle([], at: 10)
    screen.draw(width: width, height: height, at: 10)
    screen.handle([], at: 20)
    return screen.png(width: width, height: height, at: 20)
  }

  @Test("every scene matches its golden picture; with --all at three sizes and in every theme")
  func goldens() throws {
    let updates = ProcessInfo.processInfo.environment["UPDATE_GOLDENS"] == "1"
    var failures: [(name: String, text: String)] = []
    if updates {
      try FileManager.default.createDirectory(at: GoldenTests.folder, withIntermediateDirectories: true)
      try Data((Likeness.rasteriser + "\n").utf8).write(to: GoldenTests.drawnBy)
    }
    for (number, scene) in GoldenTests.scenes.enumerated() {
      for (index, size) in GoldenTests.sizes.enumerated()
      where runsAll || updates || index == 0 || number % 4 == index {
        // Colours do not affect the layout, so the other themes are drawn at one size only.
        for theme in index == 0 && (runsAll || updates) ? Theme.all : [Theme.all[0]] {
          let name = "\(scene.name)-\(theme.name)-\(size.0)x\(size.1)"
          let file = GoldenTests.folder.appendingPathComponent(name + ".png")
          let actual = GoldenTests.draw(scene, width: size.0, height: size.1, theme: theme)
          if updates {
            try Data(actual).write(to: file)
            continue
          }
          let expected = (try? Data(contentsOf: file)).map { [UInt8]($0) } ?? []
          if let text = try GoldenTests.compare(expected, actual, name) { failures.append((name, text)) }
        }
      }
    }
    if !failures.isEmpty { try GoldenTests.writeSheet(failures) }
    for failure in failures { Issue.record("\(failure.name): \(failure.text)") }
    if !failures.isEmpty { Issue.record("see \(GoldenTests.report.path)/index.html") }
  }

  private static func picture() throws -> Likeness.Picture {
    let scene = try #require(scenes.first { $0.name == "board-win" })
    let png = draw(scene, width: 320, height: 480, theme: Theme.all[0])
    return Likeness.Picture(try #require(PixelBuffer(png: png)))
  }

  /// Shifts the given rows right by `distance` pixels, as another rasteriser may place letters and edges.
  private static func moved(_ picture: Likeness.Picture, by distance: Double, rows: Range<Int>) -> Likeness.Picture {
    var result = picture
    let (whole, part) = (Int(distance), distance - Double(Int(distance)))
    for y in rows {
      for x in 0..<picture.width {
        let near = picture.pixels[y * picture.width + max(0, x - whole)]
        let far = picture.pixels[y * picture.width + max(0, x - whole - 1)]
        result.pixels[y * picture.width + x] = [16, 8, 0].reduce(0 as UInt32) { pixel, shift in
          let colour = Double(near >> UInt32(shift) & 255) * (1 - part) + Double(far >> UInt32(shift) & 255) * part
          return pixel | UInt32(colour.rounded()) << UInt32(shift)
        }
      }
    }
    return result
  }

  @Test("a picture from another rasteriser passes, and one with an element moved, missing or recoloured fails")
  func likeness() throws {
    let picture = try GoldenTests.picture()
    func passes(_ other: Likeness.Picture, _ likeness: Likeness = .other) -> Bool {
      !likeness.isExceeded(by: likeness.differences(picture, other), width: picture.width)
    }
    #expect(passes(picture, .same))
    // A shift by two thirds of a pixel is too much for the same rasteriser, but not for another rasteriser.
    let smoothed = GoldenTests.moved(picture, by: 0.66, rows: 0..<picture.height)
    #expect(!passes(smoothed, .same) && passes(smoothed))
    #expect(!passes(GoldenTests.moved(picture, by: 6, rows: 180..<220)))
    // The comparison must notice that paper replaces the first line of text.
    var wiped = picture
    let paper = picture.pixels[0]
    let words = try #require(
      (0..<picture.height).first { y in (0..<picture.width).contains { picture.pixels[y * picture.width + $0] != paper }
      })
    for y in words..<words + 12 { for x in 0..<picture.width { wiped.pixels[y * picture.width + x] = paper } }
    #expect(!passes(wiped))
    // The comparison must notice that green replaces the winning line's red.
    var green = picture
    for (i, pixel) in picture.pixels.enumerated() where pixel >> 16 & 255 > (pixel >> 8 & 255) + 80 {
      green.pixels[i] = pixel >> 8 & 0xFF00 | pixel << 8 & 0xFF0000 | pixel & 255
    }
    #expect(!passes(green))
  }

  @Test("the same page drawn twice is the same file, byte for byte")
  func deterministic() {
    let scene = GoldenTests.scenes[3]
    let a = GoldenTests.draw(scene, width: 320, height: 480, theme: Theme.all[1])
    #expect(a == GoldenTests.draw(scene, width: 320, height: 480, theme: Theme.all[1]))
    #expect(a.count > 1000)
  }

  /// The file's only line names the rasteriser of the pictures in `Goldens`.
  private static let drawnBy = folder.appendingPathComponent("drawn-by.txt")

  /// Pictures of the same rasteriser may differ by rounding only; another rasteriser may smooth edges differently.
  private static let likeness: Likeness = {
    let rasteriser = try? String(contentsOf: drawnBy, encoding: .utf8)
    return rasteriser?.trimmingCharacters(in: .newlines) == Likeness.rasteriser ? .same : .other
  }()

  /// Returns `nil` if the pictures agree; else writes both and their difference, and returns a message.
  private static func compare(_ expected: [UInt8], _ actual: [UInt8], _ name: String) throws -> String? {
    if expected == actual { return nil }
    guard let a = PixelBuffer(png: expected).map({ Likeness.Picture($0) }) else { return "no golden" }
    guard let b = PixelBuffer(png: actual).map({ Likeness.Picture($0) }), a.width == b.width, a.height == b.height
    else { return "another size" }
    let differences = likeness.differences(a, b)
    guard likeness.isExceeded(by: differences, width: a.width) else { return nil }
    let mask = PixelBuffer(width: a.width, height: a.height)
    for y in 0..<a.height {
      for x in 0..<a.width {
        let place = y * a.width + x
        let colour: UInt32 = differences[place] ? 0xFF0000 : a.pixels[place] != b.pixels[place] ? 0xC08000 : 0x202020
        mask.bitmap.pixels[y * mask.bitmap.stride + x] = colour
      }
    }
    try FileManager.default.createDirectory(at: report, withIntermediateDirectories: true)
    for (suffix, bytes) in [("expected", expected), ("actual", actual), ("difference", mask.png())] {
      try Data(bytes).write(to: report.appendingPathComponent("\(name)-\(suffix).png"))
    }
    return "\(differences.count { $0 }) pixels differ"
  }

  private static func writeSheet(_ failures: [(name: String, text: String)]) throws {
    try FileManager.default.createDirectory(at: report, withIntermediateDirectories: true)
    let rows = failures.map { failure in
      let pictures = ["expected", "actual", "difference"].map { "<td><img src=\"\(failure.name)-\($0).png\"></td>" }
      return "<tr><th colspan=3>\(failure.name): \(failure.text)</th></tr><tr>\(pictures.joined())</tr>"
    }
    let page =
      "<!doctype html><meta charset=utf-8><title>Golden pictures</title><style>body{font:14px serif}img{max-width:32vw}"
      + "</style><table>\(rows.joined())</table>"
    try Data(page.utf8).write(to: report.appendingPathComponent("index.html"))
  }
}
