import { count, desc, eq, sql } from "drizzle-orm";
import { withNewNames } from "@/solver/plan/deprecatedFields";
import type { Plan } from "@/solver/plan/plan";
import { learntOf } from "@/solver/plan/policySchema";
import type { Database } from "./database";
import { plans } from "./schema/plans";
import { users } from "./schema/users";

const workloadId = sql<string>`json_extract(${plans.document}, '$.inputs.workload.id')`;

/** Stored under its own hashes, which `formOfHash` reads. */
const readable = (plan: Plan): Plan => ({ ...plan, policy: withNewNames(plan.policy) });

/** Saved plans, one document per id. A plan's content never changes. */
export function createPlanRepository(db: Database) {
  return {
    /**
     * Saves a plan; one that is already saved stays as it is.
     *
     * @param origin `maker`: id of the person who saves it; the first one stays. Left out: the studio itself. `claimed`: why its figures are
     * only claimed by whoever made it. Left out: this studio computed them, which it then has for a plan that was saved with claimed figures too.
     */
    keep(plan: Plan, { maker = null, claimed = null }: { readonly maker?: string | null; readonly claimed?: string | null } = {}): void {
      const row = { id: plan.id, clusterId: plan.inputs.cluster.id, createdAt: plan.metadata.createdAt, maker, document: plan, claimed };
      const insert = db.insert(plans).values(row);
      if (claimed !== null || plan.rule === undefined) insert.onConflictDoNothing().run();
      else insert.onConflictDoUpdate({ target: plans.id, set: { claimed: null } }).run();
    },
    /** Why a saved plan's figures are only claimed, in a sentence; null: they are this studio's own. */
    claimed(id: string): string | null {
      return db.select({ claimed: plans.claimed }).from(plans).where(eq(plans.id, id)).get()?.claimed ?? null;
    },
    get(id: string): Plan | null {
      const row = db.select({ document: plans.document }).from(plans).where(eq(plans.id, id)).get();
      return row === undefined ? null : readable(row.document);
    },
    /** Id and name of the person who saved a plan first; null: the studio itself, or the plan is not saved. */
    maker(id: string): { readonly id: string; readonly name: string } | null {
      const person = { id: users.id, name: users.name };
      return db.select(person).from(plans).innerJoin(users, eq(users.id, plans.maker)).where(eq(plans.id, id)).get() ?? null;
    },
    /** Newest first, of one cluster or (null) of all. */
    list(clusterId: string | null): readonly Plan[] {
      const rows = db
        .select({ document: plans.document })
        .from(plans)
        .where(clusterId === null ? undefined : eq(plans.clusterId, clusterId))
        .orderBy(desc(plans.createdAt))
        .all();
      return rows.map((row) => readable(row.document));
    },
    /** Those made from a workload, newest first, without reading whole documents. */
    ofWorkload(id: string) {
      const requestsPerSecond = sql<number>`json_extract(${plans.document}, '$.inputs.workload.requestsPerSecond')`;
      const qualityFloor = sql<number | null>`json_extract(${plans.document}, '$.inputs.objective.qualityFloor')`;
      return db
        .select({ id: plans.id, clusterId: plans.clusterId, createdAt: plans.createdAt, requestsPerSecond, qualityFloor })
        .from(plans)
        .where(eq(workloadId, id))
        .orderBy(desc(plans.createdAt))
        .all();
    },
    /** Those whose policies name trained predictors, newest first, without reading whole documents. */
    withPredictors() {
      const policy = sql<string>`json_extract(${plans.document}, '$.policy')`;
      const name = sql<string>`json_extract(${plans.document}, '$.metadata.name')`;
      const named = sql`json_extract(${plans.document}, '$.policy.learnt') is not null or json_extract(${plans.document}, '$.policy.directStart.router.predictor') is not null or json_extract(${plans.document}, '$.policy.kind') = 'just-in-time'`;
      return db
        .select({ id: plans.id, clusterId: plans.clusterId, name, policy })
        .from(plans)
        .where(named)
        .orderBy(desc(plans.createdAt))
        .all()
        .map(({ policy: text, ...row }) => ({ ...row, predictors: learntOf(JSON.parse(text) as Plan["policy"]) }))
        .filter(({ predictors }) => predictors.length > 0);
    },
    /** The number for each workload that has any. */
    countByWorkload() {
      return db.select({ workloadId, plans: count() }).from(plans).groupBy(workloadId).all();
    },
  };
}
