import type { ReplicaModel } from "@/solver/engine/replicaModel";
import type { ServedRequests } from "@/solver/engine/throughputCurve";
import type { PlacedExpert, SessionCost } from "@/solver/ensemble/placement/placement";
import { simulatedSessionCost, simulatedSessionSeconds } from "@/solver/ensemble/sessions/sessionCost";
import { mixSeed, seededRandom } from "@/solver/numeric/random";
import { shippedReplica } from "../lib/replica";
import { mmluPro, type SourceExpert, sourceExperts } from "./sourceInstances";

/** A question with its choices and the prompt around it: the source does not give its length. */
export const QUESTION_TOKENS = 250;

const DRAWN = 2000;
const MOST_TOKENS = 32_000;

/** An engine of the source's hardware, or of the most similar. */
export const engineOf = (card: string, tp?: number): ReplicaModel => shippedReplica(card, "a100-sxm-80g", tp);

export interface DrawnLengths {
  readonly name: string;
  readonly meanTokens: number;
  readonly spread: number;
  readonly seed: number;
  /** How many are drawn; left out: many. */
  readonly count?: number;
}

/** Lognormal lengths with a mean; for one name and seed those with another mean are the same, scaled. */
export function drawnLengths({ name, meanTokens, spread, seed, count = DRAWN }: DrawnLengths): ServedRequests {
  const random = seededRandom(mixSeed(seed, name));
  const outputTokens = Int32Array.from({ length: count }, () =>
    Math.min(MOST_TOKENS, Math.max(1, random.lognormal(Math.log(meanTokens) - spread ** 2 / 2, spread))),
  );
  return { inputTokens: new Int32Array(count).fill(QUESTION_TOKENS), outputTokens, seed };
}

/** Settings for timing sessions of the source's experts. */
export interface Timing {
  /** Answers relative to MMLU-Pro's. */
  readonly scaleOf: (expert: SourceExpert) => number;
  /** Spread of short answers' lengths, instead of the usual one. */
  readonly shortSpread?: number;
  readonly seed: number;
  /** Whether engines are as slow as the source's were on MMLU-Pro's prompts, each model by its own factor; or as in the profile. */
  readonly calibrated: boolean;
  /** How many lengths of each expert are drawn; left out: many. */
  readonly count?: number;
  /** The seed of the lengths by which engines' slowness was found; left out: `seed`. */
  readonly slownessSeed?: number;
}

/** The source's experts with simulated sessions, in the order of their prompts. */
export const simulatedExperts = (prompts: readonly number[], timing: Timing): readonly PlacedExpert[] =>
  sourceExperts.map((expert, at) => {
    const mostPrompts = prompts[at] ?? 0;
    const cost = simulatedSessionCost(engineOf(expert.card), lengthsOf(expert, timing), { mostPrompts, concurrency: null });
    return placed(expert, mostPrompts, slowed(cost, expert, timing));
  });

/** The same with only whole sessions right, for round-robin's time. */
export const wholeExperts = (prompts: readonly number[], timing: Timing): readonly PlacedExpert[] =>
  sourceExperts.map((expert, at) => {
    const mostPrompts = prompts[at] ?? 0;
    const seconds =
      mostPrompts === 0 ? 0 : simulatedSessionSeconds(engineOf(expert.card), lengthsOf(expert, timing), { mostPrompts, concurrency: null });
    return placed(
      expert,
      mostPrompts,
      slowed(() => seconds, expert, timing),
    );
  });

/** The same at MMLU-Pro's seconds per prompt, for any number of prompts, like the source's own tau; or a multiple of these. */
export const linearExperts = (prompts: readonly number[], times = 1): readonly PlacedExpert[] =>
  sourceExperts.map((expert, at) => placed(expert, prompts[at] ?? 0, (count) => count * times * expert.secondsPerPrompt));

const placed = ({ name, loadSeconds }: SourceExpert, prompts: number, cost: SessionCost): PlacedExpert => ({
  name,
  loadSeconds,
  prompts,
  cost,
});

const spreadOf = ({ spread, reasons }: SourceExpert, { shortSpread = spread }: Pick<Timing, "shortSpread">): number =>
  reasons ? spread : shortSpread;

export const lengthsOf = (expert: SourceExpert, timing: Timing): ServedRequests =>
  drawnLengths({
    name: expert.name,
    meanTokens: timing.scaleOf(expert) * expert.meanTokens,
    spread: spreadOf(expert, timing),
    seed: timing.seed,
    ...(timing.count === undefined ? {} : { count: timing.count }),
  });

const slownesses = new Map<string, number>();

/** Time of the source's engines for MMLU-Pro's prompts relative to simulated ones. */
export function slowness(expert: SourceExpert, { seed, shortSpread }: Pick<Timing, "seed" | "shortSpread">): number {
  const timing = { seed, ...(shortSpread === undefined ? {} : { shortSpread }) };
  const key = `${expert.name} ${spreadOf(expert, timing)} ${timing.seed}`;
  const known = slownesses.get(key);
  if (known !== undefined) return known;
  const mostPrompts = mmluPro.prompts[sourceExperts.indexOf(expert)] ?? 0;
  const lengths = lengthsOf(expert, { ...timing, scaleOf: () => 1, calibrated: false });
  const seconds = simulatedSessionSeconds(engineOf(expert.card), lengths, { mostPrompts, concurrency: null });
  const found = (mostPrompts * expert.secondsPerPrompt) / seconds;
  slownesses.set(key, found);
  return found;
}

function slowed(cost: SessionCost, expert: SourceExpert, timing: Timing): SessionCost {
  if (!timing.calibrated) return cost;
  const factor = slowness(expert, { ...timing, seed: timing.slownessSeed ?? timing.seed });
  return (prompts) => factor * cost(prompts);
}
