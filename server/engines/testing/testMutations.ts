/** Bytes with a meaning in the format, so that a change of one has an effect. */
const meaningful = Buffer.from('\n\r\t {}"\\,=#:_.+-0eNI\u00ff\u0000');

/** A copy of an exposition with one to eight bytes or runs of bytes changed, inserted, removed, repeated, or cut off to the end. */
export function mutated(bytes: Uint8Array, random: () => number): Uint8Array {
  let copy = Buffer.from(bytes);
  const below = (limit: number): number => Math.floor(random() * limit);
  for (let changes = 1 + below(8); changes > 0; changes -= 1) {
    const at = below(copy.length + 1);
    const byte = random() < 0.5 ? below(256) : (meaningful[below(meaningful.length)] ?? 0);
    const [before, after] = [copy.subarray(0, at), copy.subarray(at)];
    const kind = below(16);
    if (kind < 8 && at < copy.length) copy[at] = byte;
    else if (kind < 11) copy = Buffer.concat([before, Buffer.from([byte]), after]);
    else if (kind < 14) copy = Buffer.concat([before, after.subarray(1 + below(20))]);
    else if (kind < 15) copy = Buffer.concat([before, copy.subarray(Math.max(0, at - below(300)), at), after]);
    else if (random() < 0.2) copy = before;
  }
  return copy;
}
