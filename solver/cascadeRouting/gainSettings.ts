import { routeByGain } from "@/solver/cascade/routing/gainRouting";
import { isVisited, type PlanningSample, promptsScored, type Routed } from "@/solver/cascade/routing/routing";
import type { CascadeRoutingDocument, RoutedGate } from "@/solver/nextModel/cascadeRoutingDocument";
import { fitCascadeRouting } from "@/solver/nextModel/fitCascadeRouting";
import { nextModelOf } from "@/solver/nextModel/nextModel";

/** Cascade routing over one set of models, fitted, without a trade-off. */
export interface FittedLadder {
  /** Indices into the sample's models, smallest first. */
  readonly stages: readonly number[];
  readonly fit: Omit<CascadeRoutingDocument, "pointsPerGpuSecond">;
}

/** Cascade routing at one trade-off with its results on the planning prompts. */
export interface GainSetting {
  readonly stages: readonly number[];
  readonly document: CascadeRoutingDocument;
  /** Of requests that the router does not score: one for each stage but the last, 0 where the stage's answers are not scored. */
  readonly thresholds: readonly number[];
  readonly routed: Routed;
  /** Mean expected GPU-seconds of a request, of models and gates. */
  readonly gpuSeconds: number;
}

/** What cascade routing reads of models and their gates, by model of the sample. */
export interface LadderCosts {
  /** GPU-seconds of a request, its gate not included. */
  readonly gpuSeconds: readonly number[];
  /** The gate of the model's answers and the GPU-seconds of a score. */
  readonly gates: readonly Pick<RoutedGate, "kind" | "gpuSeconds">[];
}

/** Trade-offs on the grid over which the search starts. */
const GRID = 24;

/** The lowest trade-off of the grid gives up this many points for a whole request of the most expensive model. */
const LEAST_POINTS = 0.25;

/** The highest gives up this many for one of the second cheapest: more than any answer gains. */
const MOST_POINTS = 100;

/**
 * Fits cascade routing of some models of a ladder to planning prompts.
 *
 * @returns null where there are too few labelled prompts.
 * @throws where the sample has no router scores: a bug.
 */
export function fitLadder(sample: PlanningSample, stages: readonly number[], { gpuSeconds, gates }: LadderCosts): FittedLadder | null {
  const { routerScore } = sample;
  if (routerScore === undefined) throw new Error("cascade routing needs router scores");
  const none = new Float64Array();
  const columns = stages.map((model) => ({
    routerScore: routerScore[model] ?? none,
    label: sample.label[model] ?? none,
    gateScore: sample.judged[model] ?? none,
    gate: gates[model] ?? {},
  }));
  const fit = fitCascadeRouting(columns);
  if (fit === null) return null;
  return { stages, fit: { ...fit, gpuSeconds: stages.map((model) => gpuSeconds[model] ?? 0) } };
}

/** Trade-offs from one that buys every gain to one that buys none, in equal ratios. */
export function tradeOffs({ fit: { gpuSeconds } }: FittedLadder): readonly number[] {
  const least = LEAST_POINTS / Math.max(...gpuSeconds);
  const [cheapest = 1, second = cheapest] = gpuSeconds.toSorted((a, b) => a - b);
  const ratio = (MOST_POINTS / second / least) ** (1 / (GRID - 1));
  return Array.from({ length: GRID }, (_, at) => least * ratio ** at);
}

/**
 * Cascade routing of a fitted ladder at a trade-off. A gate that no planning prompt is sent on from is left out: its score would decide
 * nothing.
 *
 * @returns null where some model of the ladder gets no planning prompt: fewer models then do the same.
 */
export function gainSetting(sample: PlanningSample, { stages, fit }: FittedLadder, pointsPerGpuSecond: number): GainSetting | null {
  const whole: CascadeRoutingDocument = { ...fit, gates: [...fit.gates], pointsPerGpuSecond };
  const first = routeByGain(sample, stages, whole);
  if (first.share.some((own) => own === 0)) return null;
  const gates = whole.gates.map((gate, stage) => (leadsOn(first, stage) ? gate : null));
  const unscored = gates.some((gate) => gate === null);
  const document = unscored ? { ...whole, gates } : whole;
  const routed = unscored ? routeByGain(sample, stages, document) : first;
  if (routed.share.some((own) => own === 0)) return null;
  const gpuSeconds = routed.share.reduce((sum, own, stage) => {
    const scored = promptsScored(routed, stage).length / sample.prompts;
    return sum + own * (document.gpuSeconds[stage] ?? 0) + scored * (document.gates[stage]?.gpuSeconds ?? 0);
  }, 0);
  return { stages, document, thresholds: usualThresholds(document), routed, gpuSeconds };
}

/** Whether any prompt goes on from an answer of the stage. */
function leadsOn(routed: Routed, stage: number): boolean {
  return routed.exit.some((last, prompt) => last > stage && isVisited(routed, prompt, stage));
}

/** The scores, 1..100, from which the usual prompt's answer is accepted where it is the first; 0 where a stage has no gate. */
function usualThresholds(document: CascadeRoutingDocument): readonly number[] {
  const next = nextModelOf(document);
  const usual = document.heads.map(({ centre }) => 100 / (1 + Math.exp(-centre)));
  return document.gates.map((gate, stage) => {
    if (gate === null) return 0;
    for (let score = 1; score < 100; score += 1) if (next.choose(usual, [{ stage, score }]).stage === null) return score;
    return 100;
  });
}
