/// An error of the user, an engine or the system, in one line.
package struct ArenaError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Decides the exit code.
  package enum Kind: Sendable, Hashable {
    /// A bad argument or file: exit code 2.
    case badInput
    /// An engine did not complete its handshake: exit code 1.
    case handshake
    /// The system lacks processes, descriptors, memory or disk space: exit code 3.
    case resourceExhausted
  }

  package let kind: Kind
  /// Says what is wrong, and which values are allowed.
  package let description: String

  package init(_ description: String, kind: Kind = .badInput) {
    (self.kind, self.description) = (kind, description)
  }

  package static func resourceExhausted(_ what: String) -> ArenaError {
    ArenaError("the system has no more \(what); try fewer --threads, or raise its limits", kind: .resourceExhausted)
  }
}
