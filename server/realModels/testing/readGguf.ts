/** A GGUF file as its specification describes it (ggml, docs/gguf.md), read without a line of the writer. */
export interface GgufContent {
  readonly header: ReadonlyMap<string, unknown>;
  readonly tensors: ReadonlyMap<string, { readonly dimensions: readonly number[]; readonly values: readonly number[] }>;
}

const ALIGNMENT = 32;

/** Reads a file of F32 tensors; throws where a byte is left over, missing or out of place. */
export function readGguf(bytes: Uint8Array): GgufContent {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  const take = (size: number): number => {
    at += size;
    return at - size;
  };
  const u32 = () => view.getUint32(take(4), true);
  const u64 = () => Number(view.getBigUint64(take(8), true));
  const text = (): string => {
    const length = u64();
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(take(length), at));
  };
  const value = (type: number): unknown => {
    if (type === 4) return u32();
    if (type === 5) return view.getInt32(take(4), true);
    if (type === 6) return view.getFloat32(take(4), true);
    if (type === 7) return [false, true][view.getUint8(take(1))];
    if (type === 8) return text();
    if (type !== 9) throw new Error(`type ${type}`);
    const of = u32();
    return Array.from({ length: u64() }, () => value(of));
  };
  if (new TextDecoder().decode(bytes.subarray(take(4), at)) !== "GGUF" || u32() !== 3) throw new Error("not GGUF 3");
  const [tensorCount, headerCount] = [u64(), u64()];
  const header = new Map<string, unknown>();
  for (let entry = 0; entry < headerCount; entry += 1) header.set(text(), value(u32()));
  const places = Array.from({ length: tensorCount }, () => {
    const name = text();
    const dimensions = Array.from({ length: u32() }, u64);
    if (u32() !== 0) throw new Error("not F32");
    return { name, dimensions, offset: u64() };
  });
  const start = Math.ceil(at / ALIGNMENT) * ALIGNMENT;
  let end = start;
  const tensors = places.map(({ name, dimensions, offset }) => {
    if (offset % ALIGNMENT !== 0 || start + offset !== Math.ceil(end / ALIGNMENT) * ALIGNMENT) throw new Error(`${name} is out of place`);
    const size = dimensions.reduce((product, one) => product * one, 1);
    end = start + offset + 4 * size;
    return [name, { dimensions, values: Array.from({ length: size }, (_, i) => view.getFloat32(start + offset + 4 * i, true)) }] as const;
  });
  if (bytes.length !== Math.ceil(end / ALIGNMENT) * ALIGNMENT) throw new Error("the file does not end with its last tensor");
  return { header, tensors: new Map(tensors) };
}
