import { open } from './sound-module.js';

onmessage = ({ data: { bytes, pack, events, rules, a4, end, isEven } }) => {
  const { sound, write } = open(bytes, pack, 48000);
  sound.sound_rules(write(new TextEncoder().encode(rules)));
  const count = sound.sound_piece(write(events), Number(end), a4 / 1000, Number(isEven));
  postMessage(new Uint8Array(sound.memory.buffer, sound.sound_buffer(0), count).slice());
};
