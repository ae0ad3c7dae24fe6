import { type GateDocument, simpleGatesOf } from "@/solver/gates/gateDocument";
import { startScores } from "@/solver/plan/directStart";
import type { CascadePolicy } from "@/solver/plan/plan";
import type { Evidence, Start, StartingRequest } from "../core/policy";
import type { Route, Verdict } from "../core/policyParts";
import { startAtFirst, startWhereSure } from "./directStart";
import { gainChoice } from "./gainChoice";
import { graceThresholds } from "./graceThresholds";

type CascadeRouting = Pick<CascadePolicy, "stages" | "thresholds" | "directStart" | "gates" | "cascadeRouting" | "grace"> & {
  /** Read with `grace` alone. */
  readonly approvedRanges?: CascadePolicy["approvedRanges"];
  readonly judge?: Pick<CascadePolicy["judge"], "whenDown">;
};

/**
 * Routing by thresholds (Cascadia, section 3): a request starts at the smallest model, or with a direct start at the first that a router
 * is confident of; stage i's answer is accepted when the score of its gate is at least `thresholds[i]`, else the request goes one stage on; the
 * last stage's answer is always accepted. Every score reaches a threshold of 0, so answers of a stage with it get none: with a direct start
 * this is a router that chooses the model before any has answered.
 *
 * With cascade routing the model that answers next is the one with the largest expected gain, which may pass stages over, and no threshold is
 * compared: `gainChoice.ts`. A request that the router does not score for every model is routed by the thresholds.
 *
 * With grace the thresholds are below the policy's own while requests pile up in front of later stages: `graceThresholds.ts`.
 *
 * An answer without a score, because the judge failed or was too late, is accepted unless the plan says `judge.whenDown: "largest"`; the
 * reason is `judge-unavailable` either way. The same holds for an answer that another gate cannot score, with the reason `no-gate-score`.
 * Escalating puts the whole load on the last model while the judge is down and discards existing answers, so requests whose first stage it
 * judges start there while it is known to be down; accepting costs quality. The reason shows in every decision record.
 */
export function cascadeRoute(policy: CascadeRouting): Route {
  const models = policy.stages.map((stage) => stage.model);
  const last = models.length - 1;
  const { directStart } = policy;
  const toLargest = policy.judge?.whenDown === "largest";
  const { thresholds } = policy;
  const gateOf = (stage: number): GateDocument => policy.gates?.[stage] ?? { kind: "judge" };
  const isJudged = (stage: number): boolean => gateOf(stage).kind === "judge";
  const byGain = policy.cascadeRouting === undefined ? null : gainChoice(models, policy.cascadeRouting);
  const grace = policy.grace === undefined ? null : graceThresholds({ ...policy, grace: policy.grace });
  const judges = (stage: number, evidence?: Evidence): boolean =>
    (thresholds[stage] ?? 0) > 0 && (byGain === null || evidence === undefined || byGain.scores(stage, evidence));
  const asksJudge = thresholds.some((_, stage) => judges(stage) && simpleGatesOf(gateOf(stage)).some(({ kind }) => kind === "judge"));
  const leastScores = directStart === undefined ? null : startScores(directStart.below, models.length);
  const verdict = (stage: number, judgedScore: number | null, evidence?: Evidence): Verdict => {
    const threshold = thresholds[stage];
    if (stage >= last || threshold === undefined) return { kind: "accept", reason: "last-stage" };
    if (!judges(stage)) return { kind: "accept", reason: "not-judged" };
    if (judgedScore === null && !judges(stage, evidence)) return { kind: "accept", reason: "no-gain-at-any-score" };
    if (judgedScore === null) {
      const reason = isJudged(stage) ? "judge-unavailable" : "no-gate-score";
      return toLargest ? { kind: "escalate", stage: last, reason } : { kind: "accept", reason };
    }
    const chosen = evidence === undefined ? null : (byGain?.verdict(stage, judgedScore, evidence) ?? null);
    if (chosen !== null) return chosen;
    const lowered = grace?.inForce(stage);
    const used = lowered && { grace: lowered };
    if (judgedScore >= threshold) return { kind: "accept", reason: "score-at-or-above-threshold", ...used };
    if (lowered && judgedScore >= lowered.inForce) return { kind: "accept", reason: "score-at-or-above-lowered-threshold", ...used };
    return { kind: "escalate", stage: stage + 1, reason: "score-below-threshold", ...used };
  };
  const start = ({ routerScores, judgeResting }: StartingRequest): Start => {
    const plain = (): Start => (leastScores === null ? startAtFirst() : startWhereSure(models, leastScores, routerScores));
    const usual = byGain === null ? plain() : byGain.start(routerScores);
    const waits = toLargest && judgeResting && judges(usual.stage, { routerScores, answers: [] }) && isJudged(usual.stage);
    return waits ? { stage: last, reason: "judge-unavailable" } : usual;
  };
  return {
    kind: "cascade",
    needs: [
      ...(asksJudge ? (["judged-scores"] as const) : []),
      ...(directStart?.router.kind === "trained" ? (["confidence"] as const) : []),
    ],
    models,
    ...(byGain !== null && { readsEvidence: true as const }),
    start,
    judges,
    verdict,
    ...(grace && { observe: grace.observe, advance: grace.advance, grace: grace.lowered }),
  };
}
