import type { Decision } from "@/server/contracts/gatewayAdmin";
import type { ClusterSummary } from "@/server/contracts/studio";
import type { Store } from "@/server/store/store";
import { type Collector, createCollector } from "@/server/telemetry/collector";
import type { Target } from "@/server/telemetry/engineTarget";
import type { ScrapeFacts } from "@/server/telemetry/studioMetrics";
import { type CardCatalogue, cardOf } from "@/solver/hardware/catalogue";
import type { ClusterSpec } from "@/solver/plan/plan";
import type { Answer, Connector, Observation } from "./connector";

export const embeddedClusterId = "embedded";

/** A roll-out is followed within a second. */
const watchIntervalMs = 1_000;

export interface EmbeddedClusterParts {
  readonly store: Store;
  readonly connector: Connector;
  readonly gatewayAdminUrl: string;
  readonly adminToken: string;
  /** GPU cards, for the price of the hardware. */
  readonly gpuCards: () => CardCatalogue["gpus"];
  /** Quality label of an answer, where it is known. */
  readonly labelOf: (decision: Decision) => number | null;
  readonly scrapeIntervalMs: number;
  /** Told of every scrape. */
  readonly onScrape: (facts: ScrapeFacts) => void;
  /** What a newcomer should plan with here. */
  readonly suggested: ClusterSummary["suggested"];
}

export interface EmbeddedCluster {
  readonly connector: Connector;
  health(): ClusterSummary["health"];
  /** Engine seconds in a wall second; 1 until the cluster was seen. */
  timeScale(): number;
  /** Whether its engines deviate from the planner's model; true until the cluster was seen. */
  deviates(): boolean;
  panic(): ClusterSummary["panic"];
  /** Its engines as last seen. */
  engines(): readonly Target[];
  /** null until the cluster was seen for the first time. */
  collector(): Collector | null;
  close(): void;
}

/** The cluster that runs beside the studio: watched once a second, put down in the store when first seen. */
export function createEmbeddedCluster(parts: EmbeddedClusterParts): EmbeddedCluster {
  const { store, connector, gatewayAdminUrl, adminToken, labelOf, scrapeIntervalMs: intervalMs, onScrape } = parts;
  let latest: Answer<Observation> = { ok: false, message: "It has not been looked at yet." };
  let seen: Observation | null = null;
  let collector: Collector | null = null;
  let closed = false;

  const targets = () =>
    (seen?.engines ?? []).map(({ id, model, url, placements }) => ({
      id,
      model,
      url,
      gpus: placements.flatMap(({ node, gpus }) => gpus.map((index) => ({ node, index }))),
    }));

  async function look(): Promise<void> {
    const answer = await connector.observe();
    if (closed) return;
    latest = answer;
    if (!answer.ok) return;
    if (seen === null) putDown(parts, answer.value);
    seen = answer.value;
    const { timeScale, dcgmUrl } = seen;
    const target = { targets, dcgmUrl, gatewayAdminUrl, adminToken };
    collector ??= createCollector({ clusterId: embeddedClusterId, ...target, timeScale, intervalMs, labelOf, onScrape });
  }

  let timer: NodeJS.Timeout | undefined;
  const keepLooking = async (): Promise<void> => {
    await look();
    if (!closed) timer = setTimeout(keepLooking, watchIntervalMs);
  };
  void keepLooking();

  return {
    connector,
    health: () => healthOf(latest, store.clusters.get(embeddedClusterId)?.runningPlanId ?? null),
    timeScale: () => seen?.timeScale ?? 1,
    deviates: () => seen?.deviates ?? true,
    panic: () => collector?.routing()?.controls?.panic ?? null,
    engines: targets,
    collector: () => collector,
    close() {
      closed = true;
      clearTimeout(timer);
      collector?.close();
    },
  };
}

/** Its hardware is what it says it is at each start; what was planned for other hardware is refused when applied. */
function putDown({ store, suggested, gpuCards }: EmbeddedClusterParts, { gpu, nodes }: Observation): void {
  const spec: ClusterSpec = {
    id: embeddedClusterId,
    name: "embedded (emulated)",
    kind: "embedded",
    gpu,
    nodes: [...nodes],
    usdPerGpuHour: cardOf(gpuCards(), gpu)?.usdPerGpuHour ?? 0,
  };
  if (store.clusters.get(embeddedClusterId) !== null) {
    store.clusters.respecify(spec);
    return;
  }
  store.clusters.insert(spec, new Date().toISOString());
  store.clusters.suggest(embeddedClusterId, suggested);
}

function healthOf(latest: Answer<Observation>, appliedPlanId: string | null): ClusterSummary["health"] {
  if (!latest.ok) return { word: "down", reason: latest.message };
  const { routing, engines } = latest.value;
  const missing = routing.active.filter((id) => !engines.some((engine) => engine.id === id));
  if (missing.length > 0) return { word: "degraded", reason: `${missing.join(", ")} should serve and is gone.` };
  if (routing.planId !== appliedPlanId) return { word: "degraded", reason: "The gateway follows another plan than the one applied last." };
  return { word: "up", reason: routing.planId === null ? "No plan is in force." : `${routing.active.length} engines serve.` };
}
