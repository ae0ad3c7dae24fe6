import { and, desc, eq, sql } from "drizzle-orm";
import type { StoredAnswerLabel } from "@/server/contracts/studio";
import type { Database } from "./database";
import { answerLabels } from "./schema/profiles";

/** Two labels may have the same millisecond. */
const given = sql`rowid`;

/** Manual labels of answers that gateways served. */
export function createAnswerLabelRepository(db: Database) {
  return {
    /** A repeated label replaces the earlier one and keeps its time: a calibration that was fitted to the answer has seen it. */
    save(label: StoredAnswerLabel): void {
      const { quality, actor } = label;
      db.insert(answerLabels)
        .values({ ...label, raw: [...label.raw] })
        .onConflictDoUpdate({
          target: [answerLabels.clusterId, answerLabels.decisionId, answerLabels.model],
          set: { quality, actor },
        })
        .run();
    },
    /** Those of one decision's answers. */
    ofDecision(clusterId: string, decisionId: string): readonly StoredAnswerLabel[] {
      return db
        .select()
        .from(answerLabels)
        .where(and(eq(answerLabels.clusterId, clusterId), eq(answerLabels.decisionId, decisionId)))
        .all();
    },
    /** Those of one model's answers on a cluster, newest first. */
    newest(clusterId: string, model: string, limit: number): readonly StoredAnswerLabel[] {
      return db
        .select()
        .from(answerLabels)
        .where(and(eq(answerLabels.clusterId, clusterId), eq(answerLabels.model, model)))
        .orderBy(desc(answerLabels.at), desc(given))
        .limit(limit)
        .all();
    },
  };
}
