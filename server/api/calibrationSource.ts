import { type EmbeddedCluster, embeddedClusterId } from "@/server/clusters/embeddedCluster";
import type { Outcome } from "@/server/contracts/studio";
import type { WatchedCluster } from "@/server/planning/liveServingRows";
import type { SeriesSource } from "@/server/series/seriesSource";
import type { Store } from "@/server/store/store";

/** Finds a cluster that is watched, its engines as they are now; refused, in a sentence, where there is none. */
export type CalibrationSource = (clusterId: string) => Promise<Outcome<{ readonly cluster: WatchedCluster }>>;

export interface CalibrationSourceParts {
  readonly embedded: Pick<EmbeddedCluster, "connector" | "collector" | "timeScale">;
  readonly series: SeriesSource;
  readonly store: Pick<Store, "clusters">;
}

/** Only the embedded cluster is watched. */
export function createCalibrationSource({ embedded, series, store }: CalibrationSourceParts): CalibrationSource {
  return async (clusterId) => {
    const spec = store.clusters.get(clusterId)?.spec;
    if (spec === undefined || clusterId !== embeddedClusterId)
      return { ok: false, message: "This cluster is not connected: there is no telemetry of it." };
    const frame = embedded.collector()?.frames().at(-1);
    if (frame === undefined) return { ok: false, message: "Nothing was heard of this cluster yet: try again in a few seconds." };
    const seen = await embedded.connector.observe();
    if (!seen.ok) return seen;
    const engines = frame.engines.map(({ id, model, engine, events }) => {
      const at = (kind: string): number[] => events.flatMap((event) => (event.kind === kind ? [event.atMs] : []));
      const deployed = seen.value.engines.find((one) => one.id === id);
      return {
        id,
        model,
        engine,
        deployed: deployed === undefined ? null : { gpu: deployed.gpu, tp: deployed.tp, pp: deployed.pp },
        changedMs: at("version-changed").at(-1) ?? null,
        resetsMs: at("counters-reset"),
      };
    });
    const { emulated } = embedded.connector;
    return { ok: true, cluster: { name: spec.name, emulated, timeScale: embedded.timeScale(), series, engines } };
  };
}
