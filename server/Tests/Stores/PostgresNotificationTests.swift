import Foundation
import MatchProtocol
import ServerTestSupport
import Synchronization
import TestSupport
import Testing

@testable import MatchStore
@testable import PostgresStore

@Suite struct PostgresNotificationTests {
  private final class Ear: Sendable {
    private let words = Mutex<[String?]>([])
    func hear(_ text: String?) { words.withLock { $0.append(text) } }
    var heard: [String?] { words.withLock { $0 } }
  }

  @Test func `notifications reach only their node, in order, and a broken connection is restored and reported`() throws
  {
    let url = try PostgresTestBed.shared.freshURL()
    let (a, b) = (try PostgresStore(PGAddress(url)), try PostgresStore(PGAddress(url)))
    let elsewhere = try PostgresStore(PGAddress(PostgresTestBed.shared.freshURL()))
    defer { for store in [a, b, elsewhere] { store.close() } }
    let (ann, bob, cat) = (Ear(), Ear(), Ear())
    a.listen(as: "ann", heard: ann.hear)
    b.listen(as: "bob", heard: bob.hear)
    elsewhere.listen(as: "bob", heard: cat.hear)
    #expect(eventually { ann.heard == [nil] && bob.heard == [nil] && cat.heard == [nil] })
    let longest = String(repeating: "ä", count: longestNotification / 2)
    let texts = (0..<300).map { "notification \($0) ' \" \\ ♟" } + [longest]
    a.publish([("bob", longest + "xx"), ("nobody", "lost")] + texts.map { ("bob", $0) })
    b.publish([("ann", "back")])
    #expect(eventually { bob.heard == [nil] + texts })
    #expect(eventually { ann.heard == [nil, "back"] })
    let listening = """
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE query LIKE 'LISTEN %_bob%' OR pid IN (SELECT pid FROM pg_stat_activity WHERE query = 'SELECT 1')
      """
    // The listening connection may have sent `SELECT 1` last, to test the database.
    #expect(try eventually { try !PostgresTestBed.shared.sql(listening, at: url).isEmpty })
    #expect(eventually { bob.heard.count > texts.count + 1 && bob.heard.last == .some(nil) })
    a.publish([("bob", "again")])
    #expect(eventually { bob.heard.last == "again" })
    #expect(Set(cat.heard) == [nil], "a store in another schema gets no notifications")
    b.close()
    let count = bob.heard.count
    // One commit sends both notifications: when Ann has hers, Bob's would have been sent, too.
    a.publish([("bob", "too late"), ("ann", "last")])
    #expect(eventually { ann.heard.last == "last" })
    #expect(bob.heard.count == count)
  }
}
