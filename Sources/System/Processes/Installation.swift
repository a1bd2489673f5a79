import Glibc

/// The running program, and where the files that come with it lie: in a package, in a folder of its own or in a source tree.
package enum Installation {
  /// The program's file, with links resolved; as it was called where the system does not tell.
  package static let program: String = {
    var path = [CChar](repeating: 0, count: Int(PATH_MAX))
    let length = readlink("/proc/self/exe", &path, path.count)
    let bytes = path.prefix(max(0, length)).map { UInt8(bitPattern: $0) }
    return bytes.isEmpty ? CommandLine.arguments[0] : String(decoding: bytes, as: UTF8.self)
  }()

  /// Folders that may hold assets, in the order in which they are searched: that of the program, `Assets` in it, `../share/alina`
  /// where packages install them, `Assets` in the folders above the program, and `Assets` here.
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

  /// The path of an asset; `nil` where no folder has it.
  package static func asset(_ name: String) -> String? {
    assetFolders.lazy.map { "\($0)/\(name)" }.first { access($0, R_OK) == 0 }
  }
}
