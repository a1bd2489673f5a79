import Base
import MatchProtocol
import MatchStore

/// The present and the last seek of each connection of this node, by connection and by ticket.
struct SeekDesk: Sendable {
  /// Orders for the lobby, to be carried out in this order.
  enum Output {
    /// Queue a ticket in the store, and pass the answer to `queued`. `hasLostPlace`: its row in the store has disappeared.
    case queue(Ticket, ConnectionID, re: String?, hasLostPlace: Bool)
    /// Delete a ticket in the store. `later`: in 5 s, because the store may still execute the unanswered command that queues it.
    case unqueue(String, later: Bool)
    /// A ticket does not wait any more: remove it from the leader's queue in memory.
    case remove(String)
    /// The store has queued a ticket.
    case waits(Ticket)
    case send(ServerMessage, ConnectionID, re: String?)
    case refuse(Refusal, ConnectionID, re: String?)
    /// The player's ticket was matched: send the player the match.
    case follow(MatchID, ConnectionID, re: String?)
  }

  private struct OpenSeek {
    var ticket: Ticket
    /// Whether the store has queued the ticket.
    var isStored = false
  }

  private var open: [ConnectionID: OpenSeek] = [:]
  /// The last matched ticket of each connection, and its match.
  private var matched: [ConnectionID: (ticket: Ticket, m: MatchID)] = [:]
  private var connections: [String: ConnectionID] = [:]
  /// Connections that withdrew their last seek, perhaps after its ticket was matched.
  private var takenBack: Set<ConnectionID> = []

  var count: Int { open.count }
  var isEmpty: Bool { open.isEmpty }
  /// The connections that seek, in the order in which they were made.
  var seekers: [ConnectionID] { open.keys.sorted() }
  /// The ids of this node's tickets that the store has, sorted.
  var stored: [String] { open.values.filter(\.isStored).map(\.ticket.id).sorted() }

  subscript(id: ConnectionID) -> Ticket? { open[id]?.ticket }

  /// The connection that waits with a ticket.
  func seeker(_ ticket: String) -> ConnectionID? {
    connections[ticket].flatMap { open[$0]?.ticket.id == ticket ? $0 : nil }
  }

  /// The connection whose ticket was matched to `m`; `nil` if the ticket was forgotten, for example because the connection seeks again.
  func seeker(_ ticket: String, ledTo m: MatchID) -> ConnectionID? {
    connections[ticket].flatMap { matched[$0]?.ticket.id == ticket && matched[$0]?.m == m ? $0 : nil }
  }

  func hasTakenBack(_ id: ConnectionID) -> Bool { takenBack.contains(id) }

  // MARK: seeking

  /// The most seeks at one node.
  static let most = 10_000

  /// Queues a new ticket of a connection without a seek.
  mutating func seek(_ ticket: Ticket, _ id: ConnectionID, re: String?) -> [Output] {
    forgetLast(id)
    set(OpenSeek(ticket: ticket), id)
    return [.queue(ticket, id, re: re, hasLostPlace: false)]
  }

  /// A client may repeat its seek with the same key: the ticket keeps its place, and only the consent to bots may change. `nil` if the
  /// connection has no seek. Throws if it has another.
  mutating func seekAgain(_ seek: ClientMessage.Seek, _ id: ConnectionID, re: String?) throws(Refusal) -> [Output]? {
    guard var ticket = open[id]?.ticket else { return nil }
    guard let key = seek.key, ticket.seek.key == key else {
      throw Refusal(.occupied, "this session has a seek already; unseek first")
    }
    var same = ticket.seek
    same.bots = seek.bots
    guard same == seek else { throw .seekKey }
    ticket.seek = seek
    open[id]?.ticket = ticket
    return [.queue(ticket, id, re: re, hasLostPlace: false)]
  }

  /// The answer to `queue`. `ahead`: the store's clock minus the monotonic clock, in ms. `others`: the connections of the player.
  mutating func queued(
    _ asked: Ticket, _ id: ConnectionID, re: String?, _ answer: StoreAnswer?, at now: Int64, ahead: Int64,
    others: [ConnectionID]
  ) -> [Output] {
    let cleanup: [Output] = answer == nil ? [.unqueue(asked.id, later: true)] : []
    guard open[id]?.ticket.id == asked.id else {
      // The seek has ended before this answer, for which the client still waits.
      let ended = cleanup + [.unqueue(asked.id, later: false)]
      guard re != nil else { return ended }
      if let last = matched[id], last.ticket.id == asked.id { return ended + [.follow(last.m, id, re: re)] }
      // The ticket was matched, and the match is over already.
      return ended + [.send(.ok(nil, seq: nil), id, re: re)]
    }
    guard case .queued(let result) = answer else { return cleanup + refuse(.busy, id, re) }
    switch result {
    case .waits(let since):
      open[id]?.ticket.since = min(now, since - ahead)
      open[id]?.isStored = true
      guard let ticket = open[id]?.ticket else { return [] }
      let line = ServerMessage.queued(ticket: ticket.id, waited: Int(now - ticket.since), bots: 0)
      return endReplaced(by: ticket, others) + [.send(line, id, re: re), .waits(ticket)]
    case .led(let m): return match(id, to: m) + [.follow(m, id, re: re)]
    case .purpose: return refuse(.seekKey, id, re)
    case .playing:
      return refuse(Refusal(.occupied, "you are in a match that counts; finish it before the next"), id, re)
    case .unknown: return refuse(.accountGone, id, re)
    }
  }

  /// Ends a seek and tells the player why.
  private mutating func refuse(_ refusal: Refusal, _ id: ConnectionID, _ re: String?) -> [Output] {
    end(id) + [.refuse(refusal, id, re: re)]
  }

  /// Ends the seeks that other sessions of the account made with the same key: in the store, `ticket` has replaced their tickets.
  private mutating func endReplaced(by ticket: Ticket, _ others: [ConnectionID]) -> [Output] {
    guard let key = ticket.seek.key else { return [] }
    var outputs: [Output] = []
    for id in others {
      guard let seek = open[id], seek.isStored, seek.ticket.id != ticket.id, seek.ticket.seek.key == key else {
        continue
      }
      set(nil, id)
      let refusal = Refusal(.midReused, "another session of yours waits with this key")
      outputs += [.remove(seek.ticket.id), .refuse(refusal, id, re: nil)]
    }
    return outputs
  }

  /// Queues a ticket again that no longer waits in the store. If the store refuses the ticket, the seek ends and the client is told why.
  mutating func askForPlace(_ id: ConnectionID) -> [Output] {
    guard let seek = open[id], seek.isStored else { return [] }
    open[id]?.isStored = false
    return [.queue(seek.ticket, id, re: nil, hasLostPlace: true)]
  }

  /// The player withdraws the seek. If the ticket was matched before, the player still gets the match.
  mutating func withdraw(_ id: ConnectionID) -> [Output] {
    if open[id] != nil { takenBack.insert(id) }
    return end(id)
  }

  mutating func end(_ id: ConnectionID) -> [Output] {
    guard let ticket = open[id]?.ticket else { return [] }
    set(nil, id)
    return [.remove(ticket.id), .unqueue(ticket.id, later: false)]
  }

  /// The session of a connection has ended.
  mutating func leave(_ id: ConnectionID) -> [Output] {
    defer { forgetLast(id) }
    return end(id)
  }

  /// Ends the seeks of players who can no longer be paired in a tournament. `refusal`: the reason for an account; `nil` if it can be
  /// paired.
  mutating func endSeeks(in tournament: String, _ refusal: (Int64) -> Refusal?) -> [Output] {
    seekers.flatMap { id -> [Output] in
      guard let seek = open[id], seek.isStored, seek.ticket.seek.terms.tournament == tournament,
        let refusal = refusal(seek.ticket.account)
      else { return [] }
      return withdraw(id) + [.refuse(refusal, id, re: nil)]
    }
  }

  /// Tells a player who has waited for long that bots are available.
  func offer(bots: Int, _ ticket: String, at now: Int64) -> [Output] {
    guard let id = seeker(ticket), let since = open[id]?.ticket.since else { return [] }
    return [.send(.queued(ticket: ticket, waited: Int(now - since), bots: bots), id, re: nil)]
  }

  // MARK: matched tickets

  mutating func match(_ id: ConnectionID, to m: MatchID) -> [Output] {
    guard let ticket = open[id]?.ticket else { return [] }
    set(nil, id)
    forgetLast(id)
    matched[id] = (ticket, m)
    connections[ticket.id] = id
    return [.remove(ticket.id)]
  }

  /// Queues a player's ticket again, because its match `m` ended or vanished before the player was subscribed to it.
  mutating func seekAgain(after m: MatchID, _ id: ConnectionID, re: String?, _ random: inout Entropy) -> [Output] {
    guard let last = matched[id], last.m == m, open[id] == nil else { return [] }
    var ticket = last.ticket
    // The store does not accept the id of a matched ticket again.
    ticket.id = Ticket.makeID(from: &random)
    return seek(ticket, id, re: re)
  }

  /// A match has ended, which the last tickets of these connections may have led to.
  mutating func forget(_ m: MatchID, _ ids: [ConnectionID]) {
    for id in ids where matched[id]?.m == m { forgetLast(id) }
  }

  /// Forgets a connection's last matched ticket, and that the connection withdrew its last seek.
  private mutating func forgetLast(_ id: ConnectionID) {
    takenBack.remove(id)
    if let last = matched.removeValue(forKey: id) { connections[last.ticket.id] = nil }
  }

  private mutating func set(_ seek: OpenSeek?, _ id: ConnectionID) {
    if let old = open[id] { connections[old.ticket.id] = nil }
    open[id] = seek
    if let seek { connections[seek.ticket.id] = id }
  }

  /// The inconsistencies of the state, for tests. `session`: that of a connection.
  func faults(_ session: (ConnectionID) -> String?) -> [String] {
    let lost = open.filter { session($0.key) != $0.value.ticket.session }
    return lost.map { "ticket \($0.value.ticket.id) is sought by nobody" }
  }
}
