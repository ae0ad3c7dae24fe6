import type { ObservedEngine } from "@/server/clusters/connector/connector";
import { clusterDrift, type DriftContext, type EngineObject } from "@/server/clusters/preview/clusterDrift";
import { targetEngines } from "@/server/clusters/steps/targetEngines";
import { batchOfEngine } from "@/server/contracts/engine/batchEngines";
import { type GatewayStatus, gatewayConfigSchema, gatewayStatusSchema } from "@/server/contracts/gateway/gatewayAdmin";
import type { AuditLine, ClusterDrift, DriftLine } from "@/server/contracts/studio";
import type { Store } from "@/server/store/store";
import type { Plan } from "@/solver/plan/plan";
import { readConnection } from "./connection";
import type { ConnectedCluster, Fleet } from "./fleet";

/** Interval at which a gateway's configuration is read: out-of-band changes are reported within some seconds. */
const intervalMs = 2_000;

/** Number of looks between two readings of engines' objects, each of which needs a request to their server. */
const objectLooks = 10;

/** A hanging one is observed again in a later round. */
const limitMs = 4_000;

/** Actions in the audit; the last of them shows what was reported before a restart. */
const [began, changed, ended] = ["drift began", "drift changed", "drift ended"];
const nothingDiffers = "Nothing differs from the plan in force any more, or it is changed on purpose.";

/** Continuously compares every connected cluster with its plan in force; differences are shown and noted, never corrected. */
export interface DriftWatch {
  /** null: no plan is in force, or not seen yet. */
  drift(clusterId: string): ClusterDrift | null;
  /** The last status of its gateway; null before the first. */
  gateway(clusterId: string): GatewayStatus | null;
  close(): void;
}

export interface DriftWatchParts {
  readonly store: Store;
  readonly fleet: Pick<Fleet, "list">;
}

/** The observed state of one cluster. */
interface Watched {
  readonly cluster: ConnectedCluster;
  looking: boolean;
  looks: number;
  gateway: GatewayStatus | null;
  objects: readonly EngineObject[];
  /**
   * Findings of the last look, null before the first: a line counts once the next look confirms it, since cluster and gateway are not
   * observed at the same moment.
   */
  candidates: ReadonlySet<string> | null;
  drift: ClusterDrift | null;
  /** The last audit line about its drift; null: none, or not read yet. */
  told: AuditLine | null;
}

export function createDriftWatch({ store, fleet }: DriftWatchParts): DriftWatch {
  const watched = new Map<string, Watched>();
  let closed = false;

  const stateOf = (cluster: ConnectedCluster): Watched => {
    const known = watched.get(cluster.id);
    if (known?.cluster === cluster) return known;
    const drift = known?.drift ?? null;
    const fresh: Watched = { cluster, looking: false, looks: 0, gateway: null, objects: [], candidates: null, drift, told: null };
    watched.set(cluster.id, fresh);
    return fresh;
  };

  async function look(state: Watched): Promise<void> {
    const { cluster } = state;
    const [status, config] = await Promise.all([
      cluster.gateway("/status", { schema: gatewayStatusSchema, limitMs }),
      cluster.gateway("/config", { schema: gatewayConfigSchema, limitMs, alsoFine: [404] }),
    ]);
    if (status.ok) state.gateway = status.value.value;
    const row = store.clusters.get(cluster.id);
    const { answer } = cluster.seen();
    // If it cannot be observed now, its last observation stays.
    if (closed || row === null || !answer.ok || !config.ok) return;
    const plan = row.runningPlanId === null ? null : store.plans.get(row.runningPlanId);
    // It changes intentionally while a plan is being applied.
    if (store.applications.open().some(({ clusterId }) => clusterId === cluster.id)) {
      Object.assign(state, { looks: 0, candidates: new Set() });
      return settle(state, plan, []);
    }
    if (state.looks % objectLooks === 0) state.objects = plan === null ? [] : await objectsOf(cluster, plan);
    state.looks += 1;
    const isOfOthers = operatorsOf(row.connection);
    const hasBatch = store.batches.runningOn(cluster.id) !== null;
    const isOperators = (engine: ObservedEngine): boolean => isOfOthers(engine) || (hasBatch && batchOfEngine(engine.id) !== null);
    const found = clusterDrift({ plan, observation: answer.value, config: config.value.value, objects: state.objects, isOperators });
    const { candidates } = state;
    state.candidates = new Set(found.map(keyOf));
    const kept = found.filter((line) => candidates?.has(keyOf(line)));
    // If all findings are new, the next look shows what happened to the earlier reported ones.
    if (candidates !== null && (kept.length > 0 || found.length === 0)) settle(state, plan, kept);
  }

  /** Stores the findings, and notes when drift begins, changes, and ends: once, also if the studio restarts meanwhile. */
  function settle(state: Watched, plan: Plan | null, lines: readonly DriftLine[]): void {
    const { cluster } = state;
    const at = new Date().toISOString();
    state.drift = plan === null && lines.length === 0 ? null : { planId: plan?.id ?? null, checkedAt: at, lines };
    const subject = store.clusters.get(cluster.id)?.spec.name ?? cluster.id;
    state.told ??= store.audit.last(subject, [began, changed, ended]);
    const wasThere = state.told !== null && state.told.action !== ended;
    const isThere = lines.length > 0;
    const detail = isThere
      ? lines
          .map(({ says }) => says)
          .toSorted()
          .join(" ")
      : nothingDiffers;
    if (isThere ? wasThere && state.told?.detail === detail : !wasThere) return;
    const about = { objectKind: "cluster", objectId: cluster.id, clusterId: cluster.id } as const;
    state.told = { at, actor: "studio", action: isThere ? (wasThere ? changed : began) : ended, subject, detail, ...about };
    store.audit.add(state.told);
  }

  const round = (): void => {
    const clusters = fleet.list();
    for (const id of watched.keys()) if (clusters.every((cluster) => cluster.id !== id)) watched.delete(id);
    for (const cluster of clusters) {
      const state = stateOf(cluster);
      if (state.looking) continue;
      state.looking = true;
      void look(state)
        // A store that was closed meanwhile, or an engine's object in an unknown form: the next round tries again.
        .catch(() => undefined)
        .finally(() => {
          state.looking = false;
        });
    }
  };
  const timer = setInterval(round, intervalMs);

  return {
    drift: (clusterId) => watched.get(clusterId)?.drift ?? null,
    gateway: (clusterId) => watched.get(clusterId)?.gateway ?? null,
    close() {
      closed = true;
      clearInterval(timer);
    },
  };
}

/** The objects of the plan's engines, if the cluster's kind has them. Unreadable ones are left out. */
async function objectsOf({ host: { generate, actual } }: ConnectedCluster, plan: Plan): Promise<readonly EngineObject[]> {
  if (generate === undefined || actual === undefined) return [];
  const read = await Promise.all(
    targetEngines(plan).map(async (engine): Promise<readonly EngineObject[]> => {
      const generated = generate(engine, plan.id);
      const found = generated.ok ? await actual(engine.id, { limitMs }) : generated;
      return generated.ok && found.ok ? [{ engineId: engine.id, generated: generated.value, actual: found.value }] : [];
    }),
  );
  return read.flat();
}

/** Engines of this host that their operator started and lists. */
function operatorsOf(connection: unknown): DriftContext["isOperators"] {
  const read = readConnection(connection);
  const urls = read.ok && read.value.kind === "processes" ? read.value.adopt.map(({ url }) => url) : [];
  return ({ url }) => urls.includes(url);
}

const keyOf = ({ of, subject, says }: DriftLine): string => `${of} ${subject} ${says}`;
