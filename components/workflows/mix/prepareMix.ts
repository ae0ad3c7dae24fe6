import { ABSENT, formatCount, formatCounted, formatFineRate, formatPercent, formatScore, formatSeconds } from "@/components/ui/format";
import type { DeclaredWorkflow, MixBeside, MixRequest } from "@/server/contracts/studio";
import type { MixPredictions, Plan } from "@/solver/plan/plan";
import type { RoundChoice } from "@/solver/plan/policySchema";
import { replicaChange, runningReplicas } from "@/solver/plan/runningReplicas";

/** Rate and floor of one class, as entered; left out of the mix where it is not ticked. */
export interface MixEntry {
  readonly ticked: boolean;
  readonly rate: number;
  readonly floor: number;
  /** Hash of a predictor, empty for none; left out: the newest. */
  readonly predictor?: string;
}

/** The form of a mix. */
export interface MixForm {
  /** null: the first. */
  readonly workloadId: string | null;
  readonly singles: MixEntry;
  /** By name of the workflow; those without an entry are not ticked. */
  readonly workflows: Readonly<Record<string, MixEntry>>;
  readonly selection: RoundChoice;
}

export const noEntry: MixEntry = { ticked: false, rate: 1, floor: 50 };

/** The predictor of a workflow that a form names: the newest unless another or none is chosen. */
export const predictorOf = ({ predictors }: DeclaredWorkflow, { predictor }: MixEntry): string => predictor ?? predictors[0]?.hash ?? "";

/** The request of a form; null where nothing is ticked. */
export function mixRequest(
  { singles, workflows, selection }: MixForm,
  {
    clusterId,
    workloadId,
    declared,
  }: { readonly clusterId: string; readonly workloadId: string; readonly declared: readonly DeclaredWorkflow[] },
): MixRequest | null {
  const named = declared.flatMap((own) => {
    const entry = workflows[own.document.name] ?? noEntry;
    if (!entry.ticked) return [];
    const predictor = predictorOf(own, entry) || null;
    return [{ name: own.document.name, programsPerSecond: entry.rate, qualityFloor: entry.floor, predictor }];
  });
  if (!singles.ticked && named.length === 0) return null;
  return {
    ...{ clusterId, workloadId, workflows: named, selection },
    singles: singles.ticked ? { requestsPerSecond: singles.rate, qualityFloor: singles.floor } : null,
  };
}

interface EngineRow {
  readonly model: string;
  readonly planned: string;
  readonly inForce: string;
  readonly load: string;
  readonly price: string;
}

/** Engines of a plan by model beside those in force, with loads and prices. */
export function engineRows(plan: Plan, inForce: Plan | null): readonly EngineRow[] {
  const models = [...new Set([...plan.deployment, ...(inForce?.deployment ?? [])].map(({ model }) => model))];
  return models.map((model) => {
    const of = plan.predictions.mix?.models.find((own) => own.model === model);
    return {
      model,
      ...{ planned: enginesText(plan, model), inForce: inForce === null ? ABSENT : enginesText(inForce, model) },
      ...{ load: formatPercent(of?.load), price: of === undefined ? ABSENT : of.price.toFixed(2) },
    };
  });
}

/** `2 × tp2, 4 GPUs`; `none`. */
function enginesText({ deployment }: Pick<Plan, "deployment">, model: string): string {
  const own = deployment.find((each) => each.model === model);
  if (own === undefined) return "none";
  const groups = own.replicas.map(({ tp, pp, count }) => `${count} × tp${tp}${pp > 1 ? ` pp${pp}` : ""}`);
  return `${groups.join(" + ")}, ${formatCounted(own.gpus, "GPU")}`;
}

interface ClassRow {
  readonly name: string;
  readonly rate: string;
  readonly floor: string;
  readonly quality: string;
  readonly mean: string;
  readonly p95: string;
  /** Mean and p95 on what runs. */
  readonly meanInForce: string;
  readonly p95InForce: string;
}

/** Figures of every class, beside those of the same mix on what runs. */
export function classRows({ classes }: MixPredictions, beside: MixBeside | null): readonly ClassRow[] {
  return classes.map(({ name, perSecond, qualityFloor, quality, meanSeconds, p95Seconds }) => {
    const other = beside?.kind === "served" ? beside.classes.find((own) => own.name === name) : undefined;
    return {
      ...{ name, rate: formatFineRate(perSecond), floor: formatScore(qualityFloor), quality: formatScore(quality) },
      ...{ mean: formatSeconds(meanSeconds), p95: formatSeconds(p95Seconds) },
      ...{ meanInForce: formatSeconds(other?.meanSeconds), p95InForce: formatSeconds(other?.p95Seconds) },
    };
  });
}

/** What the plan carries, and what changes against the plan in force, a sentence each. */
export function mixSays(
  plan: Plan,
  { inForce, beside }: { readonly inForce: Plan | null; readonly beside: MixBeside | null },
): readonly string[] {
  const { mix } = plan.predictions;
  const carries = mix === undefined ? [] : [`All rates may rise to ${mix.factor.toFixed(2)} times these before a model is too full.`];
  if (inForce === null) return [...carries, "No plan is in force to compare with."];
  const { stays, started, stopped } = replicaChange(runningReplicas(inForce), runningReplicas(plan));
  const change = `Against the plan in force ${formatCount(stays)} ${stays === 1 ? "engine stays" : "engines stay"}, ${formatCount(stopped.length)} stop and ${formatCount(started.length)} start.`;
  if (beside === null) return [...carries, change];
  if (beside.kind === "not-served") return [...carries, change, `The plan in force does not carry this mix. ${beside.message}`];
  return [
    ...carries,
    change,
    `The same mix on the engines in force, with the cascade and configurations that are best there: mean ${formatSeconds(beside.meanSeconds)}, p95 ${formatSeconds(beside.p95Seconds)}; rates may rise to ${beside.factor.toFixed(2)} times these.`,
  ];
}
