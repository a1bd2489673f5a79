// Instantiates the sound module in the audio thread, or in the worker that renders a piece.

/** System calls that the module's C library imports but never calls. */
const libc = Object.fromEntries(['fd_close', 'fd_read', 'fd_seek', 'fd_write', 'random_get', 'proc_exit'].map(name => [name, () => 52]));

/** Instantiates the module for a rate; returns its exports and `write`, which copies bytes to its buffer and returns their number. */
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
