import { and, desc, eq, max, sql } from "drizzle-orm";
import type { Artefact } from "@/server/contracts/studio";
import type { Database } from "./database";
import { artefacts } from "./schema/predictors";

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

/** Trained predictors: their summaries for lists, and their bytes. */
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
    remove(hash: string): boolean {
      return db.delete(artefacts).where(eq(artefacts.hash, hash)).run().changes > 0;
    },
  };
}
