// The synthesizer in the audio thread: a separate module that renders blocks of 128 frames.

import { open } from './sound-module.js';

/** Frames (40 ms) between two reports of the sound's position to the page; late batches are reported at once. */
const REPORT = 1920;

class AlinaSound extends AudioWorkletProcessor {
  constructor({ processorOptions: { bytes, pack } }) {
    super();
    this.reported = 0;
    // A module of another version may lack functions or reject the rules. After any error the page goes on without sound.
    try {
      Object.assign(this, open(bytes, pack, sampleRate));
    } catch (error) {
      this.sound = null;
      this.port.postMessage({ failed: String(error) });
    }
    this.port.onmessage = ({ data }) => this.sound && this.take(data);
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
