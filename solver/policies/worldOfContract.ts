import * as fc from "fast-check";
import type { Policy, Reading, ReplicaView, StartingRequest, View, WaitingWork } from "./policy";

export const scoreOrNone = fc.oneof(fc.integer({ min: 0, max: 100 }), fc.constant(null));

const kvUse: fc.Arbitrary<Reading> = fc.oneof(
  fc.constantFrom({ state: "absent" as const }, { state: "unreachable" as const }),
  fc.record({
    state: fc.constantFrom("fresh" as const, "stale" as const),
    value: fc.double({ min: 0, max: 1, noNaN: true }),
    ageSeconds: fc.integer({ min: 0, max: 20 }),
  }),
);

/** Any state in which a driver may ask a policy of these models, one a stage. */
export function anyView(models: readonly string[]): fc.Arbitrary<View> {
  const work = fc.record({
    stage: fc.integer({ min: 0, max: models.length - 1 }),
    program: fc.integer({ min: 0, max: 9 }),
    queuedSinceSeconds: fc.integer({ min: 0, max: 50 }),
    inputTokens: fc.integer({ min: 1, max: 4000 }),
    predicted: fc.record(
      { predictedTokens: fc.integer({ min: 1, max: 4000 }), predictedProgramTokens: fc.integer({ min: 1, max: 9000 }) },
      { requiredKeys: [] },
    ),
    state: fc.oneof(
      fc.constant({ kind: "queued" as const }),
      scoreOrNone.map((judgedScore) => ({ kind: "answered" as const, judgedScore })),
    ),
  });
  const replica = fc.record({
    model: fc.constantFrom(...models, "model-of-no-stage"),
    inFlight: fc.integer({ min: 0, max: 5 }),
    maxInFlight: fc.integer({ min: 1, max: 4 }),
    accepting: fc.boolean(),
    kvUse,
  });
  return fc.tuple(fc.array(work, { maxLength: 40 }), fc.array(replica, { maxLength: 12 })).map(([works, replicas]) => ({
    nowSeconds: 100,
    waiting: works.map(({ predicted, program, ...rest }, index) => ({
      ...rest,
      ...predicted,
      id: `w${index}`,
      programId: `p${program}`,
      programArrivalSeconds: 0,
    })),
    replicas: replicas.map((one, index) => ({ ...one, id: `r${index}` })),
  }));
}

/** A request of a program of its own that a router says nothing of but what is told. */
export function starting(programId: string, routerScores: StartingRequest["routerScores"] = () => undefined): StartingRequest {
  return { programId, inputTokens: 10, routerScores, replicas: [], judgeResting: false };
}

export function find<T extends { readonly id: string }>(list: readonly T[], id: string): T {
  const found = list.find((entry) => entry.id === id);
  if (!found) throw new Error(`The policy named ${id}, which is not in the view.`);
  return found;
}

interface World {
  readonly models: readonly string[];
  /** Judged score per request and stage. */
  readonly scores: readonly (readonly (number | null)[])[];
  /** What a router scores the first model for every other request. */
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
      const { id: workId, programId } = work;
      policy.observe({ kind: "dispatched", workId, programId, replicaId: action.replicaId, nowSeconds });
      policy.observe({ kind: "finished", workId, replicaId: action.replicaId, nowSeconds: nowSeconds + 1, failed: false });
      return [{ ...work, state: { kind: "answered", judgedScore: scores[Number(work.id)]?.[work.stage] ?? null } }];
    });
  }
  return accepted;
}
