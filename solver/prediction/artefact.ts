import { type Artefact, checkedArtefact } from "./checkedArtefact";

/** First bytes of a file; the format's version, the checksum of all after it, and the header's length follow in four bytes each. */
const MAGIC = "weirpred";

const VERSION = 2;

const PREFIX = MAGIC.length + 12;

/** Alignment of arrays, in bytes. */
const ALIGNMENT = 8;

const arrays = { Float32Array, Uint32Array, Uint16Array, Int16Array } as const;

type ArrayName = keyof typeof arrays;

type Numbers = InstanceType<(typeof arrays)[ArrayName]>;

/** Reference in the header to an array in the body: its first byte there and the number of its values. */
interface Placed {
  readonly array: ArrayName;
  readonly at: number;
  readonly length: number;
}

/** The artefact as bytes: a header in JSON, then its arrays, little-endian. Equal artefacts give equal bytes. */
export function encodeArtefact(artefact: Artefact): Uint8Array {
  const placed: { readonly at: number; readonly numbers: Numbers }[] = [];
  let end = 0;
  const header = new TextEncoder().encode(
    JSON.stringify(artefact, (_, value: unknown) => {
      const array = arrayName(value);
      if (array === null) return value;
      const numbers = value as Numbers;
      const at = aligned(end);
      placed.push({ at, numbers });
      end = at + numbers.byteLength;
      return { array, at, length: numbers.length } satisfies Placed;
    }),
  );
  const body = aligned(PREFIX + header.length);
  const bytes = new Uint8Array(body + end);
  bytes.set(new TextEncoder().encode(MAGIC));
  bytes.set(header, PREFIX);
  for (const { at, numbers } of placed) bytes.set(new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength), body + at);
  const view = new DataView(bytes.buffer);
  view.setUint32(MAGIC.length, VERSION, true);
  view.setUint32(MAGIC.length + 8, header.length, true);
  view.setUint32(MAGIC.length + 4, checksum(bytes.subarray(MAGIC.length + 8)), true);
  return bytes;
}

/**
 * Decodes and fully validates the output of `encodeArtefact`: a right checksum proves nothing about the content.
 *
 * @throws RangeError, in a sentence, for other bytes, another version, truncated or changed bytes, or an artefact that is no trained
 * predictor.
 */
export function decodeArtefact(bytes: Uint8Array): Artefact {
  if (bytes.length < PREFIX || new TextDecoder().decode(bytes.subarray(0, MAGIC.length)) !== MAGIC) {
    throw new RangeError("These bytes are no trained predictor");
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const version = view.getUint32(MAGIC.length, true);
  if (version !== VERSION) throw new RangeError(`This predictor is in format ${version}; this Weir reads format ${VERSION}`);
  if (view.getUint32(MAGIC.length + 4, true) !== checksum(bytes.subarray(MAGIC.length + 8))) {
    throw new RangeError("This predictor is cut off or was changed: its checksum is wrong");
  }
  const headerLength = view.getUint32(MAGIC.length + 8, true);
  const body = bytes.subarray(aligned(PREFIX + headerLength));
  let end = 0;
  let header: unknown;
  try {
    header = JSON.parse(new TextDecoder().decode(bytes.subarray(PREFIX, PREFIX + headerLength)), (_, value: unknown) => {
      if (!isPlaced(value)) return value;
      // One after another, as they were written: otherwise a few bytes could be read as an unlimited number of arrays.
      if (value.at !== aligned(end)) throw new RangeError("its arrays are not one after another");
      end = value.at + value.length * arrays[value.array].BYTES_PER_ELEMENT;
      if (!(end <= body.length)) throw new RangeError("its arrays are longer than its bytes");
      return numbersAt(body, value);
    });
  } catch (problem) {
    throw new RangeError(`This predictor's header cannot be read: ${problem instanceof RangeError ? problem.message : "it is no JSON"}`);
  }
  if (end !== body.length) throw new RangeError("This predictor has bytes that belong to none of its arrays");
  return checkedArtefact(header);
}

const aligned = (at: number): number => Math.ceil(at / ALIGNMENT) * ALIGNMENT;

const arrayName = (value: unknown): ArrayName | null =>
  (Object.keys(arrays) as ArrayName[]).find((name) => value instanceof arrays[name]) ?? null;

function isPlaced(value: unknown): value is Placed {
  if (typeof value !== "object" || value === null) return false;
  const { array, at, length } = value as Partial<Placed>;
  return (
    array !== undefined &&
    Object.hasOwn(arrays, array) &&
    [at, length].every((number) => Number.isSafeInteger(number) && Number(number) >= 0)
  );
}

/** A copy, aligned for the type of the array. */
function numbersAt(body: Uint8Array, { array, at, length }: Placed): Numbers {
  const kind = arrays[array];
  // Not `slice`, which does not copy a Buffer.
  return new kind(new Uint8Array(body.subarray(at, at + length * kind.BYTES_PER_ELEMENT)).buffer);
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  return crc;
});

/** CRC-32 as in IEEE 802.3. */
function checksum(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (crc >>> 8) ^ (CRC_TABLE[(crc ^ byte) & 0xff] ?? 0);
  return (crc ^ 0xffffffff) >>> 0;
}
