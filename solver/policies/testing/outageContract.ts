import * as fc from "fast-check";
import { expect, it } from "vitest";
import type { Outage, Policy, View, WaitingWork } from "../core/policy";
import { answeringStage } from "../routes/answeringStage";
import { anyView, find, starting } from "./worldOfContract";

interface UnderOutage {
  readonly build: () => Policy;
  /** The model of each stage. */
  readonly models: readonly string[];
  /** Whether stages are not ranked: any may answer whatever the operator permits of smaller models. */
  readonly unordered: boolean;
}

/** The guarantees of every policy of stages while models are lost and engines fail requests. Part of the contract of all policies. */
export function outageContract({ build, models, unordered }: UnderOutage): void {
  const stage = fc.integer({ min: 0, max: models.length - 1 });
  const outages = fc
    .record({ lost: fc.subarray([...models]), lowerMayAnswer: fc.boolean() })
    .map(({ lost, lowerMayAnswer }): Outage => ({ isLost: (model) => lost.includes(model), lowerMayAnswer }));
  const marked = fc.record({ failed: fc.subarray(models.map((_, at) => at)), answered: fc.array(stage, { maxLength: 1 }) });
  const views: fc.Arbitrary<View & { readonly outage: Outage }> = fc
    .tuple(anyView(models), outages, fc.array(marked, { minLength: 40, maxLength: 40 }))
    .map(([view, outage, marks]) => ({
      ...view,
      outage,
      waiting: view.waiting.map((work, at): WaitingWork => {
        const { failed = [], answered = [] } = marks[at] ?? {};
        // A request that a stage has answered was escalated to a later one, which may have failed it.
        const answeredStages = answered.filter((own) => own < work.stage && !failed.includes(own));
        return { ...work, failedStages: failed, answeredStages };
      }),
    }));
  const ruleFor = (outage: Outage, { failedStages = [], answeredStages = [] }: Partial<WaitingWork>) => ({
    stages: models.length,
    canAnswer: (own: number) => answeredStages.includes(own) || !(failedStages.includes(own) || outage.isLost(models[own] ?? "")),
    lowerMayAnswer: unordered || outage.lowerMayAnswer,
  });

  it("sends queued work whose stage cannot answer it to the stage that can, and refuses it where none may", () => {
    fc.assert(
      fc.property(views, (view) => {
        const actions = build().decide(view);
        for (const work of view.waiting) {
          if (work.state.kind !== "queued") continue;
          const action = actions.find(({ workId }) => workId === work.id);
          const rule = ruleFor(view.outage, { failedStages: work.failedStages });
          if (rule.canAnswer(work.stage)) {
            expect(["dispatch", undefined]).toContain(action?.kind);
            continue;
          }
          const to = answeringStage(work.stage, ruleFor(view.outage, work));
          if (to === null) expect(action).toMatchObject({ kind: "refuse", cause: "no-stage" });
          else expect(action).toMatchObject({ kind: "skip", stage: to, reason: to < work.stage ? "lower-stage" : "stage-skipped" });
        }
      }),
    );
  });

  it("escalates an answer to no stage that cannot answer, and keeps it where it is the largest that may", () => {
    fc.assert(
      fc.property(views, (view) => {
        const { outage: _, ...whole } = view;
        const calm = build().decide({ ...whole, waiting: whole.waiting.map(({ failedStages, answeredStages, ...work }) => work) });
        for (const action of build().decide(view)) {
          const work = find(view.waiting, action.workId);
          if (work.state.kind !== "answered") continue;
          const before = calm.find(({ workId }) => workId === work.id);
          if (before?.kind !== "escalate") {
            expect(action).toEqual(before);
            continue;
          }
          const answeredStages = [...(work.answeredStages ?? []), work.stage];
          const to = answeringStage(before.stage, ruleFor(view.outage, { ...work, answeredStages }));
          if (to === null) expect(action).toMatchObject({ kind: "refuse", cause: "no-stage" });
          else if (to === work.stage) expect(action).toMatchObject({ kind: "accept", reason: "lower-stage" });
          else if (to === before.stage) expect(action).toEqual(before);
          else expect(action).toMatchObject({ kind: "escalate", stage: to });
        }
      }),
    );
  });

  it("starts a request at no lost model while a stage that may answer it has engines, and says which it passed over", () => {
    fc.assert(
      fc.property(anyView(models), outages, fc.boolean(), ({ replicas }, outage, judgeResting) => {
        const request = { ...starting("p1"), replicas, judgeResting };
        const { stage: wanted, reason } = build().start(request);
        const start = build().start({ ...request, outage });
        const to = answeringStage(wanted, ruleFor(outage, {}));
        expect(start.stage).toBe(to ?? wanted);
        expect(start.wantedReason ?? start.reason).toBe(reason);
        for (const own of start.skipped ?? []) expect(outage.isLost(models[own] ?? "")).toBe(true);
        expect((start.skipped ?? []).length > 0).toBe(start.stage !== wanted);
      }),
    );
  });
}
