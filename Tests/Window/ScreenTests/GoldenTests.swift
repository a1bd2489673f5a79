import Interface
import Foundation
import TestSupport
import Testing
import TicTacToe

@testable import Screen

/// Every scene as it must look, in `Goldens/`; `UPDATE_GOLDENS=1` draws them anew.
@Suite("Golden pictures")
struct GoldenTests {
  static let folder = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
    .appendingPathComponent("Goldens")
  /// Where a failure leaves its pictures and the contact sheet, in this checkout.
  static let report = repository.appending(path: ".build/golden-report")
  static let sizes = [(320, 480), (640, 360), (960, 600)]

  struct Scene: Sendable {
    var name: String
    var prepare: @Sendable (RootScreen) -> Void
  }

  static let scenes: [Scene] =
    Samples.stages.map { context in Scene(name: "board-\(context.name)") { $0.model = context.model } } + [
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
        $0.show(name)
        if name == .review { $0.handle([.key(.left, [], isRepeat: false), .key(.left, [], isRepeat: false)], at: 2) }
      }
    }

  /// Draws a scene at rest, without grain, which PNG cannot compress.
  static func draw(_ scene: Scene, width: Int, height: Int, theme: Theme) -> [UInt8] {
    var plain = theme
    plain.grain = 0
    plain.falloff = 0
    let screen = Samples.screen(themes: [plain])
    _ = screen.png(width: width, height: height, at: 0)
    scene.prepare(screen)
    screen.handle([], at: 10)
    _ = screen.png(width: width, height: height, at: 10)
    screen.handle([], at: 20)
    return screen.png(width: width, height: height, at: 20)
  }

  @Test("every scene looks as it did; with --all at three sizes each, and in every theme")
  func goldens() throws {
    let updates = ProcessInfo.processInfo.environment["UPDATE_GOLDENS"] == "1"
    var failures: [(name: String, text: String)] = []
    if updates { try FileManager.default.createDirectory(at: GoldenTests.folder, withIntermediateDirectories: true) }
    for (number, scene) in GoldenTests.scenes.enumerated() {
      for (index, size) in GoldenTests.sizes.enumerated()
      where runsAll || updates || index == 0 || number % 4 == index {
        // Colours cannot break a layout: the other themes are drawn at one size.
        for theme in index == 0 && (runsAll || updates) ? Samples.themes : [Samples.themes[0]] {
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

  @Test("the same page twice is the same file, byte for byte")
  func deterministic() {
    let scene = GoldenTests.scenes[3]
    let a = GoldenTests.draw(scene, width: 320, height: 480, theme: Samples.themes[1])
    #expect(a == GoldenTests.draw(scene, width: 320, height: 480, theme: Samples.themes[1]))
    #expect(a.count > 1000)
  }

  /// The most levels of a colour that rounding may make of a difference.
  private static let rounding = 2

  /// `nil` where the pictures agree: no pixel differs by more than rounding.
  private static func compare(_ expected: [UInt8], _ actual: [UInt8], _ name: String) throws -> String? {
    guard let a = PixelBuffer(png: expected) else { return "no golden" }
    guard let b = PixelBuffer(png: actual), a.bitmap.width == b.bitmap.width, a.bitmap.height == b.bitmap.height
    else { return "another size" }
    let mask = PixelBuffer(width: a.bitmap.width, height: a.bitmap.height)
    var different = 0
    for y in 0..<a.bitmap.height {
      for x in 0..<a.bitmap.width {
        let (p, q) = (a.bitmap.pixels[y * a.bitmap.stride + x], b.bitmap.pixels[y * b.bitmap.stride + x])
        let worst = [0, 8, 16].map { (s: UInt32) in abs(Int(p >> s & 255) - Int(q >> s & 255)) }.max() ?? 0
        if worst > rounding { different += 1 }
        mask.bitmap.pixels[y * mask.bitmap.stride + x] = worst > rounding ? 0xFF0000 : worst > 0 ? 0xC08000 : 0x202020
      }
    }
    guard different > 0 else { return nil }
    try FileManager.default.createDirectory(at: report, withIntermediateDirectories: true)
    for (suffix, bytes) in [("expected", expected), ("actual", actual), ("difference", mask.png())] {
      try Data(bytes).write(to: report.appendingPathComponent("\(name)-\(suffix).png"))
    }
    return "\(different) pixels differ"
  }

  /// A page with expected, actual and difference side by side.
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
