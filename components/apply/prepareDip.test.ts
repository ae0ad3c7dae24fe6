import fc from "fast-check";
import { expect, it } from "vitest";
import type { ApplyStep, DipPhase, RollOutDip } from "@/server/contracts/studio";
import { prepareDip } from "./prepareDip";

const step = (id: string, kind: ApplyStep["kind"]): ApplyStep => ({
  ...{ id, kind, text: "", state: "waiting", detail: "", startedAt: null, endedAt: null, engineId: null },
});

const phase = (
  [fromStep, toStep]: readonly [string, string],
  seconds: number,
  figures: Pick<DipPhase, "capacityPerSecond" | "p95Seconds">,
): DipPhase => ({ ...{ fromStep, toStep, seconds, planId: "p" }, ...figures, replicas: [{ model: "small", serving: 1, of: 2 }] });

const figures = (capacityPerSecond: number | null, p95Seconds: number | null) => ({ capacityPerSecond, p95Seconds });

const steps = [step("1", "drain"), step("2", "stop"), step("3", "start"), step("4", "verify"), step("5", "switch-policy")];

const dip = (phases: readonly DipPhase[]): RollOutDip => ({
  ...{ requestsPerSecond: 60, basis: [], says: "", phases },
  before: { p95Seconds: 10, capacityPerSecond: 100 },
  after: { p95Seconds: 8, capacityPerSecond: 120 },
});

it("names each stretch by its steps and what they do, and says whether it keeps up with the rate of now", () => {
  const { stretches } = prepareDip(dip([phase(["1", "4"], 90, figures(50, null)), phase(["5", "5"], 10, figures(110, 9))]), steps);
  expect(stretches.map(({ name, doing, sustains, p95, verdict }) => [name, doing, sustains, p95, verdict.word])).toEqual([
    ["Before", "", "100/s", "10.0\u00a0s", "keeps up"],
    ["Steps 1 to 4", "drain, stop, start, verify", "50/s", "overloaded", "falls behind"],
    ["Step 5", "switch routing", "110/s", "9.00\u00a0s", "keeps up"],
    ["After", "", "120/s", "8.00\u00a0s", "keeps up"],
  ]);
  expect(stretches[1]?.replicas).toBe("small 1 of 2");
});

it("draws what serves nothing at the bottom, without a latency", () => {
  const { stretches, label } = prepareDip(dip([phase(["1", "4"], 90, figures(null, null))]), steps);
  expect(stretches[1]).toMatchObject({ capacityHeight: 0, p95Height: null, p95: "no answer", verdict: { word: "serves nothing" } });
  expect(label).toContain("Steps 1 to 4 nothing is served");
});

it("leaves out what was before where nothing was in force", () => {
  expect(prepareDip({ ...dip([]), before: null }, []).stretches.map(({ name, width }) => [name, width])).toEqual([["After", 1]]);
});

it("still names a stretch whose steps are not in the list that is shown", () => {
  expect(prepareDip(dip([phase(["7", "9"], 1, figures(10, 1))]), steps).stretches[1]?.name).toBe("Steps 7 to 9");
});

it("fills the width, keeps every stretch in sight and every height inside, and says when lengths are not to scale", () => {
  const phases = fc.array(
    fc.record({ seconds: fc.double({ min: 0, max: 1e5, noNaN: true }), capacity: fc.option(fc.double({ min: 0, max: 1e4, noNaN: true })) }),
    { maxLength: 12 },
  );
  fc.assert(
    fc.property(phases, (drawn) => {
      const picture = prepareDip(
        dip(drawn.map(({ seconds, capacity }, index) => phase([`${index}`, `${index}`], seconds, figures(capacity, 1)))),
        [],
      );
      const { stretches } = picture;
      expect(stretches.reduce((sum, { width }) => sum + width, 0)).toBeCloseTo(1, 9);
      for (const { width, capacityHeight, p95Height } of stretches) {
        expect(width).toBeGreaterThan(0.02);
        expect(capacityHeight).toBeLessThanOrEqual(1);
        expect(p95Height ?? 0).toBeLessThanOrEqual(1);
      }
      expect(picture.rateHeight).toBeLessThanOrEqual(1);
      if (!picture.stretched && drawn.length === 2) {
        const [, a, b] = stretches;
        const [x, y] = drawn;
        if (x && y && a && b && x.seconds + y.seconds > 0) expect(a.width * y.seconds).toBeCloseTo(b.width * x.seconds, 3);
      }
    }),
  );
});
