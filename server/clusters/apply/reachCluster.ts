import type { Answer, Connector, Observation } from "../connector/connector";
import { waitUntil } from "../connector/waitUntil";

/** A cluster that was restarted together with the studio comes back within this time. */
const reachLimitMs = 60_000;

/** The observation of a cluster, after a wait for one that is starting; past the limit the obstacle. Rejects when aborted. */
export async function reachCluster(connector: Connector, signal: AbortSignal): Promise<Answer<Observation>> {
  let found: Answer<Observation> = { ok: false, message: "It has not been looked at yet." };
  const look = async () => {
    found = await connector.observe(signal);
    return found.ok ? { holds: "" } : { waiting: found.message };
  };
  await waitUntil(look, { signal, report: () => undefined, limitMs: reachLimitMs });
  return found;
}
