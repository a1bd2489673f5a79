package enum Arguments {
  /// One line about the first argument that is not UTF-8, such as an old file name in Latin-1: `CommandLine.arguments` would contain a
  /// different name.
  package static var fault: String? {
    for number in 1..<max(1, Int(CommandLine.argc)) {
      guard let argument = CommandLine.unsafeArgv[number], String(validatingCString: argument) == nil else { continue }
      var words = ""
      var byte = argument
      while byte.pointee != 0 {
        let value = UInt8(bitPattern: byte.pointee)
        words += (0x20..<0x7F).contains(value) ? String(UnicodeScalar(value)) : "\\x" + String(value, radix: 16)
        byte += 1
      }
      return "argument \(number) is not UTF-8: \(words); rename the file"
    }
    return nil
  }
}
