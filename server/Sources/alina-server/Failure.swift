import ArgumentParser
import Foundation
import MatchStore
import ServerTransport

/// Help goes to standard output, an error is one line on standard error; wrong arguments exit with 2.
enum Failure {
  static func exit(_ error: any Error, of command: any ParsableArguments.Type) -> Never {
    switch error {
    case let error as StoreError: line(error.description, 1)
    case let error as ConfigurationError: line(error.text, 2)
    // An `ExitCode` was thrown after its reason was printed.
    case let code as ExitCode: Foundation.exit(code.rawValue)
    default: break
    }
    switch command.exitCode(for: error) {
    case .success:
      do throws(StoreError) { try writeOut("\(command.fullMessage(for: error))\n".utf8) } catch {
        line(error.description, 1)
      }
      Foundation.exit(0)
    case .validationFailure: line(command.message(for: error), 2)
    default: line("\(error)", 1)
    }
  }

  private static func line(_ text: String, _ code: Int32) -> Never {
    let flat = ConfigurationSources.placed(text).split(separator: "\n").joined(separator: " ")
    LineWriter.errors.write("alina-server: \(flat)\n")
    LineWriter.errors.flush()
    Foundation.exit(code)
  }
}

struct ConfigurationError: Error {
  let text: String
}

extension String {
  /// Throws a one-line error with the path and the reason.
  init(readFrom path: String) throws(StoreError) {
    do { self = try String(contentsOfFile: path, encoding: .utf8) } catch {
      let reason = (error as? CocoaError)?.underlying as? POSIXError
      throw .unusable(
        "cannot read \(path): " + (reason.map { String(cString: strerror($0.code.rawValue)) } ?? "it is not UTF-8 text")
      )
    }
  }
}
