import type { SolveRequest } from "@/server/contracts/planRequest";
import { encodeExploration } from "@/solver/cascade/explore/explorationWire";
import type { Explorer } from "@/solver/cascade/explore/explorer";
import type { OnProgress } from "@/solver/cascade/explore/progress";
import { DEFAULT_PERCENTILE, DEFAULT_QUALITY_CONFIDENCE, judgeOf, type PlanningSituation } from "@/solver/cascade/explore/situation";
import { catalogue, explorerOf, gpusOf, modelsOf, shapesOf, standing } from "@/solver/cascade/explore/situationExplorer";
import { variedRoutings } from "@/solver/cascade/explore/variedRoutings";
import type { BuildPlanInput, NoPlan } from "@/solver/cascade/plan/planInput";
import { type Serving, servingFiguresOf, servingRefusal } from "@/solver/cascade/whatIf/servingFigures";
import { dispatchInput } from "@/solver/dispatch/dispatchPlan";
import { dispatchRefusal } from "@/solver/dispatch/dispatchRefusal";
import { type ExploreDispatch, exploreDispatch, gather, type SimulatedPoint } from "@/solver/dispatch/exploreDispatch";
import { type BuiltOfKind, planPolicies } from "@/solver/dispatch/planPolicies";
import { vllmProfile } from "@/solver/hardware/builtInProfiles";
import type { UserCards } from "@/solver/hardware/cardSchema";
import { cardOf, noUserCards } from "@/solver/hardware/catalogue";
import { feasibleShapes } from "@/solver/hardware/replicaShapes";
import type { MilpEngine } from "@/solver/milp/engine";
import { gpuCount, gpuTypes } from "@/solver/plan/clusterGpus";
import type { PlanConstraints } from "@/solver/plan/constraints";
import type { DispatchDraft, Objective, PlanDraft } from "@/solver/plan/plan";
import { gatePeersOf } from "@/solver/plan/policySchema";
import type { GateCandidate } from "@/solver/stageGates/gateCandidates";
import type { GateDocuments } from "@/solver/stageGates/stageGate";
import { splitPrompts } from "@/solver/workload/split";
import type { OutcomeTable, Workload } from "@/solver/workload/workload";
import { constraintRefusal } from "./constraintRefusal";
import { examine } from "./examine";
import { fixedRouting } from "./fixedRouting";
import { hostedRefusal } from "./hostedRefusal";
import { gatesRefusal, gatesToPlan } from "./plannedGates";
import type { PlanningAnswer, PlanningTask } from "./planningRequest";
import { readByRouter } from "./situationOf";

/** Cached explorations: the tables of one take a few MB. A solve over all gates needs five, which must not push out one another. */
const KEPT_EXPLORERS = 12;

/** Upper bound of nodes and GPUs in the search for how many GPUs a model would need. */
const ENOUGH_GPUS = 64;

export interface PlanningDesk {
  /**
   * Blocks until finished, reporting progress.
   * @throws Cancelled if `cancelled` became true; the unfinished exploration is dropped.
   */
  work(situation: PlanningSituation, task: PlanningTask, cancelled: () => boolean, progress?: OnProgress): PlanningAnswer;
}

/** Thrown if no caller waits for the answer any more. */
export class Cancelled extends Error {}

/** The planning worker's work, without the thread: caches explorations by situation and answers from them. */
export function createPlanningDesk(engine: MilpEngine, nowSeconds: () => number): PlanningDesk {
  const kept = new Map<string, Explorer>();
  const found = new WeakMap<Explorer, { readonly question: string; readonly draft: PlanDraft | DispatchDraft }>();
  /** Simulated slack dispatches, by GPUs and predictor of confidence. */
  const dispatches = new WeakMap<Explorer, Map<string, readonly SimulatedPoint[]>>();
  const searched = new WeakSet<Explorer>();
  let asked: () => boolean = () => false;
  let tell: OnProgress = () => undefined;
  let inHand: string | null = null;

  function unlessCancelled(): void {
    if (asked()) throw new Cancelled();
  }

  /** After a cancellation at most one more solve or whole simulation runs. */
  const stoppable: MilpEngine = {
    name: engine.name,
    solve(model, limits) {
      unlessCancelled();
      return engine.solve(model, limits);
    },
  };
  const progress: OnProgress = (at) => {
    unlessCancelled();
    tell(at);
  };

  function explorerFor(situation: PlanningSituation, percentile: number): Explorer {
    const { workloadId, cluster, userCards, engineProfile, requestsPerSecond } = situation;
    const { qualityConfidence = DEFAULT_QUALITY_CONFIDENCE } = situation;
    const models = modelsOf(situation);
    const hardware = [cluster, userCards, engineProfile, situation.dataMayLeave];
    const judging = [judgeOf(situation), situation.directStart];
    // Only those constraints on which tables depend, so that requests with other constraints use cached tables.
    const shapes = situation.constraints?.shapes ?? [];
    const made = [hardware, models, shapes, standing(situation), judging, situation.gates, situation.rivalGates];
    const key = JSON.stringify([workloadId, requestsPerSecond, qualityConfidence, percentile, made]);
    inHand = key;
    const rows = planningPrompts(situation.workload);
    const explored = { models, rows, percentile, qualityConfidence, cancelled: () => asked(), progress };
    const explorer = kept.get(key) ?? explorerOf(situation, explored);
    // The most recently used is dropped last.
    kept.delete(key);
    kept.set(key, explorer);
    const oldest = kept.keys().next().value;
    if (kept.size > KEPT_EXPLORERS && oldest !== undefined) kept.delete(oldest);
    return explorer;
  }

  function searchedExplorer(situation: PlanningSituation, percentile: number): Explorer {
    const explorer = explorerFor(situation, percentile);
    explorer.search();
    unlessCancelled();
    searched.add(explorer);
    return explorer;
  }

  /** Plans of each kind of policy of the latest questions that differ only in their slack, by explorer. */
  const kinds = new WeakMap<Explorer, { readonly question: string; readonly built: readonly BuiltOfKind[] }>();

  /** As `exploreDispatch`, once for each explorer, number of GPUs and predictor of confidence. */
  function exploredBy(explorer: Explorer, { confidence }: PlanningSituation, input: ExploreDispatch): readonly SimulatedPoint[] {
    const own = dispatches.get(explorer) ?? new Map<string, readonly SimulatedPoint[]>();
    dispatches.set(explorer, own);
    const key = `${input.maxGpus} ${confidence?.artefact ?? "stated"}`;
    const points = own.get(key) ?? exploreDispatch(input);
    own.set(key, points);
    return points;
  }

  return {
    work(asking, wanted, cancelled, told = () => undefined) {
      const startedSeconds = nowSeconds();
      const situation = readByRouter(asking);
      if (wanted.kind === "serve") return served(situation, wanted.servings, cancelled);
      const task = wanted;
      const constrained = judgeRefusal(situation) === null ? constraintRefusal(situation, routingOf(task)) : null;
      if (constrained !== null) return { kind: "infeasible", answer: constrained };
      const unjudged = judgeRefusal(situation);
      if (unjudged !== null) return infeasible("malformed", unjudged);
      const unscored = gatesRefusal(situation);
      if (unscored !== null) return infeasible("malformed", unscored);
      const unhosted = hostedRefusal(situation, task);
      if (unhosted !== null) return infeasible("malformed", unhosted);
      const unfit = doesNotFit(situation, task.kind === "explore" || task.kind === "dispatch" ? null : task.objective);
      if (unfit !== null) return infeasible("no-room", unfit);
      asked = cancelled;
      tell = told;
      inHand = null;
      let whole = false;
      try {
        const answer = carryOut();
        whole = !cancelled();
        if (whole) return answer;
        throw new Cancelled();
      } finally {
        // An incomplete search must not be taken for a complete one. The data after a complete one is dropped by the next question.
        const explorer = inHand === null ? undefined : kept.get(inHand);
        if (!whole && inHand !== null && explorer !== undefined && !searched.has(explorer)) kept.delete(inHand);
      }

      function carryOut(): PlanningAnswer {
        if (task.kind === "explore") {
          const { gateChoice = "judge" } = task;
          const gates = gatesToPlan(situation, { fixed: null, gateChoice: gateChoice === "any" ? "judge" : gateChoice });
          if (typeof gates === "string") return infeasible("malformed", gates);
          const documents = gates[0]?.documents ?? undefined;
          const explorer = searchedExplorer(documents === undefined ? situation : { ...situation, gates: documents }, DEFAULT_PERCENTILE);
          const around = task.around == null ? null : fixedRouting(explorer, task.around, { withIdleStages: true });
          if (around !== null && "reason" in around) return infeasible(around.kind, around.reason);
          const exploration = around === null ? explorer.exploration() : variedRoutings(explorer, around);
          return { kind: "exploration", exploration: encodeExploration(exploration) };
        }
        if (task.kind === "dispatch") {
          const explorer = searchedExplorer(situation, DEFAULT_PERCENTILE);
          const refusal = dispatchRefusal(situation, explorer);
          if (refusal !== null) return { kind: "no-dispatch", answer: refusal };
          const input = dispatchInput({ ...situation, explorer }, gpuCount(situation.cluster));
          return { kind: "dispatch", dispatch: gather(input, exploredBy(explorer, situation, input)) };
        }
        const { objective } = task;
        const candidates = gatesToPlan(situation, task);
        if (typeof candidates === "string") return infeasible("malformed", candidates);
        const explorer = searchedExplorer(withGates(candidates[0]?.documents ?? null, { candidates, objective }), objective.percentile);
        const fixed = task.fixed === null ? null : fixedRouting(explorer, task.fixed, situation);
        if (fixed !== null && "reason" in fixed) return infeasible(fixed.kind, fixed.reason);
        const question = JSON.stringify([
          objective,
          task.fixed,
          task.policy,
          task.tau,
          candidates.map(({ kind }) => kind),
          // Without slack dispatch and cascade routing it is for baselines alone.
          task.policy === undefined || task.policy === "cascade" || task.policy === "one-model" ? undefined : situation.confidence,
          situation.constraints,
          situation.running,
        ]);
        const known = found.get(explorer);
        // The plan that was found, exactly: MILPs that run out of time need not end in the same way twice.
        const draft =
          task.kind === "examine" && known?.question === question ? known.draft : planned(explorer, objective, { fixed, task, candidates });
        if (draft.kind === "infeasible") return draft;
        unlessCancelled();
        found.set(explorer, { question, draft });
        if (task.kind === "solve") return isCascade(draft) ? { kind: "draft", draft } : { kind: "dispatch-draft", draft };
        // Baselines are compared with the best cascade, whatever kind of policy is recommended.
        const examined =
          isByThresholds(draft) || task.examine !== "baselines" ? draft : planned(explorer, objective, { fixed, task: {}, candidates });
        if (examined.kind === "infeasible") return examined;
        if (!isByThresholds(examined))
          return infeasible("malformed", "Only cascades by thresholds are examined: neither slack dispatch nor cascade routing has any.");
        // Progress of the plans within an examination would count from the start again.
        tell = (at) => {
          if (at.phase === "examining") told(at);
        };
        const { workload } = situation;
        const elapsedSeconds = (): number => nowSeconds() - startedSeconds;
        const explorerWith = explorersOf(candidates, objective);
        const chosen = examined.solver.comparedGates?.find((one) => one.chosen)?.kind;
        const gate = candidates.find(({ kind }) => kind === chosen);
        const examination = examine(task.examine, {
          explorer: gate === undefined ? explorer : explorerWith(gate.documents),
          draft: examined,
          workload,
          planning: planningPrompts(workload),
          trained: trainedOutcomes(situation),
          byGain(own) {
            const gain = planned(explorer, own, { fixed: null, task: { ...task, policy: "cascade-routing" }, candidates });
            if (gain.kind === "infeasible") return gain.answer;
            if (!isCascade(gain)) throw new Error(`cascade routing was asked for, and ${gain.policy.kind} was planned`);
            return { outcome: "plan", draft: gain };
          },
          fixed: fixed !== null,
          engine: stoppable,
          elapsedSeconds,
        });
        return typeof examination === "string" ? infeasible("malformed", examination) : { kind: "examination", examination };
      }

      function planned(
        explorer: Explorer,
        objective: Objective,
        {
          fixed,
          task: { policy = "cascade", tau, gateChoice = "any" },
          candidates,
        }: {
          readonly fixed: BuildPlanInput["fixed"];
          readonly task: Pick<SolveRequest, "policy" | "tau" | "gateChoice">;
          readonly candidates: readonly GateCandidate[];
        },
      ): PlanDraft | DispatchDraft | Extract<PlanningAnswer, { kind: "infeasible" }> {
        const built = planPolicies({
          ...situation,
          explorer,
          objective,
          fixed,
          policy,
          tau: tau ?? null,
          candidates,
          explorerWith: explorersOf(candidates, objective),
          explored: (input) => exploredBy(explorer, situation, input),
          keep(of, plan) {
            const gates = candidates.map(({ kind }) => kind);
            const question = JSON.stringify([of, policy, tau, gates, situation.confidence, situation.constraints, situation.running]);
            const known = kinds.get(explorer);
            const built = known?.question === question ? known.built : plan();
            kinds.set(explorer, { question, built });
            return built;
          },
          explorerUnder: (constraints) => explorerUnder(constraints, objective),
          engine: stoppable,
          elapsedSeconds: () => nowSeconds() - startedSeconds,
        });
        if (built.outcome === "infeasible") return { kind: "infeasible", answer: built };
        const { inputs } = built.draft;
        const peers = gatePeersOf(built.draft.policy);
        const asked = gateChoice === "any" ? {} : { gateChoice };
        return withInputs(built.draft, { ...inputs, ...asked, ...ownCardsOf(situation, [...inputs.models, ...peers]) });
      }

      /** The explorer of the situation with each of the gates that are planned with. */
      function explorersOf(candidates: readonly GateCandidate[], objective: Objective) {
        return (gates: GateDocuments | null): Explorer => explorerFor(withGates(gates, { candidates, objective }), objective.percentile);
      }

      /** The situation with one of the gates that are planned with. */
      function withGates(
        gates: GateDocuments | null,
        of: { readonly candidates: readonly GateCandidate[]; readonly objective: Objective },
      ): PlanningSituation {
        const rivals = of.candidates.flatMap(({ documents }) => (documents === gates ? [] : [documents]));
        return {
          ...situation,
          qualityConfidence: of.objective.qualityConfidence ?? DEFAULT_QUALITY_CONFIDENCE,
          ...(gates === null ? {} : { gates }),
          ...(rivals.length === 0 ? {} : { rivalGates: rivals }),
        };
      }

      /** The explorer of the situation under other constraints; null if no model fits under them. */
      function explorerUnder(constraints: PlanConstraints, { qualityConfidence, percentile }: Objective): Explorer | null {
        const other = { ...situation, constraints, qualityConfidence: qualityConfidence ?? DEFAULT_QUALITY_CONFIDENCE };
        const fits = shapesOf(other, modelsOf(other)).some((shapes) => shapes.length > 0);
        return fits && judgeRefusal(other) === null ? explorerFor(other, percentile) : null;
      }
    },
  };
}

/** The routing set by hand in a task; null: none. */
const routingOf = (task: Exclude<PlanningTask, { kind: "serve" }>) =>
  task.kind === "explore" || task.kind === "dispatch" ? null : task.fixed;

const isCascade = (draft: PlanDraft | DispatchDraft): draft is PlanDraft => draft.policy.kind === "cascade";

const isByThresholds = (draft: PlanDraft | DispatchDraft): draft is PlanDraft =>
  isCascade(draft) && draft.policy.cascadeRouting === undefined;

const withInputs = <Draft extends PlanDraft | DispatchDraft>(draft: Draft, inputs: Draft["inputs"]): Draft => ({ ...draft, inputs });

function served(situation: PlanningSituation, servings: readonly Serving[], cancelled: () => boolean): PlanningAnswer {
  const { workload, requestsPerSecond, engineProfile = vllmProfile } = situation;
  const { engineLimits } = situation.cluster;
  const traffic = {
    ...{ workload, requestsPerSecond, cards: catalogue(situation), profile: engineProfile },
    ...(engineLimits === undefined ? {} : { engineLimits }),
  };
  const refusal = servings.map((serving) => servingRefusal(traffic, serving)).find((reason) => reason !== null);
  if (refusal !== undefined) return infeasible("malformed", refusal);
  const figuresOf = servingFiguresOf(traffic);
  const figures = servings.map((serving) => {
    if (cancelled()) throw new Cancelled();
    return figuresOf(serving);
  });
  return { kind: "served", figures };
}

/** The outcomes with the scores of a trained predictor, for baselines; else why there are none. */
function trainedOutcomes({ workload, directStart, confidence }: PlanningSituation): OutcomeTable | string {
  if (directStart !== undefined && "auc" in directStart)
    return "A modelled router decides where requests start in this plan: ask for a trained one, or for none, to compare with it.";
  return directStart === undefined && confidence === undefined
    ? "No trained predictor of confidence is stored for this workload: train one under Predictors."
    : workload.outcomes;
}

const infeasible = (kind: NoPlan["kind"], reason: string): PlanningAnswer => ({
  kind: "infeasible",
  answer: { outcome: "infeasible", kind, reason, bestQuality: null, bestLatencySeconds: null },
});

/** The cards that a plan records, so that it can be made again after the user's cards have changed. Prices are the cluster's. */
function ownCardsOf(
  { userCards = noUserCards, cluster }: PlanningSituation,
  planned: readonly string[],
): { readonly userCards?: UserCards } {
  const models = userCards.models.filter(({ id }) => planned.includes(id));
  const types = gpuTypes(cluster);
  const gpus = userCards.gpus.filter(({ id }) => types.includes(id));
  return models.length + gpus.length === 0 ? {} : { userCards: { models, gpus, prices: {} } };
}

/** The problem with a judge as its own engine, in one sentence; null if there is none. */
function judgeRefusal(situation: PlanningSituation): string | null {
  const { judge } = situation;
  if (judge?.kind !== "engine") return null;
  if (situation.constraints?.excluded.includes(judge.model))
    return `${judge.model} is excluded and cannot judge: take another model as the judge.`;
  if (modelsOf(situation).includes(judge.model)) return `${judge.model} answers and cannot judge itself: take another model as the judge.`;
  if (cardOf(catalogue(situation).models, judge.model) === undefined) return `There is no card of the judge's model ${judge.model}.`;
  return shapesOf(situation, [judge.model])[0]?.length === 0 ? `The judge's model ${judge.model} fits on no GPUs of the cluster.` : null;
}

/** Refuses a cluster on which no model of the ladder fits, naming what the smallest would need; null if one does. */
function doesNotFit(situation: PlanningSituation, objective: Objective | null): string | null {
  const { cluster } = situation;
  const models = modelsOf(situation);
  const most = Math.min(gpuCount(cluster), objective?.maxGpus ?? Number.POSITIVE_INFINITY);
  const shapes = shapesOf(situation, models).flat();
  if (shapes.some(({ shape }) => shape.tp * shape.pp <= most)) return null;
  const types = gpusOf(situation);
  const named = types.map(({ id }) => id).join(" or ");
  const enough = { gpusPerNode: ENOUGH_GPUS, maxGpus: ENOUGH_GPUS };
  const needs = models.flatMap((model) => {
    const card = cardOf(catalogue(situation).models, model);
    const fitting = types.flatMap((gpu) => (card === undefined ? [] : feasibleShapes(card, gpu, enough).slice(0, 1)));
    const gpus = Math.min(...fitting.map(({ tp, pp }) => tp * pp));
    return fitting.length === 0 ? [] : [{ model, gpus }];
  });
  const [smallest] = needs.sort((a, b) => a.gpus - b.gpus);
  if (smallest === undefined) return `No model of the ladder fits on ${ENOUGH_GPUS} GPUs of type ${named}: take a larger GPU.`;
  return `The smallest model that fits, ${smallest.model}, needs ${smallest.gpus} of these GPUs for one replica; there ${most === 1 ? "is" : "are"} ${most} GPU${most === 1 ? "" : "s"} of type ${named}.`;
}

const planningPrompts = (workload: Workload): Int32Array => splitPrompts(workload.outcomes.promptIds.length, workload.seed).planning;
