import type { WatchedCluster } from "@/server/calibration/liveServingRows";
import { targetEngines } from "@/server/clusters/steps/targetEngines";
import type { Outcome } from "@/server/contracts/studio";
import { isSame } from "@/server/fleet/engineIdentities";
import type { ConnectedCluster } from "@/server/fleet/fleet";
import type { Store } from "@/server/store/store";

/** Finds a watched cluster with its present engines; refused, in a sentence, if there is none. */
export type CalibrationSource = (clusterId: string) => Promise<Outcome<{ readonly cluster: WatchedCluster }>>;

export interface CalibrationSourceParts {
  /** null: nothing is seen of the cluster. */
  readonly clusterOf: (clusterId: string) => Pick<ConnectedCluster, "connector" | "collector" | "series" | "timeScale"> | null;
  readonly store: Pick<Store, "clusters" | "plans" | "identities">;
}

/** Rates and means cover this much time, or this number of scrapes of a Prometheus. */
const LOOK_BACK_MS = 15_000;
const LOOK_BACK_SCRAPES = 4;

/** Finds clusters among those that are connected. */
export function createCalibrationSource({ clusterOf, store }: CalibrationSourceParts): CalibrationSource {
  return async (clusterId) => {
    const [cluster, connected] = [store.clusters.get(clusterId), clusterOf(clusterId)];
    if (cluster === null || connected === null)
      return { ok: false, message: "This cluster is not connected: there is no telemetry of it." };
    const frame = connected.collector()?.frames().at(-1);
    if (frame === undefined) return { ok: false, message: "Nothing was heard of this cluster yet: try again in a few seconds." };
    const seen = await connected.connector.observe();
    if (!seen.ok) return seen;
    const plan = cluster.runningPlanId === null ? null : store.plans.get(cluster.runningPlanId);
    const orders = plan === null ? [] : targetEngines(plan);
    const engines = frame.engines.map(({ id, model, engine }) => {
      const stands = seen.value.engines.find((one) => one.id === id);
      const order = orders.find((one) => one.id === id);
      const identity = store.identities.get(clusterId, id);
      const known = identity !== null && engine !== null && isSame(identity, { model, ...engine }) ? identity : null;
      return {
        id,
        model,
        engine,
        deployed:
          stands === undefined || order === undefined
            ? null
            : { gpu: stands.gpu, tp: stands.tp, pp: stands.pp, precision: order.precision },
        knownSinceMs: known?.sinceMs ?? frame.atMs,
        resetsMs: known?.resetsMs ?? [],
      };
    });
    const { series, connector } = connected;
    const { emulated } = connector;
    const lookBackMs = Math.max(LOOK_BACK_MS, LOOK_BACK_SCRAPES * series.everyMs);
    const { name } = cluster.spec;
    return { ok: true, cluster: { name, emulated, timeScale: connected.timeScale(), lookBackMs, series, engines } };
  };
}
