import { and, asc, desc, eq, getTableColumns, gte, inArray, isNotNull, lt, type SQL, sql, sum } from "drizzle-orm";
import type { ProfileJob } from "@/server/contracts/studio";
import type { Database } from "./database";
import { profileCalls, profileSums, profiles } from "./schema/profiles";
import { prompts } from "./schema/prompts";
import { noteDeleted, type Scrubber } from "./scrubber";

export type StoredProfile = typeof profiles.$inferSelect;
export type StoredCall = typeof profileCalls.$inferSelect;
/** Absent fields are unknown. */
export type NewCall = typeof profileCalls.$inferInsert;

/** Identifies a call of a job. */
export type CallKey = Pick<StoredCall, "position" | "model" | "measureId" | "reading">;

/** The result of one reading of an answer by a measure. */
export type StoredReading = Pick<StoredCall, "position" | "model" | "reading" | "score" | "unscored">;

/** A model's answer without its text. */
export type StoredAnswer = Pick<
  StoredCall,
  "position" | "model" | "at" | "inputTokens" | "outputTokens" | "ttftSeconds" | "seconds" | "engine" | "inFlight" | "cut" | "confidence"
>;

/** Calls that are equal in all counted fields. Readings of a measure besides the first one, or the first two, are calls too. */
export type CallGroup = Pick<StoredCall, "model" | "measureId" | "reading" | "state" | "unscored" | "failure"> &
  Omit<typeof profileSums.$inferSelect, "profileId" | "model" | "measureId" | "reading" | "state" | "unscored" | "failure">;

/** More prompts than a sample has. */
const ALL = Number.MAX_SAFE_INTEGER;

const number = (column: Parameters<typeof sum>[0]) => sql<number>`coalesce(${sum(column)}, 0)`;

const unknown = {
  ...{ lost: 0, inputTokens: null, outputTokens: null, ttftSeconds: null, seconds: null, engine: null, inFlight: null },
  ...{ score: null, unscored: null, failure: null, cut: null, confidence: null, answer: null },
};

/** Requests that were stored before profiles measured gates name none. */
const read = (profile: StoredProfile): StoredProfile => ({
  ...profile,
  request: { ...profile.request, gates: profile.request.gates ?? { confidence: false, samples: null } },
});

/** Names of fields as stored in the database. */
const inSnakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const key = [profileCalls.profileId, profileCalls.position, profileCalls.model, profileCalls.measureId, profileCalls.reading];

/** Profiles, and every call of them. */
export function createProfileRepository(db: Database, scrubber: Scrubber) {
  const callAt = (profileId: string, { position, model, measureId, reading }: CallKey) =>
    and(
      eq(profileCalls.profileId, profileId),
      eq(profileCalls.position, position),
      eq(profileCalls.model, model),
      eq(profileCalls.measureId, measureId),
      eq(profileCalls.reading, reading),
    );
  const fields = Object.keys(getTableColumns(profileCalls));
  /** Prepared once: building it took ten times as long as running it. */
  const saveCall = db
    .insert(profileCalls)
    .values(Object.fromEntries(fields.map((name) => [name, sql.placeholder(name)])) as unknown as StoredCall)
    .onConflictDoUpdate({
      target: key,
      set: Object.fromEntries(fields.map((name) => [name, sql`excluded.${sql.identifier(inSnakeCase(name))}`])),
    })
    .prepare();
  const hasTexts = (profileId: string): boolean =>
    db
      .select({ one: sql`1` })
      .from(profiles)
      .innerJoin(prompts, eq(prompts.setId, profiles.promptSetId))
      .where(eq(profiles.id, profileId))
      .limit(1)
      .get() !== undefined;
  const answersOf = (profileId: string) => and(eq(profileCalls.profileId, profileId), eq(profileCalls.measureId, ""));

  function forget(calls: SQL | undefined): void {
    const { changes } = db
      .update(profileCalls)
      .set({ answer: null })
      .where(and(calls, isNotNull(profileCalls.answer)))
      .run();
    if (changes > 0) noteDeleted(db);
  }

  return {
    insert(profile: typeof profiles.$inferInsert): void {
      db.insert(profiles).values(profile).run();
    },
    setState(id: string, state: ProfileJob["state"], pause: ProfileJob["pause"]): void {
      db.update(profiles).set({ state, pause }).where(eq(profiles.id, id)).run();
    },
    setWithoutLogprobs(id: string, models: readonly string[]): void {
      db.update(profiles).set({ withoutLogprobs: models }).where(eq(profiles.id, id)).run();
    },
    /** Sets the job's spending cap from now on; null: no limit. */
    setCap(id: string, capUsd: number | null): void {
      db.update(profiles)
        .set({ request: sql`json_set(${profiles.request}, '$.capUsd', json(${JSON.stringify(capUsd)}))` })
        .where(eq(profiles.id, id))
        .run();
    },
    get(id: string): StoredProfile | null {
      const profile = db.select().from(profiles).where(eq(profiles.id, id)).get();
      return profile === undefined ? null : read(profile);
    },
    /** Newest first. */
    list(): readonly StoredProfile[] {
      return db.select().from(profiles).orderBy(desc(profiles.createdAt)).all().map(read);
    },
    /** Running and paused ones, for one sample of prompts. */
    openOn(promptSetId: string): readonly StoredProfile[] {
      const isOpen = inArray(profiles.state, ["running", "paused"]);
      return db
        .select()
        .from(profiles)
        .where(and(eq(profiles.promptSetId, promptSetId), isOpen))
        .all()
        .map(read);
    },
    /** Deletes the texts of all answers to a sample's prompts; measurements stay. */
    dropAnswersOf(promptSetId: string): void {
      const ids = db.select({ id: profiles.id }).from(profiles).where(eq(profiles.promptSetId, promptSetId));
      forget(inArray(profileCalls.profileId, ids));
    },
    /** Deletes the texts of a job's answers, and what remains of other deleted texts in the file. */
    dropAnswers(profileId: string): void {
      forget(eq(profileCalls.profileId, profileId));
      scrubber.soon();
    },

    /**
     * Saves the present state of calls, and deletes texts of answers, in one transaction. No answers are stored for prompts that were
     * deleted.
     */
    saveCalls(
      profileId: string,
      calls: readonly NewCall[],
      unneeded: readonly { readonly position: number; readonly model: string }[] = [],
    ): void {
      db.$client.transaction(() => {
        // They may have been deleted while answers to them were in flight.
        const keeps = calls.some(({ answer }) => answer != null) && hasTexts(profileId);
        for (const call of calls) saveCall.run({ ...unknown, ...call, ...(keeps ? {} : { answer: null }) });
        for (const { position, model } of unneeded) {
          forget(callAt(profileId, { position, model, measureId: "", reading: 0 }));
        }
      })();
    },
    call(profileId: string, key: CallKey): StoredCall | null {
      return db.select().from(profileCalls).where(callAt(profileId, key)).get() ?? null;
    },
    /** All calls of the prompts in a range of positions. */
    callsBetween(profileId: string, from: number, before: number): readonly Omit<StoredCall, "answer">[] {
      const within = and(eq(profileCalls.profileId, profileId), gte(profileCalls.position, from), lt(profileCalls.position, before));
      const { answer: _, ...columns } = getTableColumns(profileCalls);
      return db.select(columns).from(profileCalls).where(within).orderBy(asc(profileCalls.position)).all();
    },
    /** All counts of a job, in a few dozen rows. */
    groups(profileId: string): readonly CallGroup[] {
      const sums = db.select().from(profileSums).where(eq(profileSums.profileId, profileId)).all();
      return sums.map(({ profileId: _, unscored, failure, ...rest }) => ({
        ...rest,
        unscored: unscored || null,
        failure: failure || null,
      }));
    },
    /** Given answers, in order of prompts: all, or those in a range of positions. */
    answers(profileId: string, from = 0, before = ALL): readonly StoredAnswer[] {
      const { position, model, at, inputTokens, outputTokens, ttftSeconds, seconds, engine, inFlight, cut, confidence, state } =
        profileCalls;
      return db
        .select({ position, model, at, inputTokens, outputTokens, ttftSeconds, seconds, engine, inFlight, cut, confidence })
        .from(profileCalls)
        .where(and(answersOf(profileId), gte(position, from), lt(position, before), eq(state, "done")))
        .orderBy(asc(position), asc(model))
        .all();
    },
    /** Completed readings of a measure, in order of prompts: all, or those in a range of positions. */
    readings(profileId: string, measureId: string, from = 0, before = ALL): readonly StoredReading[] {
      const { position, model, reading, score, unscored, state } = profileCalls;
      return db
        .select({ position, model, reading, score, unscored })
        .from(profileCalls)
        .where(
          and(
            eq(profileCalls.profileId, profileId),
            gte(position, from),
            lt(position, before),
            eq(profileCalls.measureId, measureId),
            eq(state, "done"),
          ),
        )
        .orderBy(asc(position), asc(model), asc(reading))
        .all();
    },
    /** The cost of a measure's readings so far. */
    measureUsd(profileId: string, measureId: string): number {
      const of = and(eq(profileSums.profileId, profileId), eq(profileSums.measureId, measureId));
      return (
        db
          .select({ usd: number(profileSums.usd) })
          .from(profileSums)
          .where(of)
          .get()?.usd ?? 0
      );
    },
    /** By model, the prompts whose answer's text is stored. */
    keptAnswers(profileId: string): ReadonlyMap<string, ReadonlySet<number>> {
      const { position, model } = profileCalls;
      const rows = db
        .select({ model, positions: sql<string>`json_group_array(${position})` })
        .from(profileCalls)
        .where(and(answersOf(profileId), isNotNull(profileCalls.answer)))
        .groupBy(model)
        .all();
      return new Map(rows.map(({ model, positions }) => [model, new Set(JSON.parse(positions) as number[])]));
    },
    hasAnswers(profileId: string): boolean {
      const kept = and(answersOf(profileId), isNotNull(profileCalls.answer));
      return db.select({ one: sql`1` }).from(profileCalls).where(kept).limit(1).get() !== undefined;
    },
    /** Stored texts of a model's answers in a range of positions, in order of prompts. */
    answerTexts(
      profileId: string,
      of: { readonly model: string; readonly from: number; readonly before: number },
    ): readonly { readonly position: number; readonly answer: string }[] {
      const { position, model, answer, state } = profileCalls;
      return db
        .select({ position, answer: sql<string>`${answer}` })
        .from(profileCalls)
        .where(
          and(
            answersOf(profileId),
            isNotNull(answer),
            gte(position, of.from),
            lt(position, of.before),
            eq(model, of.model),
            eq(state, "done"),
          ),
        )
        .orderBy(asc(position))
        .all();
    },
    /** null: there is none, or it is no longer stored. */
    answer(profileId: string, position: number, model: string): string | null {
      const key = { position, model, measureId: "", reading: 0 };
      return db.select({ answer: profileCalls.answer }).from(profileCalls).where(callAt(profileId, key)).get()?.answer ?? null;
    },
    /** Mean output tokens and engine seconds of a model's answers in all jobs; null if it never answered. */
    seenOf(model: string): { readonly outputTokens: number; readonly seconds: number; readonly answers: number } | null {
      const { measureId, state, failure, calls, outputTokens, withOutput, seconds, timed } = profileSums;
      const row = db
        .select({
          answers: number(calls),
          outputTokens: sql<number | null>`sum(${outputTokens}) * 1.0 / nullif(sum(${withOutput}), 0)`,
          seconds: sql<number | null>`sum(${seconds}) / nullif(sum(${timed}), 0)`,
        })
        .from(profileSums)
        .where(and(eq(profileSums.model, model), eq(measureId, ""), eq(state, "done"), eq(failure, "")))
        .get();
      return row === undefined || row.outputTokens === null || row.seconds === null
        ? null
        : { answers: row.answers, outputTokens: row.outputTokens, seconds: row.seconds };
    },
  };
}
