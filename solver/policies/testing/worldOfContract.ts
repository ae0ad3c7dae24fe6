import * as fc from "fast-check";
import type { AgentForecast } from "@/solver/workflow/learning/agentForecast";
import type { Action, Policy, Reading, ReplicaView, StartingRequest, View, WaitingWork } from "../core/policy";

export const scoreOrNone = fc.oneof(fc.integer({ min: 0, max: 100 }), fc.constant(null));

const readingOf = (value: fc.Arbitrary<number>): fc.Arbitrary<Reading> =>
  fc.oneof(
    fc.constantFrom({ state: "absent" as const }, { state: "unreachable" as const }),
    fc.record({ state: fc.constantFrom("fresh" as const, "stale" as const), value, ageSeconds: fc.integer({ min: 0, max: 20 }) }),
  );

export const anyForecast: fc.Arbitrary<AgentForecast> = fc.record({
  agent: fc.constantFrom("app/planner", "app/writer", "other/router"),
  distanceSeconds: fc.double({ min: 0, max: 60, noNaN: true }),
  remainingCalls: fc.double({ min: 1, max: 6, noNaN: true }),
  requestSeconds: fc.integer({ min: 0, max: 400_000 }).map((milliseconds) => milliseconds / 1000),
  tokensPerSecond: fc.double({ min: 0, max: 100, noNaN: true }),
});

/** Any state in which a driver may call a policy of these models, one per stage. */
export function anyView(models: readonly string[]): fc.Arbitrary<View> {
  const work = fc.record({
    stage: fc.integer({ min: 0, max: models.length - 1 }),
    program: fc.integer({ min: 0, max: 9 }),
    queuedSinceSeconds: fc.integer({ min: 0, max: 50 }),
    inputTokens: fc.integer({ min: 1, max: 4000 }),
    programArrivalSeconds: fc.integer({ min: 0, max: 3 }),
    predicted: fc.record(
      {
        predictedTokens: fc.integer({ min: 1, max: 4000 }),
        predictedProgramTokens: fc.integer({ min: 1, max: 9000 }),
        dueSeconds: fc.integer({ min: 0, max: 200 }),
        forecast: anyForecast,
      },
      { requiredKeys: [] },
    ),
    state: fc.oneof(
      fc.constant({ kind: "queued" as const }),
      scoreOrNone.map((judgedScore) => ({ kind: "answered" as const, judgedScore })),
    ),
  });
  const replica = fc.record(
    {
      model: fc.constantFrom(...models, "model-of-no-stage"),
      inFlight: fc.integer({ min: 0, max: 5 }),
      maxInFlight: fc.integer({ min: 1, max: 4 }),
      accepting: fc.boolean(),
      kvUse: readingOf(fc.double({ min: 0, max: 1, noNaN: true })),
      kvTokens: fc.oneof(fc.constant(null), fc.integer({ min: 500, max: 20_000 })),
      preemptions: readingOf(fc.integer({ min: 0, max: 9 })),
    },
    { requiredKeys: ["model", "inFlight", "maxInFlight", "accepting", "kvUse"] },
  );
  return fc.tuple(fc.array(work, { maxLength: 40 }), fc.array(replica, { maxLength: 12 })).map(([works, replicas]) => ({
    nowSeconds: 100,
    waiting: works.map(({ predicted, program, ...rest }, index) => ({
      ...rest,
      ...predicted,
      id: `w${index}`,
      programId: `p${program}`,
    })),
    replicas: replicas.map((one, index) => ({ ...one, id: `r${index}` })),
  }));
}

/** A request of a separate program, with no router score except the given one. */
export function starting(programId: string, routerScores: StartingRequest["routerScores"] = () => undefined): StartingRequest {
  return { programId, inputTokens: 10, routerScores, replicas: [], judgeResting: false };
}

export function find<T extends { readonly id: string }>(list: readonly T[], id: string): T {
  const found = list.find((entry) => entry.id === id);
  if (!found) throw new Error(`The policy named ${id}, which is not in the view.`);
  return found;
}

interface OneModel {
  /** The model of each stage. */
  readonly models: readonly string[];
  readonly model: string;
  readonly actions: readonly Action[];
}

/** The room of a model's replicas, the number of them, the number of requests queued for it, and how many of those the actions send. */
export function roomAndWork({ replicas, waiting }: View, { models, model, actions }: OneModel) {
  const rooms = replicas.filter((one) => one.model === model && one.accepting).map((one) => Math.max(0, one.maxInFlight - one.inFlight));
  const queued = waiting.filter(({ state, stage }) => state.kind === "queued" && models[stage] === model);
  const sent = actions.filter(({ kind, workId }) => kind === "dispatch" && queued.some(({ id }) => id === workId));
  return {
    room: rooms.reduce((sum, room) => sum + room, 0),
    roomy: rooms.filter((room) => room > 0).length,
    queued: queued.length,
    sent: sent.length,
  };
}

/** A forecast of an agent that is so many seconds, and so many calls, from the end of its programs. */
export const forecastOf = (distance: number): AgentForecast => ({
  agent: `app/${distance}`,
  distanceSeconds: distance,
  remainingCalls: distance,
  requestSeconds: 1,
  tokensPerSecond: 10,
});

interface World {
  readonly models: readonly string[];
  /** Judged score per request and stage. */
  readonly scores: readonly (readonly (number | null)[])[];
  /** Router score of the first model for every other request. */
  readonly routerScore: number;
}

/** Drives a policy with one slot per model and unit service times; returns how many requests were accepted. */
export function serveAll(policy: Policy, { models, scores, routerScore }: World): number {
  let waiting: WaitingWork[] = scores.map((_, index) => ({
    id: `${index}`,
    programId: `${index}`,
    stage: policy.start(starting(`${index}`, (model) => (index % 2 === 0 && model === models[0] ? routerScore : undefined))).stage,
    programArrivalSeconds: index,
    queuedSinceSeconds: index,
    inputTokens: 10 + ((index * 7) % 5),
    ...(index % 3 === 0 ? {} : { forecast: forecastOf(index % 3) }),
    state: { kind: "queued" },
  }));
  for (const work of waiting) policy.observe({ kind: "queued", work });
  let accepted = 0;
  const rounds = 2 * scores.length * models.length + 2;
  for (let nowSeconds = scores.length; nowSeconds < scores.length + rounds; nowSeconds += 1) {
    const replicas: ReplicaView[] = models.map((model) => ({
      id: model,
      model,
      inFlight: 0,
      maxInFlight: 1,
      accepting: true,
      kvUse: { state: "fresh", value: 0.5, ageSeconds: 0 },
      kvTokens: 100,
      preemptions: { state: "fresh", value: 0, ageSeconds: 0 },
    }));
    const actions = new Map(policy.decide({ nowSeconds, waiting, replicas }).map((action) => [action.workId, action]));
    waiting = waiting.flatMap((work): WaitingWork[] => {
      const action = actions.get(work.id);
      if (!action) return [work];
      if (action.kind === "accept") {
        accepted += 1;
        policy.observe({ kind: "ended", programId: work.programId });
        return [];
      }
      if (action.kind === "escalate") {
        const next: WaitingWork = { ...work, stage: action.stage, queuedSinceSeconds: nowSeconds, state: { kind: "queued" } };
        policy.observe({ kind: "queued", work: next });
        return [next];
      }
      if (action.kind === "refuse") return [];
      if (action.kind === "skip") throw new Error("The policy passed a stage over whose model has engines.");
      const { id: workId, programId } = work;
      policy.observe({ kind: "dispatched", workId, programId, replicaId: action.replicaId, nowSeconds });
      policy.observe({ kind: "finished", workId, replicaId: action.replicaId, nowSeconds: nowSeconds + 1, failed: false });
      return [{ ...work, state: { kind: "answered", judgedScore: scores[Number(work.id)]?.[work.stage] ?? null } }];
    });
  }
  return accepted;
}
