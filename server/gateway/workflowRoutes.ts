import { signatureSchema } from "@/server/contracts/gatewayControls";
import type { GatewayWorkflows } from "@/server/contracts/gatewayWorkflows";
import type { MemoryForecast } from "@/solver/policies/memoryForecast";
import type { WorkflowsView } from "@/solver/workflow/workflowsView";
import type { AdminRoutes } from "./adminRoutes";
import { sendError, sendJson } from "./apiError";
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

type Shown = Pick<GatewayWorkflows, "used" | "sinceMs"> & { readonly learnt: WorkflowsView; readonly memory: MemoryForecast | null };

/** What the admin port answers about what was learnt of workflows: all of it, and to forget it. */
export function workflowRoutes({ serving, audit, turns }: WorkflowRoutesOptions): AdminRoutes {
  const shown = (): Shown => {
    const { workflows, cascade } = serving;
    return {
      learnt: workflows.view(),
      memory: cascade?.driver.memory(performance.now()) ?? null,
      used: cascade?.driver.policy.needs.includes("workflows") === true,
      sinceMs: workflows.sinceMs,
    };
  };
  return {
    "GET /workflows": (_, response) => sendJson(response, shown()),
    "DELETE /workflows": async (request, response) => {
      const read = await readDocument(request, signatureSchema, signatureBytes);
      if (read === null) return;
      if ("error" in read) return sendError(response, read.error);
      const { by, reason } = read.document;
      await turns.take(async () => {
        const { programs } = serving.workflows.view().counts;
        await serving.workflows.forget();
        const what = `What ${programs} ${programs === 1 ? "program" : "programs"} taught of workflows is forgotten`;
        await audit.note({ by, action: "workflows forgotten", detail: withReason(what, reason) });
      });
      sendJson(response, shown());
    },
  };
}
