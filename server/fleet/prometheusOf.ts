import { mappingsInForce } from "@/server/engines/mappingsInForce";
import { createPrometheusSource } from "@/server/series/prometheusSource";
import type { SeriesSource } from "@/server/series/seriesSource";
import type { StudioSettings } from "@/server/studioSettings";
import type { ConnectedCluster } from "./fleet";

/** A month of a large cluster takes a Prometheus some seconds. */
const timeoutMs = 20_000;

/** One cluster's series as a Prometheus has them, which may scrape others' targets too. */
export function prometheusOf(
  prometheus: NonNullable<StudioSettings["prometheus"]>,
  cluster: Pick<ConnectedCluster, "engines" | "collector" | "timeScale" | "gatewayAdminUrl">,
): SeriesSource {
  const { own, builtIn } = mappingsInForce();
  return createPrometheusSource({
    ...{ ...prometheus, timeoutMs, mappings: [...own, ...builtIn], timeScale: cluster.timeScale },
    targets() {
      const frame = cluster.collector()?.frames().at(-1);
      const models = frame?.gateway.stages.map(({ model }) => model) ?? [];
      const gpus = frame?.gpus.filter(({ instance }) => instance === null) ?? [];
      return { engines: cluster.engines(), gpus, models, gatewayAdminUrl: cluster.gatewayAdminUrl };
    },
  });
}
