import Base
import MatchProtocol
import TestSupport
import Testing

@testable import MatchStore

extension StoreConformance {
  private static let absences = [Bench.hour, 25 * Bench.hour, 29 * Bench.day, 91 * Bench.day, 365 * Bench.day]
  /// Times in milliseconds since 1970: before signed 32-bit seconds end (2038), after 2100, a year without a leap day, and before unsigned
  /// ones end (2106).
  private static let eras: [Int64] = [2_147_483_000_000, 4_133_980_800_000, 4_294_967_000_000]

  private func come(_ token: String, _ session: String, _ bench: Bench) throws -> LoginResult {
    try bench.login(
      .token(Bench.digest(token), session: session, resume: Bench.digest("r-" + session), lives: Bench.lives))
  }

  @Test(arguments: StoreKind.allCases)
  func `a guest is known for thirty days after the last visit, and a named player for a year`(kind: StoreKind) throws {
    for absence in StoreConformance.absences {
      let bench = try Bench(kind)
      let guest = try bench.guest("Eve").profile.account
      let ann = try bench.player("Ann")
      for session in ["s-Eve", "s-Ann"] { _ = try bench.store.answer(.detach(session: session, generation: 1)) }
      try bench.wait(absence)
      try bench.clean()
      for (i, name) in ["Eve", "t-Ann"].enumerated() {
        guard case .entered(let back) = try come(name, "new-\(i)", bench) else {
          #expect(i == 0 && absence > Bench.lives.guest, "\(name) after \(absence / Bench.hour) h")
          continue
        }
        #expect(back.profile.account.id == [guest.id, ann.id][i])
        #expect(i == 1 || absence < Bench.lives.guest)
      }
      let resumed = try bench.resume("r-Eve", as: "f")
      #expect((resumed == .unknown) == (absence > Bench.lives.guest))
      guard absence > Bench.lives.guest else { continue }
      let again = try bench.guest("Eve").profile.account
      #expect(again.name == guest.name && again.id > ann.id)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a token used once a year never expires, and an unused account does`(kind: StoreKind) throws {
    let bench = try Bench(kind)
    let (ann, bob, eve) = (try bench.player("Ann"), try bench.player("Bob"), try bench.player("Eve"))
    _ = try bench.change(.id(eve.id), .banned(true))
    for name in ["Ann", "Bob", "Eve"] { _ = try bench.store.answer(.detach(session: "s-\(name)", generation: 1)) }
    for year in 1...3 {
      try bench.wait(366 * Bench.day - Bench.hour)
      try bench.clean()
      let back = try bench.entered(
        .token(Bench.digest("t-Ann"), session: "y\(year)", resume: Bench.digest("y\(year)"), lives: Bench.lives))
      #expect(back.profile.account.id == ann.id && back.profile.account.version == ann.version)
      _ = try bench.store.answer(.detach(session: "y\(year)", generation: 1))
      try bench.wait(200 * Bench.day)
      guard case .entered = try bench.resume("y\(year)", as: "z\(year)") else { throw Bench.Unanswered() }
      _ = try bench.store.answer(.detach(session: "y\(year)", generation: 2))
    }
    #expect(try bench.account(bob.id) == nil && come("t-Bob", "s", bench) == .unknown)
    #expect(try bench.account(eve.id)?.banned == true, "a ban does not end by itself")
    let guest = try bench.guest("x").profile.account
    let change = AccountChange.register(name: "Bob", token: Bench.digest("b"), lives: Bench.lives.account)
    guard case .changed = try bench.change(.id(guest.id), change) else { throw Bench.Unanswered() }
  }

  @Test(arguments: StoreKind.allCases)
  func `a session connected for weeks survives its node's death`(kind: StoreKind) throws {
    let bench = try Bench(kind)
    let guest = try bench.guest("Eve").profile.account
    for _ in 0..<20 {
      try bench.wait(3 * Bench.day)
      try bench.clean()
    }
    _ = try bench.heartbeat("b")
    guard case .entered(let back) = try bench.resume("r-Eve", as: "f", at: "b") else { throw Bench.Unanswered() }
    #expect(back.profile.account.id == guest.id && back.generation == 2)
    guard case .entered = try come("Eve", "two", bench) else { throw Bench.Unanswered() }
  }

  @Test(arguments: StoreKind.allCases)
  func `dates beyond 32 bits of seconds work like others`(kind: StoreKind) throws {
    for era in StoreConformance.eras {
      let bench = try Bench(kind, at: era)
      let ann = try bench.player("Ann")
      _ = try bench.store.answer(.detach(session: "s-Ann", generation: 1))
      let time = try bench.now()
      #expect((era...era + Bench.hour).contains(time))
      let m = bench.begin(1, ann.id, created: time, ended: time)
      try bench.wait(30 * Bench.day)
      try bench.clean()
      guard case .entered(let back) = try come("t-Ann", "new", bench) else { throw Bench.Unanswered() }
      #expect(back.session.expires > era + Bench.lives.account)
      #expect(try bench.matches(.history(ann.id, before: .max, limit: 5)).map(\.record.id) == [m])
      #expect(try bench.matches(.history(ann.id, before: time, limit: 5)).isEmpty)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `an address may register a limited number of names a day at all nodes together`(kind: StoreKind) throws {
    let bench = try Bench(kind)
    let stores = [bench.store, try bench.view()]
    var guests = 0
    func register(_ name: String, from address: String, at store: any MatchStore) throws -> ChangeResult {
      guests += 1
      let guest = try bench.guest("guest\(guests)").profile.account
      let change = AccountChange.register(
        name: name, token: Bench.digest(name), lives: 1_000_000,
        quota: NameQuota(address: Bench.digest(address), most: 3))
      guard case .change(let result) = try store.answer(.change(.id(guest.id), change)) else {
        throw Bench.Unanswered()
      }
      return result
    }
    func isRegistered(_ name: String, from address: String, at store: any MatchStore) throws -> Bool {
      if case .changed = try register(name, from: address, at: store) { true } else { false }
    }
    #expect(try isRegistered("Ann", from: "one", at: stores[0]))
    #expect(try register("aNN", from: "one", at: stores[1]) == .nameTaken, "a refused name is not counted")
    #expect(try isRegistered("Bob", from: "one", at: stores[1]))
    #expect(try isRegistered("Cid", from: "one", at: stores[0]))
    for store in stores { #expect(try register("Dan", from: "one", at: store) == .tooMany) }
    #expect(try isRegistered("Dan", from: "two", at: stores[1]))
    try bench.wait(Bench.day)
    #expect(try isRegistered("Eve", from: "one", at: stores[1]))
    try bench.clean()
    for name in ["Fay", "Gil"] { #expect(try isRegistered(name, from: "one", at: stores[0])) }
    #expect(try register("Hal", from: "one", at: stores[0]) == .tooMany, "cleaning keeps the counts of today")
  }

  @Test(arguments: StoreKind.allCases)
  func `a backlog of expired data is cleaned in bounded slices`(kind: StoreKind) throws {
    let bench = try Bench(kind)
    let count = 2 * StoreQuestion.cleanedAtOnce + 10
    let guests = (1...count).map {
      AccountRecord(id: Int64($0), name: "guest-\($0)", guest: true, token: nil, tokenExpires: Int64($0))
    }
    try bench.store.add(guests)
    let question = StoreQuestion.clean(guests: 10, keys: 600_000, lives: Bench.lives)
    #expect(try bench.store.answer(question) == .cleaned(isMore: true))
    #expect(
      try bench.store.accounts().count == count - 2 * StoreQuestion.cleanedAtOnce, "expired and surplus guests")
    #expect(try bench.clean() == 1)
    #expect(try bench.store.accounts().isEmpty)
  }
}
