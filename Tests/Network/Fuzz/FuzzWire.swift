import MatchProtocol
import TicTacToe

/// The entry point for libFuzzer. The first byte selects the size of the pieces in which the rest, a peer's data, arrives.
@_cdecl("LLVMFuzzerTestOneInput")
package func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  guard let start, count > 1 else { return 0 }
  let bytes = UnsafeRawBufferPointer(start: start + 1, count: count - 1)
  let whole = session(bytes, piece: bytes.count)
  precondition(whole == session(bytes, piece: 1 + Int(start[0]) % 7), "cutting the stream changed its meaning")
  var client = LineFramer(limit: Limits.lineOut)
  client.feed(bytes) { piece in
    if case .line(let line) = piece {
      clientLine(line)
      serverLine(line)
      body(line)
    }
    return true
  }
  precondition(client.held <= Limits.lineOut + 1)
  return 0
}

private func session(_ bytes: UnsafeRawBufferPointer, piece: Int) -> [ServerSession.Action] {
  var actions: [ServerSession.Action] = []
  var session = ServerSession(.init(), now: 0)
  for start in stride(from: 0, to: bytes.count, by: piece) {
    let part = UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + piece, bytes.count)])
    session.receive(part, now: 5) { actions.append($0) }
  }
  return actions
}

private func clientLine(_ line: UnsafeRawBufferPointer) {
  guard let parsed = try? ClientLine(line) else { return }
  // A bare command (a line that is not JSON) omits fields that JSON requires, so it cannot always be written as JSON.
  guard line.first == UInt8(ascii: "{") else { return }
  let again = parsed.bytes.dropLast().withUnsafeBytes { raw in try? ClientLine(raw) }
  precondition(again == parsed, "a client's message is not what it says when it is written")
}

private func serverLine(_ line: UnsafeRawBufferPointer) {
  guard let parsed = try? ServerLine(line), parsed.state == nil else { return }
  let again = parsed.message.bytes(re: parsed.re).dropLast().withUnsafeBytes { raw in try? ServerLine(raw) }
  precondition(again?.message == parsed.message && again?.re == parsed.re, "a server's message changes when written")
}

private func body(_ line: UnsafeRawBufferPointer) {
  guard let event = try? MatchEvent(body: Array(line)) else { return }
  precondition((try? MatchEvent(body: event.body)) == event, "an event is not what it says when it is written")
}
