import type { KeyReference } from "@/server/contracts/engine/engineAccess";
import type { MeasuredRun } from "@/solver/calibration/measuredRun";
import type { MeasuredProfile } from "@/solver/hardware/measuredProfile";
import type { ReplicaShape } from "@/solver/hardware/parallelism";

/** What `Measure this engine` is asked for. */
export interface MeasuringOrder {
  readonly url: string;
  /** As the engine calls it; null: the only one that it serves. */
  readonly model: string | null;
  /** Id of a GPU card; null: this host's processor. */
  readonly gpu: string | null;
  /** Tensor and pipeline parallelism of the engine: its profile holds for this shape only. */
  readonly tp: number;
  readonly pp: number;
  readonly minutes: number;
  readonly tokens: number;
  /** Most requests in flight; null: 64, or twice what the engine runs at once. */
  readonly concurrency: number | null;
  readonly servingOthers: boolean;
  /** Where the engine's API key is; left out: it wants none. */
  readonly key?: KeyReference | undefined;
}

/** The load of a measurement, as it is announced before any of it is sent. */
export interface MeasuringAnnouncement {
  readonly engine: string;
  readonly version: string | null;
  readonly served: string;
  /** Ids of the cards that it is filed under. */
  readonly model: string;
  readonly gpu: string;
  readonly shape: ReplicaShape;
  /** The shape with which a connected cluster has this engine; null: none has it. */
  readonly attachedShape: ReplicaShape | null;
  readonly mostConcurrency: number;
  readonly contextTokens: number;
  /** Whether the engine's metrics show requests of others. */
  readonly showsOthers: boolean;
  readonly seconds: number;
  readonly tokens: number;
}

/** A run, and the errors of what a fit predicts for it; null before that fit. */
export interface MeasuredPoint {
  readonly run: MeasuredRun;
  readonly errors: { readonly ttft: number; readonly tpot: number | null; readonly endToEnd: number; readonly p95: number } | null;
}

/** What `wait` reports, and the signal that ends the measurement. */
export interface MeasuringWatch {
  readonly signal: AbortSignal;
  onState(state: Measuring): void;
}

/** A kept profile, and the runs that it was fitted to. */
export interface MadeProfile {
  readonly profileId: string;
  readonly points: Measuring["points"];
}

/** The measurement of this studio: the one under way, or the last one. */
export interface Measuring {
  readonly order: MeasuringOrder;
  readonly announced: MeasuringAnnouncement;
  readonly startedAt: string;
  readonly left: { readonly seconds: number; readonly tokens: number };
  /** What it does at present, in words. */
  readonly doing: string;
  readonly points: readonly MeasuredPoint[];
  readonly state:
    | { readonly kind: "running" }
    /**
     * `stopped`: before its budget was used. The profile is kept under its id. `errorsOf`: what the errors of `points` are of, fits to the
     * runs of other lengths, or the fit to these runs themselves where all have the same lengths.
     */
    | {
        readonly kind: "measured";
        readonly profile: MeasuredProfile;
        readonly stopped: boolean;
        readonly errorsOf: "kept-aside" | "fit";
      }
    | { readonly kind: "refused"; readonly message: string };
}
