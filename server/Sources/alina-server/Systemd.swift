import Foundation

/// Notifications to systemd for a service of type `notify`; without effect elsewhere.
enum Systemd {
  static func notify(_ state: String) {
    guard let path = ProcessInfo.processInfo.environment["NOTIFY_SOCKET"] else { return }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    // A leading @ in NOTIFY_SOCKET stands for the zero byte at the start of an abstract socket's name.
    let name = path.hasPrefix("@") ? [0] + Array(path.utf8.dropFirst()) : Array(path.utf8)
    guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
    let text = Array(state.utf8)
    withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        _ = sendto(descriptor, text, text.count, Int32(MSG_NOSIGNAL), $0, length)
      }
    }
  }
}
