import type { Batch, BatchSummary } from "@/server/contracts/studio";
import { shareOf } from "@/solver/judging/interval";
import type { Tone } from "../ui/Badge";
import { formatAge, formatCount, formatCounted, formatPercent, formatPercentSpan, formatSeconds } from "../ui/format";
import type { ModelIdentity } from "../ui/modelIdentity";
import { type GanttInput, type GanttLine, type GanttPicture, type GanttSession, prepareGantt } from "./prepareGantt";

type Session = Batch["sessions"][number];

export interface BatchState {
  readonly word: string;
  readonly tone: Tone;
}

/** How a batch stands, in a word. One that somebody paused waits; one that paused itself needs somebody. */
export function batchState({ state, pause }: Pick<BatchSummary, "state" | "pause">): BatchState {
  switch (state) {
    case "running":
      return { word: "running", tone: "accent" };
    case "paused":
      return pause?.kind === "problem" ? { word: "paused by a problem", tone: "bad" } : { word: "paused", tone: "warn" };
    case "done":
      return { word: "done", tone: "good" };
    case "stopped":
      return { word: "stopped", tone: "neutral" };
  }
}

const sessionWords: Readonly<Record<Session["state"], string>> = {
  waiting: "waits its turn",
  loading: "loading",
  running: "answering",
  unloading: "unloading",
  done: "done",
};

export interface SessionRow {
  readonly key: string;
  readonly worker: string;
  readonly model: string;
  readonly state: string;
  readonly answered: string;
  readonly failed: string;
  /** Of its questions those that are over, 0..1. */
  readonly share: number;
  readonly predicted: string;
  readonly measured: string;
}

export interface BatchPicture {
  /** Predicted above, as it runs below; null: nothing has begun and nothing is predicted. */
  readonly gantt: GanttPicture | null;
  /** Expert answers that are over, and of them those that failed, 0..1. */
  readonly share: number;
  readonly failedShare: number;
  readonly says: string;
  /** null: it is over, paused, or nobody knows yet. */
  readonly left: string | null;
  readonly figures: readonly { readonly name: string; readonly value: string; readonly detail: string }[];
  readonly accuracy: { readonly value: string; readonly detail: string } | null;
  readonly rows: readonly SessionRow[];
  readonly failures: readonly { readonly text: string; readonly calls: string }[];
}

const lineName = ({ stage, worker }: Pick<Session, "stage" | "worker">): string =>
  stage === "experts" ? `worker ${worker + 1}` : `aggregator ${worker + 1}`;

/** Sessions by worker, those of experts before the aggregator's, each worker's in turn. */
function byWorker(sessions: readonly Session[]): readonly (readonly Session[])[] {
  const workers = new Map<string, Session[]>();
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

/** Lines of what spans tell of sessions: one after another on each worker, the aggregator's after all of the experts'. */
function linesOf(sessions: readonly Session[], spanOf: (session: Session) => Span | null): readonly GanttLine[] {
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
    return { name: each[0] === undefined ? "" : lineName(each[0]), sessions: drawn };
  });
}

const overOf = ({ answered, failed, prompts }: Session): number => (prompts === 0 ? 0 : Math.min(1, (answered + failed) / prompts));

/**
 * What is measured of a session; of one that is not over the rest is expected as predicted, unless its batch ended before. null: it has not begun, and nothing is
 * expected of it, as of an aggregator, which nobody knows the questions of beforehand.
 */
function measuredSpan(session: Session, isOver: boolean): Span | null {
  const { stage, state, measured, predicted } = session;
  const seconds = measured.seconds ?? 0;
  if (isOver || state === "done" || state === "unloading")
    return state === "waiting" ? null : { loadSeconds: measured.loadSeconds ?? 0, seconds, share: null };
  if (state === "waiting" && (stage === "aggregator" || predicted === null)) return null;
  const loadSeconds = measured.loadSeconds ?? predicted?.loadSeconds ?? 0;
  return { loadSeconds, seconds: Math.max(seconds, predicted?.seconds ?? 0), share: overOf(session) };
}

/** Of what the aggregator is sent, or may be, an equal part for each of its engines, which take it from one queue. */
function partSent({ sessions, questions, aggregatorPredicted }: Batch): number {
  const engines = sessions.filter(({ stage }) => stage === "aggregator").length;
  return Math.round((aggregatorPredicted.share * questions) / engines);
}

/** Sessions with as many questions as they are expected to answer: an engine of the aggregator that is under way has, beside what it took, its part of the rest. */
function expectedSessions(batch: Batch): readonly Session[] {
  const part = partSent(batch);
  return batch.sessions.map((session) =>
    session.stage === "aggregator" && (session.state === "loading" || session.state === "running")
      ? { ...session, prompts: Math.max(session.answered + session.failed, part) }
      : session,
  );
}

function drawingsOf(batch: Batch): readonly GanttInput[] {
  const { sessions, emulated, state } = batch;
  const part = partSent(batch);
  const foreseen = sessions.map((session) => (session.stage === "aggregator" ? { ...session, prompts: part } : session));
  const predicted = linesOf(foreseen, (session) => session.predicted && { ...session.predicted, share: null });
  const isOver = state === "done" || state === "stopped";
  const hasBegun = sessions.some((session) => session.state !== "waiting");
  const seen = isOver ? sessions.map((session) => ({ ...session, prompts: session.answered + session.failed })) : expectedSessions(batch);
  const measured = hasBegun ? linesOf(seen, (session) => measuredSpan(session, isOver)) : [];
  const awaitsAggregator = sessions.some((session) => session.stage === "aggregator" && session.state === "waiting");
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
            ...(awaitsAggregator && { subject: "experts" }),
            isStopped: state === "stopped",
          },
        ]
      : []),
  ];
}

const spanText = (load: number | null | undefined, seconds: number | null | undefined): string =>
  load == null && seconds == null ? "–" : `${formatSeconds(load)} + ${formatSeconds(seconds)}`;

/** A session of a batch that is over stands still, whatever it was at. */
function wordOf({ state }: Session, batch: Batch["state"]): string {
  if (state === "waiting" && batch === "done") return "not needed";
  if (state === "done" || batch !== "stopped") return sessionWords[state];
  return state === "waiting" ? "never begun" : "stopped";
}

function rowOf(session: Session, batch: Batch["state"]): SessionRow {
  const { stage, worker, turn, model, prompts, answered, failed, predicted, measured } = session;
  return {
    ...{ key: `${stage} ${worker} ${turn}`, worker: lineName(session), model, state: wordOf(session, batch), share: overOf(session) },
    answered: prompts === 0 ? "–" : `${formatCount(answered)} of ${formatCount(prompts)}`,
    failed: formatCount(failed),
    predicted: spanText(predicted?.loadSeconds, predicted?.seconds),
    measured: spanText(measured.loadSeconds, measured.seconds),
  };
}

/** Decides what is told of one batch. */
export function prepareBatch(batch: Batch, identities: ReadonlyMap<string, ModelIdentity>): BatchPicture {
  const { progress, accuracy, state, emulated } = batch;
  const { asked, done, failed } = progress.expertAnswers;
  const { skipped, aggregated, unanswered, open } = progress.questions;
  const decided = skipped + aggregated + unanswered;
  const right = accuracy === null ? null : shareOf(accuracy.right, accuracy.questions);
  const of = (count: number): string => (decided === 0 ? "" : `${formatPercent(count / decided)} of those decided`);
  return {
    gantt: prepareGantt(drawingsOf(batch), identities),
    share: asked === 0 ? 0 : done / asked,
    failedShare: asked === 0 ? 0 : failed / asked,
    says:
      progress.questionsRead === null
        ? `${formatCount(done + failed)} of ${formatCounted(asked, "answer")} of experts are over; ${formatCount(decided)} of ${formatCounted(decided + open, "question")} decided.`
        : `Its answers are being read from the disk: figures are of the first ${formatCount(progress.questionsRead)} of ${formatCounted(batch.questions, "question")}.`,
    left:
      state !== "running" || progress.etaSeconds === null
        ? null
        : `some ${formatAge(Math.max(2, progress.etaSeconds))} left${emulated ? " by the cluster's clock" : ""}`,
    figures: [
      { name: "Skipped the aggregator", value: formatCount(skipped), detail: of(skipped) },
      { name: "Aggregated", value: formatCount(aggregated), detail: of(aggregated) },
      { name: "Unanswered", value: formatCount(unanswered), detail: unanswered === 0 ? "" : "nobody gave an answer" },
      { name: "Failed", value: formatCount(failed), detail: failed === 0 ? "" : "calls of experts, after every attempt" },
      { name: "No vote", value: formatCount(progress.noVote), detail: progress.noVote === 0 ? "" : "nothing could be read off them" },
      { name: "Tried again", value: formatCount(progress.retried), detail: progress.retried === 0 ? "" : "after a failure" },
      {
        name: "Cut off",
        value: formatCount(progress.lost),
        detail: progress.lost === 0 ? "" : "under way when the studio ended; made again",
      },
    ],
    accuracy:
      right === null || accuracy === null
        ? null
        : {
            value: formatPercent(right.value),
            detail: `${formatPercentSpan(right)}, of ${formatCounted(accuracy.questions, "question")} with a reference`,
          },
    rows: byWorker(expectedSessions(batch))
      .flat()
      .map((session) => rowOf(session, state)),
    failures: progress.failures.map(({ failure, calls }) => ({ text: failure, calls: formatCount(calls) })),
  };
}

/** What was asked of a batch, in a sentence. */
export function askedText(
  { request, document, questions, createdAt, actor }: Pick<Batch, "request" | "document" | "questions" | "createdAt" | "actor">,
  date: (iso: string) => string,
): string {
  const gpus = request.gpusPerWorker === 1 ? "" : ` of ${request.gpusPerWorker} GPUs`;
  return `${formatCounted(questions, "question")} through ${document.name} on ${formatCounted(request.workers, "worker")}${gpus}; started ${date(createdAt)} by ${actor}.`;
}

const [RUNNING_MS, IDLE_MS] = [1_000, 5_000];

/** How often a batch is looked at: one that is over changes no more, once it is read. `undefined`: it is not known yet. */
export function batchRefreshMs(batch: Pick<Batch, "state" | "progress"> | null | undefined): number | false {
  if (batch == null) return false;
  if (batch.state === "running" || batch.progress.questionsRead !== null) return RUNNING_MS;
  return batch.state === "paused" ? IDLE_MS : false;
}
