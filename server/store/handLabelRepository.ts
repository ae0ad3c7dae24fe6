import { and, asc, count, desc, eq, inArray, isNotNull, ne, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import type { Database } from "./database";
import { handLabels, profileCalls } from "./schema/profiles";

export type HandLabel = typeof handLabels.$inferSelect;
type LabelKey = Pick<HandLabel, "profileId" | "position" | "model" | "otherModel">;

/** A measure's score of an answer. */
export type PromptReading = Pick<typeof profileCalls.$inferSelect, "position" | "model" | "reading" | "score">;

/** The scores that a measure gave answers of two models to the same prompts; means of 0..100, `both` of their product. */
export interface ScoredTogether {
  readonly prompts: number;
  readonly smaller: number;
  readonly larger: number;
  readonly both: number;
}

export interface TwoModels {
  readonly measureId: string;
  readonly smaller: string;
  readonly larger: string;
}

/** Two labels may have the same millisecond. */
const given = sql`rowid`;

/** Manual labels of answers, with the scores of measures. */
export function createHandLabelRepository(db: Database) {
  const one = ({ profileId, position, model, otherModel }: LabelKey) =>
    and(
      eq(handLabels.profileId, profileId),
      eq(handLabels.position, position),
      eq(handLabels.model, model),
      eq(handLabels.otherModel, otherModel),
    );
  const ofKind = (profileId: string, kind: "one" | "two") =>
    and(eq(handLabels.profileId, profileId), kind === "one" ? eq(handLabels.otherModel, "") : ne(handLabels.otherModel, ""));

  return {
    /** A repeated label replaces the earlier one. */
    save(label: HandLabel): void {
      const { quality, actor, at } = label;
      db.insert(handLabels)
        .values(label)
        .onConflictDoUpdate({
          target: [handLabels.profileId, handLabels.position, handLabels.model, handLabels.otherModel],
          set: { quality, actor, at },
        })
        .run();
    },
    /** null: it has no label. */
    get(key: LabelKey): HandLabel | null {
      return db.select().from(handLabels).where(one(key)).get() ?? null;
    },
    remove(key: LabelKey): void {
      db.delete(handLabels).where(one(key)).run();
    },
    /** In the order they were given. */
    list(profileId: string): readonly HandLabel[] {
      return db.select().from(handLabels).where(eq(handLabels.profileId, profileId)).orderBy(asc(handLabels.at), asc(given)).all();
    },
    /** A person's latest label; null: none. */
    last(profileId: string, kind: "one" | "two", actor: string): HandLabel | null {
      return (
        db
          .select()
          .from(handLabels)
          .where(and(ofKind(profileId, kind), eq(handLabels.actor, actor)))
          .orderBy(desc(handLabels.at), desc(given))
          .limit(1)
          .get() ?? null
      );
    },
    /** A measure's scores of answers to some prompts. */
    readings(profileId: string, measureId: string, positions: readonly number[]): readonly PromptReading[] {
      const { position, model, reading, score } = profileCalls;
      return db
        .select({ position, model, reading, score })
        .from(profileCalls)
        .where(
          and(
            eq(profileCalls.profileId, profileId),
            inArray(position, [...positions]),
            eq(profileCalls.measureId, measureId),
            eq(profileCalls.state, "done"),
          ),
        )
        .all();
    },
    /** First readings of a measure, for those of some prompts for which both models have one. */
    scoredTogether(profileId: string, positions: readonly number[], asked: TwoModels): ScoredTogether {
      const { measureId, smaller, larger } = asked;
      const other = alias(profileCalls, "other");
      const same = and(
        eq(other.profileId, profileCalls.profileId),
        eq(other.position, profileCalls.position),
        eq(other.model, larger),
        eq(other.measureId, profileCalls.measureId),
        eq(other.reading, profileCalls.reading),
        isNotNull(other.score),
      );
      const mean = (value: ReturnType<typeof sql>) => sql<number>`coalesce(avg(${value}), 0)`;
      const row = db
        .select({
          prompts: count(),
          smaller: mean(sql`${profileCalls.score}`),
          larger: mean(sql`${other.score}`),
          both: mean(sql`${profileCalls.score} * ${other.score}`),
        })
        .from(profileCalls)
        .innerJoin(other, same)
        .where(
          and(
            eq(profileCalls.profileId, profileId),
            inArray(profileCalls.position, [...positions]),
            eq(profileCalls.measureId, measureId),
            eq(profileCalls.model, smaller),
            eq(profileCalls.reading, 0),
            isNotNull(profileCalls.score),
          ),
        )
        .get();
      return row ?? { prompts: 0, smaller: 0, larger: 0, both: 0 };
    },
  };
}
