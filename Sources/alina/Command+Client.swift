import Desk
import MatchClient
import MatchProtocol
import Screen

extension Command {
  /// Tells the server.
  func perform(on client: MatchClient) {
    switch self {
    case .seek(let terms): client.seek(terms)
    case .acceptBots: client.acceptBots()
    case .unseek: client.unseek()
    case .create(let terms): client.create(terms)
    case .join(let code): client.join(code)
    case .watch(let m, let code): client.watch(m, code: code)
    case .unwatch(let m): client.unwatch(m)
    case .list: client.ask(.list)
    case .register(let name): client.register(name)
    case .forget(let m): client.forget(m)
    case .move(let m, let square): client.move(m, square)
    case .resign(let m): client.resign(m)
    case .offerDraw(let m): client.offerDraw(m)
    case .answerDraw(let m, let accept): client.answerDraw(m, accept: accept)
    case .rematch(let m): client.rematch(m)
    case .abort(let m): client.abort(m)
    case .claim(let m): client.claim(m)
    case .say(let m, let text): client.say(m, text)
    case .emote(let m, let emote): client.emote(m, emote)
    case .mute(let isMuted): client.mute(isMuted)
    case .block(let name, let isBlocked): client.block(name, isBlocked)
    case .report(let m, let text): client.report(m, text)
    }
  }
}

extension ClientEvent {
  /// The match it is about.
  var match: MatchID? {
    switch self {
    case .paired(let m, _), .room(let m, _, _), .state(let m), .event(let m, _, _), .movePutRight(let m, _, _, _),
      .gone(let m, _, _), .chat(let m, _, _, _):
      m
    case .refused(_, _, let m): m
    case .status, .queued, .unsaid, .page, .registered, .draining: nil
    }
  }
}

extension Settings {
  /// Keeps what a table wants kept.
  func remember(_ memory: Memory) {
    switch memory {
    case .server(let address): server = address
    case .matchServer(let address): matchServer = address
    case .opponent(let setup):
      let other = setup.x == .human ? setup.o : setup.x
      if let argument = other.argument { opponent = argument }
      if setup.x != setup.o { side = setup.x == .human ? "x" : "o" }
    }
  }
}
