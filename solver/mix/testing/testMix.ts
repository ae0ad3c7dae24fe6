import * as fc from "fast-check";
import { noConstraints, type PlanConstraints } from "@/solver/plan/constraints";
import type { MixCandidate, MixClass, MixModel, MixProblem } from "../problem";

const work = fc.double({ min: 0.05, max: 2, noNaN: true });

const candidate: fc.Arbitrary<MixCandidate> = fc.record({
  work: fc.tuple(fc.oneof(fc.constant(0), work), work).map((own) => [...own]),
  quality: fc.double({ min: 40, max: 90, noNaN: true }),
  otherSeconds: fc.constant(0),
});

const mixClass = (name: string): fc.Arbitrary<MixClass> =>
  fc.record({
    name: fc.constant(name),
    requestsPerSecond: fc.double({ min: 0.2, max: 1, noNaN: true }),
    floor: fc.double({ min: 40, max: 70, noNaN: true }),
    divisible: fc.boolean(),
    candidates: fc.array(candidate, { minLength: 1, maxLength: 2 }),
  });

/** A model that has replicas of one GPU, or also of two, which carry less than twice as much. */
const models: fc.Arbitrary<readonly MixModel[]> = fc.array(fc.boolean(), { minLength: 2, maxLength: 2 }).map((larger) =>
  larger.map((has, at): MixModel => {
    const shape = (tp: number, capacity: number) => ({
      ...{ gpu: "g", shape: { tp, pp: 1 } },
      curve: [1, 2, 4].map((inFlight) => ({ inFlight, workPerSecond: capacity * (1 - 0.6 ** inFlight) })),
    });
    return { model: `model-${at}`, shapes: [...(at === 1 && has ? [] : [shape(1, 1)]), ...(has ? [shape(2, 1.7)] : [])] };
  }),
);

/** Small mixes: at most two models, two classes of two candidates, and four GPUs on two nodes. */
export const smallMixes: fc.Arbitrary<MixProblem> = fc.record({
  classes: fc.tuple(mixClass("singles"), mixClass("workflow")).map((own) => [...own]),
  models,
  nodes: fc
    .array(fc.integer({ min: 1, max: 2 }), { minLength: 1, maxLength: 2 })
    .map((all) => all.map((gpus, at) => ({ name: `node${at}`, gpu: "g", gpus }))),
  usdPerGpuHour: fc.constant({ g: 1 }),
  running: fc.constant([]),
  constraints: fc.constant(noConstraints),
  loadFactor: fc.constant(0.8),
  slack: fc.constant(0.1),
  enough: fc.constant(1000),
});

/** The same on two nodes, with constraints that small mixes can keep. */
export const constrainedMixes: fc.Arbitrary<MixProblem> = fc
  .tuple(smallMixes, fc.boolean(), fc.option(fc.integer({ min: 1, max: 3 })))
  .map(([mix, surviveNodeLoss, minReplicasPerModel]) => ({
    ...mix,
    nodes: ["node0", "node1"].map((name) => ({ name, gpu: "g", gpus: 2 })),
    constraints: { ...noConstraints, surviveNodeLoss, minReplicasPerModel } satisfies PlanConstraints,
  }));

/** The highest factor by trying all replicas and all shares of one candidate in 200 steps; shares no code with the model. 0: none. */
export function factorByTrying({ classes, models: own, nodes, loadFactor, constraints }: MixProblem): number {
  const { surviveNodeLoss, minReplicasPerModel } = constraints;
  const gpus = nodes.map((node) => node.gpus);
  const shapes = own.flatMap(({ shapes: all }, model) =>
    all.map(({ shape: { tp }, curve }) => ({ model, tp, capacity: curve.at(-1)?.workPerSecond ?? 0 })),
  );
  let best = 0;
  /** `on`: by node, the capacity of each model; `counts`: by model, its replicas. */
  const visit = (from: number, left: readonly number[], on: readonly (readonly number[])[], counts: readonly number[]): void => {
    const least = minReplicasPerModel ?? 0;
    if (counts.every((count) => count === 0 || count >= least)) {
      const capacity = counts.map((_, model) => {
        const parts = on.map((node) => node[model] ?? 0);
        return parts.reduce((sum, part) => sum + part, 0) - (surviveNodeLoss ? Math.max(...parts) : 0);
      });
      best = Math.max(best, loadFactor * factorOf(classes, capacity));
    }
    for (let at = from; at < shapes.length; at += 1) {
      const { model, tp, capacity: more } = shapes[at] ?? { model: 0, tp: 9, capacity: 0 };
      for (const [node, free] of left.entries()) {
        if (free < tp) continue;
        visit(
          at,
          left.map((one, other) => (other === node ? one - tp : one)),
          on.map((all, other) => (other === node ? all.map((one, each) => (each === model ? one + more : one)) : all)),
          counts.map((count, other) => (other === model ? count + 1 : count)),
        );
      }
    }
  };
  visit(
    0,
    gpus,
    gpus.map(() => [0, 0]),
    [0, 0],
  );
  return best;
}

const STEPS = 200;

function factorOf(classes: readonly MixClass[], capacity: readonly number[]): number {
  const [first = [], second = []] = classes.map(worksOf);
  let best = 0;
  for (const one of first) {
    for (const other of second) {
      const loads = capacity.map((own, model) => {
        const asked = (one[model] ?? 0) + (other[model] ?? 0);
        return asked === 0 ? 0 : asked / Math.max(0, own);
      });
      best = Math.max(best, 1 / Math.max(...loads));
    }
  }
  return best;
}

/** Work a second by model, at every division of the class that keeps its floor. */
function worksOf({ candidates, floor, divisible, requestsPerSecond }: MixClass): readonly (readonly number[])[] {
  const [one, other = one] = candidates;
  if (one === undefined || other === undefined) return [];
  const steps = divisible ? STEPS : 1;
  return Array.from({ length: steps + 1 }, (_, at) => at / steps)
    .filter((share) => share * one.quality + (1 - share) * other.quality >= floor - 1e-6)
    .map((share) => one.work.map((own, model) => requestsPerSecond * (share * own + (1 - share) * (other.work[model] ?? 0))));
}
