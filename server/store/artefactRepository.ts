import { and, desc, eq, max, sql } from "drizzle-orm";
import type { Artefact } from "@/server/contracts/studio";
import type { Database } from "./database";
import type { ConfidenceScores, ScoredModel } from "./documents/confidenceScores";
import { artefacts, confidenceScores } from "./schema/predictors";

const { bytes, ...listed } = {
  hash: artefacts.hash,
  kind: artefacts.kind,
  version: artefacts.version,
  createdAt: artefacts.createdAt,
  actor: artefacts.actor,
  training: artefacts.training,
  heldOut: artefacts.heldOut,
  bytes: artefacts.bytes,
};
const columns = { ...listed, bytes: sql<number>`length(${bytes})` };

/** Trained predictors: their summaries for lists, their bytes, and the confidences of planning prompts. */
export function createArtefactRepository(db: Database) {
  return {
    /** The store counts the version, by kind and workload. */
    insert(artefact: Omit<Artefact, "version" | "bytes">, data: Uint8Array): void {
      const same = and(
        eq(artefacts.kind, artefact.kind),
        eq(sql`json_extract(${artefacts.training}, '$.workloadId')`, artefact.training.workloadId),
      );
      const latest =
        db
          .select({ version: max(artefacts.version) })
          .from(artefacts)
          .where(same)
          .get()?.version ?? 0;
      db.insert(artefacts)
        .values({ ...artefact, version: latest + 1, bytes: Buffer.from(data) })
        .run();
    },
    /** Newest first. */
    list(): readonly Artefact[] {
      return db.select(columns).from(artefacts).orderBy(desc(artefacts.createdAt)).all();
    },
    /** null: it does not exist, or was removed. */
    get(hash: string): { readonly artefact: Artefact; readonly bytes: Uint8Array } | null {
      const row = db.select().from(artefacts).where(eq(artefacts.hash, hash)).get();
      return row === undefined ? null : { artefact: { ...row, bytes: row.bytes.length }, bytes: row.bytes };
    },
    has(hash: string): boolean {
      return db.select({ hash: artefacts.hash }).from(artefacts).where(eq(artefacts.hash, hash)).get() !== undefined;
    },
    /** Replaces those that are kept. Removing the artefact removes them. */
    keepScores(hash: string, { models, scores }: ConfidenceScores): void {
      const kept = { models, scores: Buffer.from(scores.buffer, scores.byteOffset, scores.byteLength) };
      db.insert(confidenceScores)
        .values({ artefactHash: hash, ...kept })
        .onConflictDoUpdate({ target: confidenceScores.artefactHash, set: kept })
        .run();
    },
    /** The artefacts with confidences of planning prompts, newest first. */
    scored(): readonly { readonly hash: string; readonly models: readonly ScoredModel[] }[] {
      return db
        .select({ hash: artefacts.hash, models: confidenceScores.models })
        .from(confidenceScores)
        .innerJoin(artefacts, eq(artefacts.hash, confidenceScores.artefactHash))
        .orderBy(desc(artefacts.createdAt))
        .all();
    },
    /** null: none are kept. */
    scores(hash: string): ConfidenceScores | null {
      const row = db.select().from(confidenceScores).where(eq(confidenceScores.artefactHash, hash)).get();
      if (row === undefined) return null;
      // Copied: a typed array needs an alignment that SQLite's buffers do not have.
      return { models: row.models, scores: new Float32Array(new Uint8Array(row.scores).buffer) };
    },
    remove(hash: string): boolean {
      return db.delete(artefacts).where(eq(artefacts.hash, hash)).run().changes > 0;
    },
  };
}
