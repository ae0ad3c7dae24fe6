import { signatureSchema } from "@/server/contracts/gateway/gatewayControls";
import type { GatewayWorkflows } from "@/server/contracts/gateway/gatewayWorkflows";
import { reasonOf } from "@/server/lib/reasonOf";
import type { MemoryForecast } from "@/solver/policies/core/memoryForecast";
import { type ApiError, sendError, sendJsonText } from "../http/apiError";
import { readDocument } from "../http/readDocument";
import { withReason } from "../lib/auditLog";
import type { AdminOptions, AdminRoutes } from "./adminRoutes";

const signatureBytes = 64 * 1024;

type Beside = Pick<GatewayWorkflows, "used" | "sinceMs"> & { readonly memory: MemoryForecast | null };

/** Admin routes for what was learnt of workflows: read all of it, forget it. */
export function workflowRoutes({ serving, audit, mutex }: AdminOptions): AdminRoutes {
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
      const kept = await mutex.run(async () => {
        const { programs } = serving.workflows.counts;
        const problem = await serving.workflows.forget().then(() => null, onDisk);
        const where = problem === null ? "" : ", but not on disk yet";
        const what = `What ${programs} ${programs === 1 ? "program" : "programs"} taught about workflows is deleted${where}`;
        await audit.note({ by, action: "workflows forgotten", detail: withReason(what, reason) });
        return problem;
      });
      if (kept === null) sendJsonText(response, shown());
      else sendError(response, kept);
    },
  };
}

/** The error if the forgotten data is still on disk and would be back after a restart. */
function onDisk(error: unknown): ApiError {
  const why = reasonOf(error);
  const message = `What was learned is deleted from memory, but its file could not be replaced; the gateway retries every 10 s: ${why}.`;
  return { status: 500, message, type: "server_error", code: "not_kept" };
}
