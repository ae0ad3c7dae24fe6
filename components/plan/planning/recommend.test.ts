import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { choose } from "@/solver/cascade/choose/choose";
import type { Knobs } from "@/solver/cascade/explore/exploration";
import type { PolicyChoice } from "@/solver/plan/planSlack";
import { testDispatch } from "../testing/testDispatch";
import { searched, testKnobs } from "../testing/testTables";
import { type Recommendation, recommend } from "./recommend";

const tables = { exploration: searched, dispatch: testDispatch };
const on = (policy: PolicyChoice, more: Partial<Knobs> = {}, tau: number | null = null): Recommendation =>
  recommend(tables, { knobs: { ...testKnobs, ...more }, policy, tau });
const promised = ({ best }: Recommendation) => best?.estimate.qualityLow ?? Number.NEGATIVE_INFINITY;

const knobs: fc.Arbitrary<Knobs> = fc
  .record({
    kind: fc.constantFrom("latency-under-quality" as const, "quality-under-latency" as const, "cost-under-both" as const),
    qualityFloor: fc.integer({ min: 65, max: 84 }),
    latencyBudgetSeconds: fc.option(fc.integer({ min: 1, max: 12 })),
    maxGpus: fc.integer({ min: 1, max: 8 }),
  })
  .map((asked) => ({ ...testKnobs, ...asked }));
const slack = fc.integer({ min: 0, max: 100 }).map((percent) => percent / 100);

describe("the recommendation among policies", () => {
  it("is the choice among cascades where only these are asked for, or slack dispatch is not simulated", () => {
    fc.assert(
      fc.property(knobs, fc.option(slack, { nil: undefined }), (asked, own) => {
        const at: Knobs = own === undefined ? asked : { ...asked, slack: own };
        const { chosen } = choose(searched, at);
        expect(recommend(tables, { knobs: at, policy: "cascade", tau: null }).best?.estimate ?? null).toEqual(chosen);
        expect(recommend({ ...tables, dispatch: null }, { knobs: at, policy: "any", tau: null }).best?.estimate ?? null).toEqual(chosen);
      }),
    );
  });

  it("is never worse on the objective with more kinds of policies to choose from", () => {
    fc.assert(
      fc.property(knobs, (asked) => {
        const all = recommend(tables, { knobs: asked, policy: "any", tau: null }).best?.estimate;
        for (const policy of ["cascade", "slack", "one-model"] as const) {
          const one = recommend(tables, { knobs: asked, policy, tau: null }).best?.estimate;
          if (one === undefined) continue;
          if (asked.kind === "latency-under-quality") expect(all?.latencySeconds).toBeLessThanOrEqual(one.latencySeconds);
          else if (asked.kind === "cost-under-both") expect(all?.costUsdPerRequest).toBeLessThanOrEqual(one.costUsdPerRequest);
          else expect(all?.qualityLow).toBeGreaterThanOrEqual(one.qualityLow);
        }
      }),
    );
  });

  it("never promises less with a larger slack, and keeps within the slack of the fastest of all kinds", () => {
    fc.assert(
      fc.property(knobs, slack, slack, (asked, one, other) => {
        const at = (own: number) => on("any", { ...asked, kind: "latency-under-quality", slack: own });
        const [less, more] = one < other ? [at(one), at(other)] : [at(other), at(one)];
        expect(promised(more)).toBeGreaterThanOrEqual(promised(less));
        if (more.best !== null && more.slack !== null)
          expect(more.best.estimate.latencySeconds).toBeLessThanOrEqual(more.slack.limitSeconds);
      }),
    );
  });

  it("is of the kind that is asked for", () => {
    expect(on("slack").best).toMatchObject({ kind: "slack", estimate: { latencySeconds: 2, gpus: [2, 6] } });
    expect(on("slack", {}, 2).best).toMatchObject({ kind: "slack", point: { tau: 2 } });
    expect(on("one-model").best).toMatchObject({ kind: "one-model", estimate: { routing: 1 } });
    expect(on("slack", { qualityFloor: 95 }).best).toBeNull();
    expect(recommend({ ...tables, dispatch: null }, { knobs: testKnobs, policy: "slack", tau: null }).best).toBeNull();
  });
});
