import type { Attention, ClusterDetail, ClusterEngine, ClusterSummary } from "@/server/contracts/studio";
import { gpuCount, gpuPrices, gpuTypes } from "@/solver/plan/clusterGpus";
import { shellQuoted } from "@/solver/wording/shellText";
import type { Tone } from "../ui/Badge";
import { formatAge, formatUsd } from "../ui/format";

/** GPUs of a node on which an engine could be started now. */
export const freeGpus = ({ gpus, used, othersUse, closed }: ClusterDetail["nodes"][number]): number =>
  closed === null ? Math.max(0, gpus - used - othersUse) : 0;

/** The tone of a reason for attention, on every page of a cluster. */
export const attentionTones: Readonly<Record<Attention["level"], Tone>> = { warn: "warn", bad: "bad" };

const kinds: Readonly<Record<ClusterSummary["spec"]["kind"], string>> = {
  described: "described only",
  embedded: "in this studio",
  endpoints: "attached endpoints",
  processes: "processes of this host",
  kubernetes: "Kubernetes",
  ray: "Ray Serve",
};

export interface PreparedCard {
  readonly kind: string;
  /** By type: `3 of 8 h100-sxm used, 4 free, 1 used by others`. */
  readonly gpus: readonly string[];
  readonly price: string;
  /** By model: `2 × llama-3.1-8b`; null: nothing was observed, or nothing is connected. */
  readonly engines: readonly string[] | null;
  /** What clients set as their base URL; null: nothing answers there. */
  readonly baseUrl: string | null;
  /** A request to try in a terminal. */
  readonly curl: string | null;
  readonly connected: boolean;
}

/** The content of a cluster's card. `detail` undefined: it is being read. */
export function prepareCard(cluster: ClusterSummary, detail: ClusterDetail | null | undefined): PreparedCard {
  const { spec, gatewayUrl } = cluster;
  const prices = gpuPrices(spec);
  const types = gpuTypes(spec);
  const nodes = detail?.observedAt ? detail.nodes : [];
  const baseUrl = gatewayUrl === null ? null : `${gatewayUrl.replace(/\/$/, "")}/v1`;
  return {
    kind: kinds[spec.kind],
    gpus: types.map((type) => {
      const own = nodes.filter(({ gpu }) => gpu === type);
      const total = gpuCount(spec, type);
      if (own.length === 0) return `${total} × ${type}`;
      const sum = (of: (node: (typeof own)[number]) => number): number => own.reduce((all, node) => all + of(node), 0);
      const [there, used, others] = [sum(({ gpus }) => gpus), sum((node) => node.used), sum(({ othersUse }) => othersUse)];
      const free = sum(freeGpus);
      const closed = Math.max(0, there - used - others - free);
      return [
        `${used} of ${there} ${type} used`,
        `${free} free`,
        ...(others === 0 ? [] : [`${others} used by others`]),
        ...(closed === 0 ? [] : [`${closed} on closed nodes`]),
      ].join(", ");
    }),
    price: types
      .map((type) => {
        const per = `per ${types.length === 1 ? "GPU" : type} and hour`;
        return prices[type] === 0 ? `no price ${per}` : `${formatUsd(prices[type])} ${per}`;
      })
      .join(", "),
    engines: detail?.observedAt ? byModel(detail.engines, cluster.runningPlanId !== null) : null,
    baseUrl,
    curl: baseUrl === null ? null : curlOf(baseUrl),
    connected: cluster.health.state !== "not-connected",
  };
}

/** `inForce`: whether a plan is in force; without one, no engine serves anyway. */
function byModel(engines: readonly ClusterEngine[], inForce: boolean): readonly string[] {
  const counts = new Map<string, { all: number; serving: number }>();
  for (const { model, state } of engines) {
    const count = counts.get(model) ?? { all: 0, serving: 0 };
    counts.set(model, { all: count.all + 1, serving: count.serving + Number(state === "serving") });
  }
  return [...counts].map(([model, { all, serving }]) => `${all} × ${model}${!inForce || serving === all ? "" : ` (${serving} serving)`}`);
}

/** Lists what the gateway serves: works before any plan is in force, and needs no model's name. */
const curlOf = (baseUrl: string): string => `curl ${shellQuoted(`${baseUrl}/models`)}`;

const engineTones: Readonly<Record<ClusterEngine["state"], Tone>> = {
  serving: "good",
  draining: "warn",
  silent: "bad",
  "not routed": "neutral",
  stopping: "neutral",
  missing: "bad",
};

/** The tone of an engine's state. */
export const engineTone = ({ state }: ClusterEngine): Tone => engineTones[state];

/** What an engine is: `vLLM 0.11.0`; a dash until its metrics were read. */
export function engineText({ engine }: ClusterEngine): string {
  if (engine === null) return "–";
  return engine.version === null ? engine.type : `${engine.type} ${engine.version}`;
}

/** Shown where no figure is known to be missing. */
export function absenceText({ engine, state }: ClusterEngine): string {
  if (state === "silent" || state === "missing") return "all: it does not answer";
  return engine === null ? "no metrics yet" : "nothing missing";
}

/**
 * Shown where nothing drifts. An engine that is down is not drift: the cluster was not changed, and applying the plan again would not
 * repair it.
 */
export function noDriftText(engines: readonly Pick<ClusterEngine, "id" | "state">[]): string {
  const silent = engines.filter(({ state }) => state === "silent").map(({ id }) => id);
  if (silent.length === 0) return "None: the running state matches the plan in force.";
  return `Nothing was changed, but some engines do not serve: ${silent.join(", ")} ${silent.length === 1 ? "does" : "do"} not answer.`;
}

/** Address of Calibration with an engine to measure filled in; null: there is no engine. Its key is not part of it. */
export function measurePath({ url, served, gpu, tp, pp }: ClusterEngine, clusterId: string): `/calibration?${string}` | null {
  if (url === "") return null;
  return `/calibration?${new URLSearchParams({ cluster: clusterId, engine: url, served, gpu, tp: String(tp), pp: String(pp) })}`;
}

/** The shape of an engine on its GPUs: `2 × h100-sxm, tp 2`. */
export function shapeText({ gpu, tp, pp }: ClusterEngine): string {
  const gpus = tp * pp;
  const parallel = [...(tp > 1 ? [`tp ${tp}`] : []), ...(pp > 1 ? [`pp ${pp}`] : [])];
  return [gpus === 1 ? gpu : `${gpus} × ${gpu}`, ...parallel].join(", ");
}

/** What is kept and what ends when a cluster is detached, one sentence each. */
export function detachSentences(detail: Pick<ClusterDetail, "topology" | "gateway">): readonly string[] {
  return [
    detail.topology === "given"
      ? "Its engines keep running: they are managed outside Weir."
      : "Its engines keep running: none is stopped, and the studio no longer manages them.",
    detail.gateway.runBy === "studio"
      ? `Its gateway at ${detail.gateway.url} takes no new request from now on, and ends once it has answered those it has, after ten minutes at the latest.`
      : `Your gateway at ${detail.gateway.url} keeps its last configuration.`,
    "Its plans, history, measurements and audit stay, and it stays as a described cluster for planning.",
    "Attaching it again under the same name restores all of them, its engines and its ports.",
  ];
}

/** A cluster is observed once a second; a longer pause is reported. */
const STALE_SECONDS = 10;

/** Why the displayed state of a cluster may be outdated; null where it is fresh, or the time is not known yet. */
export function sightNote({ observedAt }: Pick<ClusterDetail, "observedAt">, nowMs: number | null): string | null {
  if (observedAt === null) return "the cluster has not been reached yet.";
  const seconds = nowMs === null ? 0 : (nowMs - Date.parse(observedAt)) / 1000;
  return seconds > STALE_SECONDS ? `last seen ${formatAge(seconds)} ago.` : null;
}
