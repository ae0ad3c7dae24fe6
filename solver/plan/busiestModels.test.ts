import fc from "fast-check";
import { expect, test } from "vitest";
import { busiestModels } from "./busiestModels";

const engines = fc.uniqueArray(fc.constantFrom("a", "b", "c", "d", "e"), { minLength: 1 });
const work = fc.double({ min: 1e-6, max: 5, noNaN: true });

test("no other set of models has more work for each of its engines", () => {
  fc.assert(
    fc.property(fc.array(fc.record({ work, engines }), { minLength: 1, maxLength: 7 }), (models) => {
      const all = Array.from({ length: 2 ** models.length - 1 }, (_, bits) => models.filter((_model, at) => ((bits + 1) >> at) % 2 === 1));
      const utilisations = all.map((set) => set.reduce((sum, one) => sum + one.work, 0) / new Set(set.flatMap((one) => one.engines)).size);
      const busiest = busiestModels(models);
      expect(busiest.utilisation / Math.max(...utilisations)).toBeCloseTo(1, 9);
      // What is left over has engines of its own.
      for (const one of models.filter((model) => !busiest.models.includes(model)))
        expect(one.engines.some((engine) => !busiest.engines.has(engine))).toBe(true);
    }),
    { numRuns: 300 },
  );
});
