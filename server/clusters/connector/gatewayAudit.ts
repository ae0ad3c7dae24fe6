import type { z } from "zod";
import { gatewayStatusSchema } from "@/server/contracts/gateway/gatewayAdmin";
import { type GatewayAuditLine, gatewayAuditPageSchema } from "@/server/contracts/gateway/gatewayControls";
import type { GatewayAuditMark } from "@/server/store/auditRepository";
import type { Store } from "@/server/store/store";
import type { AdminClient } from "./adminClient";
import { gatewaySubject } from "./gatewaySubject";

/** A gateway's lines appear in the studio within about this time. */
const intervalMs = 1_000;

/** Most pages of 1000 lines per round; the rest follows in the next one. */
const mostPages = 20;

/** Lines after which the gateway may follow another plan that was not put into force by an application of the studio. */
const switches: ReadonlySet<GatewayAuditLine["action"]> = new Set(["canary promoted", "rolled back"]);

/** Copies a gateway's audit lines into the studio's audit, also those written while no studio ran: each line once. */
export interface GatewayAudit {
  /** Resolves when every line that the gateway had at the call is copied, or it could not be called. Never rejects. */
  take(): Promise<void>;
  close(): void;
}

export function createGatewayAudit(parts: {
  readonly store: Store;
  readonly clusterId: string;
  readonly gateway: AdminClient;
}): GatewayAudit {
  const { store, clusterId, gateway } = parts;
  const ending = new AbortController();
  const { signal } = ending;

  /** Copies the remaining lines, page by page, each page with its mark in one transaction. */
  async function takeAll(): Promise<void> {
    if (store.clusters.get(clusterId) === null) return;
    const mark = store.audit.taken(clusterId);
    // The last copied line is requested again: if another line has its number, the gateway lost its state and its numbers are meaningless.
    let after = Math.max(0, (mark?.sequence ?? 0) - 1);
    let anew = false;
    for (let page = 0; page < mostPages && !signal.aborted; page += 1) {
      const answer = await readPage(after);
      if (answer === null) return;
      if (mark !== null && !anew && isAnew(answer, mark)) {
        anew = true;
        after = 0;
        continue;
      }
      const fresh = answer.lines.filter((line) => mark === null || (anew ? line.atMs > mark.atMs : line.sequence > mark.sequence));
      if (!(await keep(fresh))) return;
      const last = answer.lines.at(-1);
      if (last === undefined || last.sequence >= answer.latest) return;
      after = last.sequence;
    }
  }

  /** @returns whether they are stored; if the gateway went away meanwhile, they are requested again. */
  async function keep(lines: readonly GatewayAuditLine[]): Promise<boolean> {
    const last = lines.at(-1);
    if (last === undefined) return true;
    const switched = lines.findLast((line) => switches.has(line.action));
    const status = switched === undefined ? null : await gateway("/status", { schema: gatewayStatusSchema, signal });
    if (signal.aborted || status?.ok === false) return false;
    const planId = status?.value.value?.planId ?? null;
    store.atomically(() => {
      const subject = gatewaySubject(store.clusters.get(clusterId)?.spec);
      for (const line of lines) {
        const { by: actor, action, detail, times } = line;
        const about = { subject, objectKind: "gateway", objectId: clusterId, clusterId } as const;
        const outcome = action === "order refused" ? "refused" : "done";
        store.audit.add({ at: timeOf(line), actor, action, detail, outcome, ...(times === undefined ? {} : { times }), ...about });
      }
      store.audit.markTaken(clusterId, last);
      if (switched !== undefined && planId !== null && store.plans.get(planId) !== null) setRunning(planId, timeOf(switched));
    });
    return true;
  }

  async function readPage(after: number) {
    const answer = await gateway(`/audit?after=${after}`, { schema: gatewayAuditPageSchema, signal });
    return answer.ok ? answer.value.value : null;
  }

  function setRunning(planId: string, since: string): void {
    if (store.clusters.get(clusterId)?.runningPlanId !== planId) store.clusters.setRunning(clusterId, { planId, since });
  }

  // Sequential: two runs with the same mark would copy a line twice.
  let last: Promise<void> = Promise.resolve();
  const take = (): Promise<void> => {
    last = last.then(takeAll).catch((error) => {
      if (!signal.aborted) console.error("The gateway's audit could not be taken:", error);
    });
    return last;
  };

  let timer: NodeJS.Timeout | undefined;
  const keepTaking = async (): Promise<void> => {
    await take();
    if (!signal.aborted) timer = setTimeout(keepTaking, intervalMs);
  };
  void keepTaking();

  return {
    take,
    close() {
      ending.abort();
      clearTimeout(timer);
    },
  };
}

const timeOf = ({ atMs }: GatewayAuditLine): string => new Date(atMs).toISOString();

/** Whether the gateway has another line at the mark, or has not reached it. */
const isAnew = ({ lines, latest }: z.infer<typeof gatewayAuditPageSchema>, mark: GatewayAuditMark): boolean =>
  latest < mark.sequence || lines.some((line) => line.sequence === mark.sequence && line.atMs !== mark.atMs);
