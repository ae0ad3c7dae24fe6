import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { choose, promisedQuality } from "../cascade/choose/choose";
import type { Knobs } from "../cascade/explore/exploration";
import { choosePolicy, type PolicyCandidate } from "./choosePolicy";
import { anyCascades, anyDispatch, anyKnobs, slackPairs } from "./testing/testDispatch";

const any = { asked: "any", tau: null } as const;

/** What the objective minimises. */
const objectiveValue = (knobs: Knobs) => (one: PolicyCandidate | null) => {
  if (one === null) return Number.POSITIVE_INFINITY;
  const values = {
    "latency-under-quality": one.latencySeconds,
    "quality-under-latency": -promisedQuality(knobs)(one),
    "cost-under-both": one.costUsdPerRequest,
  };
  return values[knobs.kind];
};

describe("choosePolicy", () => {
  it("recommends of all kinds one that no kind alone beats on the objective", () => {
    fc.assert(
      fc.property(anyCascades, anyDispatch, anyKnobs, (exploration, dispatch, knobs) => {
        const value = objectiveValue(knobs);
        const best = value(choosePolicy({ exploration, dispatch }, knobs, any).chosen);
        for (const asked of ["cascade", "one-model", "slack"] as const)
          expect(best).toBeLessThanOrEqual(value(choosePolicy({ exploration, dispatch }, knobs, { asked, tau: null }).chosen));
      }),
    );
  });

  it("chooses of cascades what the tables of cascades choose", () => {
    fc.assert(
      fc.property(anyCascades, anyKnobs, (exploration, knobs) => {
        const { chosen } = choosePolicy({ exploration, dispatch: null }, knobs, { asked: "cascade", tau: null });
        expect(chosen?.policy === "cascade" ? chosen.candidate : null).toEqual(choose(exploration, knobs).chosen);
      }),
    );
  });

  it("names a model alone by its routing in the whole exploration", () => {
    fc.assert(
      fc.property(anyCascades, anyKnobs, (exploration, knobs) => {
        const { chosen } = choosePolicy({ exploration, dispatch: null }, knobs, { asked: "one-model", tau: null });
        if (chosen === null || chosen.policy === "slack") return;
        const routing = exploration.routings[chosen.candidate.routing];
        expect(routing?.stages).toHaveLength(1);
        expect(routing?.qualityLow).toBe(chosen.qualityLow);
      }),
    );
  });

  it("counts a slack from the fastest of all kinds, and never gives less of the objective for more of it", () => {
    fc.assert(
      fc.property(anyCascades, anyDispatch, anyKnobs, slackPairs, (exploration, dispatch, knobs, slacks) => {
        for (const kind of ["latency-under-quality", "cost-under-both"] as const) {
          const at = (slack: number) => choosePolicy({ exploration, dispatch }, { ...knobs, kind, slack }, any);
          const [less, more] = slacks.map(at);
          expect(less?.chosen === null).toBe(more?.chosen === null);
          if (less?.chosen == null || more?.chosen == null) continue;
          if (more.slack !== null) {
            const fastest = choosePolicy({ exploration, dispatch }, { ...knobs, kind: "latency-under-quality" }, any).chosen;
            expect(more.slack.fastest.latencySeconds).toBe(fastest?.latencySeconds);
            expect(more.chosen.latencySeconds).toBeLessThanOrEqual(more.slack.limitSeconds);
          }
          if (kind === "cost-under-both") expect(more.chosen.costUsdPerRequest).toBeLessThanOrEqual(less.chosen.costUsdPerRequest);
          else expect(promisedQuality(knobs)(more.chosen)).toBeGreaterThanOrEqual(promisedQuality(knobs)(less.chosen));
        }
      }),
    );
  });
});
