import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type StartBelow, startScores } from "@/solver/plan/directStart";
import type { Policy } from "../core/policy";
import { anyView, scoreOrNone, starting } from "./worldOfContract";

interface CascadeUnderTest {
  readonly build: () => Policy;
  /** One per stage but the last; none for a policy that accepts every answer. */
  readonly thresholds: readonly number[];
  /** Router scores at which requests may start at a stage; 0 where all start at the first. */
  readonly startBelow: StartBelow;
  /** Whether answers without a score go to the last stage, and requests too while the judge is down; else the answers are accepted. */
  readonly largestWhenDown: boolean;
  /** Whether a gate that is not the judge alone scores a stage's answers; left out: none does. */
  readonly isGated?: (stage: number) => boolean;
}

/** The guarantees of a policy that accepts by thresholds, in addition to the contract of all policies. */
export function cascadeContract(
  name: string,
  { build, thresholds, startBelow, largestWhenDown, isGated = () => false }: CascadeUnderTest,
): void {
  const stages = thresholds.length + 1;
  const least = startScores(startBelow, stages);
  const models = Array.from({ length: stages }, (_, stage) => build().modelOfStage(stage));

  describe(`cascade contract: ${name}`, () => {
    it("starts a request at the first stage whose router score is high enough or not told, else at the last", () => {
      fc.assert(
        fc.property(fc.array(scoreOrNone, { minLength: stages, maxLength: stages }), (scores) => {
          const policy = build();
          const { stage } = policy.start(starting("w", (model) => scores[models.indexOf(model)] ?? undefined));
          const expected = scores.slice(0, -1).findIndex((score, stage) => score === null || score >= (least[stage] ?? 0));
          expect(stage).toBe(expected < 0 ? stages - 1 : expected);
          expect(policy.start(starting("w")).stage).toBe(0);
        }),
      );
    });

    it("starts a request at the last stage while the judge rests, exactly where the judge would score its first answer and that is what a judge that is down means", () => {
      const policy = build();
      const start = (judgeResting: boolean) => policy.start({ ...starting("w"), judgeResting });
      const last = largestWhenDown && (thresholds[0] ?? 0) > 0 && !isGated(0);
      expect(start(true)).toEqual(last ? { stage: stages - 1, reason: "judge-unavailable" } : start(false));
    });

    it("accepts an answer exactly when its score reaches the threshold, at the last stage, or when the judge that may be down gave no score", () => {
      fc.assert(
        fc.property(anyView(models), (view) => {
          const actions = build().decide(view);
          for (const work of view.waiting) {
            if (work.state.kind !== "answered") continue;
            const { judgedScore } = work.state;
            const action = actions.find((candidate) => candidate.workId === work.id);
            const unjudged = judgedScore === null && (thresholds[work.stage] ?? 0) > 0;
            const goodEnough = unjudged ? !largestWhenDown : (judgedScore ?? 0) >= (thresholds[work.stage] ?? 0);
            expect(action?.kind).toBe(work.stage === stages - 1 || goodEnough ? "accept" : "escalate");
            if (action?.kind === "escalate") expect(action.stage).toBe(unjudged ? stages - 1 : work.stage + 1);
            if (unjudged) expect(action).toMatchObject({ reason: isGated(work.stage) ? "no-gate-score" : "judge-unavailable" });
          }
        }),
      );
    });

    it("says of a score, before there is an answer, what it decides on that answer", () => {
      fc.assert(
        fc.property(fc.double({ min: 0, max: 100, noNaN: true }), (score) => {
          const policy = build();
          for (const stage of models.keys()) expect(policy.accepts(stage, score)).toBe(score >= (thresholds[stage] ?? 0));
        }),
      );
    });

    it("judges exactly the stages whose answers may be refused", () => {
      const policy = build();
      expect(models.map((_, stage) => policy.judges(stage))).toEqual(models.map((_, stage) => (thresholds[stage] ?? 0) > 0));
    });
  });
}
