import Base
import MatchProtocol
import MatchStore
import TicTacToe

/// A player's request to be paired.
struct Ticket: Sendable, Hashable {
  var id: String
  var session: String
  var node: NodeID
  /// The player's account as last read from the store.
  var player: AccountRecord
  var seek: ClientMessage.Seek
  var isBot: Bool
  /// When the ticket began to wait, in this node's monotonic milliseconds.
  var since: Int64
  var offeredBots = false
  /// The row as last read from the store; `nil` for a ticket of this node that was not read yet.
  var row: WaitingTicket?

  var account: Int64 { player.id }
  var rating: Double { player[seek.terms.rules].rating.value }
}

extension Ticket {
  init(
    _ seek: ClientMessage.Seek, _ command: ClientCommand, at node: NodeID, _ now: Int64, _ random: inout Entropy
  ) {
    self.init(
      id: Ticket.makeID(from: &random), session: command.session.id, node: node, player: command.account, seek: seek,
      isBot: command.session.isBot, since: now)
  }

  static func makeID(from random: inout Entropy) -> String {
    crockford(bits: random.next(), count: 8, lowercase: true)
  }

  /// The seek as text without key and consent to bots: a client that repeats a key may change only the consent.
  var purpose: String {
    var plain = seek
    (plain.bots, plain.key) = (false, nil)
    return String(decoding: ClientLine(.seek(plain)).bytes.dropLast(), as: UTF8.self)
  }

  /// `ahead`: the store's clock minus the monotonic clock, in ms.
  func record(_ ahead: Int64) -> TicketRecord {
    // The first mark is `b` for a bot. The second has no meaning now, but older nodes expect it.
    let marks = isBot ? "b-" : "--"
    let line = String(decoding: ClientLine(.seek(seek)).bytes.dropLast(), as: UTF8.self)
    return TicketRecord(
      id: id, session: session, account: account, node: node, key: seek.key ?? "", purpose: purpose,
      wish: marks + line, since: since + ahead)
  }

  /// `ahead`: the store's clock minus the monotonic clock, in ms.
  init?(_ waiting: WaitingTicket, _ ahead: Int64) {
    let (record, marks) = (waiting.ticket, waiting.ticket.wish.prefix(2))
    let line = Array(record.wish.utf8.dropFirst(2))
    guard marks.count == 2, let read = try? line.withUnsafeBytes({ raw in try ClientLine(relayed: raw) }),
      case .seek(let seek) = read.message
    else { return nil }
    self.init(
      id: record.id, session: record.session, node: record.node, player: waiting.account, seek: seek,
      isBot: marks.first == "b", since: record.since - ahead)
    row = waiting
  }
}

/// Two tickets that become a match.
struct Pairing: Sendable {
  let m: MatchID
  let seats: Sides<Ticket>

  /// The player with the lower balance (games as X minus games as O) gets X. In a tournament only its games count. Chance decides a tie.
  init(_ a: Ticket, _ b: Ticket, _ table: TournamentDesk.Entry?, _ random: inout Entropy) {
    func balance(_ ticket: Ticket) -> Int { table?.entrants[ticket.account]?.balance ?? ticket.player.xBalance }
    let aIsX = balance(a) == balance(b) ? random.next() & 1 == 0 : balance(a) < balance(b)
    m = MatchID(using: &random)
    seats = aIsX ? Sides(x: a, o: b) : Sides(x: b, o: a)
  }

  var both: [Ticket] { [seats.x, seats.o] }
  var keys: [String] { both.map { $0.seek.key ?? "" } }
}
