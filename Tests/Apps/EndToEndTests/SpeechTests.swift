import Foundation
import TestSupport
import Testing

/// A library that replaces speech-dispatcher's writes the spoken lines to a file.
@Suite(
  .serialized, .tidy, .enabled(if: WindowProgram.hasDisplay, "needs an X display; ./test brings one"), .needs("gcc"))
struct SpeechTests {
  private static let source = """
    #include <stdio.h>
    #include <stdlib.h>
    #include <unistd.h>
    static char language[16];
    void *spd_open(const char *client, const char *connection, const char *user, int mode) {
      if (getenv("STARTS")) sleep(3);
      return language;
    }
    int spd_set_language(void *c, const char *name) { return snprintf(language, sizeof language, "%s", name) < 0; }
    int spd_say(void *c, int priority, const char *text) {
      FILE *file = fopen(getenv("SAID"), "a");
      fprintf(file, "%s %d %s\\n", language, priority, text);
      fclose(file);
      // Waits for an answer that never comes, as the real library does if speech-dispatcher hangs.
      int ends[2];
      return getenv("HANGS") && pipe(ends) == 0 ? fgetc(fdopen(ends[0], "r")) : 0;
    }
    """

  private func window(
    _ arguments: [String], environment: [String: String] = [:]
  ) throws -> (desk: WindowProgram, said: () -> [String]) {
    let folder = try WindowProgram.newFolder()
    let (source, said) = (folder.appendingPathComponent("speech.c"), folder.appendingPathComponent("said"))
    try Data(SpeechTests.source.utf8).write(to: source)
    try WindowProgram.shell(
      "gcc", "-shared", "-fPIC", "-o", folder.appendingPathComponent("libspeechd.so.2").path, source.path)
    let desk = try WindowProgram(
      ["--level", "1", "--reply", "immediate"] + arguments,
      environment: environment.merging(["LD_LIBRARY_PATH": folder.path, "SAID": said.path]) { $1 }, folder: folder)
    return (
      desk,
      { ((try? String(contentsOf: said, encoding: .utf8)) ?? "").split(separator: "\n").map(String.init) }
    )
  }

  @Test func `With --speak moves are spoken in the player's language`() throws {
    let (desk, said) = try window(["--speak"])
    try desk.click("b2")
    try waitFor(seconds: 20, "a spoken move, not \(said())") {
      said().contains { $0.hasPrefix("en 3 ") && $0.contains(" plays ") } ? () : nil
    }
    #expect(try desk.quit() == 0)
    #expect(desk.complaints == "")
  }

  @Test func `All that is said while speech-dispatcher starts is spoken afterwards, not only the last text`() throws {
    let (desk, said) = try window(["--speak"], environment: ["STARTS": "1"])
    try desk.click("b2")
    try waitFor(seconds: 20, "two moves") { desk.spoken.count { $0.contains(" plays ") } >= 2 ? () : nil }
    // The answer to this key comes while earlier texts still wait, in some games also the explanation of a sign.
    try desk.press("t")
    try waitFor(seconds: 20, "all texts, not \(said())") {
      let texts = desk.spoken
      return texts.count >= 4 && texts.allSatisfy { text in said().contains { $0.contains(text) } } ? () : nil
    }
    #expect(try desk.quit() == 0)
  }

  @Test func `If speech-dispatcher hangs, the window goes on without speech`() throws {
    let (desk, said) = try window(["--speak"], environment: ["HANGS": "1"])
    try desk.click("b2")
    try waitFor(seconds: 20, "a spoken text") { said().isEmpty ? nil : () }
    let before = desk.spoken.count
    try desk.press("t")
    try waitFor(seconds: 20, "an answer") { desk.spoken.count > before ? () : nil }
    #expect(said().count == 1)
    #expect(try desk.quit() == 0)
  }

  @Test func `Without the setting only answers to the player's questions are spoken`() throws {
    let (desk, said) = try window([])
    try desk.click("b2")
    try waitFor(seconds: 20, "two moves") { desk.spoken.count { $0.contains(" plays ") } >= 2 ? () : nil }
    try desk.press("p")
    try waitFor(seconds: 20, "an answer") { said().isEmpty ? nil : () }
    #expect(said().count == 1 && said()[0].contains("O plays "))
    #expect(try desk.quit() == 0)
  }
}
