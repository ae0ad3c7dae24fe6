import fc from "fast-check";
import { expect, it } from "vitest";
import { randomInstance } from "@/solver/baselines/randomInstance";
import { groundOf } from "../compare/compareGround";
import { loadGlpkEngine } from "../planner/glpkEngine";
import { type ComparedGate, planGated, withGate } from "./gatedContext";

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

it("a plan with a gate on the cluster has as many GPUs as its readings leave it", () => {
  const readingsPerGpuSecond = requestsPerSecond / 1.5;
  const planned = planGated(context, gate({ readingsPerGpuSecond, per: "request" }), easy);
  expect(planned?.gateGpus).toBe(1);
  expect(planGated(context, gate(null), easy)?.gateGpus).toBe(0);
});

it("there is no plan where the gate's readings would take every GPU", () => {
  const readingsPerGpuSecond = requestsPerSecond / (context.gpus + 1);
  expect(planGated(context, gate({ readingsPerGpuSecond, per: "request" }), { ...easy, requestsPerSecond })).toBeNull();
});
