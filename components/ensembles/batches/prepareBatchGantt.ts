import type { Batch } from "@/server/contracts/studio";
import type { GanttInput, GanttLine, GanttSession } from "../gantt/prepareGantt";

export type BatchSession = Batch["sessions"][number];

/** A session of a worker, or of an engine of the aggregator. */
export const lineName = ({ stage, worker }: Pick<BatchSession, "stage" | "worker">): string =>
  stage === "experts" ? `worker ${worker + 1}` : `aggregator ${worker + 1}`;

/** Sessions by worker, those of experts before the aggregator's, each worker's in turn. */
export function byWorker(sessions: readonly BatchSession[]): readonly (readonly BatchSession[])[] {
  const workers = new Map<string, BatchSession[]>();
  for (const session of sessions) {
    const key = lineName(session);
    const others = workers.get(key);
    if (others === undefined) workers.set(key, [session]);
    else others.push(session);
  }
  return [...workers.values()]
    .map((each) => [...each].sort((a, b) => a.turn - b.turn))
    .sort(
      (a, b) => Number(a[0]?.stage === "aggregator") - Number(b[0]?.stage === "aggregator") || (a[0]?.worker ?? 0) - (b[0]?.worker ?? 0),
    );
}

interface Span {
  readonly loadSeconds: number;
  readonly seconds: number;
  readonly share: number | null;
}

/** Gantt lines from the spans of sessions: consecutive on each worker, the aggregator's after all of the experts'. */
function linesOf(sessions: readonly BatchSession[], spanOf: (session: BatchSession) => Span | null): readonly GanttLine[] {
  let expertsEnd = 0;
  return byWorker(sessions).map((each) => {
    let at = each[0]?.stage === "aggregator" ? expertsEnd : 0;
    const drawn: GanttSession[] = [];
    for (const session of each) {
      const span = spanOf(session);
      if (span === null) continue;
      const readySeconds = at + span.loadSeconds;
      const untilSeconds = readySeconds + span.seconds;
      drawn.push({
        ...{ model: session.model, prompts: session.prompts, fromSeconds: at, readySeconds, untilSeconds, share: span.share },
      });
      at = untilSeconds;
    }
    if (each[0]?.stage === "experts") expertsEnd = Math.max(expertsEnd, at);
    const line = { name: each[0] === undefined ? "" : lineName(each[0]), sessions: drawn };
    return each[0]?.stage === "aggregator" ? { ...line, isOnOthersGpus: true } : line;
  });
}

/** Share of its questions that are finished, 0..1. */
export const overOf = ({ answered, failed, prompts }: BatchSession): number =>
  prompts === 0 ? 0 : Math.min(1, (answered + failed) / prompts);

/** The measured span of a session, plus the expected rest if it is not finished. null: it has not begun, and nothing is expected of it. */
function runSpan(session: BatchSession, isOver: boolean): Span | null {
  const { state, measured, expected } = session;
  if (state === "waiting" && expected === null) return null;
  const share = isOver || state === "done" || state === "unloading" ? null : overOf(session);
  return expected === null ? { loadSeconds: measured.loadSeconds ?? 0, seconds: measured.seconds ?? 0, share } : { ...expected, share };
}

/** Each engine's equal part of the aggregator's questions, which are `share` of all, 0..1; the engines read from one queue. */
const partOf = ({ questions }: Batch, share: number, engines: number): number => Math.round((share * questions) / Math.max(1, engines));

/**
 * Sessions with the number of questions that they are expected to answer: an engine of the aggregator gets, in addition to its finished
 * ones, its share of those that are sent, as far as that is known.
 */
export function expectedSessions(batch: Batch): readonly BatchSession[] {
  const { skipped, toAggregate } = batch.progress.questions;
  const through = skipped + toAggregate;
  const isNeeded = ({ stage, state, expected }: BatchSession): boolean =>
    stage === "aggregator" && (expected !== null || state === "loading" || state === "running");
  const engines = batch.sessions.filter(isNeeded).length;
  const part = partOf(batch, through === 0 ? batch.aggregatorPredicted.share : toAggregate / through, engines);
  return batch.sessions.map((session) =>
    isNeeded(session) ? { ...session, prompts: Math.max(session.answered + session.failed, part) } : session,
  );
}

/** A batch as predicted, and as it runs with the expected rest. */
export function batchDrawings(batch: Batch): readonly GanttInput[] {
  const { sessions, emulated, state, aggregatorPredicted } = batch;
  const aggregators = sessions.filter(({ stage }) => stage === "aggregator");
  const part = partOf(batch, aggregatorPredicted.share, aggregators.length);
  const upcoming = sessions.map((session) => (session.stage === "aggregator" ? { ...session, prompts: part } : session));
  const predicted = linesOf(upcoming, (session) => session.predicted && { ...session.predicted, share: null });
  const isOver = state === "done" || state === "stopped";
  const hasBegun = sessions.some((session) => session.state !== "waiting");
  const seen = isOver ? sessions.map((session) => ({ ...session, prompts: session.answered + session.failed })) : expectedSessions(batch);
  const measured = hasBegun ? linesOf(seen, (session) => runSpan(session, isOver)) : [];
  const lacksAggregator =
    state !== "done" && aggregators.length > 0 && aggregators.every((session) => session.state === "waiting" && session.expected === null);
  const any = (lines: readonly GanttLine[]): boolean => lines.some((line) => line.sessions.length > 0);
  return [
    ...(any(predicted) ? [{ key: "predicted", title: "As predicted", word: "modelled", lines: predicted, idle: null }] : []),
    ...(any(measured)
      ? [
          {
            key: "measured",
            title: "As it runs",
            word: emulated ? "emulated" : null,
            lines: measured,
            idle: null,
            ...(lacksAggregator && { subject: "experts" }),
            isStopped: state === "stopped",
          },
        ]
      : []),
  ];
}
