import { describe, expect, it } from "vitest";
import { type GateDocument, gateKinds } from "../gates/gateDocument";
import type { CascadeRoutingDocument } from "../nextModel/cascadeRoutingDocument";
import type { CascadePolicy } from "../plan/plan";
import {
  asksJudge,
  type BalancedPolicy,
  learntOf,
  modelsOf,
  type OrderDocument,
  type PlaceDocument,
  type PolicyDocument,
  policySchema,
  type SlackPolicy,
} from "../plan/policySchema";
import { buildPolicy } from "./buildPolicy";
import { policyRefusal } from "./policyRefusal";
import { cascadeContract } from "./testing/cascadeContract";
import { gainContract } from "./testing/gainContract";
import { policyContract } from "./testing/policyContract";
import { declared, justInTime, selections } from "./testing/testJustInTime";
import { starting } from "./testing/worldOfContract";

const names = ["small", "medium", "large"];

function cascade(
  thresholds: readonly number[],
  place: CascadePolicy["place"]["kind"] = "least-load",
  below: number | number[] = 0,
): CascadePolicy {
  return {
    kind: "cascade",
    stages: names.slice(0, thresholds.length + 1).map((model) => ({ model })),
    thresholds: [...thresholds],
    judge: { model: "weir-judge", secondsPerCall: 0.27, usdPerCall: 0 },
    order: { kind: "fcfs" },
    place: { kind: place },
    approvedRanges: { thresholds: thresholds.map(() => ({ min: 0, max: 100 })) },
    ...(below === 0 ? {} : { directStart: { below, router: { kind: "modelled", auc: 0.7 } } }),
  };
}

const fcfs: OrderDocument = { kind: "fcfs" };

function slack(order: OrderDocument = fcfs, place: PlaceDocument = { kind: "least-load" }): SlackPolicy {
  return {
    kind: "slack",
    models: names.map((model, index) => ({
      model,
      decodeSecondsPerToken: 0.01 * (index + 1),
      maxBatchSize: 64,
      confidence: 0.3 + 0.2 * index,
    })),
    tau: 0.5,
    deltaScore: 0.1,
    floorSeconds: 2,
    order,
    place,
    approvedRanges: { tau: { min: 0, max: 2 }, deltaScore: { min: 0, max: 0.5 } },
  };
}

function balanced(order: OrderDocument = fcfs, place: PlaceDocument = { kind: "least-load" }): BalancedPolicy {
  return { kind: "balanced", models: names.map((model) => ({ model, maxBatchSize: 4 })), order, place };
}

function contracts(name: string, document: PolicyDocument): void {
  const build = () => buildPolicy(document);
  const { order } = document;
  policyContract(name, {
    build,
    stages: modelsOf(document).length,
    agingThreshold: order.kind === "fcfs" ? null : order.agingThreshold,
    ...((document.kind === "slack" || document.kind === "balanced") && { unordered: true }),
    ...(document.kind === "cascade" && !asksJudge(document) && { judgeless: true }),
  });
  if (document.kind !== "cascade") return;
  if (document.cascadeRouting !== undefined) {
    gainContract(name, { build, document: document.cascadeRouting });
    return;
  }
  const { thresholds, directStart, judge, gates } = document;
  const isGated = (stage: number) => gates !== undefined && gates[stage]?.kind !== "judge";
  const largestWhenDown = judge.whenDown === "largest";
  cascadeContract(name, { build, thresholds, startBelow: directStart?.below ?? 0, largestWhenDown, isGated });
}

for (const place of ["round-robin", "least-load"] as const) {
  for (const [thresholds, startBelow] of [
    [[], 0],
    [[60], 0],
    [[0, 100], 0],
    [[73, 41], 0],
    [[50], 1],
    [[73, 41], 55],
    [
      [73, 41],
      [30, 70],
    ],
    [
      [0, 0],
      [70, 30],
    ],
  ] satisfies [number[], number | number[]][]) {
    contracts(
      `cascade of ${thresholds.length + 1} at [${thresholds}] from ${startBelow}, ${place}`,
      cascade(thresholds, place, startBelow),
    );
  }
}

for (const below of [0, 55]) {
  const { judge, ...rest } = cascade([73, 41], "least-load", below);
  contracts(`cascade of 3 from ${below}, to the largest while the judge is down`, { ...rest, judge: { ...judge, whenDown: "largest" } });
}

{
  const { judge, ...rest } = cascade([0, 41], "least-load", [60, 30]);
  contracts("cascade of 3 whose first answers nothing judges, to the largest while the judge is down", {
    ...rest,
    judge: { ...judge, whenDown: "largest" },
  });
}

const confidence = { kind: "confidence" as const, measure: "minimum" as const };
const agreement = { kind: "agreement" as const, answer: "number" as const, peers: ["large"] };
const doubtful = { gate: agreement, acceptFrom: 90, escalateBelow: 20 };
const doubtfulJudged = { kind: "sequence" as const, first: [doubtful], last: { kind: "judge" as const } };
for (const whenDown of ["accept", "largest"] as const) {
  for (const gates of [
    [confidence, confidence],
    [{ kind: "judge" }, confidence],
    [confidence, doubtfulJudged],
  ] satisfies GateDocument[][]) {
    const { judge, ...rest } = cascade([73, 41]);
    const name = `cascade of 3 gated by ${gates.map(({ kind }) => kind).join(" and ")}, ${whenDown} without a score`;
    contracts(name, { ...rest, judge: { ...judge, whenDown }, gates });
  }
}

const calibrated = { calibration: { raw: [0, 100], calibrated: [10, 90] }, levels: [20, 50, 85].map((score) => ({ score, share: 1 / 3 })) };

function routedByGain(gates: CascadeRoutingDocument["gates"], whenDown: "accept" | "largest" = "accept"): CascadePolicy {
  const { judge, ...rest } = cascade(
    gates.map((gate, stage) => (gate === null ? 0 : ([73, 41][stage] ?? 50))),
    "least-load",
    1,
  );
  return {
    ...rest,
    judge: { ...judge, whenDown },
    cascadeRouting: {
      pointsPerGpuSecond: 2,
      gpuSeconds: [1, 4, 9].slice(0, gates.length + 1),
      heads: [-0.2, 0.4, 1.2].slice(0, gates.length + 1).map((centre) => ({ centre, slope: 0.8 })),
      patterns: [-1, -2.5, -2, -2.2, -1.5, -2.4, -1.8, -0.4].slice(0, 2 ** (gates.length + 1)),
      gates,
    },
  };
}

contracts("cascade routing over 3", routedByGain([calibrated, calibrated]));
contracts("cascade routing over 3 whose first answers nothing scores", routedByGain([null, calibrated], "largest"));
contracts("cascade routing over 2 that names the judge", { ...routedByGain([calibrated]), gates: [{ kind: "judge" }] });
contracts("cascade routing over 2, no answer scored", routedByGain([null]));

const { calibration } = calibrated;
const sure = { gate: { ...confidence, calibration }, acceptFrom: 90, escalateBelow: 20 };
const calibratedGates = {
  judge: { kind: "judge", calibration },
  confidence: { ...confidence, calibration },
  agreement: { ...agreement, calibration },
  scorer: {
    ...{ kind: "scorer", answer: "whole", bias: 0, calibration },
    weights: [{ feature: "log-answer-tokens", mean: 5, scale: 1, weight: 1 }],
  },
  sequence: { kind: "sequence", first: [sure], last: { kind: "judge", calibration } },
} satisfies Record<GateDocument["kind"], GateDocument>;
for (const kind of gateKinds) {
  for (const [whenDown, gpuSeconds] of [
    ["accept", 0],
    ["largest", 0.7],
  ] as const) {
    const fitted = { ...calibrated, kind, gpuSeconds };
    const gates = [calibratedGates[kind], calibratedGates[kind]];
    contracts(`cascade routing over 3 gated by ${kind}, ${whenDown}`, { ...routedByGain([fitted, fitted], whenDown), gates });
  }
}

const aged: readonly OrderDocument[] = [
  { kind: "sjf", agingThreshold: 4 },
  { kind: "stjf", agingThreshold: 1 },
  { kind: "mlfq", quantaSeconds: [0.5, 1, 4], agingThreshold: 7 },
  { kind: "workflow", agingThreshold: 4 },
  { kind: "depth", agingThreshold: 3 },
  { kind: "deadline", impliedSeconds: 5, agingThreshold: 4 },
];
const places: readonly PlaceDocument[] = [
  { kind: "lowest-kv" },
  { kind: "least-load", affinity: { ratio: 0.5 } },
  { kind: "lowest-kv", affinity: { ratio: 0 } },
  { kind: "time-slots" },
];

// Every order with every route, and every place with every route and order, without the product of all three.
for (const [index, order] of aged.entries()) {
  const place = places[index % places.length] ?? { kind: "least-load" };
  contracts(`cascade, ${order.kind}, ${placeName(place)}`, { ...cascade([73, 41]), order, place });
  const next = places[(index + 1) % places.length] ?? place;
  contracts(`fixed, ${order.kind}, ${placeName(next)}`, { kind: "fixed", model: "small", order, place: next });
  const last = places[(index + 2) % places.length] ?? place;
  contracts(`slack, ${order.kind}, ${placeName(last)}`, slack(order, last));
  contracts(`balanced, ${order.kind}, ${placeName(place)}`, balanced(order, place));
}
contracts("slack whose programs change models, fcfs, least-load", { ...slack(), changesModel: true });
contracts("slack with prices, stjf, least-load", {
  ...slack({ kind: "stjf", agingThreshold: 3 }),
  price: { weight: 0.02, dampingSeconds: 5 },
});
contracts("fixed, preempting mlfq, least-load", {
  ...{ kind: "fixed", model: "small", place: { kind: "least-load" } },
  order: { kind: "mlfq", quantaSeconds: [1, 2], agingThreshold: 5, preempts: true },
});
contracts("balanced, fcfs, round-robin", balanced(fcfs, { kind: "round-robin" }));
contracts("cascade, fcfs, time-slots", { ...cascade([73, 41]), place: { kind: "time-slots" } });
contracts("cascade, fcfs, prefix", { ...cascade([73, 41]), place: { kind: "prefix" } });
contracts("slack, fcfs, round-robin", slack(fcfs, { kind: "round-robin" }));

function placeName({ kind, affinity }: PlaceDocument): string {
  return affinity === undefined ? kind : `${kind} with affinity`;
}

const beam = { kind: "beam", width: 4 } as const;
const { models: profiles, workflows: declaredTwice } = justInTime(beam);
const profileOf = (batches: readonly number[]) => {
  return { model: "small", cost: 1, saturationBatch: 4, throughput: batches.map((batch) => ({ batch, tokensPerSecond: batch })) };
};
const many = ["small", "medium", "large", "larger", "largest"].map((model) => ({ ...profileOf([4]), model }));
const pricedAt = (own: object, dampingSeconds = 5, other = "medium"): PolicyDocument => {
  const models = [
    { model: other, secondsPerToken: 0, waiting: 0 },
    { model: "large", secondsPerToken: 0.1, waiting: 1, ...own },
  ];
  return justInTime({ kind: "worth", rightSeconds: 0, delayWeight: 1, price: { models, dampingSeconds } });
};
const fixedTo = (refine?: Record<string, string>) => {
  return justInTime({ kind: "fixed", configurations: refine === undefined ? {} : { refine } }, { workflows: declaredTwice.slice(0, 1) });
};

describe("buildPolicy", () => {
  it("sends requests past a judge that rests only where it would score their first answer", () => {
    const { judge, ...rest } = cascade([0, 41], "least-load", [60, 30]);
    const policy = buildPolicy({ ...rest, judge: { ...judge, whenDown: "largest" } });
    const startOf = (small: number) =>
      policy.start({ ...starting("w", (model) => (model === "small" ? small : 50)), judgeResting: true }).stage;
    expect([startOf(80), startOf(20)]).toEqual([0, 2]);
  });

  it("gives every policy its own state", () => {
    const view = {
      nowSeconds: 1,
      waiting: [
        {
          id: "w",
          programId: "w",
          stage: 0,
          programArrivalSeconds: 0,
          queuedSinceSeconds: 0,
          inputTokens: 1,
          state: { kind: "queued" as const },
        },
      ],
      replicas: ["a", "b"].map((id) => ({
        id,
        model: "small",
        inFlight: 0,
        maxInFlight: 4,
        accepting: true,
        kvUse: { state: "absent" as const },
      })),
    };
    const first = buildPolicy(cascade([50], "round-robin"));
    first.decide(view);
    expect(first.decide(view)).toEqual([{ kind: "dispatch", workId: "w", replicaId: "b" }]);
    expect(buildPolicy(cascade([50], "round-robin")).decide(view)).toEqual([{ kind: "dispatch", workId: "w", replicaId: "a" }]);
  });

  it("tells engines what its order goes by, and nothing where that is arrival", () => {
    const work = { id: "w", programId: "p", stage: 0, programArrivalSeconds: 0, queuedSinceSeconds: 0, inputTokens: 7 };
    const forecast = { agent: "app/a", distanceSeconds: 4.5678, remainingCalls: 2.25, requestSeconds: 1, tokensPerSecond: 9 };
    const predicted = { predictedTokens: 20, predictedProgramTokens: 90, forecast, state: { kind: "queued" as const } };
    const seat = { id: "r", model: "small", inFlight: 0, maxInFlight: 4, accepting: true, kvUse: { state: "absent" as const } };
    const priorityBy = (order: OrderDocument) => {
      const [action] = buildPolicy(balanced(order)).decide({ nowSeconds: 1, waiting: [{ ...work, ...predicted }], replicas: [seat] });
      return action?.kind === "dispatch" ? action.priority : null;
    };
    expect([fcfs, ...aged].map(priorityBy)).toEqual([undefined, 20, 90, 0, 4567.8, 2250, 5]);
  });

  it("says why a request starts where it does", () => {
    const { start } = buildPolicy(cascade([73, 41], "least-load", 55));
    const scored = (small: number | undefined, medium: number | undefined) =>
      start(starting("p", (model) => (model === "small" ? small : model === "medium" ? medium : undefined)));
    expect(scored(60, 90)).toEqual({ stage: 0, reason: "router-score-high-enough" });
    expect(scored(54, 55)).toEqual({ stage: 1, reason: "router-score-high-enough" });
    expect(scored(20, 30)).toEqual({ stage: 2, reason: "no-router-score-high-enough" });
    expect(scored(undefined, undefined)).toEqual({ stage: 0, reason: "no-router-score-of-small" });
    expect(buildPolicy(cascade([73, 41])).start(starting("p", () => 0))).toEqual({ stage: 0, reason: "first-stage" });
  });

  it("starts at the first stage whose router score reaches the stage's own, where each has one", () => {
    const { start } = buildPolicy(cascade([73, 41], "least-load", [30, 80]));
    const scored = (small: number, medium: number) => start(starting("p", (model) => (model === "small" ? small : medium))).stage;
    expect([scored(30, 0), scored(29, 80), scored(29, 79)]).toEqual([0, 1, 2]);
  });

  it("needs a predictor of confidence for a trained router alone, and no judge where every answer is accepted", () => {
    const predictor = "ab".repeat(32);
    const trained = (thresholds: readonly number[]): CascadePolicy => ({
      ...cascade(thresholds),
      directStart: { below: 50, router: { kind: "trained", predictor } },
    });
    expect(buildPolicy(trained([60])).needs).toEqual(["judged-scores", "confidence"]);
    expect(buildPolicy(trained([0, 0])).needs).toEqual(["confidence"]);
    expect(buildPolicy(cascade([60], "least-load", 50)).needs).toEqual(["judged-scores"]);
    expect(learntOf(trained([60]))).toEqual([predictor]);
    expect(learntOf(cascade([60], "least-load", 50))).toEqual([]);
    const policy = buildPolicy(trained([0, 0]));
    expect([0, 1, 2].map((stage) => policy.acceptReason(stage))).toEqual(["not-judged", "not-judged", "last-stage"]);
  });

  it.each([
    ["a threshold too few", { ...cascade([50, 50]), thresholds: [50] }, "3 stages needs 2 thresholds"],
    ["a model that stands twice", { ...cascade([50]), stages: [{ model: "small" }, { model: "small" }] }, "small is listed twice"],
    ["a threshold over 100", cascade([140]), "stage 1 is 140"],
    ["a threshold outside its approved range", { ...cascade([50]), approvedRanges: { thresholds: [{ min: 60, max: 70 }] } }, "60 to 70"],
    ["a threshold without an approved range", { ...cascade([50]), approvedRanges: { thresholds: [] } }, "approved range"],
    ["a direct start at no score", cascade([50], "least-load", 0.5), "below 0.5"],
    ["a gate too few", { ...cascade([50, 50]), gates: [confidence] }, "3 stages needs 2 gates, one for each stage but the last; found 1"],
    [
      "agreement with nobody",
      { ...cascade([50]), gates: [{ kind: "agreement", answer: "number", peers: [] }] },
      "stage 1 names neither samples nor peers",
    ],
    [
      "agreement of a model with itself",
      { ...cascade([50]), gates: [{ ...doubtfulJudged, first: [{ ...doubtful, gate: { ...agreement, peers: ["small"] } }] }] },
      "stage 1 names small as a peer",
    ],
    [
      "two agreement gates in a sequence",
      { ...cascade([50]), gates: [{ kind: "sequence", first: [doubtful], last: { ...agreement, peers: ["medium"] } }] },
      "The sequence of stage 1 has two agreement gates",
    ],
    [
      "agreement with a peer twice",
      { ...cascade([50]), gates: [{ ...agreement, peers: ["large", "large"] }] },
      "names the peer large twice",
    ],
    ["cascade routing without a router", { ...routedByGain([calibrated]), directStart: undefined }, "name the router as the direct start"],
    [
      "cascade routing of other stages",
      { ...routedByGain([calibrated, calibrated]), cascadeRouting: routedByGain([calibrated]).cascadeRouting },
      "fitted to 2 stages, and the cascade has 3",
    ],
    [
      "cascade routing by scores that no gate gives",
      { ...routedByGain([calibrated]), thresholds: [0] },
      "threshold of 0 lets its answers go unscored",
    ],
    [
      "cascade routing after another gate than the judge",
      { ...routedByGain([calibrated, calibrated]), gates: [{ kind: "judge" }, confidence] },
      "the gate of stage 2 is confidence",
    ],
    [
      "cascade routing after a calibrated judge",
      { ...routedByGain([calibrated]), gates: [{ kind: "judge", calibration: calibrated.calibration }] },
      "the gate of stage 1 is a calibrated judge",
    ],
    [
      "cascade routing after another gate than it is fitted to",
      { ...routedByGain([{ ...calibrated, kind: "agreement" }]), gates: [calibratedGates.confidence] },
      "fitted to calibrated scores of agreement, and the gate of stage 1 is confidence",
    ],
    [
      "cascade routing after an uncalibrated gate",
      { ...routedByGain([{ ...calibrated, kind: "sequence" }]), gates: [doubtfulJudged] },
      "fitted to calibrated scores of sequence, and the gate of stage 1 is an uncalibrated sequence",
    ],
    [
      "cascade routing by a gate that it does not name",
      routedByGain([{ ...calibrated, kind: "confidence" }]),
      "fitted to calibrated scores of confidence, and the gate of stage 1 is an uncalibrated judge",
    ],
    ["a score that cascade routing does not read", { ...routedByGain([null]), thresholds: [40] }, "threshold of 40 needs one"],
    ["a direct start by too few scores", cascade([50, 50], "least-load", [40]), "3 stages needs one router score, or 2"],
    ["a direct start at a score over 100", cascade([50, 50], "least-load", [40, 101]), "below 101"],
    ["no stage at all", { ...cascade([]), stages: [] }, "at least one stage"],
    ["balancing over nothing", { ...balanced(), models: [] }, "at least one model"],
    ["balancing over a model twice", { ...balanced(), models: [...balanced().models, ...balanced().models] }, "small is listed twice"],
    ["a batch of nothing", { ...balanced(), models: [{ model: "small", maxBatchSize: 0 }] }, "The batch of small holds 0"],
    ["affinity in turn", { ...cascade([50]), place: { kind: "round-robin", affinity: { ratio: 1 } } }, "leave affinity out"],
    ["affinity to what prefixes keep", { ...cascade([50]), place: { kind: "prefix", affinity: { ratio: 1 } } }, "leave affinity out"],
    ["affinity to what is packed", { ...cascade([50]), place: { kind: "time-slots", affinity: { ratio: 1 } } }, "Time slots hold memory"],
    ["affinity that repels", slack(fcfs, { kind: "least-load", affinity: { ratio: -1 } }), "The ratio of affinity is -1"],
    ["slack among one model", { ...slack(), models: slack().models.slice(1, 2) }, "at least two"],
    ["slack among a model twice", { ...slack(), models: [...slack().models, ...slack().models] }, "small is listed twice"],
    ["a negative slack", { ...slack(), tau: -1 }, "The slack tau is -1"],
    [
      "a price without a floor of load",
      { ...slack(), floorSeconds: 0, price: { weight: 0.1, dampingSeconds: 5 } },
      "A price needs `floorSeconds` above 0.",
    ],
    ["a price without a weight", { ...slack(), price: { weight: 0, dampingSeconds: 5 } }, "The weight of the price is 0"],
    ["a slack outside its approved range", { ...slack(), tau: 3 }, "tau is 3, outside its approved range 0 to 2"],
    ["a margin outside its approved range", { ...slack(), deltaScore: 0.9 }, "deltaScore is 0.9, outside"],
    ["confidence in percent", { ...slack(), models: slack().models.map((one) => ({ ...one, confidence: 50 })) }, "it must be from 0 to 1"],
    ["aging at once", { ...cascade([50]), order: { kind: "sjf", agingThreshold: 0 } }, "ages after 0 releases"],
    ["workflows that never age", { ...cascade([50]), order: { kind: "workflow", agingThreshold: 1.5 } }, "ages after 1.5 releases"],
    [
      "feedback without levels",
      { ...cascade([50]), order: { kind: "mlfq", quantaSeconds: [], agingThreshold: 1 } },
      "at least one quantum",
    ],
    [
      "an implied deadline of nothing",
      { ...cascade([50]), order: { kind: "deadline", impliedSeconds: 0, agingThreshold: 1 } },
      "An implied deadline is 0 s after the program began",
    ],
    ["a quantum of nothing", { ...cascade([50]), order: { kind: "mlfq", quantaSeconds: [1, 0], agingThreshold: 1 } }, "A quantum is 0 s"],
    ["rounds over no model", justInTime(beam, { models: [], workflows: [] }), "at least one model"],
    ["rounds over a model twice", justInTime(beam, { models: [...profiles, ...profiles] }), "small is listed twice"],
    ["throughput out of order", justInTime(beam, { models: [profileOf([4, 2, 4]), ...profiles.slice(1)] }), "at batch 2 after 4"],
    [
      "throughput that ends early",
      justInTime(beam, { models: [profileOf([1, 3]), ...profiles.slice(1)] }),
      "up to batch 3, and it saturates at 4",
    ],
    ["a workflow twice", justInTime(beam, { workflows: [...declaredTwice, ...declaredTwice] }), "The workflow refine is listed twice"],
    ["trying all of many models", justInTime({ kind: "exhaustive" }, { models: many }), "for at most 4 models, and these are 5"],
    ["a price of a stranger", pricedAt({ model: "tiny" }), "A price is given for tiny, which is not among"],
    ["a price below nothing", pricedAt({ secondsPerToken: -1 }), "The price of large is -1 s a token; it must be 0 or more."],
    ["fewer than none that wait", pricedAt({ waiting: -2 }), "planned to wait for large is -2"],
    ["prices that follow at once", pricedAt({}, 0), "Prices are smoothed over 0 s; it must be more than 0."],
    ["a price given twice", pricedAt({ model: "small" }, 5, "small"), "The price of small is given twice."],
    ["a fixed configuration that is missing", fixedTo(), "The workflow refine has no fixed configuration"],
    [
      "one for a workflow named as every object has a field",
      justInTime({ kind: "fixed", configurations: {} }, { workflows: [{ workflow: declared("constructor", [{ name: "draft" }]) }] }),
      "The workflow constructor has no fixed configuration",
    ],
    [
      "one without an agent named so",
      justInTime({ kind: "fixed", configurations: { odd: {} } }, { workflows: [{ workflow: declared("odd", [{ name: "constructor" }]) }] }),
      "has no model for constructor",
    ],
    ["one without an agent", fixedTo({ draft: "small", critic: "small" }), "has no model for refiner"],
    ["one on a stranger", fixedTo({ draft: "tiny", critic: "small", refiner: "small" }), "has draft on tiny, which is not among"],
    ["one that breaks a bond", fixedTo({ draft: "small", critic: "small", refiner: "large" }), "must have the same as another"],
  ] satisfies readonly [string, PolicyDocument, string][])("refuses %s and says why", (_, document, reason) => {
    expect(policyRefusal(document)).toContain(reason);
    expect(() => buildPolicy(document)).toThrow(reason);
  });

  it("builds what the schema reads and names the models in the order of their stages", () => {
    const changing: SlackPolicy = { ...slack(), changesModel: true };
    for (const document of [
      cascade([73, 41]),
      { ...cascade([73, 41]), gates: [confidence, doubtfulJudged] },
      slack(),
      changing,
      slack(aged[2], places[1]),
      balanced(aged[3], places[3]),
      ...selections.map((one) => justInTime(one)),
    ]) {
      expect(policySchema.parse(JSON.parse(JSON.stringify(document)))).toEqual(document);
      const policy = buildPolicy(document);
      expect(modelsOf(document).map((_, stage) => policy.modelOfStage(stage))).toEqual(names);
    }
  });
});
