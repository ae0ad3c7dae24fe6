import { type Found, recorded, tooFew, type WatchedCluster } from "./foundArrivals";

/**
 * When every request came whose record a gateway gave the studio lately: when it was answered less how long it took. Requests that were
 * shed or failed came too.
 */
export function gatewayArrivals(cluster: Pick<WatchedCluster, "collector" | "timeScale">, clusterName: string): Found {
  const timeScale = cluster.timeScale();
  const decisions = cluster.collector()?.decisions(Number.MAX_SAFE_INTEGER) ?? [];
  const atMs = Float64Array.from(
    decisions,
    ({ finishedAtMs, endToEndSeconds }) => finishedAtMs - (1000 * endToEndSeconds) / timeScale,
  ).sort();
  const problem = tooFew(atMs, `in the records of the gateway of ${clusterName}`);
  if (problem !== null) return { ok: false, message: `${problem} Send it traffic, or take other arrivals.` };
  const beginsAtMs = atMs[0] ?? 0;
  const spanMs = (atMs.at(-1) ?? 0) - beginsAtMs;
  const unanswered = decisions.filter(({ status }) => status >= 400).length;
  const origin = [
    `records of the gateway of ${clusterName}: ${decisions.length} requests in ${Math.round(spanMs / 1000)} s`,
    ` until ${new Date(beginsAtMs + spanMs).toISOString().slice(0, 19)}Z, all that are kept`,
    unanswered === 0 ? "" : `, ${unanswered} of them shed or failed`,
    timeScale === 1 ? "" : `; emulated, ${timeScale} seconds in one of the wall`,
  ].join("");
  const arrivalSeconds = atMs.map((at) => ((at - beginsAtMs) / 1000) * timeScale);
  return recorded({ arrivalSeconds, origin }, { beginsAtMs, timeScale, anyDay: false });
}
