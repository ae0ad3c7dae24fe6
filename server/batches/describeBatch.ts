import type { Batch, BatchSession } from "@/server/contracts/studio/batches";
import type { StoredBatch } from "@/server/store/batchRepository";
import type { BatchOrder } from "@/server/store/documents/batchOrder";
import { secondsAtShare } from "@/solver/ensemble/sessions/aggregatorStage";
import { type BatchForecast, forecastBatch } from "./batchForecast";
import type { BatchProgress } from "./batchProgress";
import type { BatchTally } from "./batchTally";
import type { SessionRecord } from "./sessionRecord";

/**
 * The prediction for a batch's aggregator at the share of questions that it gets.
 * @param sent null: not known before all experts have finished.
 */
function aggregatorPrediction(
  { aggregatorPredicted, questions }: Pick<BatchOrder, "aggregatorPredicted" | "questions">,
  sent: number | null,
): Batch["aggregatorPredicted"] {
  const { loadSeconds, points } = aggregatorPredicted;
  const share = (sent ?? questions) / questions;
  return {
    ...{ share, seconds: secondsAtShare(points, share), loadSeconds: share === 0 ? 0 : loadSeconds },
    says:
      sent === null
        ? `Predicted as if all ${count(questions)} questions were sent to the aggregator: how many are is known when the experts are through.`
        : `Predicted for the ${count(sent)} of ${count(questions)} questions that the gate sends to the aggregator.`,
  };
}

const count = (questions: number): string => questions.toLocaleString("en-GB");

/** A batch in full, for display. */
export function describeBatch(batch: StoredBatch, standing: BatchProgress): Batch {
  const { records, tally, questions, questionsRead } = standing;
  const { order, ...row } = batch;
  const { request, ensemble } = order;
  const nowMs = performance.now();
  const { done, failed } = tally.stage("experts");
  const asked = order.sessions.flat().reduce((sum, { positions }) => sum + positions.length, 0);
  const aggregatorPredicted = aggregatorPrediction(order, done + failed === asked ? questions.sent : null);
  const goesOn = (batch.state === "running" || batch.state === "paused") && questionsRead === null;
  const forecast: BatchForecast = goesOn
    ? forecastBatch({ records, tally, questions, order, nowMs })
    : { expected: new Map(), etaSeconds: null };
  return {
    ...row,
    ...{ name: request.name, ensemble: ensemble.name, questions: order.questions, emulated: order.emulated },
    ...{ document: ensemble, request, schedules: order.schedules, notes: order.notes },
    sessions: records.map((record) => ({
      ...shownSession(record, tally, nowMs),
      ...(record.session.stage === "aggregator" ? { predicted: timesOf(aggregatorPredicted) } : {}),
      expected: forecast.expected.get(record) ?? null,
    })),
    aggregatorPredicted,
    progress: {
      expertAnswers: { asked, done, failed },
      questions: questions.counts,
      ...{ noVote: tally.noVote, failures: tally.failures(), lost: tally.lost, retried: tally.retried },
      etaSeconds: batch.state === "running" ? forecast.etaSeconds : null,
      questionsRead,
    },
    accuracy: questions.accuracy,
  };
}

const timesOf = ({ loadSeconds, seconds }: Batch["aggregatorPredicted"]): BatchSession["predicted"] => ({
  loadSeconds,
  seconds,
});

function shownSession(record: SessionRecord, tally: BatchTally, nowMs: number): Omit<BatchSession, "expected"> {
  const { session, state, loadSeconds } = record;
  const { stage, worker, turn, model, engineId, positions, predicted } = session;
  const { done, failed } = tally.session(engineId);
  const isUp = state === "loading" || state === "running" || state === "unloading";
  return {
    ...{ stage, worker, turn, model, state, predicted, answered: done, failed },
    // The aggregator's engines share the questions: each has those it took.
    prompts: positions?.length ?? done + failed,
    engine: isUp ? engineId : null,
    measured: { loadSeconds, seconds: state === "waiting" || state === "loading" ? null : record.seconds(nowMs) },
  };
}
