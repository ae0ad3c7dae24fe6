import * as fc from "fast-check";
import { expect, it } from "vitest";
import { loadGlpkEngine } from "@/server/planning/planner/glpkEngine";
import { noConstraints } from "@/solver/plan/constraints";
import type { MixProblem } from "./problem";
import { type NoMix, type SolvedMix, solveMix } from "./solveMix";
import { constrainedMixes, factorByTrying, smallMixes } from "./testing/testMix";

const engine = await loadGlpkEngine();
const solving = { engine, timeLimitSeconds: 60, nowSeconds: () => performance.now() / 1000 };
const solve = (problem: MixProblem): SolvedMix | NoMix => solveMix(problem, solving);

/** The factor that a mix reaches; 0 where nothing carries it. */
function factorOf(problem: MixProblem): number {
  const solved = solve(problem);
  if (solved.outcome === "mix") return solved.highestFactor;
  return solved.kind === "overloaded" ? solved.factor : 0;
}

/** A search may end within this share of the best. */
const GAP = 0.012;

it("finds the factor that trying all replicas and shares finds", () => {
  fc.assert(
    fc.property(smallMixes, (problem) => {
      const tried = factorByTrying(problem);
      const found = factorOf(problem);
      expect(found).toBeGreaterThanOrEqual(tried * (1 - GAP) - 1e-6);
      // Shares are tried in steps, so that a finer one may be better.
      expect(found).toBeLessThanOrEqual(1.03 * tried + 0.01);
    }),
    { numRuns: 60, seed: 7 },
  );
});

it("finds it under constraints too: the loss of any one node, and fewest replicas of each model that has any", () => {
  let kept = 0;
  fc.assert(
    fc.property(constrainedMixes, (problem) => {
      const tried = factorByTrying(problem);
      const found = factorOf(problem);
      expect(found).toBeGreaterThanOrEqual(tried * (1 - GAP) - 1e-6);
      expect(found).toBeLessThanOrEqual(1.03 * tried + 0.01);
      const solved = solve({
        ...problem,
        classes: problem.classes.map((own) => ({ ...own, requestsPerSecond: 0.02 * own.requestsPerSecond })),
      });
      if (solved.outcome !== "mix") return;
      kept += 1;
      for (const [model, { load, workPerSecond }] of solved.models.entries()) {
        const own = solved.replicas.filter(({ stage }) => stage === model);
        if (own.length > 0) expect(own.length).toBeGreaterThanOrEqual(problem.constraints.minReplicasPerModel ?? 0);
        if (!problem.constraints.surviveNodeLoss || workPerSecond === 0) continue;
        const capacity = workPerSecond / load;
        const nodes = new Set(own.flatMap(({ placements }) => placements.map(({ node }) => node)));
        expect(nodes.size).toBeGreaterThan(1);
        expect(solved.factor).toBeLessThanOrEqual((problem.loadFactor * capacity) / workPerSecond + 1e-6);
      }
    }),
    { numRuns: 60, seed: 11 },
  );
  expect(kept).toBeGreaterThan(15);
});

it("changes no more replicas than it may, and all of them where it must not", () => {
  fc.assert(
    fc.property(smallMixes, fc.nat(3), (drawn, maxChangedReplicas) => {
      const light = { ...drawn, classes: drawn.classes.map((own) => ({ ...own, requestsPerSecond: 0.1 * own.requestsPerSecond })) };
      const first = solve(light);
      if (first.outcome !== "mix") return;
      const running = first.replicas.map(({ stage, option, placements }) => ({
        ...{ model: light.models[stage]?.model ?? "", shape: option.shape, placements: [...placements] },
      }));
      const more = light.classes.map((own) => ({ ...own, requestsPerSecond: 2 * own.requestsPerSecond }));
      const again = solve({ ...light, classes: more, running, constraints: { ...light.constraints, maxChangedReplicas } });
      if (again.outcome !== "mix") return;
      const stay = again.replicas.filter((replica) => replica.running !== null).length;
      const changed = again.replicas.length - stay + running.length - stay;
      expect(changed).toBeLessThanOrEqual(maxChangedReplicas);
    }),
    { numRuns: 40, seed: 12 },
  );
});

it("divides every class completely, keeps its floor, its load factor and the nodes' GPUs, and prices sum to 1 at most", () => {
  let solvedOnes = 0;
  fc.assert(
    fc.property(smallMixes, fc.double({ min: 0.05, max: 0.5, noNaN: true }), (drawn, scale) => {
      const problem = {
        ...drawn,
        classes: drawn.classes.map((own) => ({ ...own, requestsPerSecond: scale * own.requestsPerSecond })),
      };
      const solved = solve(problem);
      if (solved.outcome !== "mix") return;
      solvedOnes += 1;
      for (const [at, { candidates, floor, divisible }] of problem.classes.entries()) {
        const shares = solved.shares[at] ?? [];
        expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 9);
        expect(shares.reduce((sum, share, one) => sum + share * (candidates[one]?.quality ?? 0), 0)).toBeGreaterThan(floor - 1e-3);
        if (!divisible) expect(shares.filter((share) => share > 1e-6)).toHaveLength(1);
      }
      // With other shares the same replicas may carry more.
      const carried = (1 - problem.slack) * solved.highestFactor;
      for (const { load } of solved.models) expect(load).toBeLessThanOrEqual((problem.loadFactor / carried) * (1 + 1e-4));
      expect(solved.factor).toBeGreaterThanOrEqual((1 - problem.slack) * solved.highestFactor * (1 - 1e-4));
      for (const { name, gpus } of problem.nodes) {
        const used = solved.replicas.flatMap(({ placements }) => placements.flatMap((own) => (own.node === name ? own.gpus : [])));
        expect(new Set(used).size).toBe(used.length);
        expect(used.every((gpu) => gpu < gpus)).toBe(true);
      }
      const prices = solved.models.map(({ price }) => price);
      expect(prices.reduce((sum, price) => sum + price, 0)).toBeLessThan(1.01);
    }),
    { numRuns: 60, seed: 8 },
  );
  expect(solvedOnes).toBeGreaterThan(20);
});

it("carries no less with one GPU more, and no less with lower floors", () => {
  fc.assert(
    fc.property(smallMixes, (problem) => {
      const before = factorOf(problem);
      const [first, ...rest] = problem.nodes;
      if (first === undefined) return;
      const more = factorOf({ ...problem, nodes: [{ ...first, gpus: first.gpus + 1 }, ...rest] });
      const lower = factorOf({ ...problem, classes: problem.classes.map((own) => ({ ...own, floor: own.floor - 10 })) });
      expect(more).toBeGreaterThanOrEqual(before * (1 - GAP));
      expect(lower).toBeGreaterThanOrEqual(before * (1 - GAP));
    }),
    { numRuns: 40, seed: 9 },
  );
});

const shape = (tp: number, capacity: number) => ({
  ...{ gpu: "g", shape: { tp, pp: 1 } },
  curve: [1, 2, 4].map((inFlight) => ({ inFlight, workPerSecond: (capacity * Math.sqrt(inFlight)) / 2 })),
});
const plain: MixProblem = {
  classes: [
    {
      ...{ name: "singles", requestsPerSecond: 1, floor: 60, divisible: true },
      candidates: [
        { work: [1, 0], quality: 50, otherSeconds: 0 },
        { work: [0, 1], quality: 80, otherSeconds: 0 },
      ],
    },
  ],
  models: [
    { model: "small", shapes: [shape(1, 5)] },
    { model: "large", shapes: [shape(2, 2)] },
  ],
  nodes: [{ name: "a", gpu: "g", gpus: 4 }],
  usdPerGpuHour: { g: 1 },
  running: [],
  constraints: noConstraints,
  loadFactor: 0.8,
  slack: 0,
  enough: 1000,
};

it("gives up a factor beyond what is enough for a shorter time", () => {
  // Two GPUs together are faster than one, and do less work than two.
  const quick = { gpu: "g", shape: { tp: 2, pp: 1 }, curve: [{ inFlight: 1, workPerSecond: 5 }] };
  const slow = { gpu: "g", shape: { tp: 1, pp: 1 }, curve: [1, 2, 4].map((inFlight) => ({ inFlight, workPerSecond: 1.5 * inFlight })) };
  const one: MixProblem = {
    ...plain,
    classes: plain.classes.map((own) => ({ ...own, floor: 0 })),
    models: [
      { model: "small", shapes: [slow, quick] },
      { model: "large", shapes: [] },
    ],
  };
  const shapesAt = (enough: number): readonly number[] => {
    const solved = solve({ ...one, enough });
    return solved.outcome === "mix" ? solved.replicas.map(({ option }) => option.shape.tp) : [];
  };
  expect(shapesAt(1000)).toEqual([1, 1, 1, 1]);
  expect(new Set(shapesAt(2))).toEqual(new Set([2]));
});

it("prices the model that limits the mix, and no other", () => {
  const solved = solve(plain);
  if (solved.outcome !== "mix") throw new Error(solved.kind);
  // A third must be answered by the large model; two small replicas carry far more than the rest.
  expect(solved.shares[0]?.[1]).toBeGreaterThanOrEqual(1 / 3 - 1e-4);
  const large = solved.models.find(({ model }) => model === "large");
  expect(large?.price).toBeGreaterThan(0.99);
  expect(large?.capacityPerSecond).toBe(2);
});

it("states the floor that nobody reaches, the models that have no room, and the factor that is carried where rates are too high", () => {
  const changed = (own: Partial<MixProblem["classes"][number]>): MixProblem => ({
    ...plain,
    classes: plain.classes.map((each) => ({ ...each, ...own })),
  });
  expect(solve(changed({ floor: 85 }))).toEqual({ outcome: "none", kind: "floor", name: "singles", floor: 85, best: 80 });
  const roomless = { ...plain, models: plain.models.map((own) => ({ ...own, shapes: [] })) };
  expect(solve(roomless)).toEqual({ outcome: "none", kind: "no-room", name: "singles", models: ["small", "large"] });
  const onlySmall = { ...plain, constraints: { ...noConstraints, excluded: ["large"] } };
  expect(solve(onlySmall)).toEqual({ outcome: "none", kind: "floor", name: "singles", floor: 60, best: 50 });
  const crowded = solve(changed({ requestsPerSecond: 100 }));
  expect(crowded).toMatchObject({ outcome: "none", kind: "overloaded" });
  const { highestFactor } = solve(plain) as SolvedMix;
  expect(crowded.outcome === "none" && crowded.kind === "overloaded" ? crowded.factor * 100 : 0).toBeCloseTo(highestFactor, 2);
  expect(solve({ ...plain, constraints: { ...noConstraints, pinned: [{ model: "large", replicas: 9 }] } })).toMatchObject({
    kind: "constraints",
  });
  expect(() => solve(changed({ requestsPerSecond: 0 }))).toThrow("singles has no rate above 0.");
});
