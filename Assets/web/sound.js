// The page's side of the sound; sound-worklet.js is the side of the audio thread.

const RATE = 48000;
/** The number of batches of events kept until the first device plays, and the number kept for a device that replaces a closed one. */
const [KEPT, RECENT] = [4096, 64];
/** Milliseconds from the first touch until a device that does not play yet counts as missing. */
const PATIENCE = 3000;
/** How often opening a device may fail before the sound counts as missing: the network may be away for a while. */
const MOST_FAILURES = 10;
/** Milliseconds from muting to the release of the device: the engine has faded out by then. */
const FADE = 300;
/** The number of the parameter that mutes (`Knob` of PageSound.swift). */
const MUTED = 3;

const file = name => fetch(new URL(name, import.meta.url)).then(answer => {
  if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
  return answer.arrayBuffer();
});

/**
 * Frames count from the page's start: by the device's clock while it plays, else by the page's, so that a game never stops without sound.
 */
export class Sound {
  /** `late(generation, frame, lateness)` is called for late batches, `running(isOn)` when sound starts or stops, `absent()` if the first touch finds no output. */
  constructor({ late = () => {}, running = () => {}, absent = () => {} } = {}) {
    Object.assign(this, { late, running, absent });
    this.isMissing = !('AudioContext' in globalThis && 'AudioWorkletNode' in globalThis);
    this.isRunning = false;
    this.session = 'ambient';
    this.origin = { frame: 0, time: performance.now() };
    this.clock = null;
    this.last = 0;
    [this.early, this.recent] = [[], []];
    this.failures = 0;
    this.knobs = new Map();
    if (!this.isMissing) this.fetched.catch(() => {});
  }

  /** The files of the module; errors are reported where they are awaited, and the next request fetches again. */
  get fetched() {
    return this.files ??= Promise.all([file('sound.wasm'), file('rules.json')]).catch(error => {
      this.files = null;
      throw error;
    });
  }

  /** Renders a piece's events up to frame `end`. `a4` is in thousandths of a hertz; 1 as `isEven` makes quiet passages louder. */
  async piece(events, rules, a4, end, isEven) {
    const [bytes, pack] = await this.fetched;
    const worker = new Worker(new URL('piece.js', import.meta.url), { type: 'module' });
    try {
      return await new Promise((done, failed) => {
        worker.onmessage = ({ data }) => done(data);
        worker.onerror = event => failed(new Error(event.message));
        worker.postMessage({ bytes, pack, events, rules, a4, end, isEven });
      });
    } finally {
      worker.terminate();
    }
  }

  /** The first unrendered frame, as far as this thread knows; it never decreases. */
  now() {
    const frame = this.clock
      ? this.clock.begun + (this.context.currentTime - this.clock.at) * RATE
      : this.origin.frame + ((performance.now() - this.origin.time) * RATE) / 1000;
    this.last = Math.max(this.last, Math.floor(frame));
    return this.last;
  }

  /** Posts bytes of `ScoreEvent`s, or keeps them until a device plays. Of kept events in the past only pedal and drone have an effect. */
  post(bytes) {
    if (this.isMissing) return;
    const events = bytes.slice().buffer;
    Sound.#keep(events, this.recent, RECENT);
    if (this.clock) this.node.port.postMessage({ events });
    else Sound.#keep(events, this.early, KEPT);
  }

  static #keep(events, batches, most) {
    batches.push(events);
    // Keeps `most` batches: the first one, because it has the event that presses the pedal, and the newest ones.
    if (batches.length > most) batches.splice(1, 1);
  }

  /** Sets a parameter by its number in `sound_set`, now or when the sound starts. */
  set(knob, value) {
    this.knobs.set(knob, value);
    this.node?.port.postMessage({ knob, value });
    if (knob !== MUTED) return;
    clearTimeout(this.fade);
    if (!value && this.isTouched) this.start();
    else if (this.context) this.fade = setTimeout(() => this.context?.suspend().catch(() => {}), FADE);
  }

  /** Whether the page is muted. It then opens no device, as that would interrupt other programs' sound. */
  get isMuted() { return Boolean(this.knobs.get(MUTED)); }

  /** Changes the rules; `name` is a text from `PageSound.name(of:)`. */
  rules(name) {
    this.name = new TextEncoder().encode(name).buffer;
    this.node?.port.postMessage({ rules: this.name });
  }

  /** Called from each touch. */
  start() {
    this.isTouched = true;
    if (this.isMissing || this.isRunning || this.isMuted) return;
    this.ready ??= this.build().catch(error => this.lose(error));
    // Without a sound output the browser reports no error, and the context stays suspended.
    this.patience ??= setTimeout(() => this.isMissing || this.isMuted || this.context?.state !== 'suspended' || this.absent(), PATIENCE);
    this.wake();
  }

  /** Resumes an open device; called within a touch, which some browsers require. */
  async wake() {
    const { context, ready } = this;
    if (!context || this.isRunning || this.isMuted || document.hidden) return;
    try {
      await context.resume();
      await ready;
      if (context === this.context) this.changed();
    } catch {
      // During a telephone call the browser refuses to resume sound; the output is not missing.
      clearTimeout(this.patience);
      this.patience = undefined;
    }
  }

  async build() {
    this.setSession(this.session);
    const make = options => new AudioContext({ latencyHint: 'interactive', ...options });
    let context;
    // Chromium 156 and Firefox 153 accept any rate. If a browser refuses this one, the sound module resamples.
    try { context = make({ sampleRate: RATE }); } catch { context = make(); }
    this.context = context;
    context.onstatechange = () => {
      if (context !== this.context) return;
      this.changed();
      if (context.state === 'closed') this.reopen();
      else if (context.state !== 'interrupted') this.wake();
    };
    this.watch();
    let loaded;
    try {
      loaded = await Promise.all([this.fetched, context.audioWorklet.addModule(new URL('sound-worklet.js', import.meta.url))]);
    } catch (error) {
      if (context !== this.context) return;
      if (++this.failures === MOST_FAILURES) throw error;
      // The network may be back at the next touch. A context does not fetch a module again.
      clearTimeout(this.patience);
      [this.context, this.ready, this.patience] = [];
      context.close().catch(() => {});
      return;
    }
    if (context !== this.context) return;
    const [[bytes, pack]] = loaded;
    this.node = new AudioWorkletNode(context, 'alina-sound', {
      numberOfInputs: 0, outputChannelCount: [2], processorOptions: { bytes, pack },
    });
    this.node.port.onmessage = ({ data }) => this.hear(data);
    this.node.onprocessorerror = () => this.lose('the audio thread stopped');
    for (const [knob, value] of this.knobs) this.node.port.postMessage({ knob, value });
    if (this.name) this.node.port.postMessage({ rules: this.name });
    this.node.connect(context.destination);
  }

  /**
   * `ambient`: other programs' sound goes on, and a telephone's silent mode silences Alina. `playback`: Alina sounds while the screen is
   * off.
   */
  setSession(type) {
    this.session = type;
    if (navigator.audioSession) navigator.audioSession.type = type;
  }

  /** Makes events of the system, in addition to touches, resume a suspended device. */
  watch() {
    if (this.isWatching) return;
    this.isWatching = true;
    // Resuming can succeed once a sound device is connected or, if the system suspended the audio context, once the page is shown again.
    navigator.mediaDevices?.addEventListener?.('devicechange', () => this.wake());
    document.addEventListener('visibilitychange', () => this.wake());
  }

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
    // A report sent before the device last started is outdated.
    if (!this.isRunning || at < this.since) return;
    this.clock = { begun, at };
    for (const events of this.early.splice(0)) this.node.port.postMessage({ events, isEarly: true });
  }

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

  lose(error) {
    console.warn(`Alina plays in silence: ${error}`);
    this.origin = { frame: this.now(), time: performance.now() };
    [this.clock, this.node, this.early, this.isMissing, this.isRunning] = [null, null, [], true, false];
    this.context?.close().catch(() => {});
    this.running(false);
  }
}
