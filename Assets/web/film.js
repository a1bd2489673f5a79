// Records a film of a piece in real time: pictures on a separate canvas, and the sound.

/** The formats that browsers write, the most widely supported first. */
const KINDS = ['video/mp4;codecs="avc1.42E01F,mp4a.40.2"', 'video/webm;codecs="vp8,opus"', 'video/webm'];

/** Milliseconds within which sound starts if there is an output. */
const PATIENCE = 2000;

export const kind = KINDS.find(kind => globalThis.MediaRecorder?.isTypeSupported(kind));

/** Adds the duration in seconds to a WebM file: browsers omit the duration, and players cannot seek without it. */
function withDuration(bytes, seconds) {
  // The id of the element Info (RFC 9559). If 0x84 (a length of 4 bytes) precedes these bytes, they are the value of a SeekID.
  const name = [0x15, 0x49, 0xA9, 0x66];
  const start = bytes.subarray(0, 4096).findIndex((_, i) => bytes[i - 1] !== 0x84 && name.every((byte, k) => bytes[i + k] === byte)) + 4;
  if (start < 4) return bytes;
  // An element's size has one byte more than the size's first byte has leading zero bits.
  const length = Math.clz32(bytes[start]) - 23;
  let size = bytes[start] % 2 ** (8 - length);
  for (let i = 1; i < length; i++) size = size * 256 + bytes[start + i];
  const info = bytes.subarray(start + length, start + length + size);
  const at = info.findIndex((byte, i) => byte === 0x44 && info[i + 1] === 0x89 && (info[i + 2] === 0x84 || info[i + 2] === 0x88));
  if (at >= 0) {
    // Firefox has written 0 as the duration, in 4 or 8 bytes.
    const value = new DataView(bytes.buffer, info.byteOffset + at + 3);
    const [get, set] = info[at + 2] === 0x84 ? ['getFloat32', 'setFloat32'] : ['getFloat64', 'setFloat64'];
    if (!value[get](0)) value[set](0, seconds * 1000);
    return bytes;
  }
  const duration = new DataView(new ArrayBuffer(11));
  [0x44, 0x89, 0x88].forEach((byte, i) => duration.setUint8(i, byte));  // Duration, 8 bytes, in ms
  duration.setFloat64(3, seconds * 1000);
  if (size + 11 >= 2 ** (7 * length) - 1) return bytes;
  const head = bytes.slice(0, start + length);
  let rest = size + 11;
  for (let i = length - 1; i >= 0; i--, rest = Math.floor(rest / 256)) head[start + i] = rest % 256;
  head[start] += 2 ** (8 - length);
  const whole = new Uint8Array(bytes.length + 11);
  whole.set(head);
  whole.set(new Uint8Array(duration.buffer), head.length);
  whole.set(bytes.subarray(head.length), head.length + 11);
  return whole;
}

/**
 * Films what `draw(seconds)` draws, with the sound of the file `wav`; `told` gets the percentage done. Rejects when `signal` is aborted.
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
    // Without a sound output the promise of `resume()` stays pending: after `PATIENCE` ms the film is recorded without sound.
    const isHeard = await Promise.race([context.resume().then(() => true), new Promise(done => setTimeout(done, PATIENCE, false))]);
    const tracks = [...canvas.captureStream(30).getTracks(), ...(isHeard ? output.stream.getTracks() : [])];
    // With an audio codec in the type, Firefox would wait for ever for sound.
    const mimeType = isHeard ? kind : kind.replace(/,[^,"]+"/, '"');
    recorder = new MediaRecorder(new MediaStream(tracks), { mimeType, videoBitsPerSecond: 4_000_000 });
    const type = kind.split(';')[0], parts = [];
    return await new Promise((done, failed) => {
      signal.throwIfAborted();
      signal.onabort = () => failed(signal.reason);
      recorder.onerror = ({ error }) => failed(error);
      recorder.ondataavailable = ({ data }) => parts.push(data);
      recorder.onstop = async () => {
        const bytes = new Uint8Array(await new Blob(parts).arrayBuffer());
        done(new File([withDuration(bytes, buffer.duration)], `${name}.${type.split('/')[1]}`, { type }));
      };
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
