import { and, desc, eq } from "drizzle-orm";
import type { Proposal } from "@/server/contracts/studio";
import type { Database } from "./database";
import { proposals } from "./schema/proposals";

/** Proposed changes of plan. The content of a proposal never changes, only its outcome. */
export function createProposalRepository(db: Database) {
  return {
    insert(proposal: Proposal): void {
      db.insert(proposals)
        .values({ ...proposal, drifted: [...proposal.drifted], basis: [...proposal.basis] })
        .run();
    },
    get(id: string): Proposal | null {
      return db.select().from(proposals).where(eq(proposals.id, id)).get() ?? null;
    },
    /** Newest first. */
    list(clusterId: string): readonly Proposal[] {
      return db.select().from(proposals).where(eq(proposals.clusterId, clusterId)).orderBy(desc(proposals.createdAt)).all();
    },
    /** The open one; null: none is. */
    open(clusterId: string): Proposal | null {
      return (
        db
          .select()
          .from(proposals)
          .where(and(eq(proposals.clusterId, clusterId), eq(proposals.state, "open")))
          .orderBy(desc(proposals.createdAt))
          .limit(1)
          .get() ?? null
      );
    },
    close(id: string, state: Exclude<Proposal["state"], "open">, closed: NonNullable<Proposal["closed"]>): void {
      db.update(proposals).set({ state, closed }).where(eq(proposals.id, id)).run();
    },
  };
}
