import { deflateRawSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BLOCK_BUCKETS, RollUpBlock } from "./rollUpBlock";

const level = fc.oneof(fc.integer({ min: -(2 ** 23), max: 2 ** 23 }), fc.double({ min: -1e30, max: 1e30, noNaN: true }));
const samples = fc.array(
  fc.record({
    position: fc.integer({ min: 0, max: BLOCK_BUCKETS - 1 }),
    quantity: fc.constantFrom("running", "kvUse", "größe"),
    value: level,
  }),
  { maxLength: 200 },
);

/** Within the sixteen bits that are kept; whole numbers whole. */
const near = (kept: number, value: number): boolean =>
  Number.isInteger(value) && Math.abs(value) < 2 ** 24 ? kept === value : Math.abs(kept - value) <= Math.abs(value) * 2 ** -16 + 1e-37;

describe("a block of roll-ups", () => {
  it("comes back from its bytes: counts as they were, levels to one part in 65,536", async () => {
    await fc.assert(
      fc.asyncProperty(samples, async (added) => {
        const block = new RollUpBlock();
        for (const { position, quantity, value } of added) block.add(position, quantity, value);
        const back = RollUpBlock.decode(await block.encode());
        for (let position = 0; position < BLOCK_BUCKETS; position += 1) {
          expect(back?.covered(position)).toBe(block.covered(position));
          for (const quantity of ["running", "kvUse", "größe"]) {
            const [was, is] = [block.at(position, quantity), back?.at(position, quantity) ?? null];
            if (was === null || is === null) {
              expect(is).toBe(was);
              continue;
            }
            expect(is.count).toBe(was.count);
            for (const kind of ["min", "max", "mean", "last"] as const) expect(near(is[kind], was[kind])).toBe(true);
          }
        }
      }),
    );
  });

  it("sums up the samples of a bucket", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -1000, max: 1000 }), { minLength: 1, maxLength: 70 }), (values) => {
        const block = new RollUpBlock();
        for (const value of values) block.add(7, "running", value);
        const summary = block.at(7, "running");
        expect(summary).toMatchObject({ min: Math.min(...values), max: Math.max(...values), last: values.at(-1), count: values.length });
        expect(summary?.mean).toBeCloseTo(values.reduce((sum, value) => sum + value, 0) / values.length, 9);
        expect(block.at(8, "running")).toBeNull();
        expect(block.at(7, "kvUse")).toBeNull();
      }),
    );
  });

  it("is not made of bytes that are no block", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(RollUpBlock.decode(Buffer.from(bytes))).toBeNull();
        expect(RollUpBlock.decode(deflateRawSync(bytes))).toBeNull();
      }),
    );
  });
});
