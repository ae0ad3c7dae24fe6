/** Repeats shorter than this cost as much as the text they replace. */
const LEAST_MATCH = 4;
/** How many earlier positions with the same beginning are tried for the longest repeat. */
const MOST_TRIED = 64;
/** A longer claimed length is invalid. */
const MOST_BYTES = 4_000_000;

const beginning = (bytes: Uint8Array, at: number): string => String.fromCharCode(...bytes.subarray(at, at + LEAST_MATCH));

function writeNumber(out: number[], value: number): void {
  let rest = value;
  while (rest >= 0x80) {
    out.push((rest & 0x7f) | 0x80);
    rest >>>= 7;
  }
  out.push(rest);
}

/**
 * Packs a text into few characters that an address carries unchanged: repeats become references (LZ77), the rest is base64url. The
 * browser's own compression is asynchronous, and an address is read and written synchronously. `known`, which both sides have, is referred
 * to and not written; packed with another `known` a text cannot be read.
 *
 * @example unpackText(packText("to be or not to be", ""), "") // "to be or not to be"
 */
export function packText(text: string, known: string): string {
  const bytes = new TextEncoder().encode(known + text);
  const start = new TextEncoder().encode(known).length;
  const places = new Map<string, number[]>();
  const note = (at: number) => {
    const key = beginning(bytes, at);
    const list = places.get(key);
    if (list === undefined) places.set(key, [at]);
    else list.push(at);
  };
  const out: number[] = [];
  let literalFrom = start;
  const flush = (to: number) => {
    if (to === literalFrom) return;
    writeNumber(out, (to - literalFrom) * 2);
    for (let at = literalFrom; at < to; at += 1) out.push(bytes[at] ?? 0);
  };
  for (let at = 0; at < start; at += 1) note(at);
  let at = start;
  while (at < bytes.length) {
    let [length, from] = [0, 0];
    for (const place of at + LEAST_MATCH <= bytes.length ? (places.get(beginning(bytes, at)) ?? []).slice(-MOST_TRIED) : []) {
      let same = 0;
      while (at + same < bytes.length && bytes[place + same] === bytes[at + same]) same += 1;
      if (same >= length) [length, from] = [same, place];
    }
    const step = length >= LEAST_MATCH ? length : 1;
    if (step > 1) {
      flush(at);
      writeNumber(out, length * 2 + 1);
      writeNumber(out, at - from);
      literalFrom = at + length;
    }
    for (let each = at; each < at + step; each += 1) note(each);
    at += step;
  }
  flush(bytes.length);
  let binary = "";
  for (const byte of out) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** The unpacked text; null where it is invalid, as in an address that was cut off or typed. */
export function unpackText(packed: string, known: string): string | null {
  if (!/^[\w-]*$/.test(packed) || packed.length % 4 === 1) return null;
  const binary = atob(packed.replaceAll("-", "+").replaceAll("_", "/"));
  const start = new TextEncoder().encode(known);
  const bytes: number[] = [...start];
  let at = 0;
  const readNumber = (): number => {
    let [value, scale] = [0, 1];
    while (at < binary.length && scale < 2 ** 35) {
      const byte = binary.charCodeAt(at);
      at += 1;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 128;
    }
    return Number.NaN;
  };
  while (at < binary.length) {
    const token = readNumber();
    const length = Math.floor(token / 2);
    if (!(length > 0 && bytes.length + length <= MOST_BYTES)) return null;
    if (token % 2 === 0) {
      if (at + length > binary.length) return null;
      for (let each = 0; each < length; each += 1) bytes.push(binary.charCodeAt(at + each));
      at += length;
    } else {
      const distance = readNumber();
      if (!(distance > 0 && distance <= bytes.length)) return null;
      for (let each = 0; each < length; each += 1) bytes.push(bytes[bytes.length - distance] ?? 0);
    }
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(bytes.slice(start.length)));
  } catch {
    return null;
  }
}
