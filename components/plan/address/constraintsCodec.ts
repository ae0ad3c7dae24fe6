import { codecOf, named, number, type ViewOf } from "@/components/url/addressFields";
import { JUDGE_SECONDS_BOUNDS } from "@/solver/judging/judgeTime";
import { constraintLimits } from "@/solver/plan/constraintLimits";
import type { PlanConstraints } from "@/solver/plan/constraints";

export interface EngineJudge {
  readonly model: string;
  readonly rubricTokens: number;
  readonly outputTokens: number;
}

/** No constraints: the schema's result for an empty document. */
export const noConstraints: PlanConstraints = {
  pinned: [],
  shapes: [],
  excluded: [],
  nodes: [],
  minReplicasPerModel: null,
  surviveNodeLoss: false,
  maxUsdPerHour: null,
  maxGpus: null,
  maxChangedReplicas: null,
  idleGpus: true,
};

/** The limits of the API. */
export const ROUTER_AUC_BOUNDS = { min: 0.5, max: 1 } as const;
export const RUBRIC_BOUNDS = { min: 0, max: 100_000 } as const;
export const JUDGE_OUTPUT_BOUNDS = { min: 1, max: 10_000 } as const;

/** A name without the separators: spaces, `*` and `,`. */
const escaped = (name: string): string => encodeURIComponent(name).replaceAll("*", "%2A");

function unescaped(text: string | undefined): string | null {
  if (text === undefined || text === "") return null;
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

function count(text: string | undefined, { min, max }: { readonly min: number; readonly max: number }): number | null {
  return text !== undefined && /^\d{1,9}$/.test(text) && Number(text) >= min && Number(text) <= max ? Number(text) : null;
}

const replicas = { min: 1, max: constraintLimits.replicas };
const parallel = { min: 1, max: constraintLimits.parallel };
const gpus = { min: 1, max: constraintLimits.gpus };

/** A list with another entry, unless it has it already. */
const added = <Entry>(known: readonly Entry[], entry: Entry, same: (other: Entry) => boolean): Entry[] =>
  known.some(same) ? [...known] : [...known, entry];

/**
 * Constraints in one line for the address.
 *
 * @example formatConstraints({ ...noConstraints, excluded: ["llama-3.1-8b"], maxUsdPerHour: 90 }) === "without*llama-3.1-8b usd*90"
 */
export function formatConstraints(constraints: PlanConstraints): string {
  const { minReplicasPerModel, maxUsdPerHour, maxGpus, maxChangedReplicas } = constraints;
  const nodeList = (names: readonly string[]): string => names.map(escaped).join(",");
  return [
    ...constraints.pinned.map(({ model, replicas }) => `pin*${escaped(model)}*${replicas}`),
    ...constraints.shapes.map(({ model, tp, pp }) => `shape*${escaped(model)}*${tp}*${pp}`),
    ...constraints.excluded.map((model) => `without*${escaped(model)}`),
    ...constraints.nodes.map(({ model, only, never }) => `nodes*${escaped(model)}*${nodeList(only ?? [])}*${nodeList(never)}`),
    ...(minReplicasPerModel === null ? [] : [`each*${minReplicasPerModel}`]),
    ...(constraints.surviveNodeLoss ? ["survive"] : []),
    ...(maxUsdPerHour === null ? [] : [`usd*${maxUsdPerHour}`]),
    ...(maxGpus === null ? [] : [`gpus*${maxGpus}`]),
    ...(maxChangedReplicas === null ? [] : [`changes*${maxChangedReplicas}`]),
    ...(constraints.idleGpus ? [] : ["busy"]),
  ].join(" ");
}

/** The constraints of a line; invalid and repeated parts are left out, because an address can be typed by anyone. */
export function parseConstraints(line: string): PlanConstraints {
  let known = noConstraints;
  for (const token of line.split(" ")) known = { ...known, ...parsePart(token.split("*"), known) };
  return known;
}

function parsePart([kind, first, second, third]: readonly string[], known: PlanConstraints): Partial<PlanConstraints> {
  const model = unescaped(first);
  switch (kind) {
    case "pin": {
      const least = count(second, replicas);
      if (model === null || least === null) return {};
      return { pinned: added(known.pinned, { model, replicas: least }, (other) => other.model === model) };
    }
    case "shape": {
      const [tp, pp] = [count(second, parallel), count(third, parallel)];
      if (model === null || tp === null || pp === null) return {};
      return { shapes: added(known.shapes, { model, tp, pp }, (other) => other.model === model) };
    }
    case "without":
      return model === null ? {} : { excluded: added(known.excluded, model, (other) => other === model) };
    case "nodes": {
      const [only, never] = [second, third].map((list = "") => list.split(",").flatMap((name) => unescaped(name) ?? []));
      if (model === null || only === undefined || never === undefined) return {};
      const rule = { model, ...(only.length === 0 ? {} : { only }), never };
      return { nodes: added(known.nodes, rule, (other) => JSON.stringify(other) === JSON.stringify(rule)) };
    }
    case "each":
      return { minReplicasPerModel: count(first, replicas) };
    case "survive":
      return { surviveNodeLoss: true };
    case "usd": {
      const usd = first === undefined || first.trim() === "" ? Number.NaN : Number(first);
      return Number.isFinite(usd) && usd >= 0 && usd <= constraintLimits.usdPerHour ? { maxUsdPerHour: usd } : {};
    }
    case "gpus":
      return { maxGpus: count(first, gpus) };
    case "changes":
      return { maxChangedReplicas: count(first, { ...replicas, min: 0 }) };
    case "busy":
      return { idleGpus: false };
    default:
      return {};
  }
}

/** The newest trained predictor of the workload, one by its hash, or the AUC of a modelled router. */
export type PlannedRouter = "trained" | NamedRouter | number;

type NamedRouter = `sha256:${string}`;

const namedRouter = /^sha256:([0-9a-f]{64})$/;

/** A trained predictor by the hash of its bytes. */
export const routerNamed = (hash: string): PlannedRouter => `sha256:${hash}`;

/** The hash of a router that is named; null where it is the newest, or modelled. */
export const hashOfRouter = (router: PlannedRouter | null): string | null =>
  typeof router === "string" ? (namedRouter.exec(router)?.[1] ?? null) : null;

function parseRouter(text: string | null): PlannedRouter | null {
  if (text === "trained") return text;
  const [, hash] = namedRouter.exec(text ?? "") ?? [];
  return hash === undefined ? number(ROUTER_AUC_BOUNDS).parse(text) : routerNamed(hash);
}

const formatJudge = ({ model, rubricTokens, outputTokens }: EngineJudge): string => `${escaped(model)}*${rubricTokens}*${outputTokens}`;

function parseJudge(text: string): EngineJudge | null {
  const [name, rubric, output] = text.split("*");
  const model = unescaped(name);
  const [rubricTokens, outputTokens] = [count(rubric, RUBRIC_BOUNDS), count(output, JUDGE_OUTPUT_BOUNDS)];
  return model === null || rubricTokens === null || outputTokens === null ? null : { model, rubricTokens, outputTokens };
}

/** An operator's settings of a plan in addition to its objective. */
export const constraintsCodec = codecOf({
  constraints: {
    parse: (line) => parseConstraints(line ?? ""),
    format: (constraints: PlanConstraints) => formatConstraints(constraints) || undefined,
  },
  /** A judge that runs as an engine of the plan; null: one outside of the plan. */
  judge: {
    parse: (judge) => parseJudge(judge ?? ""),
    format: (judge: EngineJudge | null) => (judge === null ? undefined : formatJudge(judge)),
  },
  /** Mean seconds of a call of a judge outside of the plan, in place of the known value; null: the known value. */
  judgeSeconds: named("judge-seconds", number(JUDGE_SECONDS_BOUNDS)),
  /** The router that lets requests start at a later stage: a trained one, or the AUC of a modelled one; null: all start at the first. */
  router: {
    parse: parseRouter,
    format: (router: PlannedRouter | null) => (router === null ? undefined : String(router)),
  },
});
export type ConstraintsView = ViewOf<typeof constraintsCodec>;
