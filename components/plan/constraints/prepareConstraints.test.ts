import { describe, expect, it } from "vitest";
import { type ConstraintsView, noConstraints, routerNamed } from "../address/constraintsCodec";
import { knobsOf } from "../address/knobs";
import { type PlanView, planCodec } from "../address/planCodec";
import { activeConstraints, asSituation, estimateKnobs } from "./prepareConstraints";

const untouched = planCodec.parse(new URLSearchParams());
const asked: PlanView = {
  ...untouched,
  constraints: {
    pinned: [{ model: "large", replicas: 4 }],
    shapes: [{ model: "large", tp: 8, pp: 2 }],
    excluded: ["small"],
    nodes: [{ model: "large", only: ["n1"], never: ["n2"] }],
    minReplicasPerModel: 2,
    surviveNodeLoss: true,
    maxUsdPerHour: 50,
    maxGpus: 16,
    maxChangedReplicas: 1,
    idleGpus: false,
  },
  judge: { model: "small", rubricTokens: 100, outputTokens: 5 },
  judgeSeconds: null,
  router: 0.8,
};
const knobs = knobsOf(untouched, { workload: "w", requestsPerSecond: 1, qualityFloor: 85, gpus: 32 });

describe("active constraints", () => {
  it("are told in words, one for each thing asked", () => {
    expect(activeConstraints(asked).map(({ says }) => says)).toEqual([
      "at least 4 of large",
      "large as tp 8 pp 2",
      "without small",
      "large only on n1 and never on n2",
      "at least 2 replicas of every model",
      "survive the loss of any one node",
      "at most $50.00 an hour",
      "at most 16 GPUs",
      "at most 1 replica started or stopped",
      "no idle GPUs",
      "judged by small, an engine here",
      "direct start, router AUC 0.8, modelled",
    ]);
    expect(activeConstraints(untouched)).toEqual([]);
  });

  it("are each given up alone, and one after another until nothing is asked", () => {
    let view = asked;
    for (let left = activeConstraints(view).length; left > 0; left -= 1) {
      const [first] = activeConstraints(view);
      view = { ...view, ...first!.without };
      expect(activeConstraints(view)).toHaveLength(left - 1);
    }
    expect(view).toEqual(untouched);
  });
});

describe("the estimate", () => {
  const cluster = { id: "c", name: "c", kind: "described", gpu: "h100-sxm", usdPerGpuHour: 3 } as const;
  const eight = (name: string) => ({ name, gpus: 8 });

  it("takes the tighter of the caps on GPUs and on the bill", () => {
    const plain = { ...cluster, nodes: [eight("a"), eight("b")] };
    const maxGpus = (constraints: object) => estimateKnobs({ ...knobs, maxGpus: 16 }, { ...noConstraints, ...constraints }, plain).maxGpus;
    expect(maxGpus({})).toBe(16);
    expect(maxGpus({ maxGpus: 12 })).toBe(12);
    expect(maxGpus({ maxGpus: 12, maxUsdPerHour: 30 })).toBe(10);
    expect(maxGpus({ maxUsdPerHour: 0 })).toBe(1);
  });

  it("pays for GPUs of several types in the cluster's own mix", () => {
    const mixed = { ...cluster, nodes: [eight("a"), { ...eight("b"), gpu: "l40s" }], otherUsdPerGpuHour: { l40s: 1 } };
    expect(estimateKnobs({ ...knobs, maxGpus: 16 }, { ...noConstraints, maxUsdPerHour: 20 }, mixed).maxGpus).toBe(10);
  });
});

it("asks for the cluster's own judge with a time that was set, shows it as a rule, and drops it where an engine judges", () => {
  const set: ConstraintsView = { constraints: noConstraints, judge: null, judgeSeconds: 0.05, router: null };
  expect(asSituation(set)).toEqual({ judge: { kind: "fixed", secondsPerCall: 0.05 } });
  expect(activeConstraints(set)).toMatchObject([
    { says: expect.stringMatching(/^a judge call takes 50.ms, entered$/), without: { judgeSeconds: null } },
  ]);
  const engine = { model: "gemma-2-2b", rubricTokens: 400, outputTokens: 20 };
  expect(asSituation({ ...set, judge: engine })).toEqual({ judge: { kind: "engine", ...engine } });
  expect(activeConstraints({ ...set, judge: engine }).map(({ key }) => key)).toEqual(["judge"]);
});

it("asks for the newest trained router, a named one or a modelled one of an AUC, and shows which", () => {
  const set: ConstraintsView = { constraints: noConstraints, judge: null, judgeSeconds: null, router: "trained" };
  expect(asSituation(set)).toEqual({ directStart: { predictor: "newest" } });
  expect(activeConstraints(set)).toMatchObject([{ says: "direct start, trained router", without: { router: null } }]);
  const named = routerNamed("0f".repeat(32));
  expect(asSituation({ ...set, router: named })).toEqual({ directStart: { predictor: "0f".repeat(32) } });
  expect(activeConstraints({ ...set, router: named })).toMatchObject([{ says: "direct start, trained router 0f0f0f0f" }]);
  expect(asSituation({ ...set, router: 0.8 })).toEqual({ directStart: { auc: 0.8 } });
  expect(activeConstraints({ ...set, router: 0.8 })).toMatchObject([{ says: "direct start, router AUC 0.8, modelled" }]);
});
