import { and, asc, desc, eq, getTableColumns, gte, inArray, isNotNull, isNull, lt, type SQL, sql } from "drizzle-orm";
import type { BatchState, BatchSummary } from "@/server/contracts/studio/batches";
import type { Database } from "./database";
import { batchCalls, batches, batchSessions } from "./schema/batches";
import { prompts } from "./schema/prompts";
import { noteDeleted, type Scrubber } from "./scrubber";

export type StoredBatch = typeof batches.$inferSelect;
export type StoredBatchCall = typeof batchCalls.$inferSelect;
export type StoredBatchSession = typeof batchSessions.$inferSelect;
export type BatchStage = StoredBatchCall["stage"];

/** An attempt that did not end. */
export type EarlierTries = Pick<StoredBatchCall, "position" | "attempts" | "lost">;

const field = (path: string) => sql<string>`json_extract(${batches.order}, ${path})`;
const inSnakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Batches, every call of them, and their sessions. */
export function createBatchRepository(db: Database, scrubber: Scrubber) {
  const fields = Object.keys(getTableColumns(batchCalls));
  /** Prepared once: building it takes ten times as long as running it. */
  const saveCall = db
    .insert(batchCalls)
    .values(Object.fromEntries(fields.map((name) => [name, sql.placeholder(name)])) as unknown as StoredBatchCall)
    .onConflictDoUpdate({
      target: [batchCalls.batchId, batchCalls.stage, batchCalls.position, batchCalls.model],
      set: Object.fromEntries(fields.map((name) => [name, sql`excluded.${sql.identifier(inSnakeCase(name))}`])),
    })
    .prepare();
  const hasTexts = (batchId: string): boolean =>
    db
      .select({ one: sql`1` })
      .from(batches)
      .innerJoin(prompts, eq(prompts.setId, batches.promptSetId))
      .where(eq(batches.id, batchId))
      .limit(1)
      .get() !== undefined;
  /** Filtered by the end time, which is stored before the orders: the state is stored behind them, and reading it would read megabytes. */
  const openBatches = (also?: SQL) => and(isNull(batches.endedAt), also);
  /** Both stages are named: they precede the position in the key, and without them all of a batch would be read. */
  const within = (batchId: string, from: number, before: number) =>
    and(
      eq(batchCalls.batchId, batchId),
      inArray(batchCalls.stage, ["experts", "aggregator"]),
      gte(batchCalls.position, from),
      lt(batchCalls.position, before),
    );

  function summaries(which?: SQL): readonly BatchSummary[] {
    const { order: _, ...columns } = getTableColumns(batches);
    const told = { name: field("$.request.name"), ensemble: field("$.ensemble.name") };
    const counted = { questions: sql<number>`${field("$.questions")}`, emulated: sql<0 | 1>`${field("$.emulated")}` };
    const rows = db
      .select({ ...columns, ...told, ...counted })
      .from(batches)
      .where(which)
      .orderBy(desc(batches.createdAt))
      .all();
    return rows.map((row) => ({ ...row, emulated: row.emulated === 1 }));
  }

  return {
    insert(batch: StoredBatch): void {
      db.insert(batches).values(batch).run();
    },
    has(id: string): boolean {
      return db.select({ id: batches.id }).from(batches).where(eq(batches.id, id)).get() !== undefined;
    },
    get(id: string): StoredBatch | null {
      return db.select().from(batches).where(eq(batches.id, id)).get() ?? null;
    },
    /** Newest first, without their orders, which may be megabytes. */
    list: (): readonly BatchSummary[] => summaries(),
    /** The summary for lists; null: there is none. */
    summary: (id: string): BatchSummary | null => summaries(eq(batches.id, id))[0] ?? null,
    /** Running and paused ones. */
    open(): readonly StoredBatch[] {
      return db.select().from(batches).where(openBatches()).all();
    },
    /** Names of open ones that use the prompts of a sample. */
    openOn(promptSetId: string): readonly string[] {
      const asking = openBatches(eq(batches.promptSetId, promptSetId));
      return db
        .select({ name: field("$.request.name") })
        .from(batches)
        .where(asking)
        .all()
        .map(({ name }) => name);
    },
    /** Name of an open one on a cluster; null: there is none. */
    runningOn(clusterId: string): string | null {
      const there = openBatches(eq(batches.clusterId, clusterId));
      return (
        db
          .select({ name: field("$.request.name") })
          .from(batches)
          .where(there)
          .get()?.name ?? null
      );
    },
    /** Ids of ended ones on a cluster. */
    overOn(clusterId: string): readonly string[] {
      const there = and(eq(batches.clusterId, clusterId), isNotNull(batches.endedAt));
      return db
        .select({ id: batches.id })
        .from(batches)
        .where(there)
        .all()
        .map(({ id }) => id);
    },
    setState(id: string, state: BatchState, pause: StoredBatch["pause"]): void {
      const endedAt = state === "done" || state === "stopped" ? new Date().toISOString() : null;
      db.update(batches).set({ state, pause, endedAt }).where(eq(batches.id, id)).run();
    },
    /** Deletes it with all its answers. */
    remove(id: string): void {
      db.$client.transaction(() => {
        db.delete(batchSessions).where(eq(batchSessions.batchId, id)).run();
        if (db.delete(batchCalls).where(eq(batchCalls.batchId, id)).run().changes > 0) noteDeleted(db);
        db.delete(batches).where(eq(batches.id, id)).run();
      })();
      scrubber.soon();
    },
    /** Deletes the texts of all answers to a sample's prompts; votes and figures stay. */
    dropAnswersOf(promptSetId: string): void {
      const ids = db.select({ id: batches.id }).from(batches).where(eq(batches.promptSetId, promptSetId));
      const { changes } = db
        .update(batchCalls)
        .set({ answer: null })
        .where(and(inArray(batchCalls.batchId, ids), isNotNull(batchCalls.answer)))
        .run();
      if (changes > 0) noteDeleted(db);
    },

    /** Saves the present state of calls of a batch, in one transaction. No answers are stored for prompts that were deleted. */
    saveCalls(batchId: string, calls: readonly StoredBatchCall[]): void {
      db.$client.transaction(() => {
        // They may have been deleted while answers to them were in flight.
        const keeps = calls.some(({ answer }) => answer !== null) && hasTexts(batchId);
        for (const call of calls) saveCall.run(keeps ? call : { ...call, answer: null });
      })();
    },
    /** Marks calls that were in flight when a studio was killed, in a range of positions, as to be repeated, and counts them as lost. */
    loseAsked(batchId: string, from: number, before: number): void {
      db.update(batchCalls)
        .set({ state: "waiting", lost: sql`${batchCalls.lost} + 1` })
        .where(and(within(batchId, from, before), eq(batchCalls.state, "asked")))
        .run();
    },
    /** Calls in a range of positions, in order of prompts, without texts. */
    callsBetween(batchId: string, from: number, before: number): readonly Omit<StoredBatchCall, "answer">[] {
      const { answer: _, ...columns } = getTableColumns(batchCalls);
      return db
        .select(columns)
        .from(batchCalls)
        .where(within(batchId, from, before))
        .orderBy(asc(batchCalls.position))
        .all();
    },
    /** Ended ones, with texts. */
    answersBetween(batchId: string, from: number, before: number): readonly StoredBatchCall[] {
      return db
        .select()
        .from(batchCalls)
        .where(and(within(batchId, from, before), inArray(batchCalls.state, ["done", "failed"])))
        .orderBy(asc(batchCalls.position))
        .all();
    },

    saveSession(session: StoredBatchSession): void {
      const { batchId, stage, worker, turn } = batchSessions;
      const { state, loadSeconds, seconds } = session;
      db.insert(batchSessions)
        .values(session)
        .onConflictDoUpdate({ target: [batchId, stage, worker, turn], set: { state, loadSeconds, seconds } })
        .run();
    },
    sessions(batchId: string): readonly StoredBatchSession[] {
      return db.select().from(batchSessions).where(eq(batchSessions.batchId, batchId)).all();
    },
  };
}

export type BatchRepository = ReturnType<typeof createBatchRepository>;
