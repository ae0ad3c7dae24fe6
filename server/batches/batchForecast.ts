import type { BatchSession } from "@/server/contracts/studio/batches";
import type { BatchOrder } from "@/server/store/documents/batchOrder";
import { secondsAtShare } from "@/solver/ensemble/sessions/aggregatorStage";
import type { BatchTally } from "./batchTally";
import type { Questions } from "./questions";
import type { SessionRecord } from "./sessionRecord";

export interface ForecastGround {
  readonly records: readonly SessionRecord[];
  readonly tally: BatchTally;
  readonly questions: Pick<Questions, "undecided" | "aggregatedShare" | "sent">;
  readonly order: Pick<BatchOrder, "questions" | "aggregatorPredicted" | "request">;
  /** Wall time, as in the records. */
  readonly nowMs: number;
}

type Times = NonNullable<BatchSession["expected"]>;

/** The forecast of a batch that continues. Seconds are engine seconds. */
export interface BatchForecast {
  /** The expected duration of each session; sessions that have ended, are not needed, or have no estimate are left out. */
  readonly expected: ReadonlyMap<SessionRecord, Times>;
  /** Until the batch is finished; null: no estimate yet. */
  readonly etaSeconds: number | null;
}

/**
 * For a session that is answering it assumes its present speed, as soon as that is based on more answers than are in flight; before that,
 * and for waiting sessions, it assumes the prediction, scaled by the durations of ended sessions. The aggregator follows the slowest
 * worker, on the share of questions that has needed it so far. Answers in flight count as half done.
 */
export function forecastBatch(ground: ForecastGround): BatchForecast {
  const { records, tally, order, nowMs } = ground;
  const drift = driftOf(records, nowMs);
  const expected = new Map<SessionRecord, Times>();
  const byWorker = new Map<number, number>();
  let isKnown = true;
  for (const record of records.filter((one) => one.session.stage === "experts" && !isOver(one))) {
    const { session, loadSeconds } = record;
    const { done, failed } = tally.session(session.engineId);
    const prompts = session.positions?.length ?? 0;
    const rest = restOf([record], prompts - done - failed, ground);
    const { predicted } = session;
    const seconds = rest.seconds ?? (predicted === null ? null : prompts && (predicted.seconds * drift * rest.answers) / prompts);
    const load = loadSeconds ?? predicted?.loadSeconds;
    if (seconds === null || load === undefined) {
      isKnown = false;
      continue;
    }
    expected.set(record, { loadSeconds: load, seconds: record.seconds(nowMs) + seconds });
    byWorker.set(session.worker, (byWorker.get(session.worker) ?? 0) + load - (loadSeconds ?? 0) + seconds);
  }
  const share = ground.questions.aggregatedShare;
  const engines = enginesNeeded(records, share === null ? 0 : Math.ceil(share * order.questions));
  if (share === null || !isKnown) return { expected, etaSeconds: null };
  const { loadSeconds: load, points } = order.aggregatorPredicted;
  const all = secondsAtShare(points, share) * drift;
  const hasBegun = engines.some(({ state }) => state !== "waiting");
  const rest = restOf(engines, ground.questions.undecided.left, ground);
  const seconds = hasBegun ? (rest.seconds ?? (all * rest.answers) / Math.max(1, ground.questions.sent)) : all;
  let aggregator = 0;
  for (const record of engines) {
    expected.set(record, { loadSeconds: record.loadSeconds ?? load, seconds: record.seconds(nowMs) + seconds });
    aggregator = Math.max(aggregator, (record.loadSeconds === null ? load : 0) + seconds);
  }
  return { expected, etaSeconds: Math.max(0, ...byWorker.values()) + aggregator };
}

const isOver = ({ state }: SessionRecord): boolean => state === "done" || state === "unloading";

/** Engines of the aggregator that still have questions to answer: before any of them has begun, at most as many as there are questions. */
function enginesNeeded(records: readonly SessionRecord[], questions: number): readonly SessionRecord[] {
  const all = records.filter(({ session }) => session.stage === "aggregator");
  const begun = all.filter(({ state }) => state !== "waiting");
  return begun.length > 0 ? begun.filter((record) => !isOver(record)) : all.slice(0, questions);
}

/**
 * Remaining answers of engines that share them, those in flight counted as half, and the seconds until then at their speed; null: not known
 * yet.
 */
function restOf(
  records: readonly SessionRecord[],
  left: number,
  { order, nowMs }: ForecastGround,
): { readonly answers: number; readonly seconds: number | null } {
  const stretches = records.flatMap((record) => record.stretch(nowMs) ?? []);
  const underWay = Math.min(order.request.concurrency, left / Math.max(1, records.length));
  const answers = left - (underWay / 2) * stretches.length;
  const answered = stretches.reduce((sum, stretch) => sum + stretch.answers, 0);
  if (answered === 0 || answered < underWay * stretches.length) return { answers, seconds: null };
  const speed = stretches.reduce((sum, stretch) => sum + (stretch.answers + underWay / 2) / stretch.seconds, 0);
  return { answers, seconds: answers / speed };
}

/** Durations of ended sessions relative to their predictions; 1 before the first. */
function driftOf(records: readonly SessionRecord[], nowMs: number): number {
  const over = records.filter(({ state, session }) => state === "done" && session.stage === "experts" && session.predicted !== null);
  const predicted = over.reduce((sum, { session }) => sum + (session.predicted?.seconds ?? 0), 0);
  const took = over.reduce((sum, record) => sum + record.seconds(nowMs), 0);
  return predicted > 0 && took > 0 ? took / predicted : 1;
}
