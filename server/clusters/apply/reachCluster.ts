import type { Answer, Connector, Observation } from "../connector/connector";
import { waitUntil } from "../connector/waitUntil";

/** A cluster that was restarted together with the studio comes back within this time. */
const reachLimitMs = 60_000;

/** What is found on a cluster, waiting for one that is just coming up; past the limit what is in the way. Rejects when aborted. */
export async function reachCluster(connector: Connector, signal: AbortSignal): Promise<Answer<Observation>> {
  let found: Answer<Observation> = { ok: false, message: "It has not been looked at yet." };
  const look = async () => {
    found = await connector.observe(signal);
    return found.ok ? { holds: "" } : { waiting: found.message };
  };
  await waitUntil(look, { signal, report: () => undefined, limitMs: reachLimitMs });
  return found;
}
