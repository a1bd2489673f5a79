import NIOCore

/// Players who are only paired: X aborts each match as soon as it begins, and both players seek again.
final class Pairs: @unchecked Sendable {  // confined to the one event loop of the load
  private let loop: any EventLoop
  private(set) var begun = 0
  private(set) var refusals: [String] = []
  private var seeks = 0
  private var isOver = false

  init(_ loop: any EventLoop) { self.loop = loop }

  func join(_ players: Int, ports: [Int]) throws {
    _ = try Link.open(players, ports: ports, on: loop) { _, link in link.onLine = { self.take($0, link) } }
  }

  func stop() { isOver = true }

  private func take(_ line: UnsafeRawBufferPointer, _ link: Link) {
    if line.has(#"{"t":"event","m":""#) {
      guard let body = line.after(#""body":{"k":""#, from: 40), line.has("end", at: body) else { return }
      seek(link)
    } else if line.has(#"{"t":"paired","m":""#) {
      let name = line.word(at: 19)
      guard line.has(#"","side":"x"#, at: 19 + name.utf8.count) else { return }
      begun += 1
      link.send("{\"t\":\"abort\",\"m\":\"\(name)\",\"mid\":\"a\"}\n")
    } else if line.has(#"{"t":"ping""#) {
      link.send("{\"t\":\"pong\",\"ts\":\(line.number(at: 17))}\n")
    } else if line.has(#"{"t":"hello""#) {
      link.send("{\"t\":\"hello\",\"v\":[1],\"client\":\"match-bench\"}\n")
    } else if line.has(#"{"t":"welcome""#) {
      seek(link)
    } else if line.has(#"{"t":"err""#) || line.has(#"{"t":"bye""#) {
      refusals.append(String(decoding: line, as: UTF8.self))
    }
  }

  private func seek(_ link: Link) {
    guard !isOver else { return }
    seeks += 1
    link.send("{\"t\":\"seek\",\"clock\":\"3600+0\",\"rated\":false,\"key\":\"k\(seeks)\"}\n")
  }
}
