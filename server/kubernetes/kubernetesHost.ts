import type { Answer, StepOptions } from "@/server/clusters/connector/connector";
import type { EngineHost, HostObservation, LookOptions } from "@/server/clusters/connector/engineHost";
import { obstacleTo } from "@/server/clusters/connector/obstacle";
import { type Look, waitUntil } from "@/server/clusters/connector/waitUntil";
import { type ClusterPicture, pictureOf, podsOf } from "./clusterPicture";
import type { KubernetesConnection } from "./connection";
import { createEngineTexts } from "./engineTexts";
import { createKubeApi, type KubeAnswer } from "./kubeApi";
import { createKubeReader, type KubeLists, type ReadOptions } from "./kubeLists";
import { createKubeWrites, type Removal } from "./kubeWrites";
import { engineObjects, poolName } from "./manifests";
import { objectName } from "./names";

/** The longest absence of an API server that is being replaced. */
const defaultAwayMs = 60_000;

/** Schedulers answer within seconds. */
const defaultPlaceMs = 60_000;

/** Nodes end and report pods some seconds after their grace period. */
const beyondGraceMs = 60_000;

const defaultEveryMs = 1_000;

export interface KubernetesHostDeps {
  /** Separates this cluster's engines from those of others in the same namespace. */
  readonly clusterId: string;
  /** Time for which calls are retried while the API server is away. */
  readonly awayMs?: number;
  /** Time for which an engine may wait for its node before it is removed. */
  readonly placeMs?: number;
  /** Interval between two looks at awaited pods. */
  readonly everyMs?: number;
}

/** The host-specific part of this host's observation. */
type KubernetesObservation = Omit<HostObservation, "nodes" | "engines"> & Pick<ClusterPicture, "nodes" | "engines" | "notes">;

export interface KubernetesHost extends EngineHost {
  observe(options: LookOptions): Promise<Answer<KubernetesObservation>>;
  /** Kubernetes' report on an engine that does not answer yet; null if there is none. */
  why(engineId: string, options: LookOptions): Promise<Look | null>;
}

/**
 * Engines as Deployments and LeaderWorkerSets of a Kubernetes cluster. The node chooses which of its GPUs they get: plans state only the
 * number.
 */
export function createKubernetesHost(connection: KubernetesConnection, deps: KubernetesHostDeps): KubernetesHost {
  const { clusterId, awayMs = defaultAwayMs, placeMs = defaultPlaceMs, everyMs = defaultEveryMs } = deps;
  const api = createKubeApi(connection.access);
  const writes = createKubeWrites(api, connection.namespace, awayMs);
  const lists = createKubeReader(api, connection.namespace, clusterId);

  async function picture(options: ReadOptions): Promise<KubeAnswer<ClusterPicture>> {
    const read = await lists(options);
    if (!read.ok) return read;
    const found = pictureOf(read.value, connection, clusterId);
    return typeof found === "string" ? { ok: false, failure: "refused", message: found } : { ok: true, value: found };
  }

  /** An engine without a node holds no GPU and never will by itself: the caller gets the reason, and the engine is removed. */
  const placed = (engineId: string, options: StepOptions): Promise<Answer<string>> =>
    waitUntil(
      async (): Promise<Look> => {
        const found = await picture(options);
        if (!found.ok) return { waiting: found.message };
        const engine = found.value.engines.find((one) => one.id === engineId);
        if (engine === undefined) return { failed: `Somebody else removed ${engineId} while it was placed.` };
        return engine.placed ? { holds: "loading" } : (engine.look ?? { waiting: "Kubernetes has not placed it yet" });
      },
      { ...options, limitMs: placeMs, everyMs },
    );

  async function takeBack(made: readonly Removal[], why: string, options: StepOptions): Promise<Answer<string>> {
    for (const removal of made.toReversed()) {
      const gone = await writes.remove(removal, options);
      if (!gone.ok) return { ok: false, message: `${why} What was begun could not be taken back: ${gone.message}` };
    }
    return { ok: false, message: why };
  }

  return {
    ...createEngineTexts({ connection, clusterId, api, lists, writes, picture }),
    async observe(options) {
      const found = await picture(options);
      if (!found.ok) return { ok: false, message: found.message };
      const { services: _, ...seen } = found.value;
      return {
        ok: true,
        value: { ...seen, outcomes: null, timeScale: 1, deviates: null, dcgmUrls: connection.dcgmUrls, judge: connection.judge },
      };
    },

    async why(engineId, options) {
      const found = await picture(options);
      if (!found.ok) return { waiting: found.message };
      return found.value.engines.find((one) => one.id === engineId)?.look ?? null;
    },

    async start(engine, options) {
      const objects = engineObjects(engine, { connection, clusterId, planId: options.planId ?? undefined });
      if (!objects.ok) return objects;
      const found = await writes.patiently(() => picture({ ...options, fresh: true }), options);
      if (!found.ok) return { ok: false, message: found.message };
      const known = found.value.engines.find((one) => one.id === engine.id);
      if (known?.stopping) return { ok: false, message: `${engine.id} is still ending.` };
      const standing = known !== undefined;
      const obstacle = obstacleTo(engine, found.value, "cluster");
      if (obstacle !== null) return { ok: false, message: obstacle };
      const { refusal, made } = await writes.applyAll(objects.value, standing ? ["Deployment", "LeaderWorkerSet"] : [], options);
      if (refusal !== null) return takeBack(made, refusal, options);
      const place = await placed(engine.id, options);
      if (!place.ok) return takeBack(made, place.message.replace(/\.?$/, "."), options);
      return standing ? { ok: true, value: "was up already" } : place;
    },

    async stop(engineId, options) {
      const found = await writes.patiently(() => picture(options), options);
      if (!found.ok) return { ok: false, message: found.message };
      const name = objectName(engineId);
      const engine = found.value.engines.find((one) => one.id === engineId);
      // The running object is removed last, so that an interrupted stop finds it and continues.
      const removals: Removal[] = found.value.services.includes(name) ? [{ kind: "Service", name }] : [];
      if (engine !== undefined) {
        const lastOfModel = !found.value.engines.some((one) => one.id !== engineId && one.model === engine.model);
        if (connection.pool !== undefined && lastOfModel) removals.push({ kind: "InferencePool", name: poolName(engine.model, clusterId) });
        removals.push({ kind: engine.placements.length === 1 ? "Deployment" : "LeaderWorkerSet", name, uid: engine.uid });
      }
      for (const removal of removals) {
        const gone = await writes.remove(removal, options);
        if (!gone.ok) return gone;
      }
      if (engine === undefined) return { ok: true, value: "was gone already" };
      return waitUntil(
        async (): Promise<Look> => {
          const read = await lists(options);
          return read.ok ? endedLook(read.value, { name, engineId, clusterId }) : { waiting: read.message };
        },
        { ...options, limitMs: connection.graceSeconds * 1_000 + beyondGraceMs, everyMs },
      );
    },
  };
}

interface Ending {
  readonly name: string;
  readonly engineId: string;
  readonly clusterId: string;
}

function endedLook({ running, pods }: KubeLists, { name, engineId, clusterId }: Ending): Look {
  const left = podsOf(engineId, pods, clusterId);
  if (left.length > 0) return { waiting: `${left.map((pod) => pod.metadata.name).join(", ")} is ending` };
  return running.some((one) => one.metadata.name === name) ? { waiting: "it is ending" } : { holds: "its GPUs are free" };
}
