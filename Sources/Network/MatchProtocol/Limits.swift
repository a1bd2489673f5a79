/// The limits on which both ends of the wire agree. They bound the memory and the time that one end can cost the other.
package enum Limits {
  /// The most bytes of a line from a client; the longest legal line (`hello` with two tokens) has 400.
  package static let lineIn = 4096
  /// The most bytes of a line from a server; a page of 50 rows has 8 KiB.
  package static let lineOut = 16 * 1024
  /// The greatest depth of nested objects and arrays in a line; the deepest legal line has three.
  package static let depth = 4
  /// Malformed lines after which a connection is closed: a person may mistype twice.
  package static let malformedLines = 3
  /// The most characters of a `mid` or `key`, by which the server recognises a repeated command.
  package static let mid = 32
  /// The most characters of an `id`, which the server repeats as `re`.
  package static let id = 32
  /// The most characters of a chat line.
  package static let say = 200
  package static let name = 3...20
  /// The number of the last ply, counted from 0, that a game of Infinite may have.
  package static let ply = 99
  /// The characters of a room code, which stand for 30 random bits. A code is valid for ten minutes, and a player has five tries a minute.
  package static let code = 6
  /// The most rows of a page: 50 rows take about 8 KiB, half of `lineOut`.
  package static let page = 50
  /// The most events of one export: the 500 longest possible events take half of the 256 KiB that may wait for a slow reader.
  package static let events = 500
  /// Milliseconds between two heartbeats.
  package static let heartbeat = 10_000
  /// Milliseconds of silence after which a peer is given up: two heartbeats, and time for a slow network.
  package static let silence = 25_000
  /// Milliseconds of silence after which a client gives up its only server. The client checks once a second, so it tells the player within
  /// `silence`.
  package static let serverSilence = silence - 1000
  /// Milliseconds for each side's first move in a match with a clock.
  package static let firstMove = 30_000
  /// Milliseconds for each move of an untimed match, also the first: an invited friend may not be at the board yet.
  package static let untimedMove = 600_000
  /// The most milliseconds of network delay that the server does not charge to the clock of the player who moves.
  package static let lag = 500
  /// The times, in milliseconds since 1970, that a message may name. Sums of a whole match's times still fit 64 bits.
  package static let times: ClosedRange<Int64> = 0...(1 << 53)
}

/// The versions of the protocol that this build speaks, best first. A new game needs no new version, as a client names its games in `caps`.
package let protocolVersions = [2, 1]
