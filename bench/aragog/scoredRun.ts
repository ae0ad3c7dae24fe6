import { clusterReplicas, enginesByModel } from "@/server/lab/labEngines";
import { atRate } from "@/server/lab/labPrograms";
import { simulatePrograms } from "@/solver/cluster/simulatePrograms";
import { mean } from "@/solver/numeric/quantile";
import type { JustInTimePolicy } from "@/solver/plan/policySchema";
import { buildPolicy } from "@/solver/policies/buildPolicy";
import { configurationRowsOf } from "@/solver/prediction/configurationRows";
import { type ConfigurationArtefact, configurationPredictor, trainConfigurations } from "@/solver/prediction/configurations";
import { factsOf } from "@/solver/prediction/programFacts";
import { withCallGates } from "@/solver/stageGates/gateCandidates";
import { isRefused } from "@/solver/stageGates/gateRefusal";
import { callScores } from "@/solver/stageGates/stageGate";
import { sketchOf } from "@/solver/words/sketch";
import type { Workload } from "@/solver/workload/workload";
import { withModelledConfidence } from "../lib/modelledConfidence";
import { PER_INPUT, type RaceCase } from "./raceCase";
import type { RaceAnswers } from "./raceLadders";
import { hardware, type SeededRace, seeded } from "./seededRace";

/** By how much the least logit from which on heads accept is lowered: one point of a curve each. */
const EASED = [-0.5, 0, 0.5, 0.75, 1, 1.25, 1.5, 2, 2.5] as const;

/** Share of what all engines serve: few requests wait, so that the rule alone decides what a program costs. */
const LOAD = 0.3;

/** What programs of a run came to. */
interface ScoredPoint {
  /** Billions of active parameters times tokens written, per program, in thousands. */
  readonly cost: number;
  /** 0..100. */
  readonly quality: number;
}

/** The same programs and heads with scores of answers and without, by how easily heads accept. */
export interface ScoredCurves {
  readonly without: readonly ScoredPoint[];
  readonly scored: readonly ScoredPoint[];
}

/**
 * Serves held-out programs of a case under a seed by the cheapest configuration that counts as accurate, with scores of answers and without.
 *
 * @param confidence AUC of the modelled confidence, 0.5..1; null: it is the same for all answers.
 */
export function scoredCurves(
  of: RaceCase,
  answers: RaceAnswers,
  { seed, confidence }: { seed: number; confidence: number | null },
): ScoredCurves {
  const race = seeded({ ...of, only: [PER_INPUT] }, answers, seed);
  const policy = race.systems[0]?.policy;
  if (policy?.kind !== "just-in-time") throw new Error("The race has no just-in-time policy");
  const workload = withModelledConfidence(race.answers.workload, confidence);
  const scored = withCallGates(policy, { workload, sample: race.sample });
  if (!scored.ok) throw new Error(scored.message);
  const artefact = headsOf(race, policy);
  const run = (own: JustInTimePolicy) => EASED.map((eased) => served(race, { policy: own, workload, artefact: easedBy(artefact, eased) }));
  return { without: run(policy), scored: run(scored.policy) };
}

const textsOf = ({ answers: { workload, texts } }: SeededRace) => ({
  sketches: texts.map((text) => (text === null ? null : sketchOf(text))),
  promptTokens: workload.outcomes.inputTokens,
});

function headsOf(race: SeededRace, { workflows }: JustInTimePolicy): ConfigurationArtefact {
  const [declared] = workflows;
  if (declared === undefined) throw new Error("The policy declares no workflow");
  return trainConfigurations(configurationRowsOf(race.sample, race.space, textsOf(race), declared.workflow), { seed: 1 });
}

/** Heads that accept from a lower logit on; heads that accept nothing at all accept from an even chance less that. */
function easedBy(artefact: ConfigurationArtefact, by: number): ConfigurationArtefact {
  const least = artefact.threshold >= 1 ? 0 : Math.log(artefact.threshold / (1 - artefact.threshold));
  return { ...artefact, threshold: 1 / (1 + Math.exp(by - least)) };
}

interface ScoredRun {
  readonly policy: JustInTimePolicy;
  readonly workload: Workload;
  readonly artefact: ConfigurationArtefact;
}

function served(race: SeededRace, { policy, workload, artefact }: ScoredRun): ScoredPoint {
  const { spec, sample } = race;
  const arriving = atRate(race.served, LOAD * race.capacity);
  const texts = textsOf(race);
  const facts = Array.from(arriving.prompt, (_, program) => {
    const request = arriving.firstRequest[program] ?? 0;
    return factsOf(arriving, texts, request, arriving.givenTokens[request] ?? 0);
  });
  const found = configurationPredictor(artefact).predict(facts, { withMargins: policy.callGates !== undefined });
  const calls = callScores(policy, workload, arriving);
  if (calls !== null && isRefused(calls)) throw new Error(`The gates cannot be read: ${calls.kind}`);
  const outcome = simulatePrograms({
    ...{ policy: buildPolicy(policy), sample: arriving },
    predictions: { configurations: (program) => found[program]?.accurate, margins: (program) => found[program]?.margins },
    replicas: clusterReplicas(enginesByModel(spec.replicas, hardware), spec, sample),
    ...(calls !== null && { scoring: { scores: [], seconds: 0, calls } }),
  });
  const costs = arriving.models.map((name) => policy.models.find(({ model }) => model === name)?.cost ?? 0);
  const cost = arriving.program.reduce((sum, _, request) => {
    const model = outcome.model[request] ?? -1;
    return sum + (costs[model] ?? 0) * (arriving.outputTokens[model]?.[request] ?? 0);
  }, 0);
  const quality = Array.from(outcome.quality);
  return { cost: cost / quality.length / 1000, quality: mean(quality) };
}

/** Points below the largest models throughout at which programs are still about as good: no operator sets a floor far below. */
const NEAR = 10;

/**
 * Mean points by which programs with scores are better at equal cost: each point of their curve against the curve without, linear between its
 * neighbours; or against its upper hull, which an operator reaches who serves some programs by one threshold and others by another. Points
 * that cost less or more than any without are left out, and those more than ten below the best of these. NaN where none is left.
 */
export function pointsAtEqualCost({ without, scored }: ScoredCurves, against: "curve" | "hull" = "curve"): number {
  const ascending = without.toSorted((one, other) => one.cost - other.cost || one.quality - other.quality);
  const curve = against === "curve" ? ascending : upperHull(ascending);
  const least = Math.max(...without.map(({ quality }) => quality)) - NEAR;
  const gains = scored.flatMap(({ cost, quality }) => {
    const above = curve.findIndex((own) => own.cost >= cost);
    const [low, high] = [curve[Math.max(0, above - 1)], curve[above]];
    if (low === undefined || high === undefined || cost < low.cost || quality < least) return [];
    return [quality - between(low, high, cost)];
  });
  return gains.length === 0 ? Number.NaN : mean(gains);
}

const between = (low: ScoredPoint, high: ScoredPoint, cost: number): number =>
  high.cost > low.cost ? low.quality + ((cost - low.cost) / (high.cost - low.cost)) * (high.quality - low.quality) : high.quality;

/** The points of a curve, by ascending cost, that no line between two others passes above. */
function upperHull(curve: readonly ScoredPoint[]): readonly ScoredPoint[] {
  const hull: ScoredPoint[] = [];
  for (const point of curve) {
    for (let [low, last] = hull.slice(-2); low && last && last.quality <= between(low, point, last.cost); [low, last] = hull.slice(-2))
      hull.pop();
    hull.push(point);
  }
  return hull;
}
