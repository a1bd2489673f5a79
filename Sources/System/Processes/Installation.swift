import Glibc

/// The running program and its data files, whether in a package, in a folder of its own or in a source tree.
package enum Installation {
  /// The path with links resolved, or as invoked if the system does not report it.
  package static let program: String = {
    var path = [CChar](repeating: 0, count: Int(PATH_MAX))
    let length = readlink("/proc/self/exe", &path, path.count)
    let bytes = path.prefix(max(0, length)).map { UInt8(bitPattern: $0) }
    return bytes.isEmpty ? CommandLine.arguments[0] : String(decoding: bytes, as: UTF8.self)
  }()

  package static let folder = program.lastIndex(of: "/").map { String(program[..<$0]) } ?? "."

  /// The folders searched for assets, in order. Packages have the assets in `share/alina`, source trees in `Assets` above the program.
  package static let assetFolders: [String] = {
    var folder = program.split(separator: "/").dropLast()
    func path(_ names: some Collection<Substring>, _ inside: String) -> String {
      ([""] + names.map(String.init)).joined(separator: "/") + inside
    }
    var folders = [path(folder, ""), path(folder, "/Assets"), path(folder.dropLast(), "/share/alina")]
    for _ in 0..<6 where !folder.isEmpty {
      folder.removeLast()
      folders.append(path(folder, "/Assets"))
    }
    return folders + ["Assets"]
  }()

  package static func asset(_ name: String) -> String? {
    assetFolders.lazy.map { "\($0)/\(name)" }.first { access($0, R_OK) == 0 }
  }
}
