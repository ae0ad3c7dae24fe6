import type { CardStore } from "@/server/cards/cardStore";
import type { Observation } from "@/server/clusters/connector/connector";
import type { ClusterSummary } from "@/server/contracts/studio";
import type { Store } from "@/server/store/store";
import { cardOf } from "@/solver/hardware/catalogue";
import { clusterSpecSchema } from "@/solver/plan/clusterSpec";
import { embeddedClusterId } from "./fleet";
import { knownPrice, observedHardware } from "./observedHardware";

interface Stores {
  readonly store: Store;
  readonly cards: CardStore;
}

/**
 * Saves a cluster's observed hardware; a plan for other hardware is refused when applied. Stored prices stay, and those that were never
 * known are the cards'.
 */
export function saveObservation({ store, cards }: Stores, clusterId: string, observation: Observation): void {
  const row = store.clusters.get(clusterId);
  if (row === null) return;
  const { id, name, kind } = row.spec;
  const hardware = observedHardware(observation, (gpu) => knownPrice(row.spec, gpu) ?? cardPrice(cards, gpu) ?? 0);
  // A node whose name no plan can hold was refused when the cluster was attached: what was known then stays.
  const spec = clusterSpecSchema.safeParse({ id, name, kind, ...hardware });
  if (spec.success) store.clusters.respecify(spec.data);
}

/** For the embedded cluster, which exists from its first observation on; its prices are the cards'. */
export function saveEmbeddedObservation({ store, cards }: Stores, suggested: ClusterSummary["suggested"], observation: Observation): void {
  const row = store.clusters.get(embeddedClusterId);
  const hardware = observedHardware(observation, (gpu) => cardPrice(cards, gpu) ?? 0);
  if (hardware === null) return;
  const spec = { id: embeddedClusterId, name: "embedded (emulated)", kind: "embedded", ...hardware } as const;
  if (row !== null) store.clusters.respecify(spec);
  else {
    store.clusters.insert(spec, new Date().toISOString());
    store.clusters.suggest(embeddedClusterId, suggested);
  }
}

const cardPrice = (cards: CardStore, gpu: string): number | null => cardOf(cards.read().catalogue.gpus, gpu)?.usdPerGpuHour ?? null;
