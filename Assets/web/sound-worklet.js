// The synthesizer in the audio thread: a module of its own, one block of 128 frames after the other.

/** Frames of the page between two reports of where the sound is, unless something was late. */
const REPORT = 1920;

/** What its C library could ask of a system; it never does. */
const libc = Object.fromEntries(['fd_close', 'fd_read', 'fd_seek', 'fd_write', 'random_get', 'proc_exit'].map(name => [name, () => 52]));

class AlinaSound extends AudioWorkletProcessor {
  constructor({ processorOptions: { bytes, pack } }) {
    super();
    this.reported = 0;
    // Compiled here: a module that is no longer good leaves silence, and the page hears of it.
    try {
      this.sound = new WebAssembly.Instance(new WebAssembly.Module(bytes), { wasi_snapshot_preview1: libc }).exports;
      if (!this.sound.sound_start(this.write(pack), sampleRate)) throw new Error('the rules of the score are damaged');
    } catch (error) {
      this.sound = null;
      this.port.postMessage({ failed: String(error) });
    }
    this.port.onmessage = ({ data }) => this.sound && this.take(data);
  }

  /** Puts bytes where the module reads them. */
  write(bytes) {
    const place = this.sound.sound_buffer(bytes.byteLength);
    new Uint8Array(this.sound.memory.buffer, place, bytes.byteLength).set(new Uint8Array(bytes));
    return bytes.byteLength;
  }

  take({ events, isEarly, resume, knob, value, rules }) {
    if (events) this.sound.sound_post(this.write(events), isEarly ? 1 : 0);
    if (resume !== undefined) {
      this.sound.sound_resume(resume);
      this.reported = -REPORT;
    }
    if (knob !== undefined) this.sound.sound_set(knob, value);
    if (rules) this.sound.sound_rules(this.write(rules));
  }

  process(_inputs, [[left, right]]) {
    if (!this.sound) return false;
    const frames = left.length;
    const place = this.sound.sound_block(frames);
    const block = new Float32Array(this.sound.memory.buffer, place, 2 * frames);
    left.set(block.subarray(0, frames));
    right?.set(block.subarray(frames));
    const late = this.sound.sound_reports();
    const begun = this.sound.sound_begun();
    if (late > 0 || Math.abs(begun - this.reported) >= REPORT) {
      this.reported = begun;
      const reports = new Uint8Array(this.sound.memory.buffer, this.sound.sound_buffer(0), late).slice();
      this.port.postMessage({ begun, at: currentTime + frames / sampleRate, reports });
    }
    return true;
  }
}

registerProcessor('alina-sound', AlinaSound);
