import { describe, expect, it } from "vitest";
import type { JustInTimePolicy } from "@/solver/plan/policySchema";
import { buildPolicy } from "@/solver/policies/buildPolicy";
import { oracleConfigurations } from "@/solver/workflow/configurationOutcomes";
import { configurationNames, configurationSpace } from "@/solver/workflow/configurationSpace";
import { programQuality } from "@/solver/workflow/programQuality";
import { documentOfWorkflow } from "@/solver/workflow/workflowDocuments";
import type { ClusterReplica } from "./clusterEngines";
import { replayRun } from "./replayRun";
import { simulatePrograms } from "./simulatePrograms";
import { chain, fan, programsOf, testModels, testReplicas } from "./testing/testPrograms";

const workflows = [
  { ...chain, name: "chain" },
  { ...fan, name: "fan" },
];
const documents = workflows.map(documentOfWorkflow);
/** The first workflow's second and third agent have the model of its first. */
const bonded = documents.map((document, index) => ({
  ...document,
  agents: document.agents.map((agent, at) => (index === 0 && (at === 1 || at === 2) ? { ...agent, sameModelAs: "agent-1" } : agent)),
}));
const sample = programsOf({ workflows, programs: 150, programsPerSecond: 30, seed: 3 });
const spacesOf = (declared: typeof documents) =>
  new Map(declared.map((document) => [document.name, configurationSpace(document, testModels)]));

/** Rounds by worth in which a token of the second model has a price. */
function priced(secondsPerToken: number): JustInTimePolicy["selection"] {
  const models = [{ model: testModels[1] ?? "", secondsPerToken, waiting: 1 }];
  return { kind: "worth", rightSeconds: 0, delayWeight: 1, price: { models, dampingSeconds: 2 } };
}

const selections: readonly JustInTimePolicy["selection"][] = [
  { kind: "beam", width: 4 },
  { kind: "beam", width: 1 },
  { kind: "exhaustive" },
  { kind: "cheapest" },
  { kind: "quickest", when: "arrival" },
  { kind: "quickest", when: "stage" },
  { kind: "worth", rightSeconds: 0, delayWeight: 1 },
  priced(0.02),
  {
    kind: "fixed",
    configurations: Object.fromEntries(
      [...spacesOf(bonded)].map(([name, space]) => [name, configurationNames(space, Math.floor(space.size / 2))]),
    ),
  },
];

const policyOf = (selection: JustInTimePolicy["selection"], declared = documents) =>
  buildPolicy({
    kind: "just-in-time",
    models: testModels.map((model, at) => ({
      ...{ model, cost: at + 1, saturationBatch: 12, meanOutputTokens: 100 },
      throughput: [
        { batch: 1, tokensPerSecond: 90 },
        { batch: 12, tokensPerSecond: 700 },
      ],
    })),
    workflows: declared.map((workflow) => ({ workflow })),
    selection,
    ...{ order: { kind: "fcfs" }, place: { kind: "least-load" } },
  });

function run(selection: JustInTimePolicy["selection"], declared = documents, replicas: readonly ClusterReplica[] = testReplicas(2)) {
  const predictions = { configurations: oracleConfigurations(sample, spacesOf(declared)) };
  return simulatePrograms({ policy: policyOf(selection, declared), sample, replicas, predictions });
}

const quality = (models: Int8Array): readonly number[] =>
  Array.from({ length: 150 }, (_, program) => programQuality(sample, program, models));

describe("programs under just-in-time choice", () => {
  it.each(selections)("are all served, alike every time, by accurate configurations that keep agents to one model ($kind)", (selection) => {
    const outcome = run(selection, bonded);
    expect(outcome.unserved).toBe(0);
    expect(run(selection, bonded)).toEqual(outcome);
    const largest = quality(new Int8Array(sample.program.length).fill(1));
    for (const [program, first] of sample.firstRequest.slice(0, -1).entries()) {
      if (selection.kind !== "fixed") expect(outcome.quality[program]).toBeGreaterThanOrEqual(largest[program]! - 1e-9);
      if (sample.workflow[program] === 0) expect(new Set(outcome.model.slice(first, first + 3)).size).toBe(1);
    }
    expect(outcome.model).toContain(0);
    expect(outcome.model).toContain(1);
  });

  it("are served without a price of tokens as at a price of 0, and otherwise at a price", () => {
    const without = run({ kind: "worth", rightSeconds: 0, delayWeight: 1 });
    expect(run(priced(0))).toEqual(without);
    expect(run(priced(0.1)).model).not.toEqual(without.model);
  });

  it("are served by the largest models alone where nobody says which configurations are accurate", () => {
    const outcome = simulatePrograms({ policy: policyOf({ kind: "beam", width: 4 }), sample, replicas: testReplicas(2) });
    expect(outcome.unserved).toBe(0);
    expect(new Set(outcome.model)).toEqual(new Set([1]));
  });

  it("wait once for the search of their configurations, where these are told and no engine would have kept them longer", () => {
    // So far apart that no two programs overlap.
    const apart = programsOf({ workflows, programs: 4, programsPerSecond: 0.001, seed: 2 });
    const ready = (routeSeconds: number, told: boolean) => {
      const predictions = told ? { configurations: oracleConfigurations(apart, spacesOf(documents)) } : {};
      const overhead = { routeSeconds, predictSeconds: 0, decideSeconds: 0 };
      return simulatePrograms({ policy: policyOf({ kind: "cheapest" }), sample: apart, replicas: testReplicas(1), predictions, overhead });
    };
    const added = (told: boolean) => ready(5, told).endToEndSeconds.map((seconds, at) => seconds - ready(0, told).endToEndSeconds[at]!);
    for (const seconds of added(true)) expect(seconds).toBeCloseTo(5, 6);
    for (const seconds of added(false)) expect(seconds).toBe(0);
  });

  it("go round a model without engines where an accurate configuration can, and are refused where none can", () => {
    const only = (model: string) => testReplicas(2).filter((replica) => replica.model === model);
    const large = run({ kind: "beam", width: 4 }, documents, only("large"));
    expect(large.unserved).toBe(0);
    expect(new Set(large.model)).toEqual(new Set([1]));
    const small = run({ kind: "beam", width: 4 }, documents, only("small"));
    const largest = quality(new Int8Array(sample.program.length).fill(1));
    const smallest = quality(new Int8Array(sample.program.length));
    const able = smallest.map((own, program) => own >= largest[program]! - 1e-9);
    expect(Array.from(small.endToEndSeconds, Number.isFinite)).toEqual(able);
    expect(small.unserved).toBe(able.filter((is) => !is).length);
  });

  it("are decided again from a record as they were, by the stages that they were sent to", () => {
    const replicas = testModels.map((model) => ({ id: model, model, maxInFlight: 1 }));
    const accurate = Uint32Array.of(0b1111_1111_1111_1111);
    const request = (agent: string, program: string, [queuedSeconds, answeredSeconds, stage]: readonly [number, number, number]) => ({
      ...{ program, programStartSeconds: 0, inputTokens: 5, routerScores: {}, judgeResting: false },
      ...{ call: { workflow: "chain", agent }, accurate },
      visits: [{ stage, queuedSeconds, answeredSeconds, judgedSeconds: null, judgedScore: null }],
    });
    const requests = [request("agent-1", "a", [0, 4, 0]), request("agent-1", "b", [1, 3, 1]), request("agent-2", "b", [3, 5, 1])];
    const decided = replayRun(policyOf({ kind: "beam", width: 4 }), { replicas, requests });
    expect(decided.map(({ visits }) => visits.map(({ stage, dispatchedSeconds }) => [stage, dispatchedSeconds]))).toEqual([
      [[0, 0]],
      [[1, 1]],
      [[1, 3]],
    ]);
  });
});
