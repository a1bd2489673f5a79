// The page's side of the sound: its clock, what is posted to the audio thread, and when that may begin.

const RATE = 48000;
/** Batches kept for a device that does not play yet, and those of a device that plays, for another one in its place. */
const [KEPT, RECENT] = [4096, 64];
/** Milliseconds after the first touch within which a device that is there plays. */
const PATIENCE = 3000;
/** Milliseconds until a muted page lets go of the device: by then the engine has faded out. */
const FADE = 300;
/** The number of the knob that mutes (`Knob` of PageSound.swift). */
const MUTED = 3;

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
    [this.early, this.recent] = [[], []];
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
    if (this.isMissing) return;
    const events = bytes.slice().buffer;
    Sound.#keep(events, this.recent, RECENT);
    if (this.clock) this.node.port.postMessage({ events });
    else Sound.#keep(events, this.early, KEPT);
  }

  static #keep(events, batches, most) {
    batches.push(events);
    // The first of all holds the pedal.
    if (batches.length > most) batches.splice(1, 1);
  }

  /** Turns a knob of the engine (the numbers of `sound_set`); what is turned before there is sound holds once there is. */
  set(knob, value) {
    this.knobs.set(knob, value);
    this.node?.port.postMessage({ knob, value });
    if (knob !== MUTED) return;
    clearTimeout(this.fade);
    if (!value && this.isTouched) this.start();
    else if (this.context) this.fade = setTimeout(() => this.context?.suspend().catch(() => {}), FADE);
  }

  /** A muted page opens no device, which would end what other programs play. */
  get isMuted() { return Boolean(this.knobs.get(MUTED)); }

  /** Sounds as the rules of a name say. */
  rules(name) {
    this.name = new TextEncoder().encode(name).buffer;
    this.node?.port.postMessage({ rules: this.name });
  }

  /** Begins, or wakes what sleeps, unless the page is muted: to be called from each touch. */
  start() {
    this.isTouched = true;
    if (this.isMissing || this.isRunning || this.isMuted) return;
    this.ready ??= this.build().catch(error => this.lose(error));
    // A browser without an output lets it wait for ever.
    this.patience ??= setTimeout(() => this.isMissing || this.isMuted || this.context?.state !== 'suspended' || this.absent(), PATIENCE);
    this.wake();
  }

  /** Asks a device that was opened to play. Within a touch, as some browsers go by that only. */
  async wake() {
    const { context, ready } = this;
    if (!context || this.isRunning || this.isMuted || document.hidden) return;
    try {
      await context.resume();
      await ready;
      if (context === this.context) this.changed();
    } catch {
      // Refused during a telephone call: asked again at the next touch, and when the call has ended.
      clearTimeout(this.patience);
      this.patience = undefined;
    }
  }

  async build() {
    // Mixed with what other programs play, and silent where the telephone is.
    if (navigator.audioSession) navigator.audioSession.type = 'ambient';
    const make = options => new AudioContext({ latencyHint: 'interactive', ...options });
    let context;
    try { context = make({ sampleRate: RATE }); } catch { context = make(); }
    this.context = context;
    context.onstatechange = () => {
      if (context !== this.context) return;
      this.changed();
      if (context.state === 'closed') this.reopen();
      else if (context.state !== 'interrupted') this.wake();
    };
    this.watch();
    const [[bytes, pack]] = await Promise.all([
      this.fetched, context.audioWorklet.addModule(new URL('sound-worklet.js', import.meta.url)),
    ]);
    if (context !== this.context) return;
    this.node = new AudioWorkletNode(context, 'alina-sound', {
      numberOfInputs: 0, outputChannelCount: [2], processorOptions: { bytes, pack },
    });
    this.node.port.onmessage = ({ data }) => this.hear(data);
    this.node.onprocessorerror = () => this.lose('the audio thread stopped');
    for (const [knob, value] of this.knobs) this.node.port.postMessage({ knob, value });
    if (this.name) this.node.port.postMessage({ rules: this.name });
    this.node.connect(context.destination);
  }

  /** Wakes what sleeps also without a touch. */
  watch() {
    if (this.isWatching) return;
    this.isWatching = true;
    // A context that lost its output finds another one; one that the system put to sleep comes back with the page.
    navigator.mediaDevices?.addEventListener?.('devicechange', () => this.wake());
    document.addEventListener('visibilitychange', () => this.wake());
  }

  /** Opens another device in place of one that the browser has closed. */
  reopen() {
    [this.context, this.node, this.ready] = [];
    this.early = [...this.recent];
    this.start();
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
