import { type Admission, type CallJournal, createCallScheduler, type NextStep, retryMs } from "@/server/calls/callScheduler";
import type { Upstream } from "@/server/calls/upstream";
import type { Prompt } from "@/server/contracts/studio/prompts";
import type { BatchRepository, EarlierTries, StoredBatch, StoredBatchCall } from "@/server/store/batchRepository";
import type { SessionRow } from "@/solver/ensemble/sessions/sessionRow";
import { type Attempt, attemptOf } from "./batchAttempt";
import type { BatchConnector, LoadedEngine } from "./batchConnector";
import type { BatchTally } from "./batchTally";
import type { CallQueue } from "./callQueue";
import { FruitlessTries } from "./fruitlessTries";
import { SessionFlow } from "./sessionFlow";
import type { SessionRecord } from "./sessionRecord";

/** Attempts at loading an engine, and at ending one, and its ends without an answer, before somebody has to look. */
const MOST_TRIES = 3;

/** Where no rest of an engine says when it may be asked, it is looked again and again. */
const REFRESH_MS = 1_000;

/** Whether a batch goes on. */
export interface Hold {
  readonly isHeld: boolean;
  /** Waits while it is held; false: it ends. */
  opened(): Promise<boolean>;
  /** Holds it for a reason that somebody has to see to. */
  pause(reason: string): void;
  /** Holds it for what could not be done, most likely for the disk. */
  failed(error: unknown): void;
  /** After a while, or as soon as it ends. */
  sleep(ms: number): Promise<void>;
}

export interface SessionContext {
  readonly batch: Pick<StoredBatch, "id" | "order">;
  readonly batches: BatchRepository;
  readonly connector: BatchConnector;
  readonly tally: BatchTally;
  /** Calls of its model that were begun and are not over, by position: kept up with here. */
  readonly tries: Map<number, EarlierTries>;
  readonly journal: CallJournal<StoredBatchCall>;
  readonly hold: Hold;
  /** What the model is asked; null: the texts are gone. */
  readonly bodyOf: (position: number) => Prompt["body"] | null;
  readonly readVote: (text: string) => string | null;
  /** A call has come to its end, and that is on disk. @throws what the disk throws: it is to be told again. */
  readonly ended: (row: StoredBatchCall) => void;
  readonly keepRow: (row: SessionRow) => void;
  /** Cuts what is under way. */
  readonly signal: AbortSignal;
}

/** A question with what the model is asked. */
interface Question {
  readonly position: number;
  readonly body: Prompt["body"];
}

/**
 * One session from an empty GPU to an empty GPU: loads the model, asks it all that is left in the queue, ends it. Resolves when that is so, or when the batch
 * ends; a batch that is held waits here. @throws what the disk throws where a session cannot be recorded.
 */
export async function runSession(record: SessionRecord, queue: CallQueue, context: SessionContext): Promise<void> {
  const { batch, batches, connector, tally, tries, journal, hold, signal } = context;
  const { session } = record;
  const { engineId, model, stage } = session;
  const { concurrency, attempts, timeoutSeconds } = batch.order.request;
  const nowMs = () => performance.now();
  const flow = new SessionFlow(concurrency);
  const fruitless = new FruitlessTries(Math.max(MOST_TRIES, attempts));
  /** Of its engine at most; null: it was not seen. */
  let timeScale: number | null = null;
  /** The engine, as it was found last; null: it is gone, or not to be asked. */
  let here: Upstream | null = null;
  /** It is not asked before. */
  let notBeforeMs = 0;
  const scheduler = createCallScheduler<Question, StoredBatchCall>({
    sources: [
      {
        ...{ take, admit },
        putBack: ({ position }, afterMs, alone) => (alone ? queue.setApart(position) : queue.giveBack(position, afterMs)),
        ended({ position }, row) {
          // It alone may fail, and is then done again with the rest.
          context.ended(row);
          tries.delete(position);
          queue.end();
        },
      },
    ],
    ...{ journal, signal, canBegin: () => !hold.isHeld && here !== null, isOver: () => queue.left === 0 },
    events: { ended: () => queue.wake(), failed: hold.failed },
  });

  const stand = (state: Exclude<SessionRecord["state"], "waiting">): void => {
    batches.saveSession(record.stored(batch.id, state, nowMs()));
    record.state = state;
  };

  /** null: it could not be loaded, and the batch is held. */
  async function load(): Promise<LoadedEngine | null> {
    stand("loading");
    for (let failures = 1; !hold.isHeld; failures += 1) {
      const loaded = await connector.load(session, signal);
      if (loaded.ok) {
        const { place, loadSeconds } = loaded.value;
        timeScale = Math.max(timeScale ?? 0, place.timeScale);
        record.loadSeconds ??= loadSeconds;
        return loaded.value;
      }
      if (failures === MOST_TRIES) {
        const why = `${model} could not be loaded as ${engineId} on ${connector.name}: ${loaded.message}`;
        hold.pause(`${why} Resume to try again, or stop the batch.`);
      } else await hold.sleep(retryMs(failures));
    }
    return null;
  }

  /** Asks until nothing is left, the engine is gone, or the batch is held and nothing is under way any more. */
  async function answerAll({ place, loadSeconds }: LoadedEngine): Promise<void> {
    here = place;
    stand("running");
    while (here === place && queue.left > 0) {
      if (hold.isHeld) {
        record.isWhole = false;
        record.rest(nowMs());
        flow.forgive();
        notBeforeMs = 0;
        scheduler.hold();
        if (flow.underWay === 0) break;
      } else {
        record.begin(nowMs(), place.timeScale);
        scheduler.soon();
      }
      await queue.changed();
    }
    scheduler.hold();
    record.rest(nowMs());
    const isGone = here !== place;
    here = null;
    if (!isGone) return;
    // Then it is looked at again, beside what it may still answer; what else it took with it is known by then.
    await hold.sleep(retryMs(Math.max(1, fruitless.timesAt(record.answers))));
    const why = fruitless.end({ answers: record.answers, wasStarted: loadSeconds !== null, underWay: flow.underWay });
    if (why === null || queue.left === 0) return;
    hold.pause(`${model} does not answer as ${engineId} on ${connector.name}: it ${why}. Resume to try again, or stop the batch.`);
  }

  function take(): Question | null {
    const position = flow.hasRoom ? queue.take() : null;
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

  function admit({ position, body }: Question): Admission<StoredBatchCall> {
    const restMs = notBeforeMs - nowMs();
    if (here === null || restMs > 0 || !flow.hasRoom) return { kind: "held", waitMs: restMs > 0 ? restMs : REFRESH_MS };
    const place = here;
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
        ...{ upstream: place, body, stream: false, timeoutSeconds, asked },
        settle(outcome) {
          const attempt = attemptOf(outcome);
          flow.end(position, attempt);
          notBeforeMs = Math.max(notBeforeMs, nowMs() + flow.takeRest());
          // What had begun to be answered stays as asked: when the batch goes on it counts as lost.
          if (attempt.kind === "cut") return { kind: "putBack" };
          if (attempt.kind === "failed" && attempt.isGone) {
            fruitless.gone(attempt.reason ?? attempt.failure);
            if (here === place) here = null;
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
    // Its time is in the session's, and its answer is not.
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
    // Where all that is asked fails, those under way are not lost with it.
    if (!hold.isHeld && (isFinal || failures >= attempts)) return { kind: "end", row: { ...row, state: "failed", failure } };
    tries.set(position, row);
    tally.retry();
    // The question may be what the engine died of: its last attempt is made when nothing else is under way.
    const again = { row: { ...row, state: "waiting", failure }, afterMs: isGone ? 0 : retryMs(failures) } as const;
    return { kind: "again", ...again, alone: isGone && failures >= attempts - 1 };
  }

  async function unload(): Promise<void> {
    stand("unloading");
    for (let failures = 1; await hold.opened(); failures += 1) {
      const ended = await connector.unload(engineId, signal);
      if (ended.ok) return stand("done");
      if (failures % MOST_TRIES === 0)
        hold.pause(`${engineId} on ${connector.name} could not be ended: ${ended.message} End it by hand or resume to try again.`);
      else await hold.sleep(retryMs(failures));
    }
  }

  /**
   * A session that had its engine for itself from the first question to the last tells what such a one costs; any other, and one of the aggregator, how long
   * its load took. Emulated engines whose time runs faster than the wall's tell neither: what the host itself takes would count as often.
   */
  function keepMeasured(): void {
    const { loadSeconds } = record;
    const isSession = stage === "experts" && record.isWhole && record.answers > 0;
    if (timeScale === null || timeScale > 1 || (!isSession && loadSeconds === null)) return;
    const { order } = batch;
    const answered = isSession
      ? { prompts: record.answers, meanOutputTokens: record.outputTokens / record.answers, maxOutputTokens: record.mostOutputTokens }
      : { prompts: 0, meanOutputTokens: 0, maxOutputTokens: 0 };
    context.keepRow({
      ...{ model, gpu: order.gpu, tp: session.placement.gpus.length, ...answered, concurrency },
      ...{ seconds: isSession ? record.seconds(nowMs()) : 0, loadSeconds, origin: order.emulated ? "emulated" : "measured" },
    });
  }

  const wasBegun = record.state !== "waiting";
  try {
    while (await hold.opened()) {
      if (queue.left === 0) {
        if (!wasBegun && record.state === "waiting") return stand("done");
        if (record.state === "running") keepMeasured();
        return await unload();
      }
      const loaded = await load();
      if (loaded !== null) await answerAll(loaded);
    }
  } finally {
    await scheduler.close();
  }
}
