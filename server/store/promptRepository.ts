import { and, asc, count, desc, eq, gte, inArray, isNotNull, lt, lte, not, sql } from "drizzle-orm";
import type { Prompt, PromptSet } from "@/server/contracts/studio";
import type { Database } from "./database";
import { promptSets, prompts } from "./schema/prompts";
import { noteDeleted } from "./scrubber";

/** A sample that is being taken, or was when the studio was killed: it is not listed. */
const FILLING = "$.filling";
const isFilling = sql`json_extract(${promptSets.summary}, ${FILLING}) is not null`;
const isWhole = not(isFilling);

const columns = {
  summary: promptSets.summary,
  // Drizzle writes columns of another table unqualified here, where both tables have them.
  deleted: sql<0 | 1>`not exists (select 1 from prompts where prompts.set_id = prompt_sets.id)`,
};

type Summary = Omit<PromptSet, "deleted">;

const whole = ({ summary, deleted }: { readonly summary: Summary; readonly deleted: 0 | 1 }): PromptSet => ({
  ...summary,
  deleted: deleted === 1,
});

/** Samples of prompts: their summaries for lists, and their texts by position until those are deleted. */
export function createPromptRepository(db: Database) {
  function begin(id: string, createdAt: string): void {
    const summary = sql`json_object('filling', 1)`;
    db.insert(promptSets).values({ id, createdAt, summary }).run();
  }
  function add(setId: string, from: number, texts: readonly Prompt[]): void {
    db.$client.transaction(() => {
      for (const [at, prompt] of texts.entries())
        db.insert(prompts)
          .values({ setId, position: from + at, prompt })
          .run();
    })();
  }
  function finish(set: Summary): void {
    const { createdAt, expiresAt } = set;
    db.update(promptSets).set({ createdAt, expiresAt, summary: set }).where(eq(promptSets.id, set.id)).run();
  }
  function deleteTexts(setId: string): void {
    if (db.delete(prompts).where(eq(prompts.setId, setId)).run().changes > 0) noteDeleted(db);
  }

  return {
    /** A sample is stored in parts, so that nothing waits for all of it: it is begun, added to, and visible once it is finished. */
    begin,
    add,
    finish,
    /** Removes unfinished samples, all of them unless one is named, and returns their number. */
    abandon(setId?: string): number {
      const wanted = setId === undefined ? isFilling : and(eq(promptSets.id, setId), isFilling);
      const begun = db.select({ id: promptSets.id }).from(promptSets).where(wanted).all();
      for (const { id } of begun) {
        deleteTexts(id);
        db.delete(promptSets).where(eq(promptSets.id, id)).run();
      }
      return begun.length;
    },
    /** Stores a small sample at once. */
    insert(set: Summary, texts: readonly Prompt[]): void {
      begin(set.id, set.createdAt);
      add(set.id, 0, texts);
      finish(set);
    },
    /** Newest first. */
    list(): readonly PromptSet[] {
      return db.select(columns).from(promptSets).where(isWhole).orderBy(desc(promptSets.createdAt)).all().map(whole);
    },
    get(id: string): PromptSet | null {
      const row = db
        .select(columns)
        .from(promptSets)
        .where(and(eq(promptSets.id, id), isWhole))
        .get();
      return row === undefined ? null : whole(row);
    },
    /** Prompts whose texts are stored: all of the set, or none. Positions count from 0. */
    count(setId: string): number {
      return db.select({ kept: count() }).from(prompts).where(eq(prompts.setId, setId)).get()?.kept ?? 0;
    },
    /** null: there is none at that position, or the texts are deleted. */
    prompt(setId: string, position: number): Prompt | null {
      const at = and(eq(prompts.setId, setId), eq(prompts.position, position));
      return db.select({ prompt: prompts.prompt }).from(prompts).where(at).get()?.prompt ?? null;
    },
    /** Ids and categories in a range of positions; none if the texts are deleted. */
    names(setId: string, from: number, before: number): readonly (Pick<Prompt, "id" | "category"> & { readonly position: number })[] {
      const { position, prompt } = prompts;
      const field = (path: string) => sql<string>`json_extract(${prompt}, ${path})`;
      return db
        .select({ position, id: field("$.id"), category: field("$.category") })
        .from(prompts)
        .where(and(eq(prompts.setId, setId), gte(position, from), lt(position, before)))
        .orderBy(asc(position))
        .all();
    },
    /** References by position, in a range of positions, of prompts that have one; none if the texts are deleted. */
    references(setId: string, from: number, before: number): ReadonlyMap<number, string> {
      const { position, prompt } = prompts;
      const range = and(eq(prompts.setId, setId), gte(position, from), lt(position, before));
      const rows = db
        .select({ position, reference: sql<string | null>`json_extract(${prompt}, '$.reference')` })
        .from(prompts)
        .where(range)
        .all();
      return new Map(rows.flatMap((row) => (row.reference === null ? [] : [[row.position, row.reference] as const])));
    },
    /** Whole prompts in a range of positions; none if the texts are deleted. */
    some(setId: string, from: number, before: number): readonly { readonly position: number; readonly prompt: Prompt }[] {
      const { position, prompt } = prompts;
      const range = and(eq(prompts.setId, setId), gte(position, from), lt(position, before));
      return db.select({ position, prompt }).from(prompts).where(range).orderBy(asc(position)).all();
    },
    /** Sets whose retention has ended and whose texts are still stored. */
    expired(now: string): readonly PromptSet[] {
      const over = and(isNotNull(promptSets.expiresAt), lte(promptSets.expiresAt, now));
      const sets = db.select(columns).from(promptSets).where(over).all().map(whole);
      return sets.filter(({ deleted }) => !deleted);
    },
    /** Sets with a stored prompt of this owner: of a key at a cluster, or of a user by pseudonym. */
    ownedBy(owner: { readonly clusterId: string; readonly key: string } | { readonly user: string }): readonly PromptSet[] {
      const members = Object.entries(owner).map(([name, value]) => sql`json_extract(${prompts.prompt}, ${`$.owner.${name}`}) = ${value}`);
      const found = db
        .selectDistinct({ id: prompts.setId })
        .from(prompts)
        .where(and(...members));
      const sets = db
        .select(columns)
        .from(promptSets)
        .where(and(isWhole, inArray(promptSets.id, found)));
      return sets.all().map(whole);
    },
    /** The set's summary stays. */
    deleteTexts,
  };
}
