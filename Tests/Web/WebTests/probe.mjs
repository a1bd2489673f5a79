// Passes questions to the module of alina-probe: reads a JSON list of texts from standard input, writes the JSON list of the answers.
// probe.mjs MODULES          writes the answers
// probe.mjs MODULES SECONDS  writes the processor time for that many seconds of the page's sound, in blocks of 128 frames
import { readFileSync } from 'node:fs';

const [folder, seconds] = process.argv.slice(2);
const libc = new Proxy({}, { get: () => () => 52, has: () => true });
const load = name => {
  const module = new WebAssembly.Module(readFileSync(`${folder}/${name}.wasm`));
  const names = WebAssembly.Module.imports(module).map(({ name }) => name);
  return new WebAssembly.Instance(module, { wasi_snapshot_preview1: Object.fromEntries(names.map(name => [name, libc[name]])) }).exports;
};
const rules = readFileSync(`${folder}/rules.json`);
const write = (memory, place, bytes) => new Uint8Array(memory.buffer, place, bytes.length).set(bytes);

if (seconds) {
  const sound = load('sound');
  write(sound.memory, sound.sound_buffer(rules.length), rules);
  if (!sound.sound_start(rules.length, 48000)) throw new Error('sound_start');
  // A chord of forty notes, struck again every two seconds.
  const event = new DataView(new ArrayBuffer(24));
  const begun = process.cpuUsage();
  let generation = 0;
  for (let block = 0; block * 128 < seconds * 48000; block++) {
    if (block % 750 === 0) {
      generation++;
      const events = [];
      for (let note = 0; note < 40; note++) {
        event.setBigInt64(0, BigInt(block * 128), true);
        event.setInt32(8, 90000, true);
        event.setUint32(12, generation, true);
        [0, 0, 36 + note, 70, 0, 0, 0].forEach((value, at) => event.setUint8(16 + at, value));
        events.push(...new Uint8Array(event.buffer));
      }
      write(sound.memory, sound.sound_buffer(events.length), events);
      sound.sound_post(events.length, 0);
    }
    sound.sound_block(128);
  }
  const used = process.cpuUsage(begun);
  console.log(((used.user + used.system) / 1e4 / seconds).toFixed(2));
} else {
  const probe = load('probe');
  write(probe.memory, probe.probe_buffer(rules.length), rules);
  const text = count => new TextDecoder().decode(new Uint8Array(probe.memory.buffer, probe.probe_place(), count).slice());
  const wrong = probe.probe_rules();
  if (wrong) throw new Error(text(wrong));
  const answers = JSON.parse(readFileSync(0, 'utf8')).map(question => {
    const bytes = new TextEncoder().encode(question);
    write(probe.memory, probe.probe_buffer(bytes.length), bytes);
    return text(probe.probe_answer());
  });
  process.stdout.write(JSON.stringify(answers));
}
