import { mean } from "@/solver/numeric/quantile";
import type { JustInTimePolicy } from "@/solver/plan/policySchema";
import { answerRelations } from "@/solver/workflow/answerRelations";
import { configurationSpace } from "@/solver/workflow/configurationSpace";
import type { ProgramSample } from "@/solver/workflow/programSample";
import { splitPrompts } from "@/solver/workload/split";
import type { Workload } from "@/solver/workload/workload";
import { gateCandidates } from "./gateCandidates";
import { type GateRefusal, isRefused } from "./gateRefusal";
import { stageGate } from "./stageGate";

/** Gates that read the answer alone, the simplest first. */
const KINDS = ["confidence", "scorer"] as const;

interface ScoredGround {
  readonly workload: Workload;
  /** Planning programs of the policy's workflows. */
  readonly sample: ProgramSample;
}

/**
 * A just-in-time policy whose agents' answers are scored (`scoreShift.ts`): by a calibrated gate of each model but the largest, from the
 * workload's planning prompts, with what planning programs tell of right answers and accurate programs.
 *
 * @returns null where the workload has no column that such a gate reads, or no answer tells anything.
 */
export function withCallGates(policy: JustInTimePolicy, { workload, sample }: ScoredGround): JustInTimePolicy | null {
  const models = policy.models.map(({ model }) => model);
  const candidates = gateCandidates(workload, models, () => false);
  const documents = KINDS.map((kind) => candidates.find((own) => own.kind === kind)?.documents).find((own) => own != null);
  if (documents == null) return null;
  const workflows = policy.workflows.map((declared) => ({
    ...declared,
    answers: answerRelations(sample, configurationSpace(declared.workflow, models), declared.workflow.name).map((own) => ({ ...own })),
  }));
  const told = models.filter((model) => workflows.some(({ answers }) => answers.some((own) => own.model === model)));
  const { planning } = splitPrompts(workload.outcomes.promptIds.length, workload.seed);
  const callGates = told.flatMap((model) => {
    const gate = documents[model];
    const scored = gate === undefined ? null : stageGate(workload, model, gate);
    if (gate === undefined || scored === null || isRefused(scored)) return [];
    return [{ model, gate, prior: mean(Array.from(planning, (row) => scored.scores[row] ?? 0)) / 100 }];
  });
  return callGates.length === 0 ? null : { ...policy, workflows, callGates };
}

/**
 * Scores of answers to calls of workflows under a policy that has them scored, on the rows of a workload's table: by model of the sample, then
 * by request; NaN for a model without a gate.
 *
 * @returns why there are none where the workload does not have what a gate reads; null where the policy has no answer of a call scored.
 */
export function callScores(
  { callGates }: Pick<JustInTimePolicy, "callGates">,
  workload: Workload,
  { models, row }: Pick<ProgramSample, "models" | "row">,
): readonly Float64Array[] | GateRefusal | null {
  if (callGates === undefined) return null;
  const gates = callGates.map(({ model, gate }) => ({ model, scored: stageGate(workload, model, gate) }));
  const refused = gates.map(({ scored }) => scored).find(isRefused);
  if (refused !== undefined) return refused;
  return models.map((name) => {
    const scored = gates.find(({ model }) => model === name)?.scored;
    const scores = scored === undefined || isRefused(scored) ? undefined : scored.scores;
    return Float64Array.from(row, (own) => scores?.[own] ?? Number.NaN);
  });
}
