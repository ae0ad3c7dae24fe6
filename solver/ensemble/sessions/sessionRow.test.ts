import fc from "fast-check";
import { expect, it } from "vitest";
import { ranWithin } from "./sessionRow";

const limit = fc.option(fc.integer({ min: 1, max: 300 }));

it("takes a session for one of other limits where neither bounded it, or both did alike", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 500 }), limit, limit, fc.integer({ min: 1, max: 300 }), (prompts, ran, asked, maxSequences) => {
      const bound = (most: number | null): number => Math.min(most ?? maxSequences, maxSequences);
      const isAlike = ranWithin({ prompts, concurrency: ran }, { concurrency: asked, maxSequences });
      if (bound(ran) === bound(asked)) expect(isAlike).toBe(true);
      else expect(isAlike).toBe(prompts <= Math.min(bound(ran), bound(asked)));
    }),
  );
});
