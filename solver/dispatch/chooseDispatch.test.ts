import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { promisedQuality } from "../cascade/choose/choose";
import type { Knobs } from "../cascade/explore/exploration";
import { chooseDispatch, dispatchPoints } from "./chooseDispatch";
import { anyDispatch, anyKnobs, slackPairs } from "./testing/testDispatch";

const choose = (exploration: Parameters<typeof chooseDispatch>[0], knobs: Knobs, tau: number | null = null) =>
  chooseDispatch(exploration, knobs, tau).chosen;

describe("chooseDispatch", () => {
  it("takes a point that keeps floor, budget and GPUs, and that no other such point beats on the objective", () => {
    fc.assert(
      fc.property(anyDispatch, anyKnobs, (exploration, knobs) => {
        const quality = promisedQuality(knobs);
        const keeping = dispatchPoints(exploration, knobs, null).filter(
          (point) =>
            point.gpusTotal <= knobs.maxGpus &&
            quality(point) >= (knobs.qualityFloor ?? 0) &&
            point.latencySeconds <= (knobs.latencyBudgetSeconds ?? Number.MAX_VALUE),
        );
        const chosen = choose(exploration, knobs);
        if (chosen === null) {
          expect(keeping).toEqual([]);
          return;
        }
        expect(keeping).toContainEqual(chosen);
        const value = (point: typeof chosen): number =>
          ({
            "latency-under-quality": point.latencySeconds,
            "quality-under-latency": -quality(point),
            "cost-under-both": point.costUsdPerRequest,
          })[knobs.kind];
        expect(value(chosen)).toBe(Math.min(...keeping.map(value)));
      }),
    );
  });

  it("chooses with a slack of zero what it chooses without one where the lowest latency is sought", () => {
    fc.assert(
      fc.property(anyDispatch, anyKnobs, (exploration, knobs) => {
        const fastest: Knobs = { ...knobs, kind: "latency-under-quality" };
        expect(choose(exploration, { ...fastest, slack: 0 })).toEqual(choose(exploration, fastest));
      }),
    );
  });

  it("promises no less quality, or costs no more, the more slack there is", () => {
    fc.assert(
      fc.property(anyDispatch, anyKnobs, slackPairs, (exploration, knobs, [less, more]) => {
        const fastest: Knobs = { ...knobs, kind: "latency-under-quality" };
        const [lower, higher] = [less, more].map((slack) => choose(exploration, { ...fastest, slack }));
        expect(lower === null).toBe(higher === null);
        if (lower != null && higher != null) expect(promisedQuality(knobs)(higher)).toBeGreaterThanOrEqual(promisedQuality(knobs)(lower));
        const cheapest: Knobs = { ...knobs, kind: "cost-under-both" };
        const [dear, cheap] = [less, more].map((slack) => choose(exploration, { ...cheapest, slack }));
        if (dear != null && cheap != null) expect(cheap.costUsdPerRequest).toBeLessThanOrEqual(dear.costUsdPerRequest);
      }),
    );
  });

  it("gives at a simulated tau its own figures, and between two of them figures between theirs", () => {
    fc.assert(
      fc.property(anyDispatch, anyKnobs, fc.double({ min: 0, max: 8, noNaN: true }), (exploration, knobs, tau) => {
        const all = dispatchPoints(exploration, knobs, null);
        for (const at of exploration.taus) {
          const own = all.filter((point) => point.tau === at);
          expect(dispatchPoints(exploration, knobs, at)).toEqual(expect.arrayContaining(own));
        }
        for (const point of dispatchPoints(exploration, knobs, tau)) {
          const own = all.filter(({ allocation }) => allocation === point.allocation);
          const beside = [own.findLast((one) => one.tau <= tau), own.find((one) => one.tau >= tau)].flatMap((one) => one ?? []);
          const seconds = beside.map(({ latencySeconds }) => latencySeconds);
          expect(point.latencySeconds).toBeGreaterThanOrEqual(Math.min(...seconds) - 1e-9);
          expect(point.latencySeconds).toBeLessThanOrEqual(Math.max(...seconds) + 1e-9);
        }
      }),
    );
  });
});
