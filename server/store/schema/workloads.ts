import { blob, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { WorkloadLineage, WorkloadSummary } from "@/server/contracts/studio";
import type { WorkflowDocument } from "@/solver/plan/workflowDocument";

export const workloads = sqliteTable("workloads", {
  id: text().primaryKey(),
  createdAt: text().notNull(),
  summary: text({ mode: "json" }).$type<Omit<WorkloadSummary, keyof WorkloadLineage>>().notNull(),
  /** The encoded workload, compressed. */
  data: blob({ mode: "buffer" }).notNull(),
  version: integer().notNull().default(1),
  parentId: text(),
  profileId: text(),
});

/** Workflows that were declared here. A name's newest version is valid; append-only, and `document` is null if it was removed. */
export const declaredWorkflows = sqliteTable(
  "declared_workflows",
  {
    name: text().notNull(),
    version: integer().notNull(),
    createdAt: text().notNull(),
    actor: text().notNull(),
    origin: text({ enum: ["weir", "dspy", "langgraph"] }).notNull(),
    document: text({ mode: "json" }).$type<WorkflowDocument>(),
  },
  (table) => [primaryKey({ columns: [table.name, table.version] })],
);
