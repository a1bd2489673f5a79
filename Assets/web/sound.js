// The page's side of the sound: its clock, what is posted to the audio thread, and when that may begin.

const RATE = 48000;
/** Batches kept for a device that does not play yet. */
const KEPT = 4096;
/** Milliseconds after the first touch within which a device that is there plays. */
const PATIENCE = 3000;

const file = name => fetch(new URL(name, import.meta.url)).then(answer => {
  if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
  return answer.arrayBuffer();
});

/**
 * Frames count from the first moment of the page. While a device plays, `now` follows it; before the first touch, without a device
 * and while one sleeps it goes on by the page's clock, so that a game never stands still for want of sound.
 */
export class Sound {
  /** `late(generation, frame, lateness)` is told of batches that came too late; `running(isOn)` when sound begins or ends; `absent()` if there was no output at the first touch. */
  constructor({ late = () => {}, running = () => {}, absent = () => {} } = {}) {
    Object.assign(this, { late, running, absent });
    this.isMissing = !('AudioContext' in globalThis && 'AudioWorkletNode' in globalThis);
    this.isRunning = false;
    this.origin = { frame: 0, time: performance.now() };
    this.clock = null;
    this.last = 0;
    this.early = [];
    this.knobs = new Map();
    if (!this.isMissing) this.fetched.catch(() => {});
  }

  /** What the module is made of; what goes wrong is told where it is waited for. */
  get fetched() { return this.files ??= Promise.all([file('sound.wasm'), file('rules.json')]); }

  /** Renders the events of a whole piece to a sound file, tuned in thousandths of a hertz, to some seconds after the frame where its last bar ends. */
  async piece(events, rules, a4, end) {
    const [bytes, pack] = await this.fetched;
    const worker = new Worker(new URL('piece.js', import.meta.url), { type: 'module' });
    try {
      return await new Promise((done, failed) => {
        worker.onmessage = ({ data }) => done(data);
        worker.onerror = event => failed(new Error(event.message));
        worker.postMessage({ bytes, pack, events, rules, a4, end });
      });
    } finally {
      worker.terminate();
    }
  }

  /** The first frame whose rendering has not begun, as far as this thread can know; it never goes back. */
  now() {
    const frame = this.clock
      ? this.clock.begun + (this.context.currentTime - this.clock.at) * RATE
      : this.origin.frame + ((performance.now() - this.origin.time) * RATE) / 1000;
    this.last = Math.max(this.last, Math.floor(frame));
    return this.last;
  }

  /** Posts events, as bytes of `ScoreEvent`s; what comes before there is sound waits, and the pedal and the drone are kept. */
  post(bytes) {
    const events = bytes.slice().buffer;
    if (this.clock) return this.node.port.postMessage({ events });
    if (this.isMissing) return;
    this.early.push(events);
    // The first of all holds the pedal.
    if (this.early.length > KEPT) this.early.splice(1, 1);
  }

  /** Turns a knob of the engine (the numbers of `sound_set`); what is turned before there is sound holds once there is. */
  set(knob, value) {
    this.knobs.set(knob, value);
    this.node?.port.postMessage({ knob, value });
  }

  /** Sounds as the rules of a name say. */
  rules(name) {
    this.name = new TextEncoder().encode(name).buffer;
    this.node?.port.postMessage({ rules: this.name });
  }

  /** Begins, or wakes what sleeps: to be called from each touch. */
  async start() {
    if (this.isMissing || this.isRunning) return;
    try {
      this.ready ??= this.build();
      // A browser without an output lets it wait for ever.
      this.patience ??= setTimeout(() => this.isRunning || this.isMissing || this.absent(), PATIENCE);
      // Asked for within the touch, which is all that some browsers go by.
      const resumed = this.context.resume();
      await this.ready;
      await resumed;
      this.changed();
    } catch (error) {
      this.lose(error);
    }
  }

  async build() {
    const context = options => new AudioContext({ latencyHint: 'interactive', ...options });
    try { this.context = context({ sampleRate: RATE }); } catch { this.context = context(); }
    this.context.onstatechange = () => this.changed();
    const wake = () => { if (!this.isRunning && !document.hidden) this.context?.resume().then(() => this.changed(), () => {}); };
    // A context that lost its output finds another one; one that the system put to sleep comes back with the page.
    navigator.mediaDevices?.addEventListener?.('devicechange', wake);
    document.addEventListener('visibilitychange', wake);
    const [[bytes, pack]] = await Promise.all([
      this.fetched, this.context.audioWorklet.addModule(new URL('sound-worklet.js', import.meta.url)),
    ]);
    this.node = new AudioWorkletNode(this.context, 'alina-sound', {
      numberOfInputs: 0, outputChannelCount: [2], processorOptions: { bytes, pack },
    });
    this.node.port.onmessage = ({ data }) => this.hear(data);
    this.node.onprocessorerror = () => this.lose('the audio thread stopped');
    for (const [knob, value] of this.knobs) this.node.port.postMessage({ knob, value });
    if (this.name) this.node.port.postMessage({ rules: this.name });
    this.node.connect(this.context.destination);
  }

  hear({ begun, at, reports, failed }) {
    if (failed) return this.lose(failed);
    const view = new DataView(reports.buffer);
    for (let i = 0; i + 24 <= reports.byteLength; i += 24) {
      this.late(view.getUint32(i, true), Number(view.getBigInt64(i + 8, true)), Number(view.getBigInt64(i + 16, true)));
    }
    // What was said before a sleep is of no use after it.
    if (!this.isRunning || at < this.since) return;
    this.clock = { begun, at };
    for (const events of this.early.splice(0)) this.node.port.postMessage({ events, isEarly: true });
  }

  /** The device plays, or no longer does. */
  changed() {
    if (this.isMissing || !this.node) return;
    const runs = this.context.state === 'running';
    if (runs === this.isRunning) return;
    const frame = this.now();
    this.origin = { frame, time: performance.now() };
    this.clock = null;
    this.isRunning = runs;
    if (runs) {
      this.since = this.context.currentTime;
      this.node.port.postMessage({ resume: frame });
    }
    this.running(runs);
  }

  /** Goes on in silence. */
  lose(error) {
    console.warn(`Alina plays in silence: ${error}`);
    this.origin = { frame: this.now(), time: performance.now() };
    [this.clock, this.node, this.early, this.isMissing, this.isRunning] = [null, null, [], true, false];
    this.context?.close().catch(() => {});
    this.running(false);
  }
}
