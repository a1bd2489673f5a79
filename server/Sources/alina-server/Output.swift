import MatchStore
import Processes

/// Writes to standard output. `done` is the beginning of the error if that fails: what the command has done already.
func writeOut(_ bytes: some Collection<UInt8>, done: String = "") throws(StoreError) {
  do throws(OutputError) { try writeStandardOutput(bytes) } catch { throw .unusable(done + error.description) }
}

/// Tells in a line what the command has done. If standard output cannot be written, the error tells it too.
func confirm(_ done: String) throws(StoreError) { try writeOut("\(done)\n".utf8, done: "\(done), but ") }
