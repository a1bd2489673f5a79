import Foundation
@testable import Interface
import ScoreModel
import TestSupport
import Testing
import TicTacToe

@testable import Screen

final class IntentLog {
  var intents: [Intent] = []
  func attach(to screen: RootScreen) { screen.onIntent = { [unowned self] in intents.append($0) } }
}

@Suite("The screen from input to intent")
struct ScreenTests {
  @Test("a press on a cell marks the cell, and a pointer that rests on a cell shows a preview")
  func press() {
    let screen = RootScreen(services: Samples.services())
    let log = IntentLog()
    log.attach(to: screen)
    screen.draw(width: 1280, height: 720, at: 0)
    let center = screen.boardCell(Square(4))
    screen.handle([.pointerMoved(x: center.x, y: center.y)], at: 1)
    screen.handle([.pointerDown(x: center.x, y: center.y, isTouch: false)], at: 1.1)
    screen.handle([.pointerUp(x: center.x, y: center.y, isTouch: false)], at: 1.2)
    #expect(log.intents == [.preview(Cell(4)), .play(Cell(4))])
  }

  private func phone() -> (RootScreen, IntentLog) {
    let (screen, log) = (RootScreen(services: Samples.services()), IntentLog())
    log.attach(to: screen)
    screen.draw(width: 480, height: 800, at: 0)
    return (screen, log)
  }

  @Test("a finger marks the cell where it lifts, not where it lands")
  func touch() {
    let (screen, log) = phone()
    let cell = screen.boardCell(Square(8))
    screen.handle([.pointerDown(x: cell.x, y: cell.y, isTouch: true)], at: 1)
    #expect(log.intents == [.preview(Cell(8))])
    screen.handle([.pointerUp(x: cell.x, y: cell.y, isTouch: true)], at: 1.2)
    #expect(log.intents == [.preview(Cell(8)), .preview(nil), .play(Cell(8))])
  }

  @Test("a finger that moves vertically within its cell marks it")
  func drift() {
    let (screen, log) = phone()
    let (cell, above) = (screen.boardCell(Square(8)), screen.boardCell(Square(5)))
    let y = cell.y + (above.y - cell.y) * 0.2
    screen.handle([.pointerDown(x: cell.x, y: cell.y, isTouch: true)], at: 1)
    screen.handle([.pointerMoved(x: cell.x, y: y)], at: 1.1)
    screen.handle([.pointerUp(x: cell.x, y: y, isTouch: true)], at: 1.2)
    #expect(log.intents.contains(.play(Cell(8))))
  }

  @Test("digits act as a keypad: 7 8 9 is the top row")
  func keypad() {
    let screen = RootScreen(services: Samples.services())
    let log = IntentLog()
    log.attach(to: screen)
    for digit in "789456123" { screen.handle([.key(.character(digit), [], isRepeat: false)], at: 1) }
    let played = log.intents.compactMap { if case .play(let square) = $0 { square.index } else { nil } }
    #expect(played == Array(0..<9))
  }
}

extension RootScreen {
  /// In device pixels.
  func boardCell(_ square: Square) -> Point {
    var place = Point(0, 0)
    boardScene.visit { if let cell = $0 as? CellView, cell.cell == Cell(square.index) { place = cell.frame.center } }
    return place
  }
}

@Suite("Phrases of the interface")
struct PhraseTests {
  @Test("each language has every phrase once and nothing else")
  func complete() {
    for language in Language.allCases { #expect(language.words.faults == [], "\(language)") }
    let faults = Words("title = Alina\n\n# x\ntitel = x\ntitle = x\nback =\n").faults
    #expect(
      faults.prefix(3) == [
        "line 4: titel is not a phrase", "line 5: title is there twice", #"line 6: expected "key = text""#,
      ])
    #expect(faults.contains("back is missing") && faults.count == 3 + Phrase.allCases.count - 1)
  }

  @Test("every phrase is translated, except those that languages share")
  func translated() {
    let shared: [Language: Set<Phrase>] = [
      .german: [.title, .serverAddress, .misere, .ultimate, .start, .talk, .emoteWow, .tournamentInMinutes],
      .french: [
        .title, .menu, .volume, .pace, .piano, .minutes, .motion, .counts, .controlKey, .filmUpright, .say, .misere,
      ],
    ]
    for (language, words) in shared {
      let same = Phrase.allCases.filter { $0.text(in: language) == $0.text(in: .english) }
      #expect(Set(same).symmetricDifference(words) == [], "\(language)")
    }
  }

  @Test("a chance is shown with one decimal, and as 0 or 100 % only if it is certain")
  func percent() {
    let texts = [0, 0.0004, 0.125, 0.414, 0.9999, 1].map { NewGameScene.percent($0, ",") }
    #expect(texts.map { $0.replacing("\u{A0}", by: " ") } == ["0 %", "<0,1 %", "12,5 %", "41,4 %", ">99,9 %", "100 %"])
  }

  @Test("every phrase is used in the code")
  func used() throws {
    var code = ""
    for folder in ["Sources/Window", "Sources/Apps/alina", "web/Sources"] {
      let place = repository.appending(path: folder)
      let files = FileManager.default.enumerator(at: place, includingPropertiesForKeys: nil)
      for case let file as URL in try #require(files) where file.pathExtension == "swift" {
        if file.path.contains("/Interface/Words/") || file.lastPathComponent == "Phrase.swift" { continue }
        code += try String(contentsOf: file, encoding: .utf8)
      }
    }
    // Types other than `Phrase` also have cases such as `.open`. So a case counts only after code that a phrase can follow, such as
    // `text(`.
    let calls = "(?:text|refused|line|entry|why|words|caption|menu|say)\\(\\s*(?:\\w+ \\? )?"
    let places = "\(calls)|\\\\\\(|\\(\\s*(?=\\.\\w+, )|context: context, |[?:,] |\\[|return |key: |Phrase"
    let pattern = try NSRegularExpression(pattern: "(?:\(places))\\.(\\w+)\\b(?!\\()")
    let whole = NSRange(code.startIndex..., in: code)
    let said = Set(
      pattern.matches(in: code, range: whole).compactMap { Range($0.range(at: 1), in: code).map { String(code[$0]) } })
    // Some names are put together in the code, for example from "manner" and a level.
    for phrase in Phrase.allCases where !["manner", "sign", "what"].contains(where: phrase.rawValue.hasPrefix) {
      #expect(said.contains("\(phrase)"), "\(phrase)")
    }
    #expect(said.isDisjoint(with: ["pointerMoved", "tween", "value", "frame"]), "a member of another type")
  }

  @Test("a phrase has the same number of placeholders in every language, filled in order")
  func values() {
    func places(_ phrase: Phrase, _ language: Language) -> Int { phrase.text(in: language).count { $0 == "%" } }
    for language in Language.allCases {
      for phrase in Phrase.allCases {
        #expect(places(phrase, .english) == places(phrase, language), "\(phrase) in \(language)")
      }
    }
    #expect(Phrase.nextTry.text(in: .german, ["50 % weg", "3"]) == "50 % weg; neuer Versuch in 3 s")
    #expect(Phrase.silent.text(in: .english, []) == "the server is not responding")
  }

  @Test("the typeface has every letter of the phrases")
  func glyphs() {
    let typeface = Typeface()
    #expect(typeface.isGenuine, "fonts-ebgaramond is not installed")
    for phrase in Phrase.allCases {
      for language in Language.allCases {
        #expect(typeface.missingGlyphs(in: phrase.text(in: language)) == 0, "\(phrase) in \(language)")
      }
    }
  }

  @Test("an opened game replaces the game on the review page, and music that is added later appears there")
  func reopening() {
    let screen = Samples.screen()
    screen.draw(width: 640, height: 480, at: 0)
    let first = Samples.game([4, 1, 0, 8, 6, 2, 3])
    screen.pages.replay = ReplayModel(game: first, title: "one")
    screen.show(.review)
    let page = screen.topScene
    screen.pages.replay = ReplayModel(game: first, title: "one", bars: Samples.bars(for: first))
    #expect(screen.topScene === page)
    screen.pages.replay = ReplayModel(game: Samples.game([0, 1]), title: "two")
    #expect(screen.topScene !== page)
    #expect(screen.currentScene == .review)
    screen.handle([.key(.escape, [], isRepeat: false)], at: 1)
    #expect(screen.currentScene == .board)
    #expect(screen.pages.replay == nil)
  }

  @Test("the staff of the review page is in the key of its own game")
  func keyOfReview() {
    let game = Samples.game([4, 1, 0, 8, 6, 2, 3])
    let flats = Scale(tonicLetter: 3, tonicAlteration: 0, steps: [0, 2, 3, 5, 7, 8, 10])
    func picture(_ running: Scale, _ reviewed: Scale) -> [UInt8] {
      let screen = Samples.screen()
      screen.draw(width: 640, height: 480, at: 0)
      screen.model = Samples.model([4, 0])
      screen.model.tonality.scale = running
      screen.pages.replay = ReplayModel(game: game, title: "one", bars: Samples.bars(for: game), scale: reviewed)
      screen.show(.review)
      return screen.png(width: 640, height: 480, at: 9)
    }
    let sharps = Tonality.standard.scale
    #expect(picture(sharps, flats) == picture(flats, flats) && picture(sharps, flats) != picture(sharps, sharps))
  }

  @Test("a key that is held down makes one move only")
  func repeats() {
    let screen = Samples.screen()
    let log = IntentLog()
    log.attach(to: screen)
    screen.handle([.key(.character("5"), [], isRepeat: false)], at: 1)
    for _ in 0..<9 { screen.handle([.key(.character("5"), [], isRepeat: true)], at: 1) }
    #expect(log.intents.filter { $0 == .play(Cell(4)) }.count == 1)
  }

  @Test("a key held down deletes no game", arguments: [Key.delete, .backspace])
  func deletingRepeats(key: Key) throws {
    let screen = Samples.screen()
    let log = IntentLog()
    log.attach(to: screen)
    screen.show(.games)
    screen.draw(width: 800, height: 600, at: 0)
    #expect(screen.context.focus is GameRow)
    screen.handle([.key(key, [], isRepeat: false)], at: 1)
    for _ in 0..<9 { screen.handle([.key(key, [], isRepeat: true)], at: 1) }
    #expect(log.intents.count { if case .deleteGame = $0 { true } else { false } } == 1)
  }
}
