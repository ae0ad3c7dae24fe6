import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { simulateCluster } from "../cluster/simulateCluster";
import { drawTraffic, measure } from "./measure";
import { phasedPolicy } from "./phasedPolicy";
import { instanceExplorer, randomInstance } from "./randomInstance";
import { rollout } from "./rollout";
import { gpusOf, type System } from "./system";

const instance = randomInstance(3);
const { shapes, sample } = instanceExplorer(instance).input;
const { models } = sample;
const { outcomes, arrivalSeconds } = instance.workload;
const GPUS = 16;
const choice = { models, shapes, gpus: GPUS, reconfigureSeconds: 10 };

const shapeOf = (tp: number) => ({ tp, pp: 1 });
const system = (counts: readonly (readonly [tp: number, count: number])[], thresholds: readonly number[]): System => ({
  name: "system",
  stages: counts.map(([tp, count], model) => ({ model: models[model]!, replicas: [{ shape: shapeOf(tp), count }] })),
  routing: { kind: "cascade", thresholds },
});

describe("rollout", () => {
  it("never has more GPUs in use than there are, whatever follows on what", () => {
    const counts = fc.tuple(fc.constantFrom(1, 2, 4), fc.integer({ min: 1, max: 2 }));
    fc.assert(
      fc.property(fc.array(fc.tuple(counts, counts), { minLength: 1, maxLength: 4 }), (plans) => {
        const { replicas, uptimes } = rollout(
          plans.map(([small, large], at) => ({ fromSeconds: 300 * at, system: system([small, large], [50]) })),
          choice,
        );
        const sizes = replicas.map(({ id }) => Number(/ (\d)x1 /.exec(id)?.[1]));
        for (const { fromSeconds: at } of uptimes.values()) {
          const used = replicas.reduce((sum, { id }, index) => {
            const own = uptimes.get(id)!;
            return sum + (own.fromSeconds <= at && at < own.untilSeconds ? sizes[index]! : 0);
          }, 0);
          expect(used).toBeLessThanOrEqual(GPUS);
        }
        const [small, large] = plans.at(-1)!;
        const left = replicas.filter(({ id }) => uptimes.get(id)!.untilSeconds === Number.POSITIVE_INFINITY);
        expect(left).toHaveLength(small[1] + large[1]);
      }),
    );
  });

  it("leaves replicas alone that both plans have", () => {
    const before = system(
      [
        [2, 2],
        [4, 2],
      ],
      [50],
    );
    const after = system(
      [
        [2, 3],
        [4, 2],
      ],
      [70],
    );
    const { reconfigured, epochs } = rollout(
      [
        { fromSeconds: 0, system: before },
        { fromSeconds: 100, system: after },
      ],
      choice,
    );
    expect(reconfigured).toBe(1);
    expect(gpusOf(after)).toBe(14);
    expect(epochs.map(({ fromSeconds }) => fromSeconds)).toEqual([0, 110]);
  });
});

describe("phasedPolicy", () => {
  const traffic = drawTraffic(
    { outcomes, arrivalSeconds, judgeSeconds: 0.27 },
    { rows: Int32Array.from(outcomes.promptIds.keys()), requests: 1000, seed: 1 },
  );
  const run = (plans: readonly { readonly fromSeconds: number; readonly system: System }[]) => {
    const { epochs, replicas, uptimes } = rollout(plans, choice);
    return simulateCluster({
      policy: phasedPolicy(models, epochs, uptimes),
      replicas,
      sample: { arrivalSeconds: traffic.arrivalSeconds.map((seconds) => seconds / 20), prompt: traffic.prompt },
      outcomes,
      judgeSeconds: 0.27,
    });
  };

  it("is the plain cascade where nothing changes", () => {
    const only = system(
      [
        [4, 1],
        [4, 1],
      ],
      [50],
    );
    const phased = run([{ fromSeconds: 0, system: only }]);
    const rate = (20 * (arrivalSeconds.length - 1)) / arrivalSeconds.at(-1)!;
    expect(phased.unserved).toBe(0);
    const plain = measure(only, traffic, { models, shapes, requestsPerSecond: rate });
    expect(Math.abs(phased.endToEndSeconds.reduce((sum, one) => sum + one, 0) / 1000 / plain.meanSeconds - 1)).toBeLessThan(0.1);
  });

  it("serves every request through a change of models and replicas, by the new cascade once it is in force", () => {
    const outcome = run([
      {
        fromSeconds: 0,
        system: system(
          [
            [4, 1],
            [4, 1],
          ],
          [101],
        ),
      },
      { fromSeconds: 2, system: system([[1, 4]], []) },
    ]);
    expect(outcome.unserved).toBe(0);
    expect(outcome.finalStage[0]).toBe(1);
    expect(outcome.finalStage.at(-1)).toBe(0);
  });

  it("starts requests at the first model there is, where the cascade leaves the smallest out", () => {
    const [, large] = system(
      [
        [1, 1],
        [4, 2],
      ],
      [50],
    ).stages;
    const alone: System = { name: "alone", stages: [large!], routing: { kind: "cascade", thresholds: [] } };
    const { unserved, finalStage } = run([{ fromSeconds: 0, system: alone }]);
    expect(unserved).toBe(0);
    expect(new Set(finalStage)).toEqual(new Set([1]));
  });
});
