/// The numbers both ends of the wire agree on; each is there to bound what a peer can make the other end hold.
package enum Limits {
  /// Bytes of one line from a client, without its line end; the longest legal one (`hello` with two tokens) has 400.
  package static let lineIn = 4096
  /// Bytes of one line from a server; a page of 50 rows has 8 KiB.
  package static let lineOut = 16 * 1024
  /// Nested objects and arrays of one line; the deepest legal line has three.
  package static let depth = 4
  /// Malformed lines after which a connection is closed: enough for typing errors, few for noise.
  package static let strikes = 3
  /// Characters of a `mid` or `key`.
  package static let mid = 32
  /// Characters of an `id` echoed as `re`.
  package static let id = 32
  /// Characters of a chat line.
  package static let say = 200
  /// Characters of a name, least and most.
  package static let name = 3...20
  /// Characters of a room code: 30 bits, which live ten minutes and allow five tries a minute.
  package static let code = 6
  package static let page = 50
  /// Milliseconds between two heartbeats.
  package static let heartbeat = 10_000
  /// Milliseconds of silence after which a peer is given up: two heartbeats and a slow network.
  package static let silence = 25_000
  /// Most milliseconds a move is forgiven for the network.
  package static let lag = 500
}

/// The versions of the protocol this build speaks, best first. A version is also that of the log's language: who speaks
/// it can fold every kind of event it brought (`MatchEvent.Kind.since`).
package let protocolVersions = [2, 1]
