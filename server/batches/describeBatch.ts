import type { Batch, BatchSession } from "@/server/contracts/batches";
import type { StoredBatch } from "@/server/store/batchRepository";
import { aggregatorPrediction } from "./aggregatorPrediction";
import { type BatchForecast, forecastBatch } from "./batchForecast";
import type { BatchStanding } from "./batchStanding";
import type { BatchTally } from "./batchTally";
import type { SessionRecord } from "./sessionRecord";

/** A batch in full, as screens tell of it. */
export function describeBatch(batch: StoredBatch, standing: BatchStanding): Batch {
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
    // The aggregator's engines share what there is: each has what it took.
    prompts: positions?.length ?? done + failed,
    engine: isUp ? engineId : null,
    measured: { loadSeconds, seconds: state === "waiting" || state === "loading" ? null : record.seconds(nowMs) },
  };
}
