import type { ReplicaModel } from "@/solver/engine/replicaModel";
import { simulateClosedLoop } from "@/solver/engine/simulateClosedLoop";
import type { ServedRequests } from "@/solver/engine/throughputCurve";
import { nonNegativeLeastSquares } from "@/solver/numeric/nonNegativeLeastSquares";
import { mean, quantile } from "@/solver/numeric/quantile";
import { mixSeed, type Random, seededRandom } from "@/solver/numeric/random";
import { shuffled } from "@/solver/numeric/shuffled";
import { counted, wholePercent } from "@/solver/wording/wording";
import type { SessionCost } from "../placement/placement";
import type { OutputLengths } from "./outputLengths";
import type { SessionRow } from "./sessionRow";

/** Minimum number of different prompt counts of sessions: two would fit any tail and throughput. */
const LEAST_COUNTS = 3;
/** Factor on the largest measured session up to which a fit is used. */
const MOST_BEYOND = 2;
const MOST_HELD_OUT_ERROR = 0.25;

/** A session's time from measured sessions (MOSAIC, section 4.1.2): `fixed + tail * longest answer + token * prompts * mean answer`. */
export interface FittedSessionCost {
  readonly cost: SessionCost;
  readonly fixedSeconds: number;
  /** For each token of the longest answer, which is written while the others end. */
  readonly secondsPerLongestToken: number;
  /** For each token of all answers together: the reciprocal of a full engine's throughput. */
  readonly secondsPerToken: number;
  /** Mean of |predicted / measured - 1| over sessions that were each held out of the fit. */
  readonly heldOutError: number;
  readonly sessions: number;
}

/** A fit, or why there is none, in words that follow those on the sessions. */
export type SessionFit = { readonly ok: true; readonly fitted: FittedSessionCost } | { readonly ok: false; readonly reason: string };

/**
 * Fits the cost of a model's sessions to measured ones of one kind of engine, with equal weights relative to their length and no
 * coefficient below 0.
 *
 * A few small sessions do not predict a large one, in which engines are full: a fit is returned only within its range, which is sessions of
 * at least three different counts of prompts, each predicted by the others within a quarter on average, and up to twice as many prompts as
 * the largest had.
 *
 * @param lengths of the future answers: a small share of them has a shorter tail.
 * @param mostPrompts largest session that the fit is used for.
 */
export function fittedSessionCost(rows: readonly SessionRow[], lengths: OutputLengths, mostPrompts: number): SessionFit {
  const usable = rows.filter(isUsable);
  const counts = new Set(usable.map(({ prompts }) => prompts));
  if (counts.size < LEAST_COUNTS)
    return { ok: false, reason: `they are of ${counted(counts.size, "different count")} of prompts, and a fit takes ${LEAST_COUNTS}` };
  const largest = Math.max(...counts);
  if (mostPrompts > MOST_BEYOND * largest)
    return { ok: false, reason: `a fit to sessions of at most ${counted(largest, "prompt")} says nothing of ${mostPrompts}` };
  const coefficients = fit(usable);
  const [fixedSeconds = 0, secondsPerLongestToken = 0, secondsPerToken = 0] = coefficients;
  const errors = usable.map((row, left) => {
    const others = fit(usable.filter((_, at) => at !== left));
    return Math.abs(predicted(others, row) / row.seconds - 1);
  });
  const heldOutError = mean(errors);
  if (!(heldOutError <= MOST_HELD_OUT_ERROR))
    return { ok: false, reason: `a fit to them predicts each only within ${wholePercent(heldOutError)} by the others` };
  if (secondsPerToken === 0) return { ok: false, reason: "by a fit to them more answers would take no more time" };
  const fitted = {
    ...{ fixedSeconds, secondsPerLongestToken, secondsPerToken },
    cost: (prompts: number) => {
      if (prompts <= 0) return 0;
      const { meanTokens: meanOutputTokens } = lengths;
      return predicted(coefficients, { prompts, meanOutputTokens, maxOutputTokens: lengths.expectedLongest(prompts) });
    },
    heldOutError,
    sessions: usable.length,
  };
  return { ok: true, fitted };
}

/** Whether a session had anything to answer, and took time. */
const isUsable = ({ prompts, seconds, meanOutputTokens }: SessionRow): boolean => prompts > 0 && seconds > 0 && meanOutputTokens > 0;

/** Simulated sessions scaled to the measured level. */
export interface LevelledSessionCost {
  readonly cost: SessionCost;
  /** Median of measured over simulated seconds. */
  readonly level: number;
  readonly sessions: number;
}

/**
 * A simulated cost scaled to the level of measured sessions, where these are too few or too small for a fit: the shape is the simulator's,
 * which models how engines fill. Sessions of longer or shorter answers than the future ones count by their time per token. null: none of
 * them is usable.
 *
 * @param simulated up to at least the largest of the sessions, with answers of `meanOutputTokens`.
 */
export function levelledSessionCost(
  simulated: SessionCost,
  rows: readonly SessionRow[],
  meanOutputTokens: number,
): LevelledSessionCost | null {
  const ratios = rows.filter(isUsable).map((row) => (row.seconds / simulated(row.prompts)) * (meanOutputTokens / row.meanOutputTokens));
  if (ratios.length === 0) return null;
  const level = quantile(ratios, 0.5);
  return { cost: (prompts) => level * simulated(prompts), level, sessions: ratios.length };
}

type SessionShape = Pick<SessionRow, "prompts" | "meanOutputTokens" | "maxOutputTokens">;

const featuresOf = ({ prompts, meanOutputTokens, maxOutputTokens }: SessionShape): readonly number[] => [
  1,
  maxOutputTokens,
  prompts * meanOutputTokens,
];

const predicted = (coefficients: readonly number[], shape: SessionShape): number =>
  featuresOf(shape).reduce((sum, value, at) => sum + value * (coefficients[at] ?? 0), 0);

const fit = (rows: readonly SessionRow[]): readonly number[] =>
  nonNegativeLeastSquares(
    rows.map((row) => featuresOf(row).map((value) => value / row.seconds)),
    rows.map(() => 1),
  );

/** Sessions of more prompts are extrapolated linearly: the engine has long been full. */
const MOST_SIMULATED = 4096;

/**
 * Number of requests simulated at each count of prompts, so that few prompts are timed over many draws; and minimum and maximum number of
 * draws.
 */
const REQUESTS_EACH = 1024;
const DRAWS = { least: 2, most: 16 } as const;

/** Bounds of a simulated session. */
export interface SimulatedSession {
  /** Maximum number of prompts of a session. */
  readonly mostPrompts: number;
  /** Maximum number of requests in flight; null: as many as the engine takes. */
  readonly concurrency: number | null;
}

/**
 * Simulated time of a model's sessions, where none was measured: all prompts sent at once to one engine without other work, until its
 * client sees the last answer. Timed at 1, 2, 3, 4, 6, 8 ... prompts with pairs of lengths drawn from the requests, each as often as the
 * others where there are fewer than prompts; linear between these, and beyond 4,096 with the slope from 2,048 to there: one pass of the
 * engine is then like the next. It never falls.
 *
 * @throws RangeError when the engine has room for none of the requests.
 */
export function simulatedSessionCost(replica: ReplicaModel, requests: ServedRequests, session: SimulatedSession): SessionCost {
  return along(countsUpTo(simulatedPrompts(session)), sessionTimer(replica, requests, session));
}

/**
 * `simulatedSessionCost` of the largest number of prompts only, in seconds.
 *
 * @throws RangeError as there.
 */
export function simulatedSessionSeconds(replica: ReplicaModel, requests: ServedRequests, session: SimulatedSession): number {
  const simulated = simulatedPrompts(session);
  const counts = simulated < session.mostPrompts ? [simulated / 2, simulated] : [simulated];
  return along(counts, sessionTimer(replica, requests, session))(session.mostPrompts);
}

const simulatedPrompts = ({ mostPrompts }: SimulatedSession): number => Math.max(1, Math.min(mostPrompts, MOST_SIMULATED));

/** Mean seconds of simulated sessions of up to the simulated number of prompts. */
function sessionTimer(replica: ReplicaModel, { inputTokens, outputTokens, seed }: ServedRequests, session: SimulatedSession): SessionCost {
  const fitting = Array.from(inputTokens, (_, at) => at).filter(
    (at) => (inputTokens[at] ?? 0) + Math.max(1, outputTokens[at] ?? 0) <= replica.kvTokens,
  );
  if (fitting.length === 0) throw new RangeError(`No request has room in a KV cache of ${Math.floor(replica.kvTokens)} tokens`);
  // The same order at every count: a session with more prompts contains those of one with fewer.
  const draws = Array.from({ length: DRAWS.most }, (_, draw) => {
    const rows = drawRows(fitting, simulatedPrompts(session), seededRandom(mixSeed(seed, `session ${draw}`)));
    return {
      inputTokens: Int32Array.from(rows, (at) => inputTokens[at] ?? 0),
      outputTokens: Int32Array.from(rows, (at) => outputTokens[at] ?? 0),
    };
  });
  const concurrency = Math.min(session.concurrency ?? replica.maxSequences, replica.maxSequences);
  return (prompts) => {
    const count = Math.min(DRAWS.most, Math.max(DRAWS.least, Math.ceil(REQUESTS_EACH / prompts)));
    const seconds = draws.slice(0, count).map((drawn) => {
      const lengths = { inputTokens: drawn.inputTokens.subarray(0, prompts), outputTokens: drawn.outputTokens.subarray(0, prompts) };
      return simulateClosedLoop(replica, lengths, { concurrency: Math.min(concurrency, prompts) }).horizonSeconds;
    });
    return mean(seconds);
  };
}

/** 1, 2, 3, 4, 6, 8, 12 ... and the last. */
function countsUpTo(most: number): readonly number[] {
  const counts: number[] = [];
  for (let count = 1; count < most; count = Number.isInteger(Math.log2(count)) ? Math.max(2, 1.5 * count) : (4 * count) / 3)
    counts.push(Math.round(count));
  return [...counts, Math.max(1, most)];
}

/** Whole passes through all rows, each in a new order, as far as they are needed. */
function drawRows(rows: readonly number[], count: number, random: Random): Int32Array {
  const drawn = new Int32Array(count);
  for (let at = 0; at < count; at += rows.length) {
    const turn = shuffled(rows.length, random).subarray(0, count - at);
    drawn.set(
      turn.map((index) => rows[index] ?? 0),
      at,
    );
  }
  return drawn;
}

/** A cost that is timed at some counts, ascending, and linear between them and beyond the last. */
function along(counts: readonly number[], timed: SessionCost): SessionCost {
  const points = [{ prompts: 0, seconds: 0 }];
  for (const prompts of counts) points.push({ prompts, seconds: Math.max(points.at(-1)?.seconds ?? 0, timed(prompts)) });
  const last = points.length - 1;
  const half = (points[last]?.prompts ?? 0) / 2;
  // Single neighbouring points would extrapolate the random errors of their draws far beyond them.
  const halfWay = Math.min(
    last - 1,
    points.findIndex(({ prompts }) => prompts >= half),
  );
  const between = (from: number, to: number, prompts: number): number => {
    const [a, b] = [points[from], points[to]];
    if (a === undefined || b === undefined) return 0;
    return a.seconds + ((b.seconds - a.seconds) * (prompts - a.prompts)) / (b.prompts - a.prompts);
  };
  return (prompts) => {
    if (prompts <= 0) return 0;
    const above = points.findIndex((point) => point.prompts >= prompts);
    return above < 0 ? between(halfWay, last, prompts) : between(above - 1, above, prompts);
  };
}
