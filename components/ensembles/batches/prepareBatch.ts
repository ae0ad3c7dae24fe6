import type { Tone } from "@/components/ui/Badge";
import { formatAge, formatCount, formatCounted, formatPercent, formatPercentSpan, formatSeconds } from "@/components/ui/format";
import type { ModelIdentity } from "@/components/ui/modelIdentity";
import type { Batch, BatchSummary } from "@/server/contracts/studio";
import { shareOf } from "@/solver/numeric/interval";
import { type GanttPicture, prepareGantt } from "../gantt/prepareGantt";
import { type BatchSession, batchDrawings, byWorker, expectedSessions, lineName, overOf } from "./prepareBatchGantt";

export interface BatchState {
  readonly word: string;
  readonly tone: Tone;
}

/** A batch's state, in a word. One paused by an operator waits; one that paused itself needs attention. */
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

const sessionWords: Readonly<Record<BatchSession["state"], string>> = {
  waiting: "queued",
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
  /** Share of its questions that are finished, 0..1. */
  readonly share: number;
  readonly predicted: string;
  readonly measured: string;
}

export interface BatchPicture {
  /** The prediction above, the actual run below; null: nothing has begun and nothing is predicted. */
  readonly gantt: GanttPicture | null;
  /** Expert answers that are finished, and how many of them failed, 0..1. */
  readonly share: number;
  readonly failedShare: number;
  readonly says: string;
  /** null: it is finished, paused, or the time is unknown. */
  readonly left: string | null;
  readonly figures: readonly { readonly name: string; readonly value: string; readonly detail: string }[];
  readonly accuracy: { readonly name: string; readonly value: string; readonly detail: string } | null;
  readonly rows: readonly SessionRow[];
  readonly failures: readonly { readonly text: string; readonly calls: string }[];
}

const spanText = (load: number | null | undefined, seconds: number | null | undefined): string =>
  load == null && seconds == null ? "–" : `${formatSeconds(load)} + ${formatSeconds(seconds)}`;

/** A session of a finished batch is not running, whatever its last state. */
function wordOf({ state }: BatchSession, batch: Batch["state"]): string {
  if (state === "waiting" && batch === "done") return "not needed";
  if (state === "done" || batch !== "stopped") return sessionWords[state];
  return state === "waiting" ? "not started" : "stopped";
}

function rowOf(session: BatchSession, batch: Batch["state"]): SessionRow {
  const { stage, worker, turn, model, state, prompts, answered, failed, predicted, measured } = session;
  return {
    ...{ key: `${stage} ${worker} ${turn}`, worker: lineName(session), model, state: wordOf(session, batch), share: overOf(session) },
    // The load of the aggregator's engines is unknown before they begin.
    answered:
      prompts === 0 || (stage === "aggregator" && state === "waiting") ? "–" : `${formatCount(answered)} of ${formatCount(prompts)}`,
    failed: formatCount(failed),
    predicted: spanText(predicted?.loadSeconds, predicted?.seconds),
    measured: spanText(measured.loadSeconds, measured.seconds),
  };
}

/** Questions that skip the aggregator are the easy ones: while others are open, a note says that the accuracy does not cover those. */
function accuracyOf({ accuracy, progress }: Batch): BatchPicture["accuracy"] {
  const right = accuracy === null ? null : shareOf(accuracy.right, accuracy.questions);
  if (right === null || accuracy === null) return null;
  const { aggregated, unanswered, toAggregate } = progress.questions;
  const out = toAggregate - aggregated - unanswered;
  const of = `${formatPercentSpan(right)}, of ${formatCounted(accuracy.questions, "question")} with a reference`;
  return {
    name: out === 0 ? "Accuracy" : "Accuracy of those decided",
    value: formatPercent(right.value),
    detail: out === 0 ? of : `${of}, without the ${formatCount(out)} that the aggregator has not decided`,
  };
}

/** Prepares the display of one batch. */
export function prepareBatch(batch: Batch, identities: ReadonlyMap<string, ModelIdentity>): BatchPicture {
  const { progress, state, emulated } = batch;
  const { asked, done, failed } = progress.expertAnswers;
  const { skipped, aggregated, unanswered, open, toAggregate } = progress.questions;
  const decided = skipped + aggregated + unanswered;
  const through = skipped + toAggregate;
  return {
    gantt: prepareGantt(batchDrawings(batch), identities),
    share: asked === 0 ? 0 : done / asked,
    failedShare: asked === 0 ? 0 : failed / asked,
    says:
      progress.questionsRead === null
        ? `${formatCount(done + failed)} of ${formatCounted(asked, "answer")} of experts are finished; ${formatCount(decided)} of ${formatCounted(decided + open, "question")} decided.`
        : `Answers are being read from disk: figures cover the first ${formatCount(progress.questionsRead)} of ${formatCounted(batch.questions, "question")}.`,
    left:
      state !== "running" || progress.etaSeconds === null
        ? null
        : `about ${formatAge(Math.max(2, progress.etaSeconds))} left${emulated ? " by the cluster's clock" : ""}`,
    figures: [
      {
        name: "Skipped the aggregator",
        value: formatCount(skipped),
        detail: through === 0 ? "" : `${formatPercent(skipped / through)} of the ${formatCount(through)} whose experts are done`,
      },
      {
        name: "For the aggregator",
        value: formatCount(toAggregate),
        detail: toAggregate === 0 ? "" : `${formatCount(aggregated + unanswered)} of them decided`,
      },
      { name: "Unanswered", value: formatCount(unanswered), detail: unanswered === 0 ? "" : "no model answered" },
      { name: "Failed", value: formatCount(failed), detail: failed === 0 ? "" : "calls of experts, after every attempt" },
      { name: "No vote", value: formatCount(progress.noVote), detail: progress.noVote === 0 ? "" : "no vote could be read" },
      { name: "Retried", value: formatCount(progress.retried), detail: progress.retried === 0 ? "" : "after a failure" },
      {
        name: "Interrupted",
        value: formatCount(progress.lost),
        detail: progress.lost === 0 ? "" : "in progress when the studio stopped; repeated",
      },
    ],
    accuracy: accuracyOf(batch),
    rows: byWorker(expectedSessions(batch))
      .flat()
      .map((session) => rowOf(session, state)),
    failures: progress.failures.map(({ failure, calls }) => ({ text: failure, calls: formatCount(calls) })),
  };
}

/** A batch's request, in a sentence. */
export function askedText(
  { request, document, questions, createdAt, actor }: Pick<Batch, "request" | "document" | "questions" | "createdAt" | "actor">,
  date: (iso: string) => string,
): string {
  const gpus = request.gpusPerWorker === 1 ? "" : ` of ${request.gpusPerWorker} GPUs`;
  return `${formatCounted(questions, "question")} through ${document.name} on ${formatCounted(request.workers, "worker")}${gpus}; started ${date(createdAt)} by ${actor}.`;
}

const [RUNNING_MS, IDLE_MS] = [1_000, 5_000];

/** Polling interval of a batch: a finished one does not change after it was read. `undefined`: not known yet. */
export function batchRefreshMs(batch: Pick<Batch, "state" | "progress"> | null | undefined): number | false {
  if (batch == null) return false;
  if (batch.state === "running" || batch.progress.questionsRead !== null) return RUNNING_MS;
  return batch.state === "paused" ? IDLE_MS : false;
}
