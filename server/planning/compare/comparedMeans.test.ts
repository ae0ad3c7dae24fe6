import { expect, test } from "vitest";
import { comparedMeans } from "./comparedMeans";
import type { ComparedCase, ComparedSystem } from "./compareSystems";

const system = (change: Partial<ComparedSystem>): ComparedSystem => ({
  kind: "stand-alone",
  name: "stand-alone",
  cascade: "",
  gpus: 8,
  quality: 80,
  p95Seconds: 1,
  meanSeconds: 1,
  sloScale: 1,
  busiestLoad: 0.5,
  highestRequestsPerSecond: 1,
  replannedRequestsPerSecond: 2,
  costUsdPerRequest: 1,
  against: { sloScale: 2, throughput: 3, replanned: 4 },
  ...change,
});

const cases = (systems: readonly ComparedSystem[]): Pick<ComparedCase, "floor" | "systems">[] =>
  systems.map((one) => ({ floor: 75, systems: [one] }));

test("an overloaded system counts into the throughput, and into the SLO scale of the run only", () => {
  const [mean] = comparedMeans(cases([system({}), system({ busiestLoad: 1.2, against: { sloScale: 30, throughput: 5, replanned: 2 } })]));
  expect(mean).toMatchObject({ cases: 2, keepsUp: 1, sloScale: 2, sloScaleOfRun: 16, throughput: 4, throughputCases: 2, replanned: 3 });
});

test("a system that keeps the SLO at no rate has no throughput ratio, and one below the floor has not held it", () => {
  const [mean] = comparedMeans(
    cases([system({ quality: 70, busiestLoad: 2, against: { sloScale: 9, throughput: null, replanned: null } })]),
  );
  expect(mean).toMatchObject({ sloScale: null, throughput: null, throughputCases: 0, replanned: null, heldFloor: 0 });
});
