import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { directStartSchema, routerOf, shortestStart, startRouterOf, startRouterSchema, startScores, startText } from "./directStart";

const predictor = "0123456789abcdef".repeat(4);

describe("the scores of a direct start", () => {
  it("mean the same in their shortest form", () => {
    const score = fc.integer({ min: 0, max: 100 });
    fc.assert(
      fc.property(fc.array(score, { minLength: 1, maxLength: 4 }), (scores) => {
        const found = startScores(shortestStart(scores), scores.length + 1);
        expect(found).toEqual(scores[0] === 0 ? scores.map(() => 0) : scores);
        expect(shortestStart(found)).toEqual(shortestStart(scores));
      }),
    );
    expect([shortestStart([]), shortestStart([70]), shortestStart([0, 40])]).toEqual([0, 70, 0]);
  });

  it("are read aloud as one number or one for each stage", () => {
    expect([startText(70), startText([40, 70])]).toEqual(["70", "40 / 70"]);
  });
});

describe("a direct start in a document", () => {
  it("reads documents with one score and a modelled router as they were, so that their hashes stay", () => {
    const known = { below: 70, router: { kind: "modelled", auc: 0.85 } };
    expect(directStartSchema.parse(known)).toEqual(known);
    expect(JSON.stringify(directStartSchema.parse(known))).toBe(JSON.stringify(known));
    expect(startRouterSchema.parse({ auc: 0.85 })).toEqual({ auc: 0.85 });
  });

  it("names a trained router by its predictor, in a policy and in the inputs of a plan", () => {
    const trained = { below: [40, 70], router: { kind: "trained", predictor } };
    expect(directStartSchema.parse(trained)).toEqual(trained);
    for (const router of [{ auc: 0.7 }, { predictor }]) {
      expect(startRouterSchema.parse(router)).toEqual(router);
      expect(startRouterOf(routerOf(router))).toEqual(router);
    }
  });

  it.each([
    { below: 0, router: { kind: "modelled", auc: 0.7 } },
    { below: [], router: { kind: "modelled", auc: 0.7 } },
    { below: [101], router: { kind: "modelled", auc: 0.7 } },
    { below: 50, router: { kind: "trained", predictor: "newest" } },
    { below: 50, router: { kind: "trained" } },
  ])("refuses %j", (document) => {
    expect(directStartSchema.safeParse(document).success).toBe(false);
  });
});
