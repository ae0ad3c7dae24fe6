import { and, count, desc, eq, isNotNull, lte, sql } from "drizzle-orm";
import type { Prompt, PromptSet } from "@/server/contracts/studio";
import type { Database } from "./database";
import { promptSets, prompts } from "./schema";

const columns = {
  summary: promptSets.summary,
  // Drizzle writes columns of another table unqualified here, where both tables have them.
  deleted: sql<0 | 1>`not exists (select 1 from prompts where prompts.set_id = prompt_sets.id)`,
};

const whole = ({ summary, deleted }: { readonly summary: Omit<PromptSet, "deleted">; readonly deleted: 0 | 1 }): PromptSet => ({
  ...summary,
  deleted: deleted === 1,
});

/** Samples of prompts: what is told of them for lists, and their texts by position until those are deleted. */
export function createPromptRepository(db: Database) {
  return {
    /** Within a transaction of the caller's, where a sample is not to be kept in part. */
    insert(set: Omit<PromptSet, "deleted">, texts: Iterable<Prompt>): void {
      const { id, createdAt, expiresAt } = set;
      db.insert(promptSets).values({ id, createdAt, expiresAt, summary: set }).run();
      let position = 0;
      for (const prompt of texts) db.insert(prompts).values({ setId: id, position: position++, prompt }).run();
    },
    /** Newest first. */
    list(): readonly PromptSet[] {
      return db.select(columns).from(promptSets).orderBy(desc(promptSets.createdAt)).all().map(whole);
    },
    get(id: string): PromptSet | null {
      const row = db.select(columns).from(promptSets).where(eq(promptSets.id, id)).get();
      return row === undefined ? null : whole(row);
    },
    /** Prompts whose texts are kept: all of the set, or none. Positions count from 0. */
    count(setId: string): number {
      return db.select({ kept: count() }).from(prompts).where(eq(prompts.setId, setId)).get()?.kept ?? 0;
    },
    /** null: there is none at that position, or the texts are gone. */
    prompt(setId: string, position: number): Prompt | null {
      const at = and(eq(prompts.setId, setId), eq(prompts.position, position));
      return db.select({ prompt: prompts.prompt }).from(prompts).where(at).get()?.prompt ?? null;
    },
    /** Sets whose time is over and whose texts are still here. */
    expired(now: string): readonly PromptSet[] {
      const over = and(isNotNull(promptSets.expiresAt), lte(promptSets.expiresAt, now));
      const sets = db.select(columns).from(promptSets).where(over).all().map(whole);
      return sets.filter(({ deleted }) => !deleted);
    },
    /** Deletes the texts; what is told of the set stays. */
    deleteTexts(setId: string): void {
      db.delete(prompts).where(eq(prompts.setId, setId)).run();
    },
  };
}
