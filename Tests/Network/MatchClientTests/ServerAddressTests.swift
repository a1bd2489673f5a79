import ClientModel
import Testing

@Suite struct ServerAddressTests {
  @Test(arguments: [
    ("b.example", "b.example:4664"), ("b.example:1", "b.example:1"), ("127.0.0.1:65535", "127.0.0.1:65535"),
    ("::1", "[::1]:4664"), ("[::1]", "[::1]:4664"), ("[fe80::1]:7", "[fe80::1]:7"),
    ("a,b:2, [::1]", "a:4664,b:2,[::1]:4664"),
  ])
  func `the port is optional, and nodes are separated by commas`(text: String, whole: String) throws {
    let address = try #require(ServerAddress(text))
    #expect(address.description == whole)
    #expect(ServerAddress(whole) == address)
  }

  @Test(arguments: [
    "", ":4664", "a:", "a:0", "a:65536", "a:x", "[::1", "[::1]4664", "[]", "a b", "http://a", "ä", "a,", ",a",
    "a,,b",
  ])
  func `invalid addresses are refused`(text: String) { #expect(ServerAddress(text) == nil) }

  @Test func `this computer's names are recognised as loopback`() {
    for (text, isHere) in [
      ("localhost", true), ("127.9.9.9:1", true), ("[::1]:1", true), ("localhost.example", false),
      ("127.example.org", false),
    ] {
      #expect(ServerAddress(text)?.first.isLoopback == isHere, "\(text)")
    }
  }
}
