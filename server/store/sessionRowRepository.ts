import { and, count, desc, eq, inArray, lte, sql } from "drizzle-orm";
import type { MeasuredSessions, SessionsOfEngine } from "@/server/contracts/studio/ensembles";
import type { SessionRow } from "@/solver/ensemble/sessions/sessionRow";
import type { Database } from "./database";
import { sessionRows } from "./schema/ensembles";

/** Most rows in all: costs are fitted to some dozens per model. */
const mostRows = 20_000;

/** Rows that are read of one model on one kind of engine, measured ones and emulated ones counted separately. */
const mostRead = 500;

const field = (name: keyof SessionRow) => sql`json_extract(${sessionRows.row}, ${sql.raw(`'$.${name}'`)})`;

/** Measured sessions of experts, to which session costs are fitted. */
export function createSessionRowRepository(db: Database) {
  /** Above twenty thousand rows, emulated ones are deleted first, the oldest of them first, then the oldest of all. */
  function bound(): void {
    const beyond = (db.select({ rows: count() }).from(sessionRows).get()?.rows ?? 0) - mostRows;
    if (beyond <= 0) return;
    const isEmulated = sql`${field("origin")} = 'emulated'`;
    const worst = db.select({ id: sessionRows.id }).from(sessionRows).orderBy(desc(isEmulated), sessionRows.id).limit(beyond);
    db.delete(sessionRows).where(inArray(sessionRows.id, worst)).run();
  }

  return {
    /** If there are twenty thousand, one is deleted for it: the oldest emulated one, or else the oldest. */
    add(row: SessionRow): void {
      db.insert(sessionRows).values({ at: new Date().toISOString(), row }).run();
      bound();
    },
    /** In one statement: otherwise a table of twenty thousand rows would block the studio for a second. */
    addAll(rows: readonly SessionRow[]): void {
      const at = new Date().toISOString();
      db.run(sql`insert into ${sessionRows} ("at", "row") select ${at}, value from json_each(${JSON.stringify(rows)}) order by key`);
      bound();
    },
    /**
     * Sessions of these models on a type of GPU, newest first: for each model and number of GPUs the latest five hundred measured ones, and
     * as many emulated ones.
     */
    list(gpu: string, models: readonly string[]): readonly SessionRow[] {
      const alike = sql`partition by ${field("model")}, ${field("tp")}, ${field("origin")}`;
      const found = db
        .select({
          id: sessionRows.id,
          row: sessionRows.row,
          turn: sql<number>`row_number() over (${alike} order by ${sessionRows.id} desc)`.as("turn"),
        })
        .from(sessionRows)
        .where(and(eq(field("gpu"), gpu), inArray(field("model"), [...models])))
        .as("found");
      return db
        .select({ row: found.row })
        .from(found)
        .where(lte(found.turn, mostRead))
        .orderBy(desc(found.id))
        .all()
        .map(({ row }) => row);
    },
    /** The stored rows of each model on each kind of engine, by model. */
    groups(): readonly MeasuredSessions[] {
      const answered = sql`${field("prompts")} > 0`;
      const ofAnswered = (name: keyof SessionRow) => sql`case when ${answered} then ${field(name)} end`;
      return db
        .select({
          model: sql<string>`${field("model")}`,
          gpu: sql<string>`${field("gpu")}`,
          gpus: sql<number>`${field("tp")}`,
          rows: count(),
          sessions: sql<number>`count(${ofAnswered("prompts")})`,
          emulated: sql<number>`sum(${field("origin")} = 'emulated')`,
          loads: sql<number>`count(${field("loadSeconds")})`,
          fewestPrompts: sql<number | null>`min(${ofAnswered("prompts")})`,
          mostPrompts: sql<number | null>`max(${ofAnswered("prompts")})`,
          meanOutputTokens: sql<number | null>`avg(${ofAnswered("meanOutputTokens")})`,
          maxOutputTokens: sql<number | null>`max(${ofAnswered("maxOutputTokens")})`,
          leastSeconds: sql<number | null>`min(${ofAnswered("seconds")})`,
          mostSeconds: sql<number | null>`max(${ofAnswered("seconds")})`,
          meanLoadSeconds: sql<number | null>`avg(${field("loadSeconds")})`,
          latestAt: sql<string>`max(${sessionRows.at})`,
        })
        .from(sessionRows)
        .groupBy(sql`1`, sql`2`, sql`3`)
        .orderBy(sql`1`, sql`2`, sql`3`)
        .all();
    },
    /**
     * Those of one model on one kind of engine.
     * @returns the number of deleted rows.
     */
    remove({ model, gpu, gpus }: SessionsOfEngine): number {
      const where = and(eq(field("model"), model), eq(field("gpu"), gpu), eq(field("tp"), gpus));
      return Number(db.delete(sessionRows).where(where).run().changes);
    },
  };
}
