import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { WaitingList } from "@/solver/cluster/waitingList";
import type { Policy, WaitingWork } from "../core/policy";
import { agingContract } from "./agingContract";
import { holdingContract } from "./holdingContract";
import { outageContract } from "./outageContract";
import { anyView, find, roomAndWork, scoreOrNone, serveAll, starting } from "./worldOfContract";

/** The contract's inputs in addition to the policy. */
export interface PolicyUnderTest {
  /** A fresh policy; called for every case. */
  readonly build: () => Policy;
  readonly stages: number;
  /** Releases after which queued work goes first; null when a model's queued work must leave in order of arrival. */
  readonly agingThreshold: number | null;
  /** Set where stages are not ranked. */
  readonly unordered?: true;
  /** Set where no gate asks the judge. */
  readonly judgeless?: true;
}

/**
 * Every policy, whatever its parts, gives these guarantees to its driver. Call inside a test file of the policy. For a policy that chooses
 * models, what may wait and in which order depends on which models may run it: `justInTimeContract.ts` tests that.
 */
export function policyContract(name: string, { build, stages, agingThreshold, unordered, judgeless }: PolicyUnderTest): void {
  const models = Array.from({ length: stages }, (_, stage) => build().modelOfStage(stage));
  const views = anyView(models);

  describe(`policy contract: ${name}`, () => {
    it("acts on each work at most once, and only on work that waits", () => {
      fc.assert(
        fc.property(views, (view) => {
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
        fc.property(views, (view) => {
          const policy = build();
          const load = new Map(view.replicas.map((replica) => [replica.id, replica.inFlight]));
          for (const action of policy.decide(view)) {
            if (action.kind !== "dispatch") continue;
            const work = find(view.waiting, action.workId);
            const replica = find(view.replicas, action.replicaId);
            const inFlight = load.get(replica.id) ?? 0;
            expect(work.state.kind).toBe("queued");
            expect(action.stage !== undefined).toBe(policy.choosesModel === true);
            expect(replica.model).toBe(policy.modelOfStage(action.stage ?? work.stage));
            expect(replica.accepting).toBe(true);
            expect(inFlight).toBeLessThan(replica.maxInFlight);
            load.set(replica.id, inFlight + 1);
          }
        }),
      );
    });

    if (build().askAgainSeconds === undefined && !build().choosesModel)
      it("leaves no room unused that queued work of the model could take", () => {
        fc.assert(
          fc.property(views, (view) => {
            const actions = build().decide(view);
            for (const model of models) {
              const { room, queued, sent } = roomAndWork(view, { models, model, actions });
              expect(sent).toBe(Math.min(room, queued));
            }
          }),
        );
      });

    it("decides alike when told alike", () => {
      fc.assert(
        fc.property(views, views, (first, second) => {
          const [one, other] = [build(), build()];
          expect(one.decide(first)).toEqual(other.decide(first));
          expect(one.decide(second)).toEqual(other.decide(second));
        }),
      );
    });

    const mayHold = build().askAgainSeconds !== undefined;
    if (agingThreshold === null && !build().choosesModel && !mayHold)
      it("lets queued work of a model leave in the order it came", () => {
        fc.assert(
          fc.property(views, (view) => {
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

    it("decides alike whether or not it is shown queued work that there is no room for", () => {
      fc.assert(
        fc.property(views, (view) => {
          const policy = build();
          const since = ({ programArrivalSeconds, queuedSinceSeconds }: WaitingWork): number =>
            policy.choosesModel ? programArrivalSeconds : queuedSinceSeconds;
          const inOrder = [...view.waiting].sort((a, b) => since(a) - since(b));
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

    it("says whether it serves in the order of coming", () => expect(build().preference === null).toBe(agingThreshold === null));

    if (agingThreshold !== null) agingContract({ build, agingThreshold });
    // Requests of no workflow go to the last model where models are chosen.
    const served = build().choosesModel ? models.map(() => models.at(-1) ?? "") : models;
    if (build().askAgainSeconds !== undefined) holdingContract({ build, models: served });
    if (!build().choosesModel) outageContract({ build, models, unordered: unordered === true });

    it("starts a request at a stage it has a model for, and answers the same when asked again", () => {
      fc.assert(
        fc.property(views, scoreOrNone, fc.boolean(), ({ replicas, waiting }, score, judgeResting) => {
          const policy = build();
          for (const work of waiting) if (work.state.kind === "queued") policy.observe({ kind: "queued", work });
          const request = { ...starting("p1", () => score ?? undefined), replicas, judgeResting };
          const { stage } = policy.start(request);
          expect(models[stage]).toBeDefined();
          expect(policy.start(request).stage).toBe(stage);
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

    it("needs judged scores exactly where a gate of a stage may ask the judge", () => {
      const policy = build();
      const gated = models.some((_, stage) => policy.judges(stage));
      expect(policy.needs.includes("judged-scores")).toBe(gated && judgeless !== true);
    });

    it("accepts every score of a stage whose answers no gate scores", () => {
      const policy = build();
      for (const stage of models.keys()) if (!policy.judges(stage)) expect(policy.accepts(stage, 0)).toBe(true);
    });
  });
}
