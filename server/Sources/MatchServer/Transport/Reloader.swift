import Logging
import ServiceLifecycle
import UnixSignals

/// Certificates in files, which can be read again while they are in use.
package protocol RenewableCertificates: Sendable {
  /// Who sees them, for the log.
  var shownTo: String { get }
  /// SHA-256 of the leaf certificate.
  var fingerprint: String { get }
  /// Reads the files again; keeps what it has and throws if they cannot be used.
  func reload() throws
}

/// Reads the certificates again on SIGHUP, so that renewing one needs no restart.
package struct CertificateReloader: Service {
  private let certificates: [any RenewableCertificates]
  private let logger: Logger

  /// Makes the service.
  package init(_ certificates: [any RenewableCertificates], logger: Logger) {
    self.certificates = certificates
    self.logger = logger
  }

  /// Waits for signals until graceful shutdown.
  package func run() async throws {
    for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() {
      for one in certificates {
        do {
          try one.reload()
          logger.notice(
            "certificates read again", metadata: ["fingerprint": "\(one.fingerprint)", "to": "\(one.shownTo)"])
        } catch {
          logger.error(
            "the certificates cannot be used; the old ones stay",
            metadata: ["error": "\(error)", "to": "\(one.shownTo)"])
        }
      }
    }
  }
}

/// Drops the logs of matches older than a number of days, once an hour.
public struct Pruner: Service {
  private let store: any MatchStore
  private let days: Int
  private let logger: Logger

  /// Makes the service.
  public init(_ store: any MatchStore, days: Int, logger: Logger) {
    self.store = store
    self.days = days
    self.logger = logger
  }

  /// Works until graceful shutdown.
  public func run() async throws {
    await cancelWhenGracefulShutdown {
      while !Task.isCancelled {
        do throws(StoreError) {
          let count = try store.prune(before: Moment.current.wall - Int64(days) * 86_400_000)
          if count > 0 { logger.notice("old matches dropped", metadata: ["count": "\(count)"]) }
        } catch { logger.error("cannot drop old matches", metadata: ["error": "\(error)"]) }
        try? await Task.sleep(for: .seconds(3600))
      }
    }
  }
}
