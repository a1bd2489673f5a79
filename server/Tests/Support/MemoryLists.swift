import MatchStore

extension MemoryContent {
  func players(_ list: PlayerList, _ after: Int64, _ limit: Int) -> [AccountRecord] {
    let found = accounts.values.filter { $0.id > after && list.has($0) }
    return Array(found.sorted { $0.id < $1.id }.prefix(limit))
  }

  mutating func add(_ report: ReportRecord) {
    var report = report
    report.id = (reports.last?.id ?? 0) + 1
    if report.at == 0 { report.at = clock() }
    reports.append(report)
  }

  func reports(_ before: Int64, _ limit: Int) -> [ReportRecord] {
    Array(reports.reversed().lazy.filter { $0.id < before }.prefix(limit)).map(named)
  }

  private func named(_ report: ReportRecord) -> ReportRecord {
    var report = report
    report.name = accounts[report.account]?.name ?? ""
    let match = matches[report.m]?.stored.record
    let opponent = match?.x == report.account ? match?.o : match?.x
    report.opponent = opponent.flatMap { accounts[$0]?.name } ?? ""
    return report
  }
}

extension PlayerList {
  fileprivate func has(_ account: AccountRecord) -> Bool {
    switch self {
    case .named: !account.guest
    case .banned: account.banned
    case .muted: account.muted
    case .guests: account.guest
    }
  }
}
