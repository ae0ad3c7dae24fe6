import type { LabSystem } from "@/solver/lab/labSpec";
import { MOST_TAU } from "@/solver/plan/planSlack";
import type { SlackPolicy } from "@/solver/plan/policySchema";

/** Shares of the rate at which all engines saturate: with the five ladders, the 15 cases. */
export const LOADS = [0.8, 0.95, 1.1] as const;

/** Splits of the prompts and draws of the programs over which all figures are averaged. */
export const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] as const;

/** Number of times the batch is filled in runs that compare orders and aging on one engine. */
export const ORDER_BATCHES = 40;

/** Seeds that run at once, each on a core. */
export const SPLITS_AT_ONCE = 2;

/**
 * Number of times all engines' batches are filled in a run, and programs at most: with ten seeds and all systems that is under ten minutes on
 * one core. Every ladder and every load has all seeds.
 */
export const BATCHES_SERVED = 6;
export const MOST_PROGRAMS = 800;

/** Stages of a program are alike by this correlation. */
export const CORRELATION = 0.5;

/**
 * A system dominates vLLM's balancing in a case if it is faster a token, with the whole 90 % interval of the ratio above 1, and no worse: the
 * whole interval of the points above minus this. The source gains 8 to 9.5 points, so one point is about a ninth.
 */
export const NO_WORSE_POINTS = 1;

/** Cases out of the 15 in which Chimera is to dominate. */
export const WANTED = 9;

/** Slacks and margins of Chimera: from a narrow slack to the widest that plans offer. */
const TAUS = [1, 2, 4, MOST_TAU] as const;
const MARGINS = [0, 0.1] as const;

/** Weights of the dual price, at the widest slack, where prices decide instead of it. */
const PRICES = [0.01] as const;

/** Router scores from which "confidence only" starts at a model: its mean label less so many points. */
export const LESS_SURE = [0] as const;

/** A variant of Chimera, with the settings of its slack policy. */
interface Variant extends Pick<LabSystem, "name" | "lengths" | "confidence"> {
  readonly points: readonly Pick<SlackPolicy, "tau" | "deltaScore" | "price">[];
}

const points = (taus: readonly number[], margins: readonly number[]) =>
  taus.flatMap((tau) => margins.map((deltaScore) => ({ tau, deltaScore })));

/** Chimera, with its parts replaced by the truth, left out, or with prices. Without a router there is one order of the models, and no margin. */
export const VARIANTS: readonly Variant[] = [
  { name: "Chimera", lengths: "learnt", confidence: "learnt", points: points(TAUS, MARGINS) },
  { name: "load rule only", lengths: "learnt", confidence: "none", points: points(TAUS, [0]) },
  {
    name: "Chimera, priced",
    ...{ lengths: "learnt", confidence: "learnt" },
    points: PRICES.map((weight) => ({ tau: MOST_TAU, deltaScore: 0, price: { weight, dampingSeconds: 30 } })),
  },
  { name: "oracle router", lengths: "learnt", confidence: "oracle", points: points([MOST_TAU], [0.05]) },
  { name: "oracle lengths", lengths: "oracle", confidence: "learnt", points: points([1], [0]) },
];
