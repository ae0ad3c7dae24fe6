import { asc, desc, eq } from "drizzle-orm";
import type { KeptProfile } from "@/server/contracts/studio";
import type { Database } from "./database";
import { calibrations, profileUses } from "./schema/predictors";

/** Engine profiles fitted to the operator's own runs, and the profile used for plans. */
export function createCalibrationRepository(db: Database) {
  const { profile, createdAt, actor } = calibrations;
  return {
    insert({ profile, createdAt, actor }: KeptProfile): void {
      db.insert(calibrations).values({ id: profile.id, createdAt, actor, profile }).run();
    },
    /** Oldest first. */
    list(): readonly KeptProfile[] {
      return db.select({ profile, createdAt, actor }).from(calibrations).orderBy(asc(createdAt)).all();
    },
    remove(id: string): void {
      db.delete(calibrations).where(eq(calibrations.id, id)).run();
    },
    use(line: { readonly profileId: string; readonly at: string; readonly actor: string }): void {
      db.insert(profileUses).values(line).run();
    },
    /** The id of the profile chosen last; null if none was. */
    inUse(): string | null {
      return db.select({ id: profileUses.profileId }).from(profileUses).orderBy(desc(profileUses.id)).limit(1).get()?.id ?? null;
    },
  };
}
