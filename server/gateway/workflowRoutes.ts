import { signatureSchema } from "@/server/contracts/gatewayControls";
import type { GatewayWorkflows } from "@/server/contracts/gatewayWorkflows";
import type { MemoryForecast } from "@/solver/policies/memoryForecast";
import type { AdminRoutes } from "./adminRoutes";
import { type ApiError, sendError, sendJsonText } from "./apiError";
import type { AuditLog } from "./auditLog";
import { withReason } from "./control";
import { readDocument } from "./readDocument";
import type { Serving } from "./serving";
import type { Turns } from "./turns";

const signatureBytes = 64 * 1024;

interface WorkflowRoutesOptions {
  readonly serving: Serving;
  readonly audit: AuditLog;
  readonly turns: Turns;
}

type Beside = Pick<GatewayWorkflows, "used" | "sinceMs"> & { readonly memory: MemoryForecast | null };

/** What the admin port answers about what was learnt of workflows: all of it, and to forget it. */
export function workflowRoutes({ serving, audit, turns }: WorkflowRoutesOptions): AdminRoutes {
  const shown = (): string => {
    const { workflows, cascade } = serving;
    const beside: Beside = {
      memory: cascade?.driver.memory(performance.now()) ?? null,
      used: cascade?.driver.policy.needs.includes("workflows") === true,
      sinceMs: workflows.sinceMs,
    };
    return `{"learnt":${workflows.viewJson()},${JSON.stringify(beside).slice(1)}`;
  };
  return {
    "GET /workflows": (_, response) => sendJsonText(response, shown()),
    "DELETE /workflows": async (request, response) => {
      const read = await readDocument(request, signatureSchema, signatureBytes);
      if (read === null) return;
      if ("error" in read) return sendError(response, read.error);
      const { by, reason } = read.document;
      const kept = await turns.take(async () => {
        const { programs } = serving.workflows.counts;
        const problem = await serving.workflows.forget().then(() => null, onDisk);
        const where = problem === null ? "" : ", but not on disk yet";
        const what = `What ${programs} ${programs === 1 ? "program" : "programs"} taught of workflows is forgotten${where}`;
        await audit.note({ by, action: "workflows forgotten", detail: withReason(what, reason) });
        return problem;
      });
      if (kept === null) sendJsonText(response, shown());
      else sendError(response, kept);
    },
  };
}

/** The error for what is forgotten and would be back after a restart. */
function onDisk(error: unknown): ApiError {
  const why = error instanceof Error ? error.message : String(error);
  const message = `What was learnt is forgotten, but its file could not be replaced, which is tried again every ten seconds: ${why}.`;
  return { status: 500, message, type: "server_error", code: "not_kept" };
}
