import type { Decision } from "@/server/contracts/gateway/gatewayAdmin";
import type { StoredProfile } from "@/server/store/profileRepository";
import type { Store } from "@/server/store/store";
import { judgeScoreOf } from "@/solver/gates/gates";
import { LEAST_LIVE_SCORES, scoreDrift } from "@/solver/judging/scoreDrift";
import { cascadeOf } from "@/solver/plan/policySchema";
import { countedScore } from "./readings";

/** As many as a collector keeps. */
const MOST_DECISIONS = 20_000;

/** A gateway's records, newest first. */
export type DecisionsOf = (clusterId: string, limit: number) => readonly Decision[];

/**
 * Whether a judge's scores at a gateway have moved, since the last label, from those that were labelled. A judge is known by its name. Only
 * first stages are compared, where every request is judged as every prompt of a profile was.
 *
 * @returns a sentence with what to do; null: they have not moved, or nothing is known.
 */
export function recheckOf(store: Store, { id, request }: StoredProfile, decisionsOf: DecisionsOf): string | null {
  const sinceMs = Date.parse(store.handLabels.list(id).at(-1)?.at ?? "");
  if (Number.isNaN(sinceMs)) return null;
  const rubrics = request.measures.filter((measure) => measure.kind === "rubric");
  for (const { id: clusterId, spec } of store.clusters.list()) {
    const judges = new Map<string, string | null>();
    const judgeOf = (planId: string): string | null => {
      if (!judges.has(planId)) judges.set(planId, judgeOfAll(store, planId));
      return judges.get(planId) ?? null;
    };
    const since = decisionsOf(clusterId, MOST_DECISIONS).filter(({ finishedAtMs }) => finishedAtMs > sinceMs);
    for (const judge of new Set(rubrics.map((measure) => measure.judge.model))) {
      const judged = since.filter(({ planId }) => judgeOf(planId) === judge);
      for (const { model } of request.models) {
        const live = judged.flatMap(({ stages: [first] }) => (first?.model === model ? (judgeScoreOf(first) ?? []) : [])).reverse();
        if (live.length < LEAST_LIVE_SCORES) continue;
        const moves = rubrics
          .filter((measure) => measure.judge.model === judge)
          .map((measure) => ({ name: measure.name, moved: scoreDrift(profileScores(store, id, measure, model), live) }));
        const [first] = moves;
        // Of one judge with several rubrics the gateway asks with one: where its scores are any one's, nothing has moved.
        if (first?.moved == null || moves.some(({ moved }) => moved === null)) continue;
        const { before, now } = first.moved;
        return `${first.name} scored answers of ${model} ${before.toFixed(0)} in the mean when they were labelled, and ${now.toFixed(0)} lately at ${spec.name}: label some fresh answers.`;
      }
    }
  }
  return null;
}

/** The judge of a plan that has it judge the first answer to every request; null: another plan. */
function judgeOfAll(store: Store, planId: string): string | null {
  const policy = store.plans.get(planId)?.policy;
  const cascade = policy === undefined ? null : cascadeOf(policy);
  return cascade !== null && cascade.stages.length > 1 && cascade.directStart === undefined ? cascade.judge.model : null;
}

function profileScores(store: Store, id: string, measure: Parameters<typeof countedScore>[0], model: string): readonly number[] {
  return store.profiles
    .readings(id, measure.id)
    .flatMap((reading) => (reading.model === model && reading.reading === 0 ? (countedScore(measure, [reading.score]) ?? []) : []));
}
