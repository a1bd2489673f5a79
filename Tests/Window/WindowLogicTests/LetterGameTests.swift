import Interface
import Records
import Testing
import TicTacToe

@testable import WindowLogic

@Suite("Games by letters (links) in the window")
struct LetterGameTests {
  private static let id: UInt64 = 0x0123_4567_89ab_cdef

  private static func letter(_ cells: [Int]) -> Letter {
    var letter = Letter(id: id, variant: .classic)
    for cell in cells { try? letter.play(Cell(cell)) }
    letter[.o] = "Ida"
    return letter
  }

  /// This player is X.
  static func begin(_ window: inout TestWindow, _ cells: [Int] = []) {
    window.step(.letter(.game(.init(letter(cells), you: .x, since: "2026-11-22-190000"), known: .max)))
    window.now += 10
    window.step(.tick)
  }

  private static func kept(_ effects: [Effect]) -> Letter? {
    effects.compactMap { if case .letter(.keep(let letter, _, _)) = $0 { letter } else { nil } }.first
  }

  @Test func `a marked cell can be taken back until it is sent`() throws {
    var window = TestWindow()
    LetterGameTests.begin(&window)
    #expect(window.state.letterModel?.step == .answer && window.board.acceptsMove)
    window.want(.play(Cell(4)))
    #expect(window.board.game.cells == [Cell(4)] && window.state.letterModel?.step == .send)
    #expect(window.want(.play(Cell(0))).contains(.refuse))
    window.want(.undo)
    #expect(window.board.game.cells.isEmpty && window.state.letterModel?.step == .answer)
    window.want(.play(Cell(8)))
    let sent = window.want(.letter(.send))
    #expect(LetterGameTests.kept(sent)?.game.cells == [Cell(8)] && sent.contains(.show(.letter)))
    #expect(window.state.letterModel?.step == .wait && window.state.letterModel?.path == window.state.place)
    #expect(window.want(.undo).contains(.refuse))
    #expect(LetterGameTests.kept(window.want(.letter(.write("Your turn"))))?.words == "Your turn")
    #expect(!window.state.isBoardKept)
  }

  @Test func `the new moves of an opened letter are played one by one, and then the player may answer`() {
    var window = TestWindow()
    let entry = LetterBox.Entry(LetterGameTests.letter([4, 0, 8, 2]), you: .x, since: "x")
    window.step(.letter(.game(entry, known: 2)))
    var counts: [Int] = []
    for _ in 0..<30 {
      counts.append(window.board.game.cells.count)
      if window.board.game.cells.count < 4 { #expect(window.want(.play(Cell(7))).contains(.refuse)) }
      window.now += 0.2
      window.step(.tick)
    }
    #expect(counts.first == 2 && counts.last == 4 && Set(counts) == [2, 3, 4])
    #expect(window.state.letterTitle == "Ida: \(.yourMove)")
    #expect(!window.want(.play(Cell(7))).contains(.refuse))
  }

  @Test func `an old letter shows the saved game; a contradicting letter shows both games and changes neither`() {
    var window = TestWindow()
    let entry = LetterBox.Entry(LetterGameTests.letter([4, 0, 8]), you: .x, since: "x")
    #expect(!TestWindow.words(window.step(.letter(.old(entry)))).isEmpty)
    #expect(window.board.game.cells.count == 3 && window.state.letterModel?.other == nil)
    let effects = window.step(.letter(.fork(entry, LetterGameTests.letter([4, 1, 8]))))
    #expect(effects.contains(.show(.letter)) && window.state.letterModel?.other != nil)
    #expect(window.board.game.cells == entry.letter.game.cells && LetterGameTests.kept(effects) == nil)
  }

  @Test func `a draw is offered with a move and accepted in the answer`() {
    var window = TestWindow()
    LetterGameTests.begin(&window, [4, 0])
    #expect(window.want(.offerDraw).contains(.refuse), "before a cell is marked")
    window.want(.play(Cell(8)))
    window.want(.offerDraw)
    #expect(window.state.letterModel?.isOffering == true)
    #expect(LetterGameTests.kept(window.want(.letter(.send)))?.game.drawOffer == .x)

    var offered = LetterGameTests.letter([4, 0])
    offered.setOffer(true)
    var other = TestWindow()
    other.step(.letter(.game(.init(offered, you: .x, since: "x"), known: .max)))
    #expect(other.state.letterModel?.isOffered == true)
    let end = GameEnd(outcome: .draw, termination: .agreement)
    let effects = other.want(.offerDraw)
    #expect(effects.contains(.end(end)) && LetterGameTests.kept(effects)?.game.end == end)
  }

  @Test func `a resignation is confirmed, kept as a letter, and followed by the rematch with swapped sides`() {
    var window = TestWindow()
    LetterGameTests.begin(&window, [4, 0])
    #expect(LetterGameTests.kept(window.want(.resign)) == nil)
    #expect(LetterGameTests.kept(window.want(.resign))?.game.end?.outcome == .win(.o))
    let next = window.want(.rematch)
    guard case .letter(.keep(let letter, .o, isRematch: true))? = next.first else {
      Issue.record("\(next)")
      return
    }
    #expect(letter.id != LetterGameTests.id && letter[.x] == "Ida" && letter.game.cells.isEmpty)
  }

  @Test func `one press of Resign does not count in another game that is opened after it`() {
    var window = TestWindow()
    LetterGameTests.begin(&window)
    window.want(.resign)
    let other = Letter(id: LetterGameTests.id + 1, variant: .classic)
    window.step(.letter(.game(.init(other, you: .x, since: "x"), known: .max)))
    #expect(TestWindow.words(window.want(.resign)) == ["\(.reallyResign)"])
    #expect(LetterGameTests.kept(window.want(.resign))?.id == other.id)
  }

  @Test func `a running match is not replaced by a letter`() throws {
    var window = TestWindow()
    window.want(.connect(address: "127.0.0.1:4664"))
    window.online()
    window.start()
    for intent in [LetterIntent.begin, .open("x"), .show(1)] {
      #expect(window.want(.letter(intent)).contains(.refuse))
    }
  }
}
