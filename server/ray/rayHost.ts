import type { Answer } from "@/server/clusters/connector/connector";
import type { EngineHost, HostObservation, LookOptions } from "@/server/clusters/connector/engineHost";
import { obstacleTo } from "@/server/clusters/connector/obstacle";
import { type Look, waitUntil } from "@/server/clusters/connector/waitUntil";
import type { EngineOrder } from "@/server/contracts/engine/engineOrder";
import { type ClusterPicture, pictureOf } from "./clusterPicture";
import type { RayConnection } from "./connection";
import { engineApplication } from "./engineApplication";
import { createEngineTexts } from "./engineTexts";
import { applicationName } from "./names";
import { createRayApi, type RayRead } from "./rayApi";
import { readRayResources } from "./rayResources";
import { lastWords } from "./rayWords";
import { readServeState, type ServeApplication } from "./serveState";
import { applicationsPath, createServeWriter } from "./serveWriter";

/** Ray's progress with an engine's application: waiting with the reason, or failed; null once it runs and answers itself. */
function engineLook({ status, message, deployments }: ServeApplication): Look | null {
  const faulty = deployments.find((one) => ["DEPLOY_FAILED", "UNHEALTHY"].includes(one.status) && one.message !== "");
  const words = lastWords(faulty?.message ?? message);
  if (status === "DEPLOY_FAILED") return { failed: `Ray could not deploy it: ${words}` };
  if (status === "UNHEALTHY") return { waiting: `Ray finds it unhealthy: ${words}` };
  if (status === "DELETING") return { waiting: "it is ending" };
  if (status === "RUNNING") return null;
  const slow = deployments.find((one) => one.message !== "");
  if (slow !== undefined) return { waiting: `Ray says: ${lastWords(slow.message)}` };
  return { waiting: deployments.length === 0 ? "Ray imports and builds its application" : "Ray brings its replica up" };
}

/** A restarted head node is back sooner. */
const defaultPatienceMs = 60_000;

/** Serve gives replicas 20 s to end unless their application defines another time. */
const stopLimitMs = 180_000;

const defaultEveryMs = 500;

export interface RayHostDeps {
  /** Separates this cluster's engines from those of others on the same Ray. */
  readonly clusterId: string;
  /** Time limit of the wait for a dashboard that does not answer. */
  readonly patienceMs?: number;
  /** Interval between two looks. */
  readonly everyMs?: number;
}

/** The host-specific part of this host's observation. */
type RayObservation = Omit<HostObservation, "nodes"> & Pick<ClusterPicture, "nodes" | "foreign" | "notes">;

export interface RayHost extends EngineHost {
  observe(options: LookOptions): Promise<Answer<RayObservation>>;
  /** Ray's report on an engine that does not answer yet; null if there is none. */
  why(engineId: string, options: LookOptions): Promise<Look | null>;
}

/**
 * Engines as applications of Ray Serve, one each. Ray binds an engine to the nodes of its placements and chooses the GPUs there itself:
 * plans state only the number.
 */
export function createRayHost(connection: RayConnection, deps: RayHostDeps): RayHost {
  const { clusterId, patienceMs = defaultPatienceMs, everyMs = defaultEveryMs } = deps;
  const api = createRayApi(connection);
  const write = createServeWriter(api, connection.dashboard, { patienceMs, everyMs });
  /** For an application that is being deleted Ray reports only its name. */
  const orders = new Map<string, EngineOrder>();

  const readServe = async (options: LookOptions) => {
    const serve = readServeState(await api(applicationsPath, options));
    if (serve.ok) for (const { name, owner } of serve.value.applications) if (owner?.cluster === clusterId) orders.set(name, owner.engine);
    return serve;
  };

  const isOwn = ({ owner, status }: ServeApplication): boolean => (owner === null ? status === "DELETING" : owner.cluster === clusterId);

  async function picture(options: LookOptions): Promise<RayRead<ClusterPicture>> {
    const [serve, resources] = await Promise.all([readServe(options), readRayResources(api, options)]);
    if (!serve.ok) return serve;
    if (!resources.ok) return resources;
    const endingOrder = (name: string): EngineOrder | null => orders.get(name) ?? null;
    const found = pictureOf(serve.value, resources.value, { connection, clusterId, endingOrder });
    return typeof found === "string" ? { ok: false, message: found, refused: true } : { ok: true, value: found };
  }

  return {
    ...createEngineTexts({ connection, clusterId, readServe, picture }),
    async observe(options) {
      const found = await picture(options);
      if (!found.ok) return found;
      return {
        ok: true,
        value: { ...found.value, outcomes: null, timeScale: 1, deviates: null, dcgmUrls: connection.dcgmUrls, judge: connection.judge },
      };
    },

    async why(engineId, options) {
      const serve = await readServe(options);
      if (!serve.ok) return { waiting: serve.message };
      const application = serve.value.applications.find(({ name }) => name === applicationName(clusterId, engineId));
      return application === undefined ? null : engineLook(application);
    },

    async start(engine, options) {
      const { signal } = options;
      const application = engineApplication(engine, connection, clusterId);
      if (!application.ok) return application;
      let seen: ClusterPicture | null = null;
      const looked = await waitUntil(
        async (): Promise<Look> => {
          const found = await picture({ signal });
          if (!found.ok) return found.refused ? { failed: found.message } : { waiting: found.message };
          seen = found.value;
          return { holds: "seen" };
        },
        { ...options, limitMs: patienceMs, everyMs },
      );
      if (!looked.ok || seen === null) return looked;
      const obstacle = obstacleTo(engine, seen, "Ray cluster");
      if (obstacle !== null) return { ok: false, message: obstacle };
      const { name } = application.value;
      const add = { name, config: JSON.stringify(application.value) };
      return write(
        ({ applications, httpPort }) => {
          const standing = applications.find((one) => one.name === name);
          if (standing === undefined)
            return { add, ...(httpPort === null && connection.http !== undefined ? { http: connection.http } : {}) };
          if (!isOwn(standing)) return { ok: false, message: `Ray has an application ${name} that is not of this cluster.` };
          if (standing.status === "DELETING") return { ok: false, message: `${engine.id} is still ending.` };
          if (standing.status === "DEPLOY_FAILED") return { ok: false, message: `Ray could not deploy ${engine.id}: stop it first.` };
          return { ok: true, value: "was up already" };
        },
        "Ray deploys it",
        options,
      );
    },

    async stop(engineId, options) {
      const name = applicationName(clusterId, engineId);
      let isGone = false;
      const removed = await write(
        ({ applications }) => {
          const standing = applications.find((one) => one.name === name);
          isGone = standing === undefined;
          if (standing === undefined) return { ok: true, value: "was gone already" };
          if (!isOwn(standing)) return { ok: false, message: `Ray has an application ${name} that is not of this cluster.` };
          return standing.status === "DELETING" ? { ok: true, value: "its GPUs are free" } : { remove: name };
        },
        "its GPUs are free",
        options,
      );
      if (!removed.ok || isGone) return removed;
      const { signal } = options;
      return waitUntil(
        async (): Promise<Look> => {
          const serve = await readServe({ signal });
          if (!serve.ok) return { waiting: serve.message };
          if (serve.value.applications.some((one) => one.name === name)) return { waiting: "it is ending" };
          const resources = await readRayResources(api, { signal });
          if (!resources.ok) return { waiting: resources.message };
          if (resources.value.uses.some(({ application }) => application === name)) return { waiting: "its replica is ending" };
          orders.delete(name);
          return { holds: removed.value };
        },
        { ...options, limitMs: stopLimitMs, everyMs },
      );
    },
  };
}
