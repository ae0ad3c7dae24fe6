import { best, type ComparedFigures, promisedQuality } from "@/solver/cascade/choose/choose";
import { kindWithinSlack, slackApplies } from "@/solver/cascade/choose/slackChoice";
import type { Explorer } from "@/solver/cascade/explore/explorer";
import { buildPlan } from "@/solver/cascade/plan/buildPlan";
import type { BuildPlanInput, BuiltPlan, NoPlan } from "@/solver/cascade/plan/planInput";
import { planByGain } from "@/solver/cascadeRouting/planByGain";
import type { Objective, PlanDraft } from "@/solver/plan/plan";
import type { ComparedGate, PlannedGateKind } from "@/solver/plan/planGates";
import { asksJudge } from "@/solver/plan/policySchema";
import type { GateCandidate } from "@/solver/stageGates/gateCandidates";
import type { GateDocuments } from "@/solver/stageGates/stageGate";

/** A planning request with the gates to choose from. */
export interface GatePlansInput extends BuildPlanInput {
  /** The judge first where it is among them; at least one. Its explorer is that of the request. */
  readonly candidates: readonly GateCandidate[];
  /** The explorer of the situation with other gates. */
  readonly explorerWith: (gates: GateDocuments | null) => Explorer;
}

interface BuiltGate {
  readonly kind: PlannedGateKind;
  readonly built: BuiltPlan;
}

/** Plans with the gates of an explorer. */
type PlanOfGate = (asked: BuildPlanInput) => BuiltPlan;

type PlannedGate = ComparedFigures & { readonly kind: PlannedGateKind; readonly draft: PlanDraft };

/**
 * Plans with each kind of gate on the same objective and GPUs, and takes the best by the figures of their whole simulations, the first of
 * equals. Gates differ in which answers they send on, and in what they cost: engines of a judge or of peers, time, money. The plan lists what
 * each other kind gives. A routing set by hand has thresholds of one kind of scores and is planned with the first.
 */
export const planWithGates = (input: GatePlansInput): BuiltPlan => overGates(input, buildPlan);

/** The same of cascade routing, which chooses the next model by each gate's scores instead of comparing them with thresholds. */
export const planGainWithGates = (input: GatePlansInput): BuiltPlan =>
  overGates(input, (asked) => planByGain({ ...asked, rivals: input.candidates.map(({ documents }) => input.explorerWith(documents)) }));

function overGates(input: GatePlansInput, plan: PlanOfGate): BuiltPlan {
  const { candidates, objective, fixed } = input;
  const [first] = candidates;
  if (fixed !== null || first === undefined || (candidates.length === 1 && first.documents === null)) return plan(input);
  if (!slackApplies(objective)) return recommended(input, planEach(input, objective, plan), objective.kind);
  // A slack counts from the fastest plan of all gates.
  const { slack: _, ...without } = objective;
  const asFast: Objective = { ...without, kind: "latency-under-quality" };
  const fastest =
    input.slackFromSeconds === undefined ? pick(planEach(input, asFast, plan), asFast, asFast.kind)?.latencySeconds : undefined;
  const counted = fastest === undefined ? input : { ...input, slackFromSeconds: fastest };
  return recommended(input, planEach(counted, objective, plan), kindWithinSlack(objective));
}

function planEach(input: GatePlansInput, objective: Objective, plan: PlanOfGate): readonly BuiltGate[] {
  return input.candidates.map(({ kind, documents }) => {
    const explorer = input.explorerWith(documents);
    const { explorerUnder, gates: _, ...plain } = input;
    // Conflicts of constraints are the same for all gates: they are looked for with the judge.
    const asked = documents !== null ? { gates: documents } : explorerUnder === undefined ? {} : { explorerUnder };
    return { kind, built: plan({ ...plain, objective, explorer, ...asked }) };
  });
}

function recommended(input: GatePlansInput, all: readonly BuiltGate[], by: Objective["kind"]): BuiltPlan {
  const { objective, workload } = input;
  const chosen = pick(all, objective, by) ?? pick(all, { ...objective, qualityFloor: null, latencyBudgetSeconds: null }, by);
  if (chosen === null) return noPlanOf(all);
  // One gate that was asked for is compared with none.
  if (all.length === 1) return { outcome: "plan", draft: chosen.draft };
  const modelled = workload.judge.kind === "modelled";
  const comparedGates = all.map((one) => compared(one, { objective, modelled, chosen: one.kind === chosen.kind }));
  return { outcome: "plan", draft: { ...chosen.draft, solver: { ...chosen.draft.solver, comparedGates } } };
}

/** Why no gate has a plan: the first one's reason, of floors out of reach that of the gate which comes closest. */
function noPlanOf(all: readonly BuiltGate[]): NoPlan {
  const refused = all.flatMap(({ built }) => (built.outcome === "infeasible" ? [built] : []));
  const [first] = refused;
  if (first === undefined) throw new Error("every gate has a plan, and none was chosen");
  if (first.kind !== "quality-floor") return first;
  const keepsFloor = refused.find(({ kind }) => kind === "latency-budget" || kind === "floor-and-budget");
  const floors = refused.filter(({ kind }) => kind === "quality-floor");
  return keepsFloor ?? floors.reduce((most, own) => ((own.bestQuality ?? 0) > (most.bestQuality ?? 0) ? own : most));
}

/** The best plan that keeps floor and budget; null where none does. */
function pick(all: readonly BuiltGate[], objective: Objective, by: Objective["kind"]): PlannedGate | null {
  const quality = promisedQuality(objective);
  const planned = all.flatMap(({ kind, built }) =>
    built.outcome === "plan" ? [{ kind, draft: built.draft, ...figuresOf(built.draft, objective) }] : [],
  );
  const budget = objective.latencyBudgetSeconds ?? Number.MAX_VALUE;
  const keeping = planned.filter((one) => quality(one) >= (objective.qualityFloor ?? 0) && one.latencySeconds <= budget);
  return best(keeping, by, quality);
}

function figuresOf({ predictions }: PlanDraft, { latency }: Pick<Objective, "latency">): ComparedFigures {
  const { quality, qualityBand, costUsdPerRequest, p95Seconds, largestStageP95Seconds } = predictions;
  return {
    quality,
    qualityLow: qualityBand.low,
    latencySeconds: latency === "end-to-end" ? p95Seconds : largestStageP95Seconds,
    costUsdPerRequest,
  };
}

function compared(
  { kind, built }: BuiltGate,
  { objective, modelled, chosen }: { readonly objective: Objective; readonly modelled: boolean; readonly chosen: boolean },
): ComparedGate {
  if (built.outcome === "infeasible") {
    const none = { quality: null, qualityLow: null, p95Seconds: null, gpus: null, costUsdPerRequest: null };
    return { kind, modelled: modelled && kind === "judge", models: [], thresholds: [], ...none, chosen, noPlan: built.kind };
  }
  const { policy, deployment } = built.draft;
  const { quality, qualityLow, latencySeconds, costUsdPerRequest } = figuresOf(built.draft, objective);
  return {
    kind,
    modelled: modelled && asksJudge(policy),
    models: policy.stages.map(({ model }) => model),
    thresholds: [...policy.thresholds],
    ...{ quality, qualityLow, p95Seconds: latencySeconds, costUsdPerRequest },
    gpus: deployment.reduce((sum, { gpus }) => sum + gpus, 0),
    chosen,
  };
}
