/// The numbers both ends of the wire agree on; each is there to bound what a peer can make the other end hold.
public enum Limits {
  /// Bytes of one line from a client, without its line end; the longest legal one (`hello` with two tokens) has 400.
  public static let lineIn = 4096
  /// Bytes of one line from a server; a page of 50 rows has 8 KiB.
  public static let lineOut = 16 * 1024
  /// Nested objects and arrays of one line; the deepest legal line has three.
  public static let depth = 4
  /// Malformed lines after which a connection is closed: enough for typing errors, few for noise.
  public static let strikes = 3
  /// Characters of a `mid` or `key`.
  public static let mid = 32
  /// Characters of an `id` echoed as `re`.
  public static let id = 32
  /// Characters of a chat line.
  public static let say = 200
  /// Characters of a name, least and most.
  public static let name = 3...20
  /// Characters of a room code: 30 bits, which live ten minutes and allow five tries a minute.
  public static let code = 6
  /// Rows of one page.
  public static let page = 50
  /// Milliseconds between two heartbeats.
  public static let heartbeat = 10_000
  /// Milliseconds of silence after which a peer is given up: two heartbeats and a slow network.
  public static let silence = 25_000
  /// Most milliseconds a move is forgiven for the network.
  public static let lag = 500
}

/// The versions of the protocol this build speaks, best first. A version is also that of the log's language: who speaks
/// it can fold every kind of event it brought (`MatchEvent.Kind.since`).
public let protocolVersions = [2, 1]
