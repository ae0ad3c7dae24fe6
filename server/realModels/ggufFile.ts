import { singleBytes, type Tensors } from "./tensor";

/** One value of a GGUF header, by its type in the format. */
export type GgufValue =
  | { readonly type: "uint32" | "float32"; readonly value: number }
  | { readonly type: "bool"; readonly value: boolean }
  | { readonly type: "string"; readonly value: string }
  | { readonly type: "strings"; readonly value: readonly string[] }
  | { readonly type: "int32s"; readonly value: readonly number[] };

const MAGIC = "GGUF";
const VERSION = 3;

/** Tensor data starts at a multiple of this, as does each tensor: the format's default. */
const ALIGNMENT = 32;

const TYPES = { uint32: 4, int32: 5, float32: 6, bool: 7, string: 8, array: 9 } as const;
const TENSOR_F32 = 0;

/** A GGUF file, version 3, of tensors in single precision (ggml, docs/gguf.md). */
export function ggufFile(header: Readonly<Record<string, GgufValue>>, tensors: Tensors): Uint8Array {
  const entries = Object.entries(header);
  const parts = [Buffer.from(MAGIC, "latin1"), uint32(VERSION), uint64(tensors.size), uint64(entries.length)];
  for (const [key, value] of entries) parts.push(text(key), ...typed(value));
  const data: Uint8Array[] = [];
  let offset = 0;
  for (const [name, { shape, values }] of tensors) {
    // GGUF names the fastest dimension first.
    parts.push(text(name), uint32(shape.length), ...shape.toReversed().map(uint64), uint32(TENSOR_F32), uint64(offset));
    const bytes = singleBytes(values);
    const gap = padding(bytes.length);
    data.push(bytes, gap);
    offset += bytes.length + gap.length;
  }
  const front = Buffer.concat(parts);
  return Buffer.concat([front, padding(front.length), ...data]);
}

function typed(entry: GgufValue): readonly Buffer[] {
  switch (entry.type) {
    case "uint32":
      return [uint32(TYPES.uint32), uint32(entry.value)];
    case "float32":
      return [uint32(TYPES.float32), float32(entry.value)];
    case "bool":
      return [uint32(TYPES.bool), Buffer.from([entry.value ? 1 : 0])];
    case "string":
      return [uint32(TYPES.string), text(entry.value)];
    case "strings":
      return [...array(TYPES.string, entry.value.length), ...entry.value.map(text)];
    case "int32s":
      return [...array(TYPES.int32, entry.value.length), ...entry.value.map(int32)];
  }
}

const array = (type: number, length: number): readonly Buffer[] => [uint32(TYPES.array), uint32(type), uint64(length)];

const padding = (length: number): Buffer => Buffer.alloc((ALIGNMENT - (length % ALIGNMENT)) % ALIGNMENT);

function text(value: string): Buffer {
  const bytes = Buffer.from(value, "utf8");
  return Buffer.concat([uint64(bytes.length), bytes]);
}

const uint32 = (value: number): Buffer => filled(4, (bytes) => bytes.writeUInt32LE(value));
const int32 = (value: number): Buffer => filled(4, (bytes) => bytes.writeInt32LE(value));
const float32 = (value: number): Buffer => filled(4, (bytes) => bytes.writeFloatLE(value));
const uint64 = (value: number): Buffer => filled(8, (bytes) => bytes.writeBigUInt64LE(BigInt(value)));

function filled(length: number, write: (bytes: Buffer) => void): Buffer {
  const bytes = Buffer.alloc(length);
  write(bytes);
  return bytes;
}
