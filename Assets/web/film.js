// A film of a piece: pictures on a canvas of its own, and the sound, recorded by the browser in the time that they take.

/** What browsers can write, the best known first. */
const KINDS = ['video/mp4;codecs="avc1.42E01F,mp4a.40.2"', 'video/webm;codecs="vp8,opus"', 'video/webm'];

/** Milliseconds in which a sound begins where there is an output. */
const PATIENCE = 2000;

/** The kind of film that this browser writes, if any. */
export const kind = KINDS.find(kind => globalThis.MediaRecorder?.isTypeSupported(kind));

/**
 * Records the canvas, which `draw(seconds)` draws on, with the bytes of a sound file; `told` hears the percents done. The film as a
 * File of a name without its ending; rejected when `signal` is aborted.
 */
export async function record(name, canvas, wav, { draw, told, signal }) {
  const context = new AudioContext();
  const ticker = new Worker(new URL('ticker.js', import.meta.url));
  let recorder;
  try {
    const buffer = await context.decodeAudioData(wav.buffer);
    const source = new AudioBufferSourceNode(context, { buffer });
    const output = new MediaStreamAudioDestinationNode(context);
    source.connect(output);
    draw(0);
    // A browser without an output lets it wait for ever: then the film is silent.
    const isHeard = await Promise.race([context.resume().then(() => true), new Promise(done => setTimeout(done, PATIENCE, false))]);
    const tracks = [...canvas.captureStream(30).getTracks(), ...(isHeard ? output.stream.getTracks() : [])];
    // Firefox waits for ever for the sound that a type promises.
    const mimeType = isHeard ? kind : kind.replace(/,[^,"]+"/, '"');
    recorder = new MediaRecorder(new MediaStream(tracks), { mimeType, videoBitsPerSecond: 4_000_000 });
    const type = kind.split(';')[0], parts = [];
    return await new Promise((done, failed) => {
      signal.throwIfAborted();
      signal.onabort = () => failed(signal.reason);
      recorder.onerror = ({ error }) => failed(error);
      recorder.ondataavailable = ({ data }) => parts.push(data);
      recorder.onstop = () => done(new File(parts, `${name}.${type.split('/')[1]}`, { type }));
      recorder.start(1000);
      source.start();
      const begun = performance.now();
      ticker.onmessage = () => {
        const seconds = (performance.now() - begun) / 1000;
        if (seconds >= buffer.duration) return recorder.stop();
        draw(seconds);
        told(Math.floor(100 * seconds / buffer.duration));
        ticker.postMessage(33);
      };
      ticker.postMessage(33);
    });
  } finally {
    ticker.terminate();
    if (recorder?.state === 'recording') recorder.stop();
    context.close();
  }
}
