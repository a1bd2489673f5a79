import Foundation
import TestSupport
import Testing

@testable import MatchClient

@Suite struct ClientFolderTests {
  private let folder = TemporaryFolder()

  private func open(_ path: String? = nil) -> ClientFolder { ClientFolder(path ?? folder.path, host: "a", port: 1) }

  @Test func `only its owner can read a saved login, which the next start finds`() throws {
    let login = ClientFolder.Credentials(token: "t", account: "Vera", guest: nil, resume: "r")
    #expect(open().save(login))
    #expect(open().credentials == login)
    let path = folder.path + "/servers/a_1.json"
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
  }

  @Test func `a failure to save a login is reported, and no partial file is left`() throws {
    #expect(!open("/proc/alina").save(.init(token: "t")))
    // Saving also fails if a folder with content has the name of the login's file.
    let path = folder.path + "/servers/a_1.json/x"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    #expect(!open().save(.init(token: "t")))
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path + "/servers").sorted() == [
        "a_1.json", "a_1.lock",
      ])
  }

  @Test func `a second program with the same session saves nothing and reports no error`() {
    let first = open()
    #expect(first.save(.init(token: "t")))
    let second = open()
    #expect(second.credentials == nil && second.save(.init(token: "u")))
    #expect(first.credentials?.token == "t")
  }

  @Test func `a released session belongs to the next client, and the last client no longer saves`() {
    let first = open()
    #expect(first.save(.init(token: "t")))
    first.release()
    let second = open()
    #expect(second.credentials?.token == "t" && first.credentials == nil)
    #expect(first.save(.init(token: "u")) && second.credentials?.token == "t")
  }

  @Test func `a node of which only the certificate is remembered leaves its session to another window`() {
    #expect(open().save(.init(token: "t")))
    let node = ClientFolder(folder.path, host: "a", port: 1, hasSession: false)
    #expect(open().credentials?.token == "t" && node.credentials == nil)
    node.pin = "fingerprint"
    #expect(open().pin == "fingerprint")
  }
}
