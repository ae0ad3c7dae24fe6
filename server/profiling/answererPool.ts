import { request } from "undici";
import type { ConnectionPool, Upstream } from "@/server/calls/upstream";
import type { Observation } from "@/server/clusters/connector/connector";
import { trustedJudgeModel } from "@/server/contracts/engine/emulatorAdmin";
import type { EngineAccess, SecretUse } from "@/server/contracts/engine/engineAccess";
import type { EngineAccessError } from "@/server/contracts/engine/engineAccessError";
import { hostRefusal } from "@/server/contracts/engine/guardedConnector";
import { accessRefusal } from "@/server/contracts/engine/readEngineAccess";
import { secretOrigins } from "@/server/contracts/engine/secretOrigins";
import type { Answerer } from "@/server/contracts/studio";
import { addressOf } from "@/server/engineClient/address";
import type { ConnectedCluster } from "@/server/fleet/fleet";

/** A cluster as a profile needs it. */
export type ProfiledCluster = Pick<ConnectedCluster, "kind" | "seen" | "timeScale">;

export interface PoolContext {
  /** null: the studio is not connected to it. */
  readonly clusterOf: (clusterId: string) => ProfiledCluster | null;
  readonly clusterName: (clusterId: string) => string;
  readonly connections: ConnectionPool;
}

/** Where an answerer can be asked now; else why nowhere, in a sentence with the way out. */
export type Upstreams =
  | { readonly ok: true; readonly upstreams: readonly Upstream[] }
  /** `unseen`: its cluster cannot be observed, so it may still be where it was. */
  | { readonly ok: false; readonly message: string; readonly unseen?: true };

/** An answerer's name among those of a job: models and judges that are the same share their upstreams. */
export const answererKey = ({ model, at }: Answerer): string => JSON.stringify([model, at]);

/** The class of an answerer's address, for messages. */
export function whereOf({ at }: Answerer, clusterName: PoolContext["clusterName"]): string {
  return at.kind === "cluster" ? `on ${clusterName(at.clusterId)}` : `at ${new URL(at.url).host}`;
}

/**
 * Finds the upstreams of an answerer as its cluster was seen last: engines of the model there, else the cluster's own judge of that name.
 * An engine that still loads is a upstream too; `isUp` tells it.
 */
export function upstreamsOf(answerer: Answerer, { clusterOf, clusterName, connections }: PoolContext): Upstreams {
  const { model, at } = answerer;
  if (at.kind === "url") {
    const address = addressOf(at.url);
    if (!address.ok) return { ok: false, message: `${model} cannot be asked: ${address.fault}.` };
    const access = { key: at.key, caFile: at.caFile };
    const refusal = accessRefusal(access);
    if (refusal !== null) return { ok: false, message: refusal };
    const unsent = hostRefusal(new URL(address.url).hostname) ?? secretRefusal(answerer);
    if (unsent !== null && unsent.kind !== "unentered") return { ok: false, message: `${unsent.message}.` };
    const servedName = at.servedName ?? model;
    return { ok: true, upstreams: [upstreamAt({ root: address.url, access, servedName, timeScale: 1, engine: null }, connections)] };
  }
  const name = clusterName(at.clusterId);
  const cluster = clusterOf(at.clusterId);
  if (cluster === null) return { ok: false, message: `${name} is not connected: attach it, or ask ${model} at a URL.` };
  const { answer } = cluster.seen();
  if (!answer.ok) return { ok: false, message: `${name} cannot be seen: ${answer.message}`, unseen: true };
  const timeScale = cluster.timeScale();
  const engines = answer.value.engines.filter((engine) => engine.model === model && !engine.stopping);
  const upstreams = engines.map(({ id, url, access: { key, caFile, servedName = model } = {} }) =>
    upstreamAt({ root: url, access: { key, caFile }, servedName, timeScale, engine: id }, connections),
  );
  const judge = engines.length === 0 ? judgeOf(model, cluster.kind, answer.value) : null;
  if (judge !== null) upstreams.push(upstreamAt({ ...judge, servedName: model, timeScale, engine: null }, connections));
  if (upstreams.length > 0) return { ok: true, upstreams };
  return {
    ok: false,
    message: `No engine of ${model} runs on ${name}, and its judge has another name: apply a plan that has ${model}, attach an engine of it, or ask it at a URL.`,
  };
}

/** The secret of an answerer at an address; those of clusters are their connections'. */
export const answererUses = ({ at }: Answerer): readonly SecretUse[] =>
  at.kind === "url" && at.key !== undefined ? [{ key: at.key, origin: new URL(at.url).origin }] : [];

/** Why the answerer's key is not sent to its address; null: it is, or there is none. */
export const secretRefusal = (answerer: Answerer): EngineAccessError | null =>
  answererUses(answerer).flatMap((use) => secretOrigins.refusal(use) ?? [])[0] ?? null;

/** The cluster's own judge, where it is of that name. */
function judgeOf(model: string, kind: ProfiledCluster["kind"], { judge }: Observation) {
  const isIts = judge?.model === model || (kind === "embedded" && model === trustedJudgeModel);
  if (!judge?.url || !isIts) return null;
  const address = addressOf(judge.url);
  if (!address.ok) return null;
  const { keyFromEnvironment: environment } = judge;
  return { root: address.url, access: environment === undefined ? {} : { key: { environment } } };
}

const chatPath = "/v1/chat/completions";

interface UpstreamParts extends Pick<Upstream, "servedName" | "timeScale" | "engine"> {
  readonly root: string;
  readonly access: EngineAccess;
}

const upstreamAt = ({ root, access, servedName, timeScale, engine }: UpstreamParts, connections: ConnectionPool): Upstream => ({
  id: engine ?? root,
  url: root + chatPath,
  dispatcher: connections.to(root, access),
  ...{ servedName, timeScale, engine },
});

/** A running server answers a health check within this time. */
const HEALTH_LIMIT_MS = 3_000;

/** Whether the engine at a upstream takes requests, as one that still loads does not; one that has no health check does. */
export async function isUp({ url, dispatcher }: Upstream, signal: AbortSignal): Promise<boolean> {
  try {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(HEALTH_LIMIT_MS)]);
    const { statusCode, body } = await request(`${url.slice(0, -chatPath.length)}/health`, { dispatcher, signal: limit });
    await body.dump();
    return ![502, 503, 504].includes(statusCode);
  } catch {
    return false;
  }
}
