import Base
import Testing

@testable import Screen

final class MemoryFiles: @unchecked Sendable {
  var files: [String: [UInt8]] = [:]
  var refuses = false

  var services: PlatformServices {
    var services = Samples.services()
    services.configFolder = { "/config" }
    services.files.read = { [self] in files[$0] }
    services.files.write = { [self] (path, bytes) throws(WriteFault) in
      if refuses { throw .notAllowed }
      files[path] = bytes
    }
    return services
  }

  var text: String {
    get { String(decoding: files["/config/settings"] ?? [], as: UTF8.self) }
    set { files["/config/settings"] = Array(newValue.utf8) }
  }
}

@Suite("The file of settings")
struct SettingsTests {
  @Test("each of two windows writes its own changes and keeps the other's")
  func twoWindows() {
    let disk = MemoryFiles()
    disk.text = "pace = 0.9\n# mine\n"
    let (one, other) = (Settings(services: disk.services), Settings(services: disk.services))
    other.volume = 0.4
    other.store.save()
    one.pace = 1.1
    one.fullScreen = true
    one.store.save()
    #expect(disk.text == "pace = 1.1\n# mine\nvolume = 0.4\nfull-screen = yes\n")
    other.volume = 0.5
    other.store.save()
    #expect(disk.text == "pace = 1.1\n# mine\nvolume = 0.5\nfull-screen = yes\n")
    #expect(other.pace == 0.9, "what this window shows stays as it is")
  }

  @Test("a list extended by another window is merged, and unwritten changes are kept")
  func marksOfTwoWindows() {
    let disk = MemoryFiles()
    let (one, other) = (Settings(services: disk.services), Settings(services: disk.services))
    (one.explained, one.solvedDay, one.streak) = ("fork", 20_000, 6)
    one.store.save()
    other.shownRules = "ultimate"
    other.volume = 0.4
    other.refreshMarks()
    #expect(other.explained == "fork" && other.solvedDay == 20_000 && other.streak == 6)
    #expect(other.shownRules == "ultimate")
    other.explained += " threat"
    other.store.save()
    #expect(Settings(services: disk.services).explained == "fork threat")
    #expect(one.volume == 0.8, "how this window looks and sounds stays as it is")
  }

  @Test("command-line settings apply to the run, are never written, and can be changed by the player")
  func forThisRun() {
    let disk = MemoryFiles()
    disk.text = "pace = 0.9\n"
    let settings = Settings(services: disk.services)
    settings.store.forThisRun {
      settings.pace = 1.2
      settings.fullScreen = true
    }
    #expect(settings.pace == 1.2 && settings.fullScreen)
    settings.volume = 0.4
    settings.store.save()
    #expect(disk.text == "pace = 0.9\nvolume = 0.4\n")
    var told: [Double] = []
    settings.$pace.observe { told.append($0) }
    settings.pace = 0.9
    #expect(settings.pace == 0.9 && told == [1.2, 0.9])
    settings.fullScreen = false
    #expect(!settings.fullScreen)
  }

  @Test("settings of every type are read back by the next start")
  func roundTrip() {
    let disk = MemoryFiles()
    let a = Settings(services: disk.services)
    #expect(a.volume == 0.8)
    a.volume = 0.35
    a.theme = "dark"
    a.reducedMotion = true
    a.reply = .immediate
    a.language = .german
    a.server = "example.net:4000\nevil"
    #expect(a.store.save())
    let b = Settings(services: disk.services)
    #expect(b.volume == 0.35)
    #expect(b.theme == "dark")
    #expect(b.reducedMotion)
    #expect(b.reply == .immediate)
    #expect(b.language == .german)
    #expect(b.server == "example.net:4000 evil")
    #expect(b.store.troubles.isEmpty)
  }

  @Test("a control character in a value leaves the file readable for the next start")
  func controls() {
    let disk = MemoryFiles()
    let settings = Settings(services: disk.services)
    (settings.name, settings.streak) = ("a\u{0}b\u{1B}[2J\u{9B}", 6)
    settings.store.save()
    let next = Settings(services: disk.services)
    #expect(next.store.troubles.isEmpty && next.streak == 6 && next.name == "a b [2J")
  }

  @Test("lines may end as on other systems, and a value may begin with a combining mark")
  func lineEnds() {
    let disk = MemoryFiles()
    disk.text = "# mine\r\nvolume = 0.5\r\ntheme = dark\r\nname = \u{308}Ida\r\n"
    let settings = Settings(services: disk.services)
    #expect(settings.volume == 0.5 && settings.theme == "dark" && settings.name == "\u{308}Ida")
    #expect(settings.store.troubles.isEmpty)
    settings.volume = 0.25
    settings.store.save()
    #expect(disk.text == "# mine\r\nvolume = 0.25\ntheme = dark\nname = \u{308}Ida\n")
  }

  @Test("comments, unknown keys and order in the file are kept")
  func readable() {
    let disk = MemoryFiles()
    disk.text = "# mine\nvolume = 0.5\n\nfuture-thing = 7\ntheme=dark\n"
    let settings = Settings(services: disk.services)
    #expect(settings.volume == 0.5)
    #expect(settings.theme == "dark")
    settings.volume = 0.25
    settings.store.save()
    #expect(disk.text == "# mine\nvolume = 0.25\n\nfuture-thing = 7\ntheme = dark\n")
  }

  @Test("values out of range are clamped")
  func range() {
    let disk = MemoryFiles()
    disk.text = "text-scale = 9\nvolume = -3\n"
    let settings = Settings(services: disk.services)
    #expect(settings.textScale == 2)
    #expect(settings.volume == 0)
    settings.pace = 7
    #expect(settings.pace == 1.3)
  }

  @Test("an invalid value falls back to the default, and its line is reported once")
  func nonsense() {
    let disk = MemoryFiles()
    disk.text = "\nreply = sometimes\nvolume = loud\n"
    let settings = Settings(services: disk.services)
    #expect(settings.reply == .musical)
    #expect(settings.reply == .musical)
    #expect(settings.volume == 0.8)
    #expect(settings.store.troubles == [.line(2), .line(3)])
  }

  @Test("an invalid line is kept and reported, and affects no other setting")
  func strayLine() {
    let disk = MemoryFiles()
    disk.text = "volume = 0.3\nhello there\n= 4\ntheme = dark\n"
    let settings = Settings(services: disk.services)
    #expect(settings.volume == 0.3 && settings.theme == "dark")
    #expect(settings.store.troubles == [.line(2), .line(3)])
    settings.volume = 0.4
    settings.store.save()
    #expect(disk.text == "volume = 0.4\nhello there\n= 4\ntheme = dark\n")
  }

  @Test("a damaged file is set aside, and the game starts with defaults", arguments: 0..<3)
  func corrupt(kind: Int) {
    let disk = MemoryFiles()
    let bytes: [UInt8] = [
      [0xFF, 0xFE, 0x00], Array("volume = 0.3\n\u{0}\u{1}garbage".utf8),
      Array(repeating: 0x61, count: SettingsStore.sizeLimit + 1),
    ][kind]
    disk.files["/config/settings"] = bytes
    let settings = Settings(services: disk.services)
    #expect(settings.volume == 0.8)
    #expect(disk.files["/config/settings.broken"] == bytes)
    #expect(
      settings.store.troubles == [.setAside(path: "/config/settings", aside: "/config/settings.broken")])
    settings.volume = 0.6
    settings.store.save()
    #expect(Settings(services: disk.services).volume == 0.6)
  }

  @Test("an observer is called with the value at once, and then only when the value changes")
  func observers() {
    let settings = Settings(services: MemoryFiles().services)
    var heard: [Double] = []
    settings.$volume.observe { heard.append($0) }
    settings.volume = 0.5
    settings.volume = 0.5
    settings.muted = true
    settings.volume = 9
    #expect(heard == [0.8, 0.5, 1])
  }

  @Test("settings that the player never changed follow the system and are not written; the player can change them")
  func system() {
    let disk = MemoryFiles()
    var services = disk.services
    services.systemLanguage = { "de_AT.UTF-8" }
    services.prefersDark = { true }
    services.textPercent = { 200 }
    let settings = Settings(services: services)
    #expect(settings.language == .german && settings.theme == "dark" && settings.textScale == 2)
    services.prefersContrast = { true }
    #expect(Settings(services: services).theme == "contrast")
    settings.volume = 0.5
    settings.store.save()
    #expect(
      disk.text.contains("volume = 0.5") && ["theme", "language", "text-scale"].allSatisfy { !disk.text.contains($0) })
    settings.theme = "light"
    settings.store.save()
    #expect(Settings(services: services).theme == "light")
  }

  @Test("a failed save loses no setting: the next save writes it")
  func refusal() {
    let disk = MemoryFiles()
    let settings = Settings(services: disk.services)
    settings.volume = 0.1
    disk.refuses = true
    #expect(!settings.store.save())
    #expect(settings.store.needsSaving)
    disk.refuses = false
    #expect(settings.store.save())
    #expect(disk.text.contains("volume = 0.1"))
  }

  @Test("the screen saves after an input, and a change shows at once")
  func live() {
    let disk = MemoryFiles()
    let screen = RootScreen(services: disk.services, themes: Theme.all)
    screen.draw(width: 640, height: 480, at: 0)
    screen.settings.theme = "dark"
    #expect(screen.context.theme.name == "dark")
    #expect(screen.nextFrame(after: 0) == 0)
    screen.handle([], at: 1)
    #expect(disk.text.contains("theme = dark"))
    screen.show(.settings)
    screen.settings.language = .german
    #expect(screen.topScene.title == "Einstellungen")
  }

  @Test("settings that cannot be saved cause no repeated updates of the screen")
  func refusedRest() {
    let disk = MemoryFiles()
    for services in [disk.services, Samples.services()] {
      disk.refuses = true
      let screen = RootScreen(services: services, themes: Theme.all)
      let buffer = PixelBuffer(width: 320, height: 240)
      screen.settings.volume = 0.2
      screen.handle([], at: 1)
      _ = screen.draw(into: buffer.bitmap, isNew: true, at: 1)
      screen.handle([], at: 5)
      _ = screen.draw(into: buffer.bitmap, isNew: false, at: 5)
      #expect(screen.nextFrame(after: 5) > 8)
    }
    #expect(disk.files.isEmpty)
  }
}
