import { gatewayStatusSchema } from "@/server/contracts/gatewayAdmin";
import { type GatewayAuditLine, gatewayAuditPageSchema } from "@/server/contracts/gatewayControls";
import type { Store } from "@/server/store/store";
import type { AdminClient } from "./adminClient";

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

  /** Where to go on after a page; null when there is no more, or no answer. */
  async function takePage(): Promise<"more" | "done"> {
    if (store.clusters.get(clusterId) === null) return "done";
    const mark = store.audit.taken(clusterId);
    // The last line that is here already comes again: by its time a gateway is told that lost its state and counts anew.
    const answer = await readPage(Math.max(0, (mark?.sequence ?? 0) - 1));
    if (answer === null) return "done";
    const anew = mark !== null && (answer.latest < mark.sequence || answer.lines.some((line) => isOther(line, mark)));
    const page = anew ? await readPage(0) : answer;
    const lines = (page?.lines ?? []).filter((line) => anew || line.sequence > (mark?.sequence ?? 0));
    const last = lines.at(-1);
    if (page === null || last === undefined) return "done";
    const switched = lines.findLast((line) => switches.has(line.action));
    const planId = switched === undefined ? null : await planInForce();
    if (signal.aborted) return "done";
    store.atomically(() => {
      for (const line of lines) {
        const { by: actor, action, detail } = line;
        store.audit.add({ at: timeOf(line), actor, action, subject: "gateway", detail });
      }
      store.audit.markTaken(clusterId, last);
      if (switched !== undefined && planId !== null && store.plans.get(planId) !== null) setRunning(planId, timeOf(switched));
    });
    return last.sequence < page.latest ? "more" : "done";
  }

  async function readPage(after: number) {
    const answer = await gateway(`/audit?after=${after}`, { schema: gatewayAuditPageSchema, signal });
    return answer.ok ? answer.value.value : null;
  }

  async function planInForce(): Promise<string | null> {
    const status = await gateway("/status", { schema: gatewayStatusSchema, signal });
    return (status.ok && status.value.value?.planId) || null;
  }

  function setRunning(planId: string, since: string): void {
    if (store.clusters.get(clusterId)?.runningPlanId !== planId) store.clusters.setRunning(clusterId, { planId, since });
  }

  async function takeAll(): Promise<void> {
    for (let page = 0; page < mostPages && !signal.aborted; page += 1) if ((await takePage()) === "done") return;
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

const isOther = (line: GatewayAuditLine, mark: { readonly sequence: number; readonly atMs: number }): boolean =>
  line.sequence === mark.sequence && line.atMs !== mark.atMs;
