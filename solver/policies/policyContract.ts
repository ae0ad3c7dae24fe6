import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { WaitingList } from "../cluster/waitingList";
import type { Policy, ReplicaView, View, WaitingWork } from "./policy";

/** What the contract needs to know of a policy beside the policy. */
export interface PolicyUnderTest {
  /** A fresh policy; called for every case. */
  readonly build: () => Policy;
  readonly stages: number;
  /** For a policy that accepts by thresholds: one per stage but the last. */
  readonly thresholds: readonly number[];
  /** Router score at which requests may start at a stage; 0 where all start at the first. */
  readonly startBelow: number;
  /** True when queued work of a model must leave in the order it came. */
  readonly firstComeFirstServed: boolean;
}

const scoreOrNone = fc.oneof(fc.integer({ min: 0, max: 100 }), fc.constant(null));

/** Every policy, whatever it is made of, keeps these promises to its driver. Call inside a test file of the policy. */
export function policyContract(name: string, under: PolicyUnderTest): void {
  const { build, stages, thresholds, startBelow, firstComeFirstServed } = under;
  const models = Array.from({ length: stages }, (_, stage) => build().modelOfStage(stage));
  const workState = fc.oneof(
    fc.constant({ kind: "queued" as const }),
    scoreOrNone.map((judgedScore) => ({ kind: "answered" as const, judgedScore })),
  );
  const anyWork = fc.record({
    stage: fc.integer({ min: 0, max: stages - 1 }),
    queuedSinceSeconds: fc.integer({ min: 0, max: 50 }),
    inputTokens: fc.integer({ min: 1, max: 4000 }),
    state: workState,
  });
  const anyReplica = fc.record({
    model: fc.constantFrom(...models, "model-of-no-stage"),
    inFlight: fc.integer({ min: 0, max: 5 }),
    maxInFlight: fc.integer({ min: 1, max: 4 }),
    accepting: fc.boolean(),
  });
  const anyView: fc.Arbitrary<View> = fc
    .tuple(fc.array(anyWork, { maxLength: 40 }), fc.array(anyReplica, { maxLength: 12 }))
    .map(([works, replicas]) => ({
      nowSeconds: 100,
      waiting: works.map((work, index) => ({ ...work, id: `w${index}`, programId: `w${index}`, programArrivalSeconds: 0 })),
      replicas: replicas.map((replica, index) => ({ ...replica, id: `r${index}`, kvUse: { state: "absent" } })),
    }));

  describe(`policy contract: ${name}`, () => {
    it("acts on each work at most once, and only on work that waits", () => {
      fc.assert(
        fc.property(anyView, (view) => {
          const acted = build()
            .decide(view)
            .map((action) => action.workId);
          expect(new Set(acted).size).toBe(acted.length);
          expect(acted.every((id) => view.waiting.some((work) => work.id === id))).toBe(true);
        }),
      );
    });

    it("dispatches queued work only, to accepting replicas of its model, never beyond what they may hold", () => {
      fc.assert(
        fc.property(anyView, (view) => {
          const policy = build();
          const load = new Map(view.replicas.map((replica) => [replica.id, replica.inFlight]));
          for (const action of policy.decide(view)) {
            if (action.kind !== "dispatch") continue;
            const work = find(view.waiting, action.workId);
            const replica = find(view.replicas, action.replicaId);
            const inFlight = load.get(replica.id) ?? 0;
            expect(work.state.kind).toBe("queued");
            expect(replica.model).toBe(policy.modelOfStage(work.stage));
            expect(replica.accepting).toBe(true);
            expect(inFlight).toBeLessThan(replica.maxInFlight);
            load.set(replica.id, inFlight + 1);
          }
        }),
      );
    });

    it("leaves no room unused that queued work of the model could take", () => {
      fc.assert(
        fc.property(anyView, (view) => {
          const actions = build().decide(view);
          for (const model of models) {
            const queued = view.waiting.filter((work) => work.state.kind === "queued" && models[work.stage] === model);
            const room = view.replicas
              .filter((replica) => replica.model === model && replica.accepting)
              .reduce((sum, replica) => sum + Math.max(0, replica.maxInFlight - replica.inFlight), 0);
            const sent = actions.filter((action) => action.kind === "dispatch" && queued.some((work) => work.id === action.workId));
            expect(sent.length).toBe(Math.min(room, queued.length));
          }
        }),
      );
    });

    it.runIf(firstComeFirstServed)("lets queued work of a model leave in the order it came", () => {
      fc.assert(
        fc.property(anyView, (view) => {
          const sent = new Set(
            build()
              .decide(view)
              .flatMap((action) => (action.kind === "dispatch" ? [action.workId] : [])),
          );
          for (const model of models) {
            const queued = view.waiting.filter((work) => work.state.kind === "queued" && models[work.stage] === model);
            const newestSent = Math.max(...queued.filter((work) => sent.has(work.id)).map((work) => work.queuedSinceSeconds));
            const oldestHeld = Math.min(...queued.filter((work) => !sent.has(work.id)).map((work) => work.queuedSinceSeconds));
            expect(newestSent).toBeLessThanOrEqual(oldestHeld);
          }
        }),
      );
    });

    it.runIf(firstComeFirstServed)("decides alike whether or not it is shown queued work that there is no room for", () => {
      fc.assert(
        fc.property(anyView, (view) => {
          const inOrder = [...view.waiting].sort((a, b) => a.queuedSinceSeconds - b.queuedSinceSeconds);
          const policy = build();
          expect(policy.firstComeFirstServed).toBe(true);
          const list = new WaitingList(policy);
          for (const work of inOrder) list.add(work);
          const shown = list.shown(view.replicas);
          const actions = policy.decide({ ...view, waiting: shown });
          expect(actions).toEqual(build().decide({ ...view, waiting: inOrder }));
          list.remove(actions);
          const left = inOrder.filter((work) => !actions.some((action) => action.workId === work.id));
          expect(list.size).toBe(left.length);
        }),
      );
    });

    it("starts a request at the first stage whose router score is high enough or not told, else at the last", () => {
      fc.assert(
        fc.property(fc.array(scoreOrNone, { minLength: stages, maxLength: stages }), (scores) => {
          const policy = build();
          const { stage } = policy.start((model) => scores[models.indexOf(model)] ?? undefined);
          const expected = scores.slice(0, -1).findIndex((score) => score === null || score >= startBelow);
          expect(stage).toBe(expected < 0 ? stages - 1 : expected);
          expect(policy.start(() => undefined).stage).toBe(0);
        }),
      );
    });

    it("accepts an answer exactly when its score reaches the threshold, at the last stage, or when the judge gave no score", () => {
      fc.assert(
        fc.property(anyView, (view) => {
          const actions = build().decide(view);
          for (const work of view.waiting) {
            if (work.state.kind !== "answered") continue;
            const { judgedScore } = work.state;
            const action = actions.find((candidate) => candidate.workId === work.id);
            const accepted = work.stage === stages - 1 || judgedScore === null || judgedScore >= (thresholds[work.stage] ?? 0);
            expect(action?.kind).toBe(accepted ? "accept" : "escalate");
            if (action?.kind === "escalate") expect(action.stage).toBe(work.stage + 1);
            if (action?.kind === "accept" && judgedScore === null && work.stage < stages - 1)
              expect(action.reason).toBe("judge-unavailable");
          }
        }),
      );
    });

    it("brings every request to an accepted answer when replicas keep finishing", () => {
      fc.assert(
        fc.property(
          fc.array(fc.array(scoreOrNone, { minLength: stages, maxLength: stages }), { minLength: 1, maxLength: 30 }),
          fc.integer({ min: 0, max: 100 }),
          (scores, routerScore) => {
            expect(serveAll(build(), { models, scores, routerScore })).toBe(scores.length);
          },
        ),
      );
    });

    it("judges exactly the stages whose answers may be refused, and says so in its needs", () => {
      const policy = build();
      const judged = models.map((_, stage) => policy.judges(stage));
      expect(judged).toEqual(models.map((_, stage) => stage < stages - 1));
      expect(policy.needs.includes("judged-scores")).toBe(judged.some(Boolean));
    });
  });
}

function find<T extends { readonly id: string }>(list: readonly T[], id: string): T {
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
function serveAll(policy: Policy, { models, scores, routerScore }: World): number {
  let waiting: WaitingWork[] = scores.map((_, index) => ({
    id: `${index}`,
    programId: `${index}`,
    stage: policy.start((model) => (index % 2 === 0 && model === models[0] ? routerScore : undefined)).stage,
    programArrivalSeconds: index,
    queuedSinceSeconds: index,
    inputTokens: 10,
    state: { kind: "queued" },
  }));
  let accepted = 0;
  const rounds = 2 * scores.length * models.length + 2;
  for (let nowSeconds = scores.length; nowSeconds < scores.length + rounds; nowSeconds += 1) {
    const replicas: ReplicaView[] = models.map((model) => ({
      id: model,
      model,
      inFlight: 0,
      maxInFlight: 1,
      accepting: true,
      kvUse: { state: "absent" },
    }));
    const actions = new Map(policy.decide({ nowSeconds, waiting, replicas }).map((action) => [action.workId, action]));
    waiting = waiting.flatMap((work): WaitingWork[] => {
      const action = actions.get(work.id);
      if (!action) return [work];
      if (action.kind === "accept") {
        accepted += 1;
        return [];
      }
      if (action.kind === "escalate") return [{ ...work, stage: action.stage, queuedSinceSeconds: nowSeconds, state: { kind: "queued" } }];
      policy.observe({ kind: "dispatched", workId: work.id, replicaId: action.replicaId, nowSeconds });
      policy.observe({ kind: "finished", workId: work.id, replicaId: action.replicaId, nowSeconds: nowSeconds + 1, failed: false });
      return [{ ...work, state: { kind: "answered", judgedScore: scores[Number(work.id)]?.[work.stage] ?? null } }];
    });
  }
  return accepted;
}
