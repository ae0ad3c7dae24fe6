import { and, eq, gte, lt, sql } from "drizzle-orm";
import type { Database } from "./database";
import { rollUps } from "./schema/telemetry";

/** The position of a block of roll-ups: sixty steps of one subject from `startMs` on. */
export interface RollUpPlace {
  readonly clusterId: string;
  readonly subject: string;
  readonly stepSeconds: number;
  readonly startMs: number;
}

export interface RollUpRow extends RollUpPlace {
  readonly data: Buffer;
}

/** Telemetry rolled up, in packed blocks. */
export function createRollUpRepository(db: Database) {
  const atPlace = ({ clusterId, subject, stepSeconds, startMs }: RollUpPlace) =>
    and(eq(rollUps.clusterId, clusterId), eq(rollUps.subject, subject), eq(rollUps.stepSeconds, stepSeconds), eq(rollUps.startMs, startMs));
  return {
    /**
     * Writes blocks, replacing those at the same positions, and drops those of a step that began before `keepFromMs`: all of it or nothing.
     */
    write(rows: readonly RollUpRow[], keep: readonly { readonly stepSeconds: number; readonly keepFromMs: number }[]): void {
      const put = db
        .insert(rollUps)
        .values({
          clusterId: sql.placeholder("clusterId"),
          subject: sql.placeholder("subject"),
          stepSeconds: sql.placeholder("stepSeconds"),
          startMs: sql.placeholder("startMs"),
          data: sql.placeholder("data"),
        })
        .onConflictDoUpdate({
          target: [rollUps.clusterId, rollUps.subject, rollUps.stepSeconds, rollUps.startMs],
          set: { data: sql`excluded.data` },
        })
        .prepare();
      db.$client.transaction(() => {
        for (const row of rows) put.run({ ...row });
        for (const { stepSeconds, keepFromMs } of keep) {
          db.delete(rollUps)
            .where(and(eq(rollUps.stepSeconds, stepSeconds), lt(rollUps.startMs, keepFromMs)))
            .run();
        }
      })();
    },
    get(place: RollUpPlace): Buffer | null {
      return db.select({ data: rollUps.data }).from(rollUps).where(atPlace(place)).get()?.data ?? null;
    },
    /** Bytes of the blocks, by step. */
    sizes() {
      const bytes = sql<number>`sum(length(${rollUps.data}))`;
      return db.select({ stepSeconds: rollUps.stepSeconds, bytes }).from(rollUps).groupBy(rollUps.stepSeconds).all();
    },
    /** Subjects of blocks of that step that begin between `fromMs` and before `toMs`. */
    subjects(clusterId: string, stepSeconds: number, { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number }): string[] {
      return db
        .selectDistinct({ subject: rollUps.subject })
        .from(rollUps)
        .where(
          and(
            eq(rollUps.clusterId, clusterId),
            eq(rollUps.stepSeconds, stepSeconds),
            gte(rollUps.startMs, fromMs),
            lt(rollUps.startMs, toMs),
          ),
        )
        .all()
        .map(({ subject }) => subject);
    },
  };
}

export type RollUpRepository = ReturnType<typeof createRollUpRepository>;
