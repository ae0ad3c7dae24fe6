import { setTimeout as sleep } from "node:timers/promises";
import { createCallJournal } from "@/server/calls/callScheduler";
import type { BatchState } from "@/server/contracts/studio/batches";
import type { Prompt } from "@/server/contracts/studio/prompts";
import { createJobState, withStatus } from "@/server/lib/jobState";
import { Notifier } from "@/server/lib/notifier";
import type { StoredBatch, StoredBatchCall } from "@/server/store/batchRepository";
import type { Store } from "@/server/store/store";
import { aggregatorMessages } from "@/solver/ensemble/gate/aggregatorPrompt";
import { voteReader } from "@/solver/ensemble/gate/voteReader";
import { boundedBody } from "./batchAttempt";
import { type BatchConnectorParts, createBatchConnector } from "./batchConnector";
import { BatchProgress, type ProgressParts } from "./batchProgress";
import type { ShapedSession } from "./batchShape";
import { CallQueue } from "./callQueue";
import { emulatedWorkload } from "./emulatedWorkload";
import type { Hold, SessionContext } from "./sessionContext";
import type { SessionRecord } from "./sessionRecord";
import { runSession } from "./sessionRun";

/** Interval at which the durations of running sessions are recorded. */
const KEEP_MS = 2_000;

export interface BatchRunParts extends Omit<BatchConnectorParts, "batch">, ProgressParts {
  readonly store: Store;
}

type Pause = NonNullable<StoredBatch["pause"]>;

/** A batch that has not ended. */
export interface BatchRun {
  /** The batch at its resume. */
  readonly batch: StoredBatch;
  readonly state: BatchState;
  readonly pausedFor: Pause | null;
  /** It has ended, and that is on disk. */
  readonly isOver: boolean;
  readonly standing: BatchProgress;
  /** Starts no more calls; those in flight end, and engines stay loaded. */
  pause(kind: Pause["kind"], reason: string): void;
  resume(): void;
  /** Ends it permanently: aborts calls in flight and ends its engines. Resolves when they are gone, or with the reason why not. */
  stop(): Promise<string | null>;
  /** Aborts calls in flight; engines continue to run, and the batch continues at the next start. */
  close(): Promise<void>;
}

/**
 * Resumes a batch at its present state: each worker goes through its sessions in turn, and the questions that the gate leaves undecided go
 * to the aggregator when all sessions have ended. Each call is recorded before it is made and when it has ended, so that nothing is
 * repeated except the calls that were in flight when a studio was killed.
 */
export function resumeBatch(batch: StoredBatch, parts: BatchRunParts): BatchRun {
  const { store } = parts;
  const { id, order, promptSetId } = batch;
  const { ensemble, request } = order;
  const standing = new BatchProgress(batch, parts);
  const { shape, records, tally, questions } = standing;
  const connector = createBatchConnector({ ...parts, batch });
  const journal = createCallJournal<StoredBatchCall>((rows) => store.batches.saveCalls(id, rows));
  const workers = shape.workers.map((_, worker) =>
    records.filter(({ session }) => session.stage === "experts" && session.worker === worker),
  );
  const aggregators = records.filter(({ session }) => session.stage === "aggregator");
  const changes = new Notifier();
  const queues = new Set<CallQueue>([questions.undecided]);
  const state = createJobState<Pause["kind"]>({
    ...{ state: batch.state, pause: batch.pause, noun: "batch", subject: request.name, audit: store.audit },
    write: (to, pause) => store.batches.setState(id, to, pause),
    paused: wake,
  });
  const { signal, pause, failed } = state;

  function wake(): void {
    changes.notify();
    for (const queue of queues) queue.wake();
  }

  const hold: Hold = {
    get isHeld() {
      return !state.canBegin();
    },
    async opened() {
      while (state.status.state !== "running" && !signal.aborted) await changes.notified();
      return !signal.aborted;
    },
    pause: (reason) => pause("problem", reason),
    failed,
    sleep: (ms) => sleep(ms, undefined, { signal }).catch(() => undefined),
  };

  function bodyFor(stage: StoredBatchCall["stage"], position: number): Prompt["body"] | null {
    const prompt = store.prompts.prompt(promptSetId, position);
    if (prompt === null) return null;
    if (stage === "experts") return boundedBody(prompt.body, ensemble.maxTokens);
    const given = store.batches.answersBetween(id, position, position + 1);
    const answers = ensemble.experts.flatMap((model) => {
      const text = given.find((call) => call.stage === "experts" && call.model === model)?.answer ?? null;
      return text === null ? [] : [{ text }];
    });
    const messages = aggregatorMessages(prompt.body.messages, answers, ensemble.aggregator.instruction);
    return boundedBody({ ...prompt.body, messages }, ensemble.aggregator.maxTokens);
  }

  const contextOf = (session: ShapedSession): SessionContext => ({
    ...{ batch, batches: store.batches, connector, tally, tries: standing.triesOf(session), journal, hold, signal },
    bodyOf: (position) => bodyFor(session.stage, position),
    readVote: voteReader(ensemble.extraction),
    ended(row) {
      questions.end(row);
      tally.end(row);
    },
    keepRow: (row) => store.sessionRows.add(row),
  });

  const queueOf = ({ model, positions }: ShapedSession): CallQueue =>
    positions === null ? questions.undecided : new CallQueue(positions.filter((position) => !questions.isAnswered(position, model)));

  /** Nothing is begun before all is read, so that no call ends while others are not counted yet. A paused batch is read too. */
  async function read(): Promise<void> {
    while (standing.questionsRead !== null && !signal.aborted) {
      try {
        await standing.read(signal);
      } catch (error) {
        failed(error);
        await hold.opened();
      }
    }
  }

  /** Retries until it succeeds, or the batch ends: a failed write pauses the batch. */
  async function persist(work: () => Promise<void>): Promise<void> {
    while (await hold.opened()) {
      try {
        return await work();
      } catch (error) {
        failed(error);
      }
    }
  }

  const through = (record: SessionRecord): Promise<void> =>
    persist(async () => {
      if (record.state === "done") return;
      const queue = queueOf(record.session);
      queues.add(queue);
      await runSession(record, queue, contextOf(record.session));
      if (queue !== questions.undecided) queues.delete(queue);
    });

  async function prepare(): Promise<void> {
    const needed = new Set(workers.flatMap((own) => own.find((record) => record.state !== "done")?.session.engineId ?? []));
    for (const { session } of needed.size === 0 ? aggregators : []) needed.add(session.engineId);
    while (await hold.opened()) {
      const swept = await connector.sweep((engineId) => needed.has(engineId), signal);
      const given = swept.ok
        ? await connector.giveOutcomes(() => emulatedWorkload(store, [...ensemble.experts, ensemble.aggregator.model]), signal)
        : swept;
      if (given.ok) return;
      pause("problem", `${given.message} Resume to try again, or stop the batch.`);
    }
  }

  async function run(): Promise<void> {
    await read();
    await persist(prepare);
    await Promise.all(
      workers.map(async (own) => {
        for (const record of own) if (await hold.opened()) await through(record);
      }),
    );
    if (!(await hold.opened())) return;
    // Engines beyond the number of questions would be loaded in vain; those that a killed studio had loaded must be ended.
    const { left } = questions.undecided;
    await Promise.all(aggregators.filter((record, at) => at < left || record.state !== "waiting").map(through));
    if (!(await hold.opened())) return;
    const { skipped, aggregated, unanswered } = questions.counts;
    state.done(`${skipped} questions skipped the aggregator, ${aggregated} were aggregated, ${unanswered} have no answer`);
  }

  const keeper = setInterval(() => {
    if (hold.isHeld) return;
    try {
      for (const record of records)
        if (record.state === "running") store.batches.saveSession(record.stored(id, "running", performance.now()));
    } catch (error) {
      failed(error);
    }
  }, KEEP_MS);
  const running = run().finally(() => clearInterval(keeper));

  async function end(): Promise<void> {
    state.abort();
    clearInterval(keeper);
    for (const queue of queues) queue.close();
    wake();
    await running;
    // If the disk is still full, they count as lost.
    await journal.writeLeft().catch(() => undefined);
  }

  const members = {
    ...{ batch, standing, pause },
    resume() {
      state.resume();
      journal.writeLeft().catch(failed).finally(wake);
    },
    async stop() {
      await end();
      state.stop();
      const swept = await connector.sweep(() => false, new AbortController().signal);
      return swept.ok ? null : swept.message;
    },
    async close() {
      await end();
      state.close();
    },
  };
  return withStatus(members, state.status);
}
