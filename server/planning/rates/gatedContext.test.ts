import fc from "fast-check";
import { expect, it } from "vitest";
import { routedBy } from "@/solver/baselines/measure";
import { randomInstance } from "@/solver/baselines/randomInstance";
import { gpusOf, judgementsOf } from "@/solver/baselines/system";
import { groundOf } from "../compare/compareGround";
import { loadGlpkEngine } from "../planner/glpkEngine";
import { type ComparedGate, planAlone, planCascade, withGate } from "./gatedContext";

const { workload, cluster, requestsPerSecond, floor } = randomInstance(3);

/** Within reach of the bound on half of the prompts, at a rate that fewer GPUs sustain. */
const easy = { floor: floor - 10, requestsPerSecond: requestsPerSecond / 2 };

const context = groundOf({ situation: { workload, workloadId: "test", cluster }, engine: await loadGlpkEngine() });

const gate = (engines: ComparedGate["engines"]): ComparedGate => ({
  ...{ kind: "gate", outcomes: workload.outcomes, secondsPerCall: 0.1, usdPerCall: 0, engines, starts: false },
});

it("a gate's engines take GPUs of the last nodes first, and the plan has the others", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: context.gpus - 1 }), (gateGpus) => {
      const own = withGate(context, gate(null), gateGpus);
      expect(own.gpus).toBe(context.gpus - gateGpus);
      const nodes = own.request.situation.cluster.nodes;
      expect(nodes.every(({ gpus }) => gpus > 0)).toBe(true);
      for (const [at, node] of nodes.slice(0, -1).entries()) expect(node).toEqual(cluster.nodes[at]);
      expect(own.judge.secondsPerCall).toBe(0.1);
    }),
  );
});

it("a plan that asks a gate leaves its engines the GPUs for the readings, and one that asks nothing has all GPUs", () => {
  const readingsPerGpuSecond = requestsPerSecond / 1.5;
  const planned = planCascade(context, gate({ readingsPerGpuSecond }), easy);
  if (planned === null) throw new Error("no plan");
  const { system, outcomes, gateGpus, gateRate, kind } = planned;
  const asked = judgementsOf(system, routedBy(system, outcomes, context.planning));
  expect(gateGpus * readingsPerGpuSecond).toBeGreaterThanOrEqual(asked * easy.requestsPerSecond);
  expect(gateGpus + gpusOf(system)).toBeLessThanOrEqual(context.gpus);
  expect(gateGpus > 0).toBe(asked > 0);
  expect(kind).toBe(asked > 0 ? "gate" : "none");
  expect(gateRate).toBeGreaterThan(easy.requestsPerSecond);
  expect(planCascade(context, gate(null), easy)?.gateGpus).toBe(0);
});

it("one model alone asks nothing and takes no GPU for the gate, however slow the gate is", () => {
  const rare = { ...easy, requestsPerSecond: requestsPerSecond / 20 };
  const starved = gate({ readingsPerGpuSecond: requestsPerSecond / 1e6 });
  const planned = planAlone(context, starved, rare);
  expect(planned).toMatchObject({ kind: "none", gateGpus: 0 });
  expect(planned?.system.stages).toHaveLength(1);
});

it("where the readings would take every GPU, there is a plan that asks nothing or none", () => {
  const readingsPerGpuSecond = requestsPerSecond / (2 * (context.gpus + 1));
  const planned = planCascade(context, gate({ readingsPerGpuSecond }), easy);
  expect((planned?.system.routing.thresholds ?? []).every((threshold) => threshold === 0)).toBe(true);
});
