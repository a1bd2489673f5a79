import Testing

@testable import WindowLogic

@Suite("Rooms on this network")
struct BeaconTests {
  @Test("a room's datagram survives a round trip with any name; other datagrams are ignored")
  func datagram() {
    for name in ["Vera", "Ida von B.", "ぎん", "e\u{301}", "\u{308}a"] {
      let beacon = Announcement(port: 4_664, code: "ABC234", name: name)
      #expect(Announcement(beacon.bytes) == beacon)
    }
    let wrong = [
      "", "alina", "alina 1 0 ABC Ida", "alina 1 99999 ABC Ida", "alina 2 1 ABC Ida", "alina 1 1 A\u{1}C Ida",
      "alina 1 1 ABC \u{7}", "alina 1 1 ABC \u{9B}2J", "alina 1 1 ABC ",
      "alina 1 1 " + String(repeating: "A", count: 17) + " Ida",
      "alina 1 1 ABC " + String(repeating: "x", count: 41), "SSDP",
    ]
    for text in wrong { #expect(Announcement(Array(text.utf8)) == nil, "\(text)") }
    #expect(Announcement([0xFF, 0xFE]) == nil)
  }

  @Test("a silent room disappears, and the list is bounded")
  func lifetime() {
    var neighbours = Neighbours()
    let room = Announcement(port: 1, code: "ABC234", name: "Ida")
    neighbours.hear(room, from: "10.0.0.2", at: 0)
    neighbours.hear(room, from: "10.0.0.2", at: 5)
    #expect(neighbours.rooms(at: 11).map(\.address) == ["10.0.0.2:1"])
    #expect(neighbours.rooms(at: 12.1).isEmpty)
    for number in 0..<99 { neighbours.hear(Announcement(port: 1, code: "A", name: "\(number)"), from: "h", at: 20) }
    #expect(neighbours.rooms(at: 20).count == 32)
    for number in 0..<99 { neighbours.hear(Announcement(port: 1, code: "A", name: "\(number)"), from: "h", at: 25) }
    #expect(neighbours.rooms(at: 30).count == 32, "a full list still hears the rooms that it has")
  }
}
