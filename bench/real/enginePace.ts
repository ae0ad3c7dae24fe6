import type { MeasuredEngine } from "@/solver/hardware/measuredEngine";

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
