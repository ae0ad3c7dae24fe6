import fc from "fast-check";
import { expect, test } from "vitest";
import { readSafetensors, safetensorsFile } from "./safetensors";
import { sizeOf, type Tensor } from "./tensor";

const tensors = fc.dictionary(
  fc.stringMatching(/^[a-z.]{1,12}$/),
  fc
    .array(fc.integer({ min: 1, max: 4 }), { maxLength: 3 })
    .chain((shape) =>
      fc
        .array(fc.float({ noNaN: true }), { minLength: sizeOf(shape), maxLength: sizeOf(shape) })
        .map((values): Tensor => ({ shape, values: Float32Array.from(values) })),
    ),
);

/** A file of the given header and data, as the format describes it. */
function fileOf(header: object | string, data: Uint8Array = new Uint8Array()): Uint8Array {
  const json = Buffer.from(typeof header === "string" ? header : JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.length));
  return Buffer.concat([length, json, data]);
}

test("what is written is read back, value by value", () => {
  fc.assert(
    fc.property(tensors, (given) => {
      const wanted = new Map(Object.entries(given));
      expect(readSafetensors(safetensorsFile(wanted))).toEqual(wanted);
    }),
  );
});

test("half precision is read too", () => {
  const file = fileOf({ a: { dtype: "F16", shape: [2], data_offsets: [0, 4] } }, Uint8Array.of(0x00, 0x3c, 0x00, 0xc0));
  expect(readSafetensors(file)).toEqual(new Map([["a", { shape: [2], values: Float32Array.of(1, -2) }]]));
});

test("a file that is cut at any byte is refused", () => {
  const whole = safetensorsFile(new Map([["a", { shape: [3], values: Float32Array.of(1, 2, 3) }]]));
  for (let end = 0; end < whole.length; end += 1) expect(() => readSafetensors(whole.subarray(0, end))).toThrow(RangeError);
});

test("a false header is refused by what is wrong with it", () => {
  const tensor = { dtype: "F32", shape: [1], data_offsets: [0, 4] };
  const four = new Uint8Array(4);
  expect(() => readSafetensors(fileOf("[1]"))).toThrow("its header is no JSON object");
  expect(() => readSafetensors(fileOf({ a: { ...tensor, dtype: "I64" } }, four))).toThrow("tensor a is neither F16 nor F32");
  expect(() => readSafetensors(fileOf({ a: { ...tensor, shape: [2] } }, four))).toThrow("tensor a has another size than its shape");
  expect(() => readSafetensors(fileOf({ a: { ...tensor, data_offsets: [4, 8] } }, four))).toThrow("another size than its shape");
});
