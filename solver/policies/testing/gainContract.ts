import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { CascadeRoutingDocument } from "@/solver/nextModel/cascadeRoutingDocument";
import { nextModelOf } from "@/solver/nextModel/nextModel";
import type { Policy, WaitingWork } from "../core/policy";
import { anyView, starting } from "./worldOfContract";

interface GainUnderTest {
  readonly build: () => Policy;
  readonly document: CascadeRoutingDocument;
}

const score = fc.integer({ min: 0, max: 100 });

/** The guarantees of a policy that chooses the next model by its expected gain, in addition to the contract of all policies. */
export function gainContract(name: string, { build, document }: GainUnderTest): void {
  const stages = document.gpuSeconds.length;
  const models = Array.from({ length: stages }, (_, stage) => build().modelOfStage(stage));
  const scoresOf = fc.array(score, { minLength: stages, maxLength: stages });
  const routerScores = (scores: readonly number[]) => (model: string) => scores[models.indexOf(model)];
  const next = nextModelOf(document);

  describe(`gain contract: ${name}`, () => {
    it("starts a request at the model of the largest expected gain, and at the first without a score of every model", () => {
      fc.assert(
        fc.property(scoresOf, (scores) => {
          const policy = build();
          const gain = next.choose(scores, []);
          expect(policy.start(starting("w", routerScores(scores)))).toEqual({ stage: gain.stage, reason: "largest-expected-gain", gain });
          const lacking = starting("w", (model) => (model === models.at(-1) ? undefined : scores[models.indexOf(model)]));
          expect(policy.start(lacking)).toEqual({ stage: 0, reason: `no-router-score-of-${models.at(-1)}` });
        }),
      );
    });

    it("accepts a scored answer, or goes on to a larger model, by the scores of router and gates alone", () => {
      fc.assert(
        fc.property(anyView(models), scoresOf, score, (view, scores, before) => {
          const evidenceOf = ({ stage }: WaitingWork) => ({
            routerScores: routerScores(scores),
            answers: stage === 2 ? [{ stage: 0, score: before }] : [],
          });
          const waiting = view.waiting.map((work) => ({ ...work, evidence: evidenceOf(work) }));
          const actions = build().decide({ ...view, waiting });
          for (const work of waiting) {
            if (work.state.kind !== "answered" || work.stage === stages - 1 || work.state.judgedScore === null) continue;
            const { stage } = work;
            const gain = next.choose(scores, [...work.evidence.answers, { stage, score: work.state.judgedScore }]);
            const action = actions.find(({ workId }) => workId === work.id);
            if (document.gates[stage] == null) expect(action).toMatchObject({ kind: "accept", reason: "not-judged" });
            else if (gain.stage === null) expect(action).toMatchObject({ kind: "accept", reason: "no-gain-worth-its-cost", gain });
            else expect(action).toMatchObject({ kind: "escalate", stage: gain.stage, reason: "largest-expected-gain", gain });
          }
        }),
      );
    });

    it("says of a score, before there is an answer, what it decides on that answer", () => {
      fc.assert(
        fc.property(scoresOf, score, (scores, own) => {
          const policy = build();
          for (const stage of models.keys()) {
            const evidence = { routerScores: routerScores(scores), answers: [] };
            const stops =
              stage === stages - 1 || document.gates[stage] == null || next.choose(scores, [{ stage, score: own }]).stage === null;
            expect(policy.accepts(stage, own, evidence)).toBe(stops);
          }
        }),
      );
    });

    it("has an answer scored only where its score is worth what it takes, and accepts it unscored else", () => {
      fc.assert(
        fc.property(scoresOf, (scores) => {
          const policy = build();
          const evidence = { routerScores: routerScores(scores), answers: [] };
          for (const stage of models.keys()) {
            const isScored = next.scores(scores, [], stage);
            expect(policy.judges(stage, evidence)).toBe(isScored);
            if (document.gates[stage] != null && !isScored) expect(policy.acceptReason(stage, evidence)).toBe("no-gain-at-any-score");
          }
        }),
      );
    });

    it("asks for the evidence that it reads, and scores exactly the stages that have a gate", () => {
      const policy = build();
      expect(policy.readsEvidence).toBe(true);
      expect(models.map((_, stage) => policy.judges(stage))).toEqual(models.map((_, stage) => document.gates[stage] != null));
    });
  });
}
