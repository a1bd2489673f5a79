import Foundation
import TestSupport
import Testing

@Suite(.serialized, .tidy, .enabled(if: WindowProgram.hasDisplay, "needs an X display; ./test brings one"))
struct LANTests {
  private func announce(_ name: String) throws {
    try WindowProgram.shell(
      "python3", "-c",
      """
      import socket
      sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
      sender.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
      sender.sendto(b"alina 1 9 ABC234 \(name)", ("127.255.255.255", 4665))
      """)
  }

  @Test("A room that was announced only while the network page was closed is not shown when the page is opened again")
  func closedPage() throws {
    let desk = try WindowProgram(["--scene", "network"])
    let own = UUID().uuidString.prefix(8)
    func wait(for name: String) throws {
      try waitFor(seconds: 20, "the room of \(name)") {
        try announce(name)
        return desk.page?.controls.contains { $0.words.contains(name) } == true ? () : nil
      }
    }
    try wait(for: "first-\(own)")
    try desk.click("Back")
    try waitFor(seconds: 10, "another page") { desk.page?.name != "network" ? () : nil }
    try announce("closed-\(own)")
    try desk.click("Menu")
    try desk.click("Play online")
    try desk.wait(page: "network")
    try wait(for: "last-\(own)")
    #expect(desk.page?.controls.contains { $0.words.contains("closed-\(own)") } == false)
    #expect(try desk.quit() == 0)
  }

  @Test("A server that never listens is killed, the player is told, and the window keeps working", .long)
  func silentServer() throws {
    let folder = try WindowProgram.newFolder()
    let program = folder.appending(path: "alina")
    try FileManager.default.copyItem(at: WindowProgram.program, to: program)
    for file in ["alina-server", "Assets"] { try? FileManager.default.removeItem(at: folder.appending(path: file)) }
    try FileManager.default.createSymbolicLink(
      at: folder.appending(path: "Assets"), withDestinationURL: repository.appending(path: "Assets"))
    let server = folder.appending(path: "alina-server")
    try Data("#!/bin/sh\ntrap '' TERM\necho $$ >\(folder.path)/pid\nwhile :; do sleep 1; done\n".utf8).write(to: server)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: server.path)
    let desk = try WindowProgram(["--scene", "network"], folder: folder, program: program)
    try desk.click("Host on this network")
    try desk.hear("Could not start a server on this computer.", seconds: 60)
    let pid = try String(contentsOf: folder.appending(path: "pid"), encoding: .utf8)
    #expect(kill(Int32(pid.dropLast()) ?? 0, 0) != 0 && errno == ESRCH)
    #expect(try desk.quit() == 0)
  }
}
