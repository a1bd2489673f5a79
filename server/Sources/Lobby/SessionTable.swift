import MatchProtocol
import MatchStore

/// The people at this node: the connections with their requests, the sessions, and the accounts that sessions and matches need.
struct SessionTable: Sendable {
  var connections = ConnectionTable()
  private(set) var sessions = Sessions()
  var accounts = Accounts()
  var tries = Tries()

  func session(of id: ConnectionID) -> Session? { connections[id]?.session.flatMap { sessions[$0] } }

  /// A line as the command of the player who sent it; `nil` if the connection has no session.
  func command(_ line: ClientLine, at: Int64, from id: ConnectionID) -> ClientCommand? {
    guard let session = session(of: id), let account = accounts[session.account] else { return nil }
    let address = connections[id]?.address
    return ClientCommand(id: id, address: address, line: line, at: at, session: session, account: account)
  }

  // MARK: logins

  /// Throws if a client may not log in now. `isBusy`: the store cannot take more work.
  mutating func admit(
    _ hello: ClientMessage.Hello, from id: ConnectionID, isBusy: Bool, _ configuration: LobbyConfiguration, _ now: Int64
  ) throws(LoginFailure) {
    let most = configuration.loginsPerMinute
    if let address = connections[id]?.address, !tries.allow("login \(address)", atMost: most, now) {
      throw .tooManyLogins
    }
    if isBusy { throw .busy }
    guard hello.resume != nil || hello.token != nil || sessions.count < configuration.maxGuests else {
      throw .tooManyGuests
    }
  }

  /// Begins a session on its connection. `first`: requests to handle before those that have arrived during the login.
  mutating func enter(_ session: Session, _ account: AccountRecord, first: [Request]) {
    accounts.cache(account)
    sessions.put(session)
    connections.beginSession(session.id, on: session.connection, first: first)
  }

  /// The question that makes a session's new resume token the only valid one. `nil` unless this line, decoded at `time`, is the first after
  /// the login: it shows that the token has arrived.
  mutating func settle(_ session: Session, at time: Int64) -> StoreQuestion? {
    guard let since = session.unsettledSince, time > since else { return nil }
    sessions.settle(session.id)
    return .settle(session: session.id, generation: session.generation)
  }

  /// Ends a session; `false` if it has ended already.
  mutating func leave(_ session: Session) -> Bool {
    guard sessions[session.id]?.connection == session.connection else { return false }
    connections.endSession(on: session.connection)
    sessions.remove(session.id)
    return true
  }

  var faults: [String] {
    var faults = sessions.faults + connections.faults
    for session in sessions.all {
      if connections[session.connection]?.session != session.id { faults.append("\(session.id) has no connection") }
      if accounts[session.account] == nil { faults.append("\(session.id) has no account") }
    }
    return faults
  }
}
