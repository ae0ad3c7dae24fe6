import type { HostedModel } from "@/solver/hardware/hostedModel";
import type { CascadeRoutingDocument } from "@/solver/nextModel/cascadeRoutingDocument";
import type { StartBelow, StartRouter } from "@/solver/plan/directStart";
import type { StageGates } from "@/solver/stageGates/stageGate";
import type { PlanningSample, Routed } from "../routing/routing";
import type { DeployedRow, RoutedCascade } from "../tables/deployedRows";
import type { composeEndToEnd } from "../tables/endToEnd";
import type { JudgeEngine } from "../tables/judgeTables";
import type { LatencyTables, LatencyTablesInput, MixTables } from "../tables/latencyTables";
import type { Mix } from "../tables/mix";
import type { PeerEngine } from "../tables/peerTables";
import type { Exploration } from "./exploration";
import type { OnProgress } from "./progress";
import type { Evaluated } from "./search";
import type { PlanningSituation } from "./situation";

/**
 * A situation in the numeric form that explorers use. A model without `shapes` cannot be served here. The last entry of a `fixedTopology`
 * is the judge's engine, where there is one: a cascade with a model takes all of its replicas and none of other models.
 */
export interface ExploreInput
  extends LatencyTablesInput,
    Required<Pick<PlanningSituation, "qualityConfidence">>,
    Pick<PlanningSituation, "directStart"> {
  /** Per model of the sample: the terms of a hosted one, which takes no GPUs; null for the others. Left out: none is hosted. */
  readonly hosted?: readonly (HostedModel | null)[];
  /** With several types: the mean over the mix. */
  readonly usdPerGpuHour: number;
  readonly judge: Exploration["judge"];
  /** The judge where it is a separate engine; its `judge` then takes no fixed time. */
  readonly judgeEngine?: JudgeEngine;
  /** Gates in the place of the judge alone, whose scores the sample has; left out: the judge. */
  readonly gates?: ExploredGates;
  /** Samples of the same prompts with the scores of other gates that are planned with too: quality is bounded for all at once. */
  readonly rivals?: readonly PlanningSample[];
  /** Called often; true makes `search` and `focus` return early with the results so far. */
  readonly cancelled: () => boolean;
  /** Called with the progress of the search and of plans that use the explorer; left out: no reports. */
  readonly progress?: OnProgress;
}

/** Gates that an explorer plans with. */
interface ExploredGates {
  /** On the whole table, for simulations. */
  readonly stages: StageGates;
  /** Further answers of the same model that each gate asks for, by model of the sample. */
  readonly samples: readonly number[];
  readonly peers: readonly PeerEngine[];
}

/** A routing with its results on the planning prompts. */
export interface RoutedOutcome extends Pick<Evaluated, "stages" | "thresholds" | "startBelow"> {
  /** Without the accepted labels, to save memory: a thousand routings are cached. */
  readonly routed: Omit<Routed, "accepted">;
  readonly qualityLow: number;
  /** Where the next model is chosen by its expected gain and not by the thresholds, and the router that scores prompts for it. */
  readonly byGain?: { readonly document: CascadeRoutingDocument; readonly router: StartRouter };
}

/** A routing with all figures that follow from it, before GPUs are given. */
export interface EvaluatedRouting extends RoutedOutcome, Evaluated {
  /** Per stage, and of a judge that is an engine and peers after them: seconds by GPU count. */
  readonly tables: readonly Float32Array[];
  readonly weights: readonly number[];
  readonly judgeSeconds: number;
}

export interface Explorer {
  readonly input: ExploreInput;
  readonly tables: LatencyTables;
  /** Of engines that answer for gates alone: a judge's own, null without one, and those of peers, in the order of `input.gates.peers`. */
  readonly gateTables: { readonly judge: LatencyTables | null; readonly peers: readonly LatencyTables[] };
  /** Models that may be a cascade, as indices into the sample's: all can be served, and none answers for gates alone. */
  readonly cascades: readonly (readonly number[])[];
  /**
   * Searches. A repeated call forgets the routings and tables added after the search instead, so that no answer depends on earlier
   * queries.
   */
  search(): void;
  /** Refines the search around a floor or budget. */
  focus(asked: { readonly floor: number | null; readonly budgetSeconds: number | null }): void;
  /** All routings seen since the search. */
  exploration(): Exploration;
  /** Adds one routing by hand; returns its index in the exploration. */
  add(stages: readonly number[], thresholds: readonly number[], startBelow?: StartBelow): number;
  /** The figures of a routing that is not part of the exploration. */
  evaluate(of: RoutedOutcome): EvaluatedRouting;
  routing(index: number): EvaluatedRouting;
  /** The results of a routing with the accepted labels. */
  whole(index: number): Routed;
  /** Set where its routings choose the next model by its expected gain: thresholds are then for requests without a router's score. */
  readonly byGain?: true;
  /** Quality bound and shares of thresholds that are not part of the exploration. */
  outlook(
    stages: readonly number[],
    thresholds: readonly number[],
    startBelow?: StartBelow,
  ): { readonly qualityLow: number; readonly routed: Routed };
  /** The requests that reach each stage. */
  mixes(of: RoutedCascade): readonly Mix[];
  /** The deployed models of a cascade: the model of each stage and, after them, a judge that is an engine, and peers. */
  rows(of: RoutedCascade): readonly DeployedRow[];
  /** End-to-end latency with its weights for given stage latencies and the relative percentiles of their tables. */
  compose(
    of: RoutedCascade,
    stageSeconds: readonly number[],
    tables: readonly Pick<MixTables, "relativePercentile">[],
  ): ReturnType<typeof composeEndToEnd>;
}
