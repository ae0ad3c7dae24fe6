import type { MeasuredEngine } from "../hardware/measuredEngine";
import { mean } from "../numeric/quantile";
import type { MeasuredRun, RunPoint } from "./measuredRun";
import { simulateRun } from "./simulatedRun";

/**
 * How long an engine takes now, over what its profile says: the geometric mean over closed loops of measured over simulated end to end.
 *
 * @returns 1 for an engine as fast as its profile, 1.2 for one that takes 20 % longer; NaN without runs.
 */
export const paceOf = (
  engine: MeasuredEngine,
  runs: readonly (RunPoint & Pick<MeasuredRun, "requests" | "endToEndSeconds" | "spread">)[],
): number => Math.exp(mean(runs.map((run) => Math.log(run.endToEndSeconds / simulateRun(run, engine, engine.limits).endToEndSeconds))));

/** The engine when all its work takes `pace` times as long. */
export function atPace(engine: MeasuredEngine, pace: number): MeasuredEngine {
  const { step, request } = engine;
  const curve = (points: MeasuredEngine["step"]["decode"]) => points.map(({ at, seconds }) => ({ at, seconds: pace * seconds }));
  return {
    ...engine,
    step: {
      decode: curve(step.decode),
      prefill: curve(step.prefill),
      secondsPerPrompt: pace * step.secondsPerPrompt,
      secondsPerKvToken: pace * step.secondsPerKvToken,
      secondsPerPair: pace * step.secondsPerPair,
    },
    request: {
      seconds: pace * request.seconds,
      secondsPerInputToken: pace * request.secondsPerInputToken,
      secondsPerOutputToken: pace * request.secondsPerOutputToken,
      delaySeconds: pace * request.delaySeconds,
    },
  };
}
