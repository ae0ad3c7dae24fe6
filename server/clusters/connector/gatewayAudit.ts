import type { z } from "zod";
import { gatewayStatusSchema } from "@/server/contracts/gateway/gatewayAdmin";
import { type GatewayAuditLine, gatewayAuditPageSchema } from "@/server/contracts/gateway/gatewayControls";
import type { GatewayAuditMark } from "@/server/store/auditRepository";
import type { Store } from "@/server/store/store";
import type { AdminClient } from "./adminClient";
import { gatewaySubject } from "./gatewaySubject";

/** A gateway's lines show up in the studio within about this. */
const intervalMs = 1_000;

/** Pages of 1000 lines a round; what is left comes with the next one. */
const mostPages = 20;

/** Lines after which the gateway may follow another plan that no application of the studio put into force. */
const switches: ReadonlySet<GatewayAuditLine["action"]> = new Set(["canary promoted", "rolled back"]);

/** Takes what a gateway noted down, also while no studio ran, into the studio's audit: each line once. */
export interface GatewayAudit {
  /** Resolves when every line that the gateway had at the call is taken, or it could not be asked. Never rejects. */
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

  /** Lines not taken yet, page by page, each page with its mark in one transaction. */
  async function takeAll(): Promise<void> {
    if (store.clusters.get(clusterId) === null) return;
    const mark = store.audit.taken(clusterId);
    // The line that was taken last comes again: where another has its number, the gateway lost its state and its numbers tell nothing.
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

  /** @returns whether they are kept; where the gateway went away meanwhile they come again. */
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
        const { by: actor, action, detail } = line;
        store.audit.add({ at: timeOf(line), actor, action, subject, detail });
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

  // One after the other: two that read the same mark would take a line twice.
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

/** Whether the gateway has another line where the mark is, or has not come that far. */
const isAnew = ({ lines, latest }: z.infer<typeof gatewayAuditPageSchema>, mark: GatewayAuditMark): boolean =>
  latest < mark.sequence || lines.some((line) => line.sequence === mark.sequence && line.atMs !== mark.atMs);
