import Base
import Testing

@Suite("SHA-256") struct SHA256Tests {
  @Test func `digests are those of the standard`() {
    let golden = [
      (0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
      (1_000_000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
    ]
    for (count, digest) in golden { #expect(SHA256.hash([UInt8](repeating: 0x61, count: count)).hex == digest) }
    let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    #expect(SHA256.hash(Array("abc".utf8)).hex == abc && SHA256.hash("abc".utf8).hex == abc)
  }

  @Test func `digests of every length below 300 are those of Python's hashlib`() {
    var all: [UInt8] = []
    for n in 0..<300 { all += SHA256.hash((0..<n).map { UInt8(truncatingIfNeeded: $0 * 7 + n) }).bytes }
    // By Python's hashlib, for the concatenation of the 300 digests.
    #expect(SHA256.hash(all).hex == "d5238871a46ac4a1a75ac3fb19d645b0b3b9e5f35f5f720e2b240d605c6b694e")
  }

  @Test func `bytes hashed in any parts give the same digest`() {
    let message = (0..<1_000).map { UInt8(truncatingIfNeeded: $0 * 31 + $0 >> 5) }
    for first in 0...130 {
      for second in [0, 1, 55, 56, 63, 64, 65, 128, 500] {
        var hash = SHA256()
        hash.update(message[..<first])
        // Reading the digest in between must not change the digest of the whole message.
        #expect(hash.digest == SHA256.hash(message[..<first]))
        hash.update(message[first..<first + second])
        hash.update(Array(message[(first + second)...]))
        #expect(hash.digest == SHA256.hash(message), "\(first), \(second)")
      }
    }
    for part in 1...130 {
      var hash = SHA256()
      for begin in stride(from: 0, to: 1_000, by: part) { hash.update(message[begin..<min(begin + part, 1_000)]) }
      #expect(hash.digest == SHA256.hash(message))
    }
  }

  @Test func `a digest is read back from its bytes, and hashing the digest equals hashing these bytes`() {
    for n in 0..<100 {
      let digest = SHA256.hash([UInt8(n)])
      #expect(SHA256.Digest(bytes: digest.bytes) == digest && SHA256.Digest(bytes: digest.bytes.dropLast()) == nil)
      var (a, b) = (SHA256(), SHA256())
      for _ in 0...n {
        a.update(digest)
        b.update(digest.bytes)
      }
      #expect(a.digest == b.digest)
    }
  }
}
