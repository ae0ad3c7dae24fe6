import type { PlanConstraints } from "@/solver/deployment/constraints";
import { readNumber } from "../url/readParam";
import type { UrlCodec } from "../url/useUrlView";

/** What an operator asks of a plan beside its objective. */
export interface ConstraintsView {
  readonly constraints: PlanConstraints;
  /** A judge that runs as an engine of its own; null: one of fixed time. */
  readonly judge: EngineJudge | null;
  /** AUC of the router by which requests may start at a later stage; null: all start at the first. */
  readonly routerAuc: number | null;
}

export interface EngineJudge {
  readonly model: string;
  readonly rubricTokens: number;
  readonly outputTokens: number;
}

/** Nothing asked: what the schema makes of an empty document. */
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

/** As the API takes them. */
export const ROUTER_AUC_BOUNDS = { min: 0.5, max: 1 } as const;
export const RUBRIC_BOUNDS = { min: 0, max: 100_000 } as const;
export const JUDGE_OUTPUT_BOUNDS = { min: 1, max: 10_000 } as const;

/** A name without the signs between parts: spaces, `*` and `,`. */
const escaped = (name: string): string => encodeURIComponent(name).replaceAll("*", "%2A");

function unescaped(text: string | undefined): string | null {
  if (text === undefined || text === "") return null;
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

function count(text: string | undefined, least: number): number | null {
  return text !== undefined && /^\d{1,6}$/.test(text) && Number(text) >= least ? Number(text) : null;
}

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

/** The constraints of a line; parts that are none are left out, because an address can be typed by anyone. */
export function parseConstraints(line: string): PlanConstraints {
  let known = noConstraints;
  for (const token of line.split(" ")) known = { ...known, ...parsePart(token.split("*"), known) };
  return known;
}

function parsePart([kind, first, second, third]: readonly string[], known: PlanConstraints): Partial<PlanConstraints> {
  const model = unescaped(first);
  switch (kind) {
    case "pin": {
      const replicas = count(second, 1);
      return model === null || replicas === null ? {} : { pinned: [...known.pinned, { model, replicas }] };
    }
    case "shape": {
      const [tp, pp] = [count(second, 1), count(third, 1)];
      return model === null || tp === null || pp === null ? {} : { shapes: [...known.shapes, { model, tp, pp }] };
    }
    case "without":
      return model === null ? {} : { excluded: [...known.excluded, model] };
    case "nodes": {
      const [only, never] = [second, third].map((list = "") => list.split(",").flatMap((name) => unescaped(name) ?? []));
      if (model === null || only === undefined || never === undefined) return {};
      return { nodes: [...known.nodes, { model, ...(only.length === 0 ? {} : { only }), never }] };
    }
    case "each":
      return { minReplicasPerModel: count(first, 1) };
    case "survive":
      return { surviveNodeLoss: true };
    case "usd": {
      const usd = first === undefined || first.trim() === "" ? Number.NaN : Number(first);
      return Number.isFinite(usd) && usd >= 0 ? { maxUsdPerHour: usd } : {};
    }
    case "gpus":
      return { maxGpus: count(first, 1) };
    case "changes":
      return { maxChangedReplicas: count(first, 0) };
    case "busy":
      return { idleGpus: false };
    default:
      return {};
  }
}

const formatJudge = ({ model, rubricTokens, outputTokens }: EngineJudge): string => `${escaped(model)}*${rubricTokens}*${outputTokens}`;

function parseJudge(text: string): EngineJudge | null {
  const [name, rubric, output] = text.split("*");
  const model = unescaped(name);
  const [rubricTokens, outputTokens] = [count(rubric, RUBRIC_BOUNDS.min), count(output, JUDGE_OUTPUT_BOUNDS.min)];
  if (model === null || rubricTokens === null || outputTokens === null) return null;
  return rubricTokens > RUBRIC_BOUNDS.max || outputTokens > JUDGE_OUTPUT_BOUNDS.max ? null : { model, rubricTokens, outputTokens };
}

export const constraintsCodec: UrlCodec<ConstraintsView> = {
  parse: (params) => ({
    constraints: parseConstraints(params.get("constraints") ?? ""),
    judge: parseJudge(params.get("judge") ?? ""),
    routerAuc: readNumber(params, "router", ROUTER_AUC_BOUNDS),
  }),
  format: ({ constraints, judge, routerAuc }) => ({
    constraints: formatConstraints(constraints) || undefined,
    judge: judge === null ? undefined : formatJudge(judge),
    router: routerAuc === null ? undefined : String(routerAuc),
  }),
};
