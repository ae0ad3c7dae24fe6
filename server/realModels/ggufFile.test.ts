import fc from "fast-check";
import { expect, test } from "vitest";
import { type GgufValue, ggufFile } from "./ggufFile";
import { sizeOf, type Tensor } from "./tensor";
import { readGguf } from "./testing/readGguf";

const entry: fc.Arbitrary<GgufValue> = fc.oneof(
  fc.record({ type: fc.constant("uint32" as const), value: fc.integer({ min: 0, max: 2 ** 32 - 1 }) }),
  fc.record({ type: fc.constant("float32" as const), value: fc.float({ noNaN: true }) }),
  fc.record({ type: fc.constant("bool" as const), value: fc.boolean() }),
  fc.record({ type: fc.constant("string" as const), value: fc.string({ unit: "grapheme" }) }),
  fc.record({ type: fc.constant("strings" as const), value: fc.array(fc.string({ unit: "grapheme" }), { maxLength: 4 }) }),
  fc.record({ type: fc.constant("int32s" as const), value: fc.array(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), { maxLength: 4 }) }),
);

const tensor = fc
  .array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 3 })
  .chain((shape) =>
    fc
      .array(fc.float({ noNaN: true }), { minLength: sizeOf(shape), maxLength: sizeOf(shape) })
      .map((values): Tensor => ({ shape, values: Float32Array.from(values) })),
  );

const names = fc.stringMatching(/^[a-z._0-9]{1,20}$/);

test("any header and any tensors are read back by a reader of the specification, each tensor aligned and its dimensions reversed", () => {
  fc.assert(
    fc.property(fc.dictionary(names, entry), fc.dictionary(names, tensor), (header, tensors) => {
      const read = readGguf(ggufFile(header, new Map(Object.entries(tensors))));
      expect(read.header).toEqual(new Map(Object.entries(header).map(([name, { value }]) => [name, value])));
      expect(read.tensors).toEqual(
        new Map(
          Object.entries(tensors).map(([name, { shape, values }]) => [
            name,
            { dimensions: shape.toReversed(), values: Array.from(values) },
          ]),
        ),
      );
    }),
  );
});
