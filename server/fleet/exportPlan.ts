import type { Answer } from "@/server/clusters/connector/connector";
import { exportCommandLines, exportManifests } from "@/server/kubernetes/exportPlan";
import { exportProcesses } from "@/server/processes/exportProcesses";
import { exportServeConfig } from "@/server/ray/exportServeConfig";
import type { Plan } from "@/solver/plan/plan";
import { commentLine } from "@/solver/wording/shellText";
import type { ClusterConnection } from "./connection";

export const exportFormats = ["kubernetes", "ray", "commands"] as const;
export type ExportFormat = (typeof exportFormats)[number];

export interface ExportAsked {
  readonly connection: ClusterConnection;
  readonly clusterId: string;
  readonly format: ExportFormat;
}

const kinds: Readonly<Record<ClusterConnection["kind"], string>> = {
  endpoints: "attached endpoints, started outside Weir",
  processes: "processes of a host",
  kubernetes: "Kubernetes",
  ray: "Ray Serve",
};

const needs: Readonly<Record<ExportFormat, string>> = {
  kubernetes: "Kubernetes manifests need a connection of kind kubernetes",
  ray: "A Serve configuration needs a connection of kind ray",
  commands: "Command lines need a connection of kind processes or kubernetes",
};

/**
 * A plan as a file for GitOps or manual use: what applying it would write. A sentence if the connection is of another kind or has too
 * little data.
 */
export function exportPlan(
  plan: Plan,
  { connection, clusterId, format }: ExportAsked,
): Answer<{ readonly name: string; readonly text: string }> {
  const made = textOf(plan, { connection, clusterId, format });
  if (!made.ok) return made;
  const name = `${plan.metadata.name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "")
    .slice(0, 60)}-${plan.id.slice(0, 8)}`;
  return { ok: true, value: { name: `${name}.${format === "commands" ? "sh" : "yaml"}`, text: `${headOf(plan)}${made.value}` } };
}

/** A roll-out never runs engines under the thresholds of another plan; a user of the files must be told about the other half. */
const headOf = ({ metadata, id, policyHash }: Plan): string =>
  [
    commentLine(`Plan ${metadata.name}, ${id}`),
    commentLine(`These are its engines. Its policy ${policyHash} is the gateway's: put both into force together.`),
    "",
  ].join("\n");

function textOf(plan: Plan, { connection, clusterId, format }: ExportAsked): Answer<string> {
  if (format === "kubernetes" && connection.kind === "kubernetes") return exportManifests(plan, connection, clusterId);
  if (format === "ray" && connection.kind === "ray") return exportServeConfig(plan, connection, clusterId);
  if (format === "commands" && connection.kind === "kubernetes") return exportCommandLines(plan, connection);
  if (format === "commands" && connection.kind === "processes") return exportProcesses(plan, connection);
  return { ok: false, message: `${needs[format]}; this one is of ${kinds[connection.kind]}.` };
}
