import Glibc
import Processes
import SDLPlatform

/// A match server on this computer for players on the local network: a child process that ends with the window.
final class LocalServer {
  /// `HOST:PORT` for other players; `nil` if the server did not start.
  let address: String?
  /// The address for browsers; `nil` if the server has no page.
  let page: String?
  private var process: pid_t = 0

  /// Seconds until the start counts as failed. A server usually listens within one second.
  private static let timeout = 10.0

  /// Blocks until the server listens or has failed.
  init(folder: String) {
    let host = LocalServer.ownAddress ?? "127.0.0.1"
    let everywhere = host == "127.0.0.1" ? host : "0.0.0.0"
    // `setpriv --pdeathsig TERM` makes the kernel send SIGTERM to the server when this process ends, even by SIGKILL.
    let arguments =
      [
        "/usr/bin/setpriv", "--pdeathsig", "TERM", "\(Installation.folder)/alina-server", "serve", "--listen",
        "\(everywhere):0",
      ]
      + ["--data", folder, "--page", "\(everywhere):0", "--no-admin"]
      + (everywhere == host ? [] : ["--tls-self-signed"])
    let inherited = ["HOME", "PATH", "LANG", "XDG_DATA_HOME"].compactMap { (name: String) in
      getenv(name).map { "\(name)=\(String(cString: $0))" }
    }
    guard let ends = try? makePipe() else {
      (address, page) = (nil, nil)
      return
    }
    defer { close(ends.reading) }
    process = (try? spawn(arguments, environment: inherited, output: .descriptor(ends.writing))) ?? 0
    close(ends.writing)
    // The server prints `listening HOST:PORT`, then the address for browsers; on failure it exits.
    let end = MonotonicClock.seconds + LocalServer.timeout
    let listening = LocalServer.line(from: ends.reading, until: end)
    let browser = LocalServer.line(from: ends.reading, until: end)
    address = listening.split(separator: ":").last.map { "\(host):\($0)" }
    let words = browser.split(separator: " ").last?.split(separator: ":") ?? []
    page = browser.hasPrefix("in a browser: ") && words.count == 3 ? "\(words[0])://\(host):\(words[2])" : nil
    if address == nil { stop(within: 0) }
  }

  /// At the end of the pipe, at the time `end` of `MonotonicClock` or after 200 bytes, returns the bytes read so far.
  private static func line(from descriptor: Int32, until end: Double) -> String {
    var line: [UInt8] = []
    var byte: UInt8 = 0
    var item = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while line.count < 200 {
      let ready = Int(poll(&item, 1, Int32(max(0, end - MonotonicClock.seconds) * 1_000)))
      let count = ready > 0 ? read(descriptor, &byte, 1) : ready
      if count < 0, errno == EINTR { continue }
      guard count == 1, byte != UInt8(ascii: "\n") else { break }
      line.append(byte)
    }
    return String(decoding: line, as: UTF8.self)
  }

  /// A healthy server ends within 8 s; a server that hangs is killed after `seconds`.
  func stop(within seconds: Double = 10) {
    guard process > 0 else { return }
    kill(process, SIGTERM)
    let end = MonotonicClock.seconds + seconds
    var information = siginfo_t()
    while waitid(P_PID, id_t(process), &information, WEXITED | WNOHANG | WNOWAIT) == 0, information.si_signo == 0 {
      if MonotonicClock.seconds >= end { kill(process, SIGKILL) }
      usleep(10_000)
    }
    _ = reap(process)
    process = 0
  }

  deinit { stop() }

  /// This computer's address on its network: the source address that the system would choose for a datagram. No datagram is sent.
  private static var ownAddress: String? {
    let handle = socket(AF_INET, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard handle >= 0 else { return nil }
    defer { close(handle) }
    // An address reserved for documentation (RFC 5737), so it belongs to no host.
    var far = sockaddr_in(address: inet_addr("192.0.2.1"), port: 9)
    let isFound = far.pass { place, size in
      Glibc.connect(handle, place, size) == 0 && getsockname(handle, place, &size) == 0
    }
    return isFound ? far.host : nil
  }
}
