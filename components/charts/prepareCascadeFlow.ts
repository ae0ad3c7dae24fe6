import type { ModelIdentity } from "../ui/modelIdentity";

/** A band of requests, with its vertical place as a fraction of the flow's height. */
export interface FlowStage {
  readonly identity: ModelIdentity;
  /** Share of all requests that reach the stage. */
  readonly share: number;
  /** Share of all requests that start here, the rest being sent on by the stage before. */
  readonly started: number;
  /** Share of all requests that this stage answers finally. */
  readonly accepted: number;
  /** Answers scored below it are escalated; null for the last stage, which accepts all. */
  readonly threshold: number | null;
  /** Top of the escalated part, 0..1, and its height: bands are drawn to scale of the share. */
  readonly onTop: number;
  readonly onHeight: number;
}

/** Decides heights and shares of the cascade's flow: every band's height is its share of all requests. */
export function prepareCascadeFlow(input: {
  /** `startShare` where requests may start at a later stage; left out: all start at the first. */
  readonly stages: readonly { readonly model: string; readonly share: number; readonly startShare?: number | undefined }[];
  readonly thresholds: readonly number[];
  readonly identities: ReadonlyMap<string, ModelIdentity>;
}): readonly FlowStage[] {
  return input.stages.flatMap((stage, index) => {
    const identity = input.identities.get(stage.model);
    if (identity === undefined) return [];
    const next = input.stages[index + 1];
    const onHeight = next === undefined ? 0 : Math.max(0, next.share - (next.startShare ?? 0));
    return [
      {
        identity,
        share: stage.share,
        started: stage.startShare ?? (index === 0 ? stage.share : 0),
        accepted: Math.max(0, stage.share - onHeight),
        threshold: input.thresholds[index] ?? null,
        // Accepted answers leave at the top; escalated requests continue along the bottom.
        onTop: 1 - onHeight,
        onHeight,
      },
    ];
  });
}
