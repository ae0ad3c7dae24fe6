import { desc, eq } from "drizzle-orm";
import type { AnswerSampleSummary } from "@/server/contracts/studio/ensembles";
import type { AnswerSample } from "@/solver/ensemble/replay/answerSample";
import { encodeSample } from "./answerSampleCodec";
import type { Database } from "./database";
import { answerSamples } from "./schema/ensembles";

/** Labelled answers on which gates are chosen: the summary for lists, the encoded whole for replay. */
export function createAnswerSampleRepository(db: Database) {
  return {
    insert(summary: AnswerSampleSummary, sample: AnswerSample): void {
      const { id, createdAt } = summary;
      db.insert(answerSamples)
        .values({ id, createdAt, summary, data: encodeSample(sample) })
        .run();
    },
    /** Newest first. */
    list(): readonly AnswerSampleSummary[] {
      return db
        .select({ summary: answerSamples.summary })
        .from(answerSamples)
        .orderBy(desc(answerSamples.createdAt))
        .all()
        .map(({ summary }) => summary);
    },
    /** Encoded, since large ones are decoded in threads; null: it does not exist, or was removed. */
    stored(id: string): { readonly summary: AnswerSampleSummary; readonly data: Uint8Array } | null {
      return db.select().from(answerSamples).where(eq(answerSamples.id, id)).get() ?? null;
    },
    remove(id: string): boolean {
      return db.delete(answerSamples).where(eq(answerSamples.id, id)).run().changes > 0;
    },
  };
}
