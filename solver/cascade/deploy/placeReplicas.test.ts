import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { placeReplicas } from "./placeReplicas";

const shape = fc.record({ tp: fc.constantFrom(1, 2, 4, 8), pp: fc.constantFrom(1, 2, 4) });
const nodes = (count: number) => Array.from({ length: count }, (_, index) => ({ name: `node${index + 1}`, gpus: 8 }));

describe("placeReplicas", () => {
  it("gives every GPU to one replica at most and keeps each tensor-parallel group on a node", () => {
    fc.assert(
      fc.property(fc.array(shape, { maxLength: 12 }), (shapes) => {
        const placed = placeReplicas(
          shapes.map((one, key) => ({ key, shape: one })),
          nodes(6),
        );
        if (placed === null) return;
        const used = placed.flatMap(({ placements }) => placements.flatMap(({ node, gpus }) => gpus.map((gpu) => `${node}/${gpu}`)));
        expect(new Set(used).size).toBe(used.length);
        for (const [index, { placements }] of placed.entries()) {
          const { tp, pp } = shapes[index]!;
          expect(placements.reduce((sum, one) => sum + one.gpus.length, 0)).toBe(tp * pp);
          for (const one of placements) expect(one.gpus.length % tp).toBe(0);
        }
      }),
    );
  });

  it("never fails for powers of two whose sum fits nodes of eight", () => {
    fc.assert(
      fc.property(fc.array(shape, { maxLength: 12 }), (shapes) => {
        const wanted = shapes.reduce((sum, { tp, pp }) => sum + tp * pp, 0);
        const placed = placeReplicas(
          shapes.map((one, key) => ({ key, shape: one })),
          nodes(4),
        );
        expect(placed !== null).toBe(wanted <= 32);
      }),
    );
  });

  it("says null when the sum fits but no node has room for a group", () => {
    const six = [
      { name: "a", gpus: 6 },
      { name: "b", gpus: 6 },
    ];
    expect(
      placeReplicas(
        [0, 1, 2].map((key) => ({ key, shape: { tp: 4, pp: 1 } })),
        six,
      ),
    ).toBeNull();
  });
});
