import * as fc from "fast-check";
import { expect } from "vitest";
import type { JustInTimePolicy } from "@/solver/plan/policySchema";
import type { Action, Policy, ReplicaView, WaitingWork } from "../core/policy";
import { anyForecast } from "./worldOfContract";

export const MODELS = ["small", "medium", "large"];
export const SEATS = 3;

/** What happens in one moment to requests of no workflow, and to the engines. */
export const anyTurn = fc.record({
  seconds: fc.integer({ min: 0, max: 8 }).map((quarters) => quarters / 4),
  arrivals: fc.array(
    fc.record({
      inputTokens: fc.integer({ min: 1, max: 1500 }),
      tokens: fc.integer({ min: 1, max: 900 }),
      forecast: fc.option(anyForecast, { nil: undefined }),
      routerScores: fc.array(fc.integer({ min: 0, max: 100 }), { minLength: 3, maxLength: 3 }),
    }),
    { maxLength: 4 },
  ),
  /** The requests in flight that are answered, as indices modulo their number, and their scores. */
  answers: fc.array(fc.tuple(fc.nat(20), fc.option(fc.integer({ min: 0, max: 100 }))), { maxLength: 3 }),
  kvUse: fc.double({ min: 0, max: 1, noNaN: true }),
  lost: fc.option(fc.constantFrom(...MODELS), { freq: 4 }),
  lowerMayAnswer: fc.boolean(),
});

type Turn = typeof anyTurn extends fc.Arbitrary<infer T> ? T : never;

const range = { min: 0, max: 100 };
/** A policy of single requests without its order and place. */
export type Singles = NonNullable<JustInTimePolicy["singles"]>;
const judge = { model: "judge", secondsPerCall: 0.1, usdPerCall: 0 };
const stages = MODELS.map((model) => ({ model }));
const confident = { kind: "trained", predictor: "1".repeat(64) } as const;
export const routes: Readonly<Record<string, Singles>> = {
  "a cascade by thresholds (Cascadia)": {
    kind: "cascade",
    stages,
    thresholds: [60, 40],
    judge,
    approvedRanges: { thresholds: [range, range] },
  },
  "a cascade with direct starts": {
    ...{ kind: "cascade", stages, thresholds: [60, 40], judge, approvedRanges: { thresholds: [range, range] } },
    directStart: { below: [50, 70], router: confident },
  },
  "slack dispatch (Chimera)": {
    ...{ kind: "slack", tau: 0.5, deltaScore: 0, floorSeconds: 1, approvedRanges: { tau: range, deltaScore: { min: 0, max: 1 } } },
    models: MODELS.map((model, at) => ({ model, decodeSecondsPerToken: 0.01 * (at + 1), maxBatchSize: SEATS, confidence: 0.3 * (at + 1) })),
  },
  "one model": { kind: "fixed", model: "medium" },
};

/** What a driver knows of a request. */
interface Request {
  readonly routerScores: readonly number[];
  work: WaitingWork;
}

/** One policy with its own requests, as a driver leads it. */
class Driven {
  readonly requests = new Map<string, Request>();
  readonly inFlight: { readonly id: string; readonly replicaId: string }[] = [];

  constructor(readonly policy: Policy) {}

  replicas(kvUse: number, lost: string | null): readonly ReplicaView[] {
    return MODELS.flatMap((model) =>
      ["a", "b"].map(
        (seat): ReplicaView => ({
          ...{ id: `${model}-${seat}`, model, maxInFlight: SEATS, accepting: model !== lost, down: model === lost, kvTokens: 2000 },
          inFlight: this.inFlight.filter(({ replicaId }) => replicaId === `${model}-${seat}`).length,
          kvUse: { state: "fresh", value: kvUse, ageSeconds: 0 },
          preemptions: { state: "fresh", value: 0, ageSeconds: 0 },
        }),
      ),
    );
  }

  queue(id: string, stage: number, nowSeconds: number): void {
    const request = this.requests.get(id);
    if (request === undefined) return;
    request.work = { ...request.work, stage, queuedSinceSeconds: nowSeconds, state: { kind: "queued" } };
    this.policy.observe({ kind: "queued", work: request.work });
  }

  /** The request in flight at the index is answered. */
  answer(index: number, score: number | null, nowSeconds: number): void {
    const [done] = this.inFlight.splice(index, 1);
    const request = this.requests.get(done?.id ?? "");
    if (done === undefined || request === undefined) return;
    this.policy.observe({ kind: "finished", workId: done.id, replicaId: done.replicaId, nowSeconds, failed: false });
    const judgedScore = this.policy.judges(request.work.stage) ? score : null;
    request.work = { ...request.work, state: { kind: "answered", judgedScore } };
  }

  /** Everything that a decision did, model by model in the order of each: rounds list the models' requests mixed. */
  decided(actions: readonly Action[]): readonly unknown[] {
    const groupOf = (action: Action): string => (action.kind === "dispatch" ? action.replicaId.slice(0, -2) : "");
    return [...actions]
      .sort((one, other) => groupOf(one).localeCompare(groupOf(other)))
      .map((action) => (action.kind === "dispatch" ? { ...action, stage: this.requests.get(action.workId)?.work.stage } : action));
  }

  carryOut(actions: readonly Action[], nowSeconds: number): void {
    for (const action of actions) {
      const request = this.requests.get(action.workId);
      if (request === undefined) continue;
      if (action.kind === "dispatch") {
        const { workId, replicaId } = action;
        this.policy.observe({ kind: "dispatched", workId, programId: workId, replicaId, nowSeconds });
        this.inFlight.push({ id: workId, replicaId });
        request.work = { ...request.work, state: { kind: "answered", judgedScore: null } };
      } else if (action.kind === "escalate" || action.kind === "skip") {
        if (action.kind === "skip") this.policy.observe({ kind: "left", workId: action.workId, nowSeconds });
        this.queue(action.workId, action.stage, nowSeconds);
      } else {
        if (action.kind === "refuse") this.policy.observe({ kind: "left", workId: action.workId, nowSeconds });
        this.policy.observe({ kind: "ended", programId: action.workId });
        this.requests.delete(action.workId);
      }
    }
  }
}

/**
 * Leads two policies through the same arrivals, scores, failures of models and times, and expects that they decide alike throughout. Keys of
 * requests all differ, and actions are compared model by model: rounds list the actions of the models mixed, and of equal keys the one whose
 * program began first goes first, in queues the one that joined first.
 */
export function expectSameDecisions(turns: readonly Turn[], policies: readonly [Policy, Policy]): void {
  const [first, second] = policies.map((policy) => new Driven(policy)) as [Driven, Driven];
  const both = [first, second];
  let [nowSeconds, came] = [0, 0];
  for (const { seconds, arrivals, answers, kvUse, lost, lowerMayAnswer } of turns) {
    nowSeconds += seconds;
    const outage = { isLost: (model: string) => model === lost, lowerMayAnswer };
    for (const { routerScores, tokens, ...arrival } of arrivals) {
      const id = `w${came++}`;
      const started = both.map((driven) => {
        const start = driven.policy.start({
          ...{ programId: id, inputTokens: arrival.inputTokens, judgeResting: false, outage },
          routerScores: (model) => routerScores[MODELS.indexOf(model)],
          replicas: driven.replicas(kvUse, lost),
        });
        const times = { programArrivalSeconds: nowSeconds, queuedSinceSeconds: nowSeconds };
        const predictedTokens = tokens + came / 1000;
        const predicted = { predictedTokens, predictedProgramTokens: predictedTokens };
        const work = { id, programId: id, stage: start.stage, ...times, ...arrival, ...predicted, state: { kind: "queued" as const } };
        driven.requests.set(id, { routerScores, work });
        driven.queue(id, start.stage, nowSeconds);
        return start;
      });
      expect(started[0]).toEqual(started[1]);
    }
    for (const [at, score] of answers) {
      const index = at % Math.max(1, first.inFlight.length);
      for (const driven of both) driven.answer(index, score, nowSeconds);
    }
    const decisions = both.map((driven) => {
      const flying = new Set(driven.inFlight.map(({ id }) => id));
      const waiting = [...driven.requests.values()].map(({ work }) => work).filter(({ id }) => !flying.has(id));
      return driven.policy.decide({ nowSeconds, waiting, replicas: driven.replicas(kvUse, lost), outage });
    });
    const [ours = [], theirs = []] = decisions;
    expect(first.decided(ours)).toEqual(second.decided(theirs));
    // The order of dispatches to different models means nothing to either: both go on in the same.
    for (const driven of both) driven.carryOut(theirs, nowSeconds);
  }
}
