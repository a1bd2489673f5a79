// The module of the sound, opened in a thread of its own: the audio thread, or that of a piece to keep.

/** What its C library could ask of a system; it never does. */
const libc = Object.fromEntries(['fd_close', 'fd_read', 'fd_seek', 'fd_write', 'random_get', 'proc_exit'].map(name => [name, () => 52]));

/** Opens it for a rate: its exports, and `write`, which puts bytes where it reads them and says how many. */
export function open(bytes, pack, rate) {
  const sound = new WebAssembly.Instance(new WebAssembly.Module(bytes), { wasi_snapshot_preview1: libc }).exports;
  const write = bytes => {
    const place = sound.sound_buffer(bytes.byteLength);
    new Uint8Array(sound.memory.buffer, place, bytes.byteLength).set(new Uint8Array(bytes));
    return bytes.byteLength;
  };
  if (!sound.sound_start(write(pack), rate)) throw new Error('the rules of the score are damaged');
  return { sound, write };
}
