import { z } from "zod";
import { halfValues } from "./halfFloat";
import { singleBytes, singleValues, sizeOf, type Tensor, type Tensors } from "./tensor";

const entrySchema = z.object({
  dtype: z.enum(["F16", "F32"]),
  shape: z.array(z.int().nonnegative()),
  data_offsets: z.tuple([z.int().nonnegative(), z.int().nonnegative()]),
});
const headerSchema = z.record(z.string(), z.unknown());

const BYTES = { F16: 2, F32: 4 } as const;
const LENGTH_BYTES = 8;

/** A length above this is no header of a small model, and would hold up the parser. */
const MOST_HEADER_BYTES = 10_000_000;

/**
 * Reads a safetensors file (https://github.com/huggingface/safetensors, "Format").
 *
 * @throws RangeError with the fault in a few words: a file that is cut off, another type than F16 and F32, offsets that do not fit.
 */
export function readSafetensors(bytes: Uint8Array): Tensors {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.byteLength < LENGTH_BYTES) throw new RangeError("it ends before its header");
  const headerBytes = Number(view.getBigUint64(0, true));
  const data = LENGTH_BYTES + headerBytes;
  if (headerBytes > MOST_HEADER_BYTES || data > bytes.byteLength) throw new RangeError("its header is longer than the file");
  const tensors = new Map<string, Tensor>();
  for (const [name, value] of Object.entries(headerOf(bytes.subarray(LENGTH_BYTES, data)))) {
    if (name === "__metadata__") continue;
    const entry = entrySchema.safeParse(value);
    if (!entry.success) throw new RangeError(`its tensor ${name} is neither F16 nor F32 or lacks its offsets`);
    const { dtype, shape, data_offsets } = entry.data;
    const [start, end] = data_offsets;
    if (end - start !== sizeOf(shape) * BYTES[dtype] || data + end > bytes.byteLength) {
      throw new RangeError(`its tensor ${name} has another size than its shape`);
    }
    const part = bytes.subarray(data + start, data + end);
    tensors.set(name, { shape, values: dtype === "F16" ? halfValues(part) : singleValues(part) });
  }
  return tensors;
}

/** A safetensors file of tensors in single precision. */
export function safetensorsFile(tensors: Tensors): Uint8Array {
  let end = 0;
  const entries = Array.from(tensors, ([name, { shape }]) => {
    const start = end;
    end += sizeOf(shape) * BYTES.F32;
    return [name, { dtype: "F32", shape, data_offsets: [start, end] }] as const;
  });
  const json = JSON.stringify({ __metadata__: { format: "pt" }, ...Object.fromEntries(entries) });
  // Spaces at the end keep the data at a multiple of eight bytes, as the format advises.
  const header = Buffer.from(json.padEnd(Math.ceil(json.length / LENGTH_BYTES) * LENGTH_BYTES), "latin1");
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeBigUInt64LE(BigInt(header.length));
  return Buffer.concat([length, header, ...Array.from(tensors.values(), ({ values }) => singleBytes(values))]);
}

function headerOf(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    return headerSchema.parse(JSON.parse(Buffer.from(bytes).toString("utf8")));
  } catch {
    throw new RangeError("its header is no JSON object");
  }
}
