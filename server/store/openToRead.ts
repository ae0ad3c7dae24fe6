import Sqlite from "better-sqlite3";
import { drizzle } from "drizzle-orm/better-sqlite3";
import { createProfileRepository } from "./profileRepository";
import { createPromptRepository } from "./promptRepository";
import { createScrubber } from "./scrubber";
import { createWorkloadRepository } from "./workloadRepository";

/** Read-only access to workloads, profiles and prompts of a store that another thread has open. */
export function openToRead(file: string) {
  const client = new Sqlite(file, { readonly: true });
  const db = drizzle(client, { casing: "snake_case" });
  return {
    workloads: createWorkloadRepository(db),
    profiles: createProfileRepository(db, createScrubber(db)),
    prompts: createPromptRepository(db),
    close: () => client.close(),
  };
}
