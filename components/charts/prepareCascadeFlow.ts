import type { ModelIdentity } from "../ui/modelIdentity";

/** A band of requests, with its vertical place as a fraction of the flow's height. */
export interface FlowStage {
  readonly identity: ModelIdentity;
  /** Share of all requests that reach the stage. */
  readonly share: number;
  /** Share of all requests that this stage answers for good. */
  readonly accepted: number;
  /** Answers scored below it go on; null for the last stage, which accepts all. */
  readonly threshold: number | null;
  /** Top of what flows on, 0..1, and its height: bands are drawn to scale of the share. */
  readonly onTop: number;
  readonly onHeight: number;
}

/** Decides heights and shares of the cascade's flow: every band's height is its share of all requests. */
export function prepareCascadeFlow(input: {
  readonly stages: readonly { readonly model: string; readonly share: number }[];
  readonly thresholds: readonly number[];
  readonly identities: ReadonlyMap<string, ModelIdentity>;
}): readonly FlowStage[] {
  return input.stages.flatMap((stage, index) => {
    const identity = input.identities.get(stage.model);
    if (identity === undefined) return [];
    const onHeight = input.stages[index + 1]?.share ?? 0;
    return [
      {
        identity,
        share: stage.share,
        accepted: Math.max(0, stage.share - onHeight),
        threshold: input.thresholds[index] ?? null,
        // Accepted answers leave at the top, what is escalated flows on along the bottom.
        onTop: 1 - onHeight,
        onHeight,
      },
    ];
  });
}
