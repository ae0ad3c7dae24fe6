import { type Admission, createCallScheduler, type NextStep, retryMs } from "@/server/calls/callScheduler";
import type { Upstream } from "@/server/calls/upstream";
import type { Prompt } from "@/server/contracts/studio/prompts";
import type { StoredBatchCall } from "@/server/store/batchRepository";
import { type Attempt, attemptOf } from "./batchAttempt";
import type { CallQueue } from "./callQueue";
import type { SessionContext } from "./sessionContext";
import { SessionFlow } from "./sessionFlow";
import type { SessionRecord } from "./sessionRecord";

/** Interval of checks if no pause of an engine says when it may be called. */
const REFRESH_MS = 1_000;

/** A question with the model's request. */
interface Question {
  readonly position: number;
  readonly body: Prompt["body"];
}

export interface SessionCallsParts {
  readonly record: SessionRecord;
  readonly queue: CallQueue;
  readonly context: SessionContext;
  /**
   * Called when the engine of the last call does not answer.
   * @param reason how that was reported, for example "answered 401".
   */
  readonly gone: (reason: string) => void;
}

/** Calls of a session: sends each question of its queue to its engine, and handles the outcome. */
export function createSessionCalls({ record, queue, context, gone }: SessionCallsParts) {
  const { batch, connector, tally, tries, journal, hold, signal } = context;
  const { engineId, model, stage } = record.session;
  const { concurrency, attempts, timeoutSeconds } = batch.order.request;
  const nowMs = () => performance.now();
  const flow = new SessionFlow(concurrency);
  /** The engine at its last observation; null: it is gone, or must not be called. */
  let here: Upstream | null = null;
  /** It is not called earlier. */
  let notBeforeMs = 0;
  let rested: NodeJS.Timeout | undefined;
  const scheduler = createCallScheduler<Question, StoredBatchCall>({
    sources: [
      {
        ...{ take, admit },
        putBack: ({ position }, afterMs, alone) => (alone ? queue.setApart(position) : queue.giveBack(position, afterMs)),
        ended({ position }, row) {
          // Only this step may fail, and is then repeated with the rest.
          context.ended(row);
          tries.delete(position);
          queue.end();
        },
      },
    ],
    ...{ journal, signal, canBegin: () => !hold.isHeld && here !== null, isOver: () => queue.left === 0 },
    events: { ended: () => queue.wake(), failed: hold.failed },
  });

  /** While the engine rests, its questions stay in the queue, where other sessions can take them. */
  function take(): Question | null {
    const position = flow.hasRoom && nowMs() >= notBeforeMs ? queue.take() : null;
    if (position === null) return null;
    let body: Prompt["body"] | null = null;
    try {
      body = context.bodyOf(position);
      if (body === null) hold.pause("Texts that are still needed were deleted: stop this batch.");
    } finally {
      if (body === null) queue.giveBack(position, 0);
    }
    return body && { position, body };
  }

  function rest(restMs: number): void {
    if (restMs <= 0) return;
    notBeforeMs = Math.max(notBeforeMs, nowMs() + restMs);
    clearTimeout(rested);
    rested = setTimeout(() => queue.wake(), notBeforeMs - nowMs());
  }

  function admit({ position, body }: Question): Admission<StoredBatchCall> {
    const restMs = notBeforeMs - nowMs();
    if (here === null || restMs > 0 || !flow.hasRoom) return { kind: "held", waitMs: restMs > 0 ? restMs : REFRESH_MS };
    const upstream = here;
    const earlier = tries.get(position) ?? { position, attempts: 0, lost: 0 };
    const asked: StoredBatchCall = {
      ...{ batchId: batch.id, stage, position, model, state: "asked", at: new Date().toISOString(), engine: engineId },
      ...{ attempts: earlier.attempts + 1, lost: earlier.lost, inputTokens: null, outputTokens: null, seconds: null },
      ...{ failure: null, vote: null, answer: null },
    };
    flow.begin();
    return {
      kind: "attempt",
      attempt: {
        ...{ upstream, body, stream: false, timeoutSeconds, asked },
        settle(outcome) {
          const attempt = attemptOf(outcome);
          flow.end(position, attempt);
          rest(flow.takeRest());
          // What had begun to be answered stays as asked: when the batch goes on it counts as lost.
          if (attempt.kind === "cut") return { kind: "putBack" };
          if (attempt.kind === "failed" && attempt.isGone) {
            gone(attempt.reason ?? attempt.failure);
            if (here === upstream) here = null;
          }
          return stepAfter({ ...asked, at: new Date().toISOString() }, attempt);
        },
        cancel: () => flow.end(position, { kind: "cut" }),
      },
    };
  }

  function stepAfter(row: StoredBatchCall, attempt: Exclude<Attempt, { kind: "cut" }>): NextStep<StoredBatchCall> {
    const { position } = row;
    if (attempt.kind === "answered") {
      const { text, inputTokens, outputTokens, seconds } = attempt;
      record.took(outputTokens);
      return {
        kind: "end",
        row: { ...row, inputTokens, outputTokens, seconds, state: "done", vote: context.readVote(text), answer: text },
      };
    }
    // Its time is part of the session's, but its answer is not.
    record.isWhole = false;
    const failure = attempt.kind === "busy" ? "too busy" : attempt.failure;
    const fault = hold.isHeld ? null : flow.fault(failure, queue.left);
    if (fault !== null) hold.pause(`${model} as ${engineId} on ${connector.name} ${fault}. Resume when it is mended, or stop the batch.`);
    if (attempt.kind === "busy") {
      const unasked = { ...row, attempts: row.attempts - 1 };
      tries.set(position, unasked);
      return { kind: "again", row: { ...unasked, state: "waiting", failure }, afterMs: 0 };
    }
    const { isFinal, isGone } = attempt;
    const failures = row.attempts - row.lost;
    // If all requests fail, those in flight are not lost with it.
    if (!hold.isHeld && (isFinal || failures >= attempts)) return { kind: "end", row: { ...row, state: "failed", failure } };
    tries.set(position, row);
    tally.retry();
    // The question may be what the engine died of: its last attempt is made when no other is in flight.
    const again = { row: { ...row, state: "waiting", failure }, afterMs: isGone ? 0 : retryMs(failures) } as const;
    return { kind: "again", ...again, alone: isGone && failures >= attempts - 1 };
  }

  return {
    /** Whether its engine may be called: it has not gone since `begin`. */
    get isAsked(): boolean {
      return here !== null;
    },
    get underWay(): number {
      return flow.underWay;
    },
    begin(upstream: Upstream): void {
      here = upstream;
    },
    /** Starts the possible calls, in the next turn. */
    soon: scheduler.soon,
    /** The batch is paused: waiting questions are not asked now, and failures are forgotten. */
    hold(): void {
      flow.forgive();
      notBeforeMs = 0;
      clearTimeout(rested);
      scheduler.hold();
    },
    /** Starts no more calls; those in flight continue. */
    end(): void {
      here = null;
      scheduler.hold();
    },
    close(): void {
      clearTimeout(rested);
      scheduler.close();
    },
  };
}
