import { and, asc, count, desc, eq, ne } from "drizzle-orm";
import type { Database } from "./database";
import { handLabels } from "./schema";

export type HandLabel = typeof handLabels.$inferSelect;
type LabelKey = Pick<HandLabel, "profileId" | "position" | "model" | "otherModel">;

/** What people said of answers. */
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
    /** Given again it replaces what was said. */
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
    remove(key: LabelKey): void {
      db.delete(handLabels).where(one(key)).run();
    },
    /** In the order they were given. */
    list(profileId: string): readonly HandLabel[] {
      return db.select().from(handLabels).where(eq(handLabels.profileId, profileId)).orderBy(asc(handLabels.at)).all();
    },
    /** The latest that a person gave; null: none. */
    last(profileId: string, kind: "one" | "two", actor: string): HandLabel | null {
      return (
        db
          .select()
          .from(handLabels)
          .where(and(ofKind(profileId, kind), eq(handLabels.actor, actor)))
          .orderBy(desc(handLabels.at))
          .limit(1)
          .get() ?? null
      );
    },
    count(profileId: string): number {
      return db.select({ labels: count() }).from(handLabels).where(eq(handLabels.profileId, profileId)).get()?.labels ?? 0;
    },
  };
}
