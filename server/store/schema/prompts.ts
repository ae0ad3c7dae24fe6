import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { Prompt, PromptSet } from "@/server/contracts/studio";

/** Samples of prompts. Their texts are in `prompts` until they expire or are deleted. */
export const promptSets = sqliteTable("prompt_sets", {
  id: text().primaryKey(),
  createdAt: text().notNull(),
  expiresAt: text(),
  summary: text({ mode: "json" }).$type<Omit<PromptSet, "deleted">>().notNull(),
});

export const prompts = sqliteTable(
  "prompts",
  {
    setId: text()
      .notNull()
      .references(() => promptSets.id),
    position: integer().notNull(),
    prompt: text({ mode: "json" }).$type<Prompt>().notNull(),
  },
  (table) => [primaryKey({ columns: [table.setId, table.position] })],
);
