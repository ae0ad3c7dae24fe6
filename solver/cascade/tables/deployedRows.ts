import type { ShapedReplica } from "@/solver/hardware/replicaShapes";
import { type PlanningSample, promptsReaching, type Routed, stageCallsPerRequest } from "../routing/routing";
import type { JudgeEngine, JudgeTables } from "./judgeTables";
import type { LatencyTables, MixTables, NearTables } from "./latencyTables";
import type { Mix } from "./mix";
import type { PeerTables } from "./peerTables";

/** A cascade with the effect of its thresholds on the prompts, whether or not it is part of the exploration. */
export interface RoutedCascade {
  /** Indices into the sample's models. */
  readonly stages: readonly number[];
  /** Without the accepted labels, to save memory: a thousand routings are cached. */
  readonly routed: Omit<Routed, "accepted">;
}

/** One deployed model of a cascade. */
export interface DeployedRow {
  readonly model: string;
  /** Its model among those of the sample, a judge's engine and the peers, in this order. */
  readonly index: number;
  /** Calls of its engines, which are more than the requests of a stage whose gate asks for samples. */
  readonly requestsPerSecond: number;
  /** Tables shared with similar mixes. */
  near(): NearTables;
  /** Tables of exactly its requests; see `LatencyTables`. */
  exact(also?: (replica: ShapedReplica) => boolean): MixTables;
  /** Tokens of cache that one of its requests holds, on average over its requests and over the time it runs. */
  heldTokens(): number;
}

interface Deployable {
  readonly sample: PlanningSample;
  readonly requestsPerSecond: number;
  readonly judgeEngine?: JudgeEngine;
  readonly tables: LatencyTables;
  /** Tables of the judge's engine; null without one. */
  readonly judging: JudgeTables | null;
  readonly peers: readonly PeerTables[];
  /** Further answers of the same model that each model's gate asks for; left out: none. */
  readonly samples?: readonly number[] | undefined;
}

/** The requests that reach each stage. */
export function mixesOf({ stages, routed }: RoutedCascade): readonly Mix[] {
  return stages.map((_, stage) => ({ prompts: promptsReaching(routed, stage), share: routed.share[stage] ?? 0 }));
}

/** Whether a cascade asks a judge that is an engine. */
export const hasJudgeRow = ({ judging }: Pick<Deployable, "judging">, { routed }: RoutedCascade): boolean =>
  judging !== null && routed.judged.includes(true) && routed.judgements !== 0;

/**
 * The deployed models of a cascade: the model of each stage and, after them, a judge that is an engine and the peers that its gates ask. Samples
 * of a stage's own answer count as as many more requests of the same lengths.
 */
export function deployedRows(
  { sample, requestsPerSecond, judgeEngine, tables, judging, peers, samples }: Deployable,
  of: RoutedCascade,
): readonly DeployedRow[] {
  const rows = mixesOf(of).map((mix, stage): DeployedRow => {
    const model = of.stages[stage] ?? 0;
    return {
      model: sample.models[model] ?? "",
      index: model,
      requestsPerSecond: requestsPerSecond * stageCallsPerRequest(of.routed, stage, samples?.[model] ?? 0),
      near: () => tables.near(model, mix),
      exact: (also) => tables.exact(model, mix, also),
      heldTokens: () => tables.heldTokens(model, mix),
    };
  });
  const beside = (model: string, index: number, own: Pick<JudgeTables, "tables" | "mix">): DeployedRow => {
    const mix = own.mix(of);
    return {
      model,
      index: sample.models.length + index,
      requestsPerSecond: (requestsPerSecond * mix.prompts.length) / sample.prompts,
      near: () => own.tables.near(0, mix),
      exact: (also) => own.tables.exact(0, mix, also),
      heldTokens: () => own.tables.heldTokens(0, mix),
    };
  };
  const engines = judging === null ? 0 : 1;
  return [
    ...rows,
    ...(judging !== null && hasJudgeRow({ judging }, of) ? [beside(judgeEngine?.model ?? "", 0, judging)] : []),
    ...askedPeers(peers, of).map((peer) => beside(peer.engine.model, engines + peers.indexOf(peer), peer)),
  ];
}

/** The peers that a cascade's gates ask, in the order of their rows. */
export const askedPeers = (peers: readonly PeerTables[], { stages, routed }: RoutedCascade): readonly PeerTables[] =>
  peers.filter(({ engine }) => stages.some((model, stage) => routed.judged[stage] && engine.askedBy.includes(model)));

/** The relative percentile of a mix, from the tables of a similar one. */
export const relativePercentileOf = ({ tables, lengthFactor }: NearTables): number => tables.relativePercentile * lengthFactor;
