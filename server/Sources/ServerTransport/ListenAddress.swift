import Foundation
import MatchStore
import NIOCore
import NIOPosix

package enum ListenAddress: Sendable, Hashable, CustomStringConvertible {
  case tcp(host: String, port: Int)
  /// The permissions of the socket's file determine who may connect.
  case socket(path: String)

  /// `HOST:PORT`, `[ADDRESS]:PORT` or `unix:PATH`.
  package var description: String {
    switch self {
    case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    case .socket(let path): "unix:\(path)"
    }
  }

  /// A port 0 is replaced by the port that was picked.
  func bound(to channel: any Channel) -> ListenAddress {
    guard case .tcp(let host, let port) = self else { return self }
    return .tcp(host: host, port: channel.localAddress?.port ?? port)
  }
}

extension ServerBootstrap {
  /// Throws a one-line error with the address. May be called from any thread but an event loop's.
  func listen(at address: ListenAddress) throws -> any Channel {
    do {
      switch address {
      case .tcp(let host, let port): return try bind(host: host, port: port).wait()
      case .socket(let path):
        try ListenAddress.prepareSocket(path)
        let channel = try bind(unixDomainSocketPath: path).wait()
        // Connecting requires write permission: the owner, root and the group have it.
        chmod(path, 0o660)
        return channel
      }
    } catch let error as IOError {
      throw StoreError.unusable("cannot listen on \(address): \(String(cString: strerror(error.errnoCode)))")
    } catch is SocketAddressError.UnknownHost {
      throw StoreError.unusable("cannot listen on \(address): there is no such address")
    } catch is SocketAddressError {
      throw StoreError.unusable("cannot listen on \(address): a socket's path has at most 107 bytes")
    }
  }
}

extension ListenAddress {
  /// Makes the socket's folder, and removes a socket that a server left behind when it was killed.
  fileprivate static func prepareSocket(_ path: String) throws {
    let folder = (path as NSString).deletingLastPathComponent
    try? FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    var file = stat()
    guard stat(path, &file) == 0, file.st_mode & S_IFMT == S_IFSOCK else { return }
    if let descriptor = try? connectSocket(path) {
      close(descriptor)
      throw StoreError.unusable("cannot listen on unix:\(path): another server does")
    }
    unlink(path)
  }

  package static func connectSocket(_ path: String) throws(POSIXError) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let name = Array(path.utf8)
    guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { throw POSIXError(.ENAMETOOLONG) }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
    let descriptor = Foundation.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard result == 0 else {
      let code = errno
      close(descriptor)
      throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO)
    }
    return descriptor
  }
}
