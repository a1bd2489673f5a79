import ClientModel
import Interface
import MatchProtocol
import Testing
import TicTacToe

@testable import ClientModel
@testable import WindowLogic

extension TableTests {
  @Test("after a failed or long lost connection the player can leave the match")
  func deadMatch() {
    for status in [
      ConnectionStatus.failed(.replaced), .failed(.notAccepted), .failed(.flood),
      .waiting(milliseconds: 30_000, reason: .silent),
    ] {
      var window = TestWindow()
      window.want(.connect(address: "127.0.0.1:4664"))
      window.online()
      window.start()
      window.move(4)
      #expect(window.state.isInLiveMatch)
      #expect(window.want(.leave).contains(.refuse))
      window.step(.network(.status(status), nil))
      let online = window.state.online(at: window.now, client: 0)
      #expect(online?.mayLeave == true && online?.isOffline == true)
      // `reconnects` is false only after the connection has failed for good.
      if case .failed = status { #expect(online?.reconnects == false) } else { #expect(online?.reconnects == true) }
      for intent in [Intent.leave, .newGame(GameSetup(x: .human, o: .level(2))), .listen, .connect(address: "b:2")] {
        var other = window
        let effects = other.want(intent)
        #expect(!effects.contains(.refuse) && other.state.match == nil, "\(intent)")
        // The match's server stays saved, so the next start searches for the match again.
        #expect(!effects.contains(.remember(.matchServer(""))), "\(intent)")
      }
    }
  }

  @Test("after a lost connection requests wait to be sent; after one that ended for good they are refused")
  func requestsWithoutConnection() {
    for status in [ConnectionStatus.waiting(milliseconds: 900, reason: .lost), .failed(.replaced), .closed] {
      var window = TestWindow()
      window.want(.connect(address: "127.0.0.1:4664"))
      window.online()
      window.start()
      window.step(.network(.status(status), nil))
      let returns = window.state.online(at: window.now, client: 0)?.reconnects == true
      var later = window
      try? later.board.game.play(Cell(0))
      #expect(later.want(.play(Cell(4))).contains(.say("\(.notConnected)")) != returns, "a premove after \(status)")
      for intent in [Intent.play(Cell(4)), .offerDraw, .abortMatch, .resign] {
        var other = window
        var effects = other.want(intent)
        if intent == .resign { effects += other.want(intent) }
        let isSent = effects.contains { if case .command = $0 { true } else { false } }
        #expect(isSent == returns, "\(intent) after \(status)")
        #expect(effects.contains(.say("\(.notConnected)")) != returns, "\(intent) after \(status)")
        #expect(effects.contains(.say("\(.sentLater)")) == (returns && intent == .resign))
      }
    }
  }

  @Test
  func `after a new login a match that the server no longer lists is left, and one that still runs stays on the board`()
    throws
  {
    var window = TestWindow()
    window.want(.connect(address: "127.0.0.1:4664"))
    window.online()
    window.start()
    window.move(4)
    window.step(.network(.status(.failed(.replaced)), nil))
    try window.connect(destination: .resume)
    var running = window
    running.online([TestWindow.m])
    #expect(running.state.match == TestWindow.m && running.state.network.phase == .playing)
    window.effects = []
    window.online()
    #expect(window.state.mode == .local && window.state.network.phase == .lobby)
    #expect(TestWindow.words(window.effects) == ["\(.matchEnded)"])
    #expect(window.want(.play(Cell(4))).contains(.play(Cell(4))))
  }

  @Test
  func `until an interrupted match is shown, the local board takes no moves, unless the server cannot be reached`()
    throws
  {
    var window = TestWindow()
    window.board.acceptsMove = true
    try window.connect(destination: .resume)
    #expect(window.want(.play(Cell(4))) == .refused(.stillConnecting))
    window.online([TestWindow.m])
    #expect(window.want(.play(Cell(4))) == .refused(.stillConnecting))
    var away = window
    away.step(.network(.status(.waiting(milliseconds: 900, reason: .lost)), nil))
    #expect(away.want(.play(Cell(4))).contains(.play(Cell(4))))
    var lost = window
    lost.step(.network(.lost(TestWindow.m), nil))
    #expect(lost.want(.play(Cell(4))).contains(.play(Cell(4))))
    var other = window
    other.want(.newGame(GameSetup(x: .human, o: .human)))
    #expect(other.want(.play(Cell(4))).contains(.play(Cell(4))))
    window.start()
    #expect(window.want(.play(Cell(4))).contains(.command(.move(TestWindow.m, Cell(4)))))
  }

  @Test("while an interrupted match is searched for, the board stays open, even if the address names its room")
  func resuming() throws {
    let lost = ConnectionStatus.waiting(milliseconds: 900, reason: .lost)
    var window = TestWindow()
    try window.connect(destination: .resume)
    #expect(!window.step(.network(.status(lost), nil)).contains(.show(.network)))
    #expect(window.state.resuming != nil)
    var late = window
    // The match ended while the window was disconnected, so the server no longer lists the match.
    late.online()
    #expect(TestWindow.words(late.effects).count == 1 && late.effects.contains(.remember(.matchServer(""))))
    #expect(late.state.resuming == nil && !late.effects.contains(.show(.network)))
    window.online([TestWindow.m])
    #expect(window.state.resuming != nil && TestWindow.words(window.effects).isEmpty)
    window.start()
    #expect(window.state.resuming == nil && window.state.mode == .online(TestWindow.m))

    for server in ["127.0.0.1:4664", "127.0.0.1:4665", ""] {
      var window = TestWindow()
      window.state.preferences.matchServer = server
      try window.connect(destination: .room(code: "K7Q2XD"))
      let isOurs = server == "127.0.0.1:4664"
      #expect(window.step(.network(.status(lost), nil)).contains(.show(.network)) != isOurs, "\(server)")
      #expect((window.state.resuming != nil) == isOurs, "\(server)")
    }
    for hasMatch in [true, false] {
      var guest = TestWindow()
      try guest.connect(destination: .room(code: "ABC234"))
      guest.online(hasMatch ? [TestWindow.m] : [])
      #expect(guest.effects.contains(.command(.join("ABC234"))) == !hasMatch)
    }
  }

  @Test("a lost or restored connection does not replace a game started meanwhile")
  func localGame() {
    let lost = ConnectionStatus.waiting(milliseconds: 900, reason: .lost)
    for begin in [Intent.newGame(GameSetup(x: .human, o: .human)), .play(Cell(4)), .listen, .today] {
      for wasOnline in [true, false] {
        for news in [lost, .connecting, .failed(.replaced), .closed] {
          var window = TestWindow()
          window.want(.connect(address: "127.0.0.1:4664"))
          if wasOnline {
            window.online()
            window.want(.quickMatch)
            window.want(.leave)
          }
          window.turn(to: .board)
          window.want(begin)
          window.effects = []
          for _ in 0..<3 { window.step(.network(.status(news), nil)) }
          if case .failed = news {
            #expect(!TestWindow.words(window.effects).isEmpty, "a connection that ends for good is told")
          } else {
            window.online()
          }
          #expect(!window.effects.contains(.show(.network)), "\(begin), \(news)")
        }
      }
    }
  }

  @Test("an expired room disappears from the network page")
  func closedRoom() throws {
    for isKnown in [true, false] {
      var window = TestWindow()
      window.want(.connect(address: "127.0.0.1:4664"))
      window.online()
      window.turn(to: .network)
      window.step(.network(.room(TestWindow.m, code: "ABC234", expiresIn: 9), nil))
      if isKnown {
        window.log(.end(nil, .aborted, ratings: nil))
      } else {
        window.step(.network(.lost(TestWindow.m), nil))
      }
      #expect(window.state.network.phase == .lobby && window.state.place == "")
      #expect(window.state.network.message == "\(.roomClosed)")
    }
  }

  @Test("the player's room is shown again after a reconnect, if the server still has it")
  func roomAfterLoss() {
    for isThere in [true, false] {
      var window = TestWindow()
      window.want(.connect(address: "127.0.0.1:4664"))
      window.online()
      window.step(.network(.room(TestWindow.m, code: "ABC234", expiresIn: 9), nil))
      window.step(.network(.status(.waiting(milliseconds: 900, reason: .lost)), nil))
      window.online(isThere ? [TestWindow.m] : [])
      #expect(window.state.network.phase == (isThere ? .room(code: "ABC234") : .lobby))
    }
  }

  @Test("a player with a new guest account is told so, and after a refused token also what to do")
  func becameGuest() {
    var window = TestWindow()
    window.want(.connect(address: "127.0.0.1:4664"))
    window.online(guest: true)
    let told = TestWindow.words(window.step(.network(.becameGuest(login: nil), nil)))
    #expect(told == ["\(.newGuest, "Vera")"])
    window.turn(to: .network)
    window.step(.network(.becameGuest(login: "Ida"), nil))
    #expect(window.state.network.message == "\(.loginRefused, "Ida", "Vera")")
    #expect(window.state.network.phase == .lobby)
    window.step(.network(.tokenRefused, nil))
    #expect(window.state.network.message == "\(.tokenRefused, "Vera")")
  }

  @Test("an entered token is in the effect that connects, and in no other effect")
  func token() {
    var window = TestWindow()
    window.want(.connect(address: "127.0.0.1:4664", token: "secret"))
    #expect(window.effects.contains { "\($0)".hasPrefix("connect") && "\($0)".contains("secret") })
    #expect(window.effects.count { "\($0)".contains("secret") } == 1)
    window.want(.connect(address: "127.0.0.1:4665"))
    #expect(window.effects.count { "\($0)".contains("secret") } == 1)
  }

  @Test(
    "the countdown to the first move is the server's: it depends on the clock of the match, also in a room",
    arguments: [true, false])
  func firstMove(isTimed: Bool) throws {
    var window = TestWindow()
    try window.connect(destination: .room(code: "ABC234"))
    window.online()
    let players = Sides(
      x: PlayerInfo(name: "Vera", rating: 1_500, guest: false), o: PlayerInfo(name: "Ida", rating: 1_518, guest: false))
    let terms = MatchTerms(clock: isTimed ? .standard : nil)
    window.log(.open(by: "Vera", terms))
    window.log(.start(players, terms, confirm: false, previous: nil, keys: []))
    let model = try #require(window.state.online(at: window.now, client: 0))
    #expect(model.firstMoveIn == (isTimed ? Limits.firstMove / 1_000 : nil))
    let late = try #require(window.state.online(at: window.now + 560, client: 0))
    #expect(late.firstMoveIn == (isTimed ? 0 : Limits.untimedMove / 1_000 - 560))
  }

  @Test(
    "while the player waits for a match, the server's waiting time is shown, and the games in progress are requested")
  func waiting() throws {
    var window = TestWindow()
    window.want(.connect(address: "127.0.0.1:4664"))
    window.turn(to: .network)
    window.online()
    #expect(window.state.waited(at: window.now) == nil)
    window.want(.quickMatch)
    #expect(window.state.waited(at: window.now + 3.5) == 3)
    window.step(.network(.queued(waited: 20_000, bots: 0), nil))
    #expect(window.state.waited(at: window.now + 1) == 21)
    window.now += 10
    #expect(window.step(.tick).contains(.command(.list)))
    window.want(.leave)
    #expect(window.state.waited(at: window.now) == nil)
  }

  @Test("the name of a registered player stays in the settings")
  func remembersName() {
    var window = TestWindow()
    window.want(.connect(address: "127.0.0.1:4664"))
    window.online(guest: true)
    #expect(!window.effects.contains(.remember(.name("Vera"))))
    window.online()
    #expect(window.effects.contains(.remember(.name("Vera"))))
  }

  @Test("the player's room is shown again after a reload")
  func ownRoom() throws {
    var window = TestWindow()
    try window.connect(destination: .room(code: "ABC234"))
    window.online([TestWindow.m])
    let open = MatchView(state: MatchState(id: TestWindow.m), you: .x)
    #expect(window.step(.network(.state(TestWindow.m), open)) == [.command(.join("ABC234"))])
    // The server knows that the code is the one of the player's own room.
    let told = window.step(.network(.room(TestWindow.m, code: "ABC234", expiresIn: 9), open))
    #expect(told.contains(.show(.network)) && window.state.network.phase == .room(code: "ABC234"))
    window.turn(to: .network)
    #expect(window.step(.network(.state(TestWindow.m), open)).isEmpty)
    window.start()
    #expect(window.state.mode == .online(TestWindow.m))
  }

  @Test func `a player whose own room waits enters a friend's room, whose code is never shown as that of the own room`()
    throws
  {
    let friends = try #require(MatchID(rawValue: "ba9876543210"))
    var window = TestWindow()
    try window.connect(destination: .room(code: "K7Q2XD"))
    window.online([TestWindow.m, friends])
    let open = MatchView(state: MatchState(id: TestWindow.m), you: nil)
    let join = Effect.command(.join("K7Q2XD"))
    window.step(.network(.state(TestWindow.m), open))
    #expect(!window.effects.contains(join), "the other listed match may be running")
    window.step(.network(.state(friends), MatchView(state: MatchState(id: friends), you: nil)))
    #expect(window.effects.contains(join) && window.state.network.phase == .lobby)
    // The next state of the own room changes nothing.
    window.step(.network(.state(TestWindow.m), open))
    #expect(window.effects.filter { $0 == join }.count == 1 && window.state.network.phase == .lobby)

    // An interrupted match that has ended is told although a room waits, and the lobby opens for a player who connects.
    var late = TestWindow()
    try late.connect(destination: .resume)
    late.online([TestWindow.m])
    late.step(.network(.state(TestWindow.m), open))
    #expect(TestWindow.words(late.effects) == ["\(.matchEnded)"])
    var other = TestWindow()
    other.want(.connect(address: "127.0.0.1:4664"))
    other.online([TestWindow.m])
    #expect(other.step(.network(.state(TestWindow.m), open)).contains(.show(.network)))
  }

  @Test("the player's waiting room does not replace a local game when the connection is restored")
  func roomBehindLocalGame() {
    var window = TestWindow()
    window.want(.connect(address: "127.0.0.1:4664"))
    window.online()
    window.want(.playFriend)
    window.step(.network(.room(TestWindow.m, code: "ABC234", expiresIn: 600), nil))
    window.turn(to: .board)
    window.want(.play(Cell(4)))
    window.effects = []
    window.step(.network(.status(.waiting(milliseconds: 900, reason: .lost)), nil))
    window.online([TestWindow.m])
    let open = MatchView(state: MatchState(id: TestWindow.m), you: .x)
    window.step(.network(.state(TestWindow.m), open))
    #expect(!window.effects.contains(.show(.network)))
    #expect(window.state.network.phase == .room(code: "ABC234"))
  }

  @Test("the page's address names the room or match shown, and nothing after its end")
  func places() throws {
    var window = TestWindow()
    #expect(window.state.place == "")
    try window.connect(destination: .room(code: "ABC234"))
    #expect(window.state.place == "r/ABC234")
    window.online()
    window.step(.network(.room(TestWindow.m, code: "ABC234", expiresIn: 9), nil))
    window.start()
    #expect(window.state.place == "r/ABC234")
    window.log(.resign, .o)
    window.log(.end(.win(.x), .resign, ratings: nil))
    #expect(window.state.place == "")

    var watcher = TestWindow()
    try watcher.connect(destination: .watch(id: TestWindow.m.rawValue, code: "ABC234"))
    watcher.online()
    watcher.start(you: nil)
    #expect(watcher.state.place == "w/\(TestWindow.m.rawValue)/ABC234")
  }

  @Test("one press finds the server and enters a room or the queue")
  func onePress() {
    for (intent, command) in [(Intent.playFriend, "create"), (.quickMatch, "seek")] {
      var window = TestWindow()
      // Without a known server, the window starts a server of its own for a friend's room, but not for a seek.
      #expect(window.want(intent).contains(.host(.open)) == (intent == .playFriend))
      window.state.preferences.server = "127.0.0.1:4664"
      let effects = window.want(intent)
      #expect(effects.contains(.show(.network)) && effects.contains { if case .connect = $0 { true } else { false } })
      window.effects = []
      window.online()
      #expect(
        window.effects.contains { if case .command(let told) = $0 { "\(told)".hasPrefix(command) } else { false } })
    }
  }

  @Test("a server of this window is not searched for at the next start, as its port changes")
  func hosting() {
    var window = TestWindow()
    guard let address = ServerAddress("127.0.0.1:43210") else { return }
    window.effects = window.state.connect(to: address, destination: .open, isHosting: true)
    window.online()
    window.start()
    for case .remember(let memory) in window.effects {
      #expect([.matchServer(""), .name("Vera")].contains(memory), "\(memory)")
    }
    #expect(window.state.match == TestWindow.m)
    #expect(window.state.connect(to: address).contains(.remember(.server("127.0.0.1:43210"))))
  }

  @Test("pauses between tries to connect grow to 8 s, vary at random, and are at least as long as the server asks")
  func pauses() {
    func pause(_ tries: Int, asked: Int = 0, chance: (Int) -> Int = { _ in 0 }) -> Int {
      ClientModel.pause(after: tries, asked: asked, chance: chance)
    }
    #expect([0, 1, 4, 5, 9].map { pause($0) } == [125, 250, 2_000, 4_000, 4_000])
    #expect([0, 5].map { pause($0) { $0 - 1 } } == [250, 8_000])
    #expect(pause(0, asked: 3_000) == 3_000)
    #expect(pause(0, asked: .max) { $0 - 1 } == 3_600_125, "nobody is sent away for good")
    #expect(ClientModel.pause(after: 9, from: 100, to: 600, asked: 0) { $0 - 1 } == 600)
  }

  @Test("commands that have become impossible are not sent")
  func senseless() {
    var model = ClientModel(.init(), seed: 1)
    let m = TestWindow.m
    for command in [ClientModel.Command.acceptBots, .move(m, Cell(4)), .answerDraw(m, accept: true), .forget(m)] {
      let output = model.perform(command)
      #expect(output.lines.isEmpty && output.events.isEmpty && model.outstanding.isEmpty, "\(command)")
    }
  }

  @Test("a server that is not Alina's is reported as such")
  func notOurs() throws {
    var window = TestWindow()
    window.want(.connect(address: "a:1"))
    var model = ClientModel(.init(), seed: 1)
    let line = Array("HTTP/1.1 400 Bad Request".utf8)
    _ = model.connected()
    _ = line.withUnsafeBytes { model.receive($0, now: 0) }
    window.step(.network(.status(.failed(try #require(model.failure))), nil))
    #expect(window.state.network.message == "\(.notOurs)")
  }

  @Test("a friend's room is untimed by default, and reopened when game or clock change")
  func friendsRoom() throws {
    var window = TestWindow()
    window.want(.connect(address: "127.0.0.1:4664"))
    window.online()
    func create(_ effects: [Effect]) -> [MatchTerms] {
      effects.compactMap { if case .command(.create(let terms)) = $0 { terms } else { nil } }
    }
    #expect(create(window.want(.playFriend)) == [MatchTerms(clock: nil)])
    window.step(.network(.room(TestWindow.m, code: "ABC234", expiresIn: 9), nil))
    window.state.preferences.game = .ultimate
    let changed = window.want(.openRoom)
    #expect(changed.first == .command(.abort(TestWindow.m)) && create(changed).map(\.rules) == [.ultimate])
    // Another time control is chosen before the server has answered.
    window.state.preferences.roomClock = "60+2"
    #expect(create(window.want(.openRoom)) == [MatchTerms(rules: .ultimate)])
    let (second, third) = (try #require(MatchID(rawValue: "second")), try #require(MatchID(rawValue: "third")))
    #expect(window.step(.network(.room(second, code: "BBBBBB", expiresIn: 9), nil)) == [.command(.abort(second))])
    window.step(.network(.room(third, code: "CCCCCC", expiresIn: 9), nil))
    #expect(window.state.network.phase == .room(code: "CCCCCC"))
    // The room is closed before the server has answered.
    var closed = window
    closed.want(.openRoom)
    closed.want(.leave)
    #expect(closed.step(.network(.room(second, code: "DDDDDD", expiresIn: 9), nil)) == [.command(.abort(second))])
    #expect(closed.state.network.phase == .lobby)
    // The player enters the code of a room of this player that was opened in another window: it stays open.
    closed.want(.joinRoom(code: "CCCCCC"))
    #expect(closed.step(.network(.room(third, code: "CCCCCC", expiresIn: 9), nil)).isEmpty)
    #expect(closed.state.network.phase == .room(code: "CCCCCC"))
    window.want(.openRoom)
    window.step(.network(.refused(.busy, "later", .create(MatchTerms(), key: nil)), nil))
    #expect(window.state.network.phase == .lobby && window.state.place == "")
  }
}
