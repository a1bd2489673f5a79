import Base
import Screen

extension PlatformServices {
  static func page() -> PlatformServices {
    let locks = FileLocks(take: { Page.tell(.lock, $0) }, release: { Page.tell(.unlock, $0) })
    var services = PlatformServices(locks: locks)
    services.isPage = true
    services.now = { scriptNow() }
    services.clipboard = { Page.ask(.clipboard).map { String(decoding: $0, as: UTF8.self) } }
    services.setClipboard = { text, told in Page.request(.clipboard, text) { told($0 == "copied") } }
    services.share = { path, told in
      Page.request(.share, path) { told($0 == "copied" ? .copied : $0 == "failed" ? .failed : .sent) }
    }
    services.address = { Page.text(.address, $0) }
    services.paste = { Page.request(.paste, answer: $0) }
    services.setFullScreen = { Page.tell(.fullScreen, $0 ? "1" : "") }
    services.inhibitScreenSaver = { Page.tell(.keepsAwake, $0 ? "1" : "") }
    services.requestAttention = { Page.tell(.attention) }
    services.leavePage = { Page.tell(.leave) }
    services.expectAttention = { Page.tell(.expectAttention) }
    services.setPointingHand = { Page.tell(.hand, $0 ? "1" : "") }
    services.configFolder = { "config" }
    services.dataFolder = { "data" }
    services.files.read = { Page.ask(.file, $0) }
    services.files.write = { (path, bytes) throws(WriteFault) in if !Page.write(path, bytes) { throw .noRoom } }
    services.files.list = { Page.text(.folder, $0).split(separator: "\n").map { String($0) } }
    services.files.delete = { Page.tell(.delete, $0) }
    services.takeText = { place, caption in
      Page.tell(.caption, caption)
      scriptTakeText(
        Double(place?.x ?? 0), Double(place?.y ?? 0), Double(place?.width ?? 0), Double(place?.height ?? 0))
    }
    services.systemLanguage = { Page.text(.language) }
    services.prefersDark = { Page.prefers("dark") }
    services.prefersContrast = { Page.prefers("contrast") }
    services.textPercent = { Int(Page.text(.textPercent)) ?? 100 }
    if Page.prefers("finger") { services.leastTarget = 44 }
    services.timeStamp = { Page.text(.timeStamp) }
    services.zoneMinutes = { Int(Page.text(.zone)) ?? 0 }
    return services
  }
}
