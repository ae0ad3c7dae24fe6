/** Which stages can answer a request, and what the operator permits. */
export interface StageChoice {
  /** Number of stages. */
  readonly stages: number;
  readonly canAnswer: (stage: number) => boolean;
  /** Whether a smaller model may answer where no larger one can. */
  readonly lowerMayAnswer: boolean;
}

/**
 * The stage that answers a request which the policy sends to `wanted`: that one, else the next larger that can answer, else, where that is
 * allowed, the largest below it. null where there is none.
 */
export function answeringStage(wanted: number, { stages, canAnswer, lowerMayAnswer }: StageChoice): number | null {
  for (let stage = wanted; stage < stages; stage += 1) if (canAnswer(stage)) return stage;
  for (let stage = wanted - 1; lowerMayAnswer && stage >= 0; stage -= 1) if (canAnswer(stage)) return stage;
  return null;
}

/** The stages that a request passes over on its way from `wanted` to the one that answers it: none of them can answer. */
export function passedOver(wanted: number, answering: number, stages: number): readonly number[] {
  const [from, to] = answering >= wanted ? [wanted, answering] : [answering + 1, stages];
  return Array.from({ length: to - from }, (_, at) => from + at);
}
