import type { Prompt } from "@/server/contracts/studio/prompts";
import type { Upstream } from "@/server/profiling/upstream";
import type { BatchRepository, EarlierTries, StoredBatch, StoredBatchCall } from "@/server/store/batchRepository";
import type { SessionRow } from "@/solver/ensemble/sessions/sessionRow";
import { type Attempt, askOnce } from "./askOnce";
import type { BatchBook } from "./batchBook";
import type { BatchConnector, LoadedEngine } from "./batchConnector";
import type { BatchTally } from "./batchTally";
import type { CallQueue } from "./callQueue";
import { FruitlessTries } from "./fruitlessTries";
import { SessionFlow } from "./sessionFlow";
import type { SessionRecord } from "./sessionRecord";

/** Attempts at loading an engine, and at ending one, and its ends without an answer, before somebody has to look. */
const MOST_TRIES = 3;

/** Before the next of them, and before a question is asked once more. */
const retryMs = (failures: number): number => Math.min(30_000, 500 * 2 ** (failures - 1));

/** Whether a batch goes on. */
export interface Hold {
  readonly isHeld: boolean;
  /** Waits while it is held; false: it ends. */
  opened(): Promise<boolean>;
  /** Holds it for a reason that somebody has to see to. */
  pause(reason: string): void;
  /** Of what could not be done, most likely for the disk. */
  stumble(error: unknown): void;
  /** After a while, or as soon as it ends. */
  sleep(ms: number): Promise<void>;
}

export interface SessionGround {
  readonly batch: Pick<StoredBatch, "id" | "order">;
  readonly batches: BatchRepository;
  readonly connector: BatchConnector;
  readonly tally: BatchTally;
  /** Calls of its model that were begun and are not over, by position: kept up with here. */
  readonly tries: Map<number, EarlierTries>;
  readonly book: BatchBook;
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

/**
 * One session from an empty GPU to an empty GPU: loads the model, asks it all that is left in the queue, ends it. Resolves when that is so, or when the batch
 * ends; a batch that is held waits here. @throws what the disk throws where a session cannot be put down.
 */
export async function runSession(record: SessionRecord, queue: CallQueue, ground: SessionGround): Promise<void> {
  const { batch, batches, connector, tally, tries, book, hold, signal } = ground;
  const { session } = record;
  const { engineId, model, stage } = session;
  const { concurrency, attempts, timeoutSeconds } = batch.order.request;
  const nowMs = () => performance.now();
  const flow = new SessionFlow(concurrency);
  const underWay = new Set<Promise<void>>();
  const fruitless = new FruitlessTries(Math.max(MOST_TRIES, attempts));
  /** Of its engine at most; null: it was not seen. */
  let timeScale: number | null = null;
  /** The engine, as it was found last; null: it is gone. */
  let here: Upstream | null = null;

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
      const { isHeld } = hold;
      if (isHeld) {
        record.isWhole = false;
        record.rest(nowMs());
        flow.forgive();
        if (flow.underWay === 0) break;
      } else record.begin(nowMs(), place.timeScale);
      const restMs = flow.takeRest();
      const position = isHeld || restMs > 0 || !flow.hasRoom ? null : queue.take();
      if (position !== null) begin(position, place);
      else await (restMs > 0 ? hold.sleep(restMs) : queue.changed());
    }
    record.rest(nowMs());
    if (here === place) return;
    // Then it is looked at again, beside what it may still answer; what else it took with it is known by then.
    await hold.sleep(retryMs(Math.max(1, fruitless.timesAt(record.answers))));
    const why = fruitless.end({ answers: record.answers, wasStarted: loadSeconds !== null, underWay: flow.underWay });
    if (why === null || queue.left === 0) return;
    hold.pause(`${model} does not answer as ${engineId} on ${connector.name}: it ${why}. Resume to try again, or stop the batch.`);
  }

  function begin(position: number, place: Upstream): void {
    flow.begin();
    const asked = ask(position, place).finally(() => {
      underWay.delete(asked);
      queue.wake();
    });
    underWay.add(asked);
  }

  async function ask(position: number, place: Upstream): Promise<void> {
    const earlier = tries.get(position) ?? { position, attempts: 0, lost: 0 };
    const row: StoredBatchCall = {
      ...{ batchId: batch.id, stage, position, model, state: "asked", at: new Date().toISOString(), engine: engineId },
      ...{ attempts: earlier.attempts + 1, lost: earlier.lost, inputTokens: null, outputTokens: null, seconds: null },
      ...{ failure: null, vote: null, answer: null },
    };
    let body: Prompt["body"] | null;
    try {
      body = ground.bodyOf(position);
      if (body !== null) await book.save(row);
    } catch (error) {
      putBack(position);
      return hold.stumble(error);
    }
    if (body === null) {
      putBack(position);
      return hold.pause("Texts that are still needed were deleted: stop this batch.");
    }
    const attempt = await askOnce({ place, body, timeoutSeconds, signal });
    // What had begun to be answered stays as asked: when the batch goes on it counts as lost.
    if (attempt.kind === "cut") return putBack(position);
    flow.end(position, attempt);
    if (attempt.kind === "failed" && attempt.isGone) {
      fruitless.gone(attempt.reason ?? attempt.failure);
      if (here === place) here = null;
    }
    await settle({ ...row, at: new Date().toISOString() }, attempt).catch(hold.stumble);
  }

  function putBack(position: number): void {
    flow.end(position, { kind: "cut" });
    queue.giveBack(position, 0);
  }

  async function settle(row: StoredBatchCall, attempt: Exclude<Attempt, { kind: "cut" }>): Promise<void> {
    const { position } = row;
    if (attempt.kind === "answered") {
      const { text, inputTokens, outputTokens, seconds } = attempt;
      record.took(outputTokens);
      return end({ ...row, inputTokens, outputTokens, seconds, state: "done", vote: ground.readVote(text), answer: text });
    }
    // Its time is in the session's, and its answer is not.
    record.isWhole = false;
    const failure = attempt.kind === "busy" ? "too busy" : attempt.failure;
    const fault = hold.isHeld ? null : flow.fault(failure, queue.left);
    if (fault !== null) hold.pause(`${model} as ${engineId} on ${connector.name} ${fault}. Resume when it is mended, or stop the batch.`);
    if (attempt.kind === "busy") {
      const unasked = { ...row, attempts: row.attempts - 1 };
      tries.set(position, unasked);
      queue.giveBack(position, 0);
      return book.save({ ...unasked, state: "waiting", failure });
    }
    const { isFinal, isGone } = attempt;
    const failures = row.attempts - row.lost;
    // Where all that is asked fails, those under way are not lost with it.
    if (!hold.isHeld && (isFinal || failures >= attempts)) return end({ ...row, state: "failed", failure });
    tries.set(position, row);
    tally.retry();
    // The question may be what the engine died of: its last attempt is made when nothing else is under way.
    if (isGone && failures >= attempts - 1) queue.setApart(position);
    else queue.giveBack(position, isGone ? 0 : retryMs(failures));
    await book.save({ ...row, state: "waiting", failure });
  }

  const end = (row: StoredBatchCall): Promise<void> =>
    book.end(row, () => {
      // It alone may fail, and is then done again with the rest.
      ground.ended(row);
      tries.delete(row.position);
      queue.end();
    });

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
    ground.keepRow({
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
    await Promise.all(underWay);
  }
}
