import type { StartBelow } from "@/solver/plan/directStart";
import type { JudgeOutlook } from "@/solver/plan/plan";
import { judgesAny } from "@/solver/plan/policySchema";
import { applyJudge } from "@/solver/workload/applyJudge";
import { splitPrompts } from "@/solver/workload/split";
import type { Workload } from "@/solver/workload/workload";
import { planningSample, routePrompts } from "../routing/routing";

/** Judge reliabilities to evaluate: random, weak, usual, good, and an oracle. */
const JUDGE_AUCS: readonly number[] = [0.5, 0.7, 0.8, 0.9, 1];

/** A cascade as deployed: the part that stays the same under another judge. */
export interface DeployedCascade {
  /** Model cards, in the order requests meet them. */
  readonly models: readonly string[];
  readonly thresholds: readonly number[];
  /** Router scores to start at; other than 0 the workload's outcomes carry such scores. */
  readonly startBelow: StartBelow;
  /** Requests per second at which each stage saturates. */
  readonly saturation: readonly number[];
  readonly requestsPerSecond: number;
}

/**
 * The results of a plan if its modelled judge had another reliability: the same thresholds on the same GPUs, with the scores
 * that such a judge would give to the planning prompts. Empty where nothing is judged, or the scores were measured.
 */
export function judgeOutlooks(workload: Workload, cascade: DeployedCascade): JudgeOutlook[] {
  const { judge, outcomes } = workload;
  if (judge.kind === "measured" || !judgesAny(cascade.thresholds)) return [];
  const { planning } = splitPrompts(outcomes.promptIds.length, workload.seed);
  const stages = cascade.models.map((_, stage) => stage);
  return JUDGE_AUCS.map((auc) => {
    const table = applyJudge(outcomes, { kind: "modelled", auc, seed: judge.seed });
    const sample = planningSample(table, planning, cascade.models);
    const { quality, share } = routePrompts(sample, stages, cascade.thresholds, cascade.startBelow);
    const loads = share.map((own, stage) => (own * cascade.requestsPerSecond) / (cascade.saturation[stage] ?? Number.POSITIVE_INFINITY));
    return { auc, quality, share: [...share], busiestLoad: Math.max(...loads) };
  });
}
