import type { Answer } from "@/server/clusters/connector/connector";
import type { HostObservation } from "@/server/clusters/connector/engineHost";
import { verifyEngine } from "@/server/clusters/connector/verifyEngine";
import { waitUntil } from "@/server/clusters/connector/waitUntil";
import type { ProcessHost } from "../processHost";
import { processTable } from "../processIdentity";
import { unwatched } from "./testEngines";

export async function observed(host: ProcessHost): Promise<HostObservation> {
  const found = await host.observe({});
  if (!found.ok) throw new Error(found.message);
  return found.value;
}

/** The reported reason why an engine is gone; null for one that is not. */
export async function whyGone(host: ProcessHost, id: string): Promise<string | null> {
  const look = await host.why(id, {});
  return look !== null && "failed" in look ? look.failed : null;
}

/** Waits like a connector's step until an engine serves its model. */
export const verified = (host: ProcessHost, { id, model }: { readonly id: string; readonly model: string }, limitMs = 10_000) =>
  waitUntil(
    async () => {
      const why = await whyGone(host, id);
      const engine = (await observed(host)).engines.find((one) => one.id === id);
      if (why !== null || engine === undefined) return { failed: why ?? "never started" };
      return verifyEngine(engine, model, new AbortController().signal);
    },
    { ...unwatched(), limitMs, everyMs: 50 },
  );

/** The error; empty if there is none. */
export const messageOf = (answer: Answer<unknown>): string => (answer.ok ? "" : answer.message);

export const runs = (pid: number): boolean => processTable.startOf(pid) !== null;
