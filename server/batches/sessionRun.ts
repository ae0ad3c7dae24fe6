import { retryMs } from "@/server/calls/callScheduler";
import type { LoadedEngine } from "./batchConnector";
import type { CallQueue } from "./callQueue";
import { FruitlessTries } from "./fruitlessTries";
import { createSessionCalls } from "./sessionCalls";
import type { SessionContext } from "./sessionContext";
import type { SessionRecord } from "./sessionRecord";

/** Attempts at loading an engine, and at ending one, and its ends without an answer, before a user must check. */
const MOST_TRIES = 3;

/**
 * One session, from an empty GPU to an empty GPU: loads the model, sends it the rest of the queue, ends it. Resolves after that, or when
 * the batch ends; a paused batch waits here.
 * @throws the disk's errors if a session cannot be recorded.
 */
export async function runSession(record: SessionRecord, queue: CallQueue, context: SessionContext): Promise<void> {
  const { batch, batches, connector, hold, signal } = context;
  const { session } = record;
  const { engineId, model, stage } = session;
  const { concurrency, attempts } = batch.order.request;
  const nowMs = () => performance.now();
  const fruitless = new FruitlessTries(Math.max(MOST_TRIES, attempts));
  /** The largest one of its engine; null: it was not observed. */
  let timeScale: number | null = null;
  const calls = createSessionCalls({ record, queue, context, gone: (reason) => fruitless.gone(reason) });

  const stand = (state: Exclude<SessionRecord["state"], "waiting">): void => {
    batches.saveSession(record.stored(batch.id, state, nowMs()));
    record.state = state;
  };

  /** null: it could not be loaded, and the batch is paused. */
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

  /** Sends questions until none is left, the engine is gone, or the batch is paused and no call is in flight. */
  async function answerAll({ place, loadSeconds }: LoadedEngine): Promise<void> {
    calls.begin(place);
    stand("running");
    while (calls.isAsked && queue.left > 0) {
      if (hold.isHeld) {
        record.isWhole = false;
        record.rest(nowMs());
        calls.hold();
        if (calls.underWay === 0) break;
      } else {
        record.begin(nowMs(), place.timeScale);
        calls.soon();
      }
      await queue.changed();
    }
    const isGone = !calls.isAsked;
    calls.end();
    record.rest(nowMs());
    if (!isGone) return;
    // It is then checked again, during the answers that may still arrive; other losses are known by then.
    await hold.sleep(retryMs(Math.max(1, fruitless.timesAt(record.answers))));
    const why = fruitless.end({ answers: record.answers, wasStarted: loadSeconds !== null, underWay: calls.underWay });
    if (why === null || queue.left === 0) return;
    hold.pause(`${model} does not answer as ${engineId} on ${connector.name}: it ${why}. Resume to try again, or stop the batch.`);
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
   * A session that had its engine to itself from the first question to the last shows the cost of such a session; any other, and one of the
   * aggregator, shows only the duration of its load. Emulated engines whose time runs faster than wall time show neither: the host's own
   * time would be multiplied.
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
    await calls.close();
  }
}
