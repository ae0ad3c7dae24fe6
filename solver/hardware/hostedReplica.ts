import type { HostedModel } from "./hostedModel";
import type { ShapedReplica } from "./replicaShapes";

/** The GPU type in the place of one where a provider serves a model. No cluster has GPUs of it. */
export const HOSTED_GPU = "hosted";

/** Tokens that no limit of a cache or of a step is made for: a provider's engines have neither for its clients. */
const UNBOUNDED_TOKENS = 1e12;

/**
 * A provider as the simulator's model of one replica: a constant time to the first token and a constant time for each further one, whatever
 * else it serves. It runs no more requests at once than its limit; those that wait for their first token count.
 *
 * @param meanOutputTokens of its answers: requests hold their place for the time to the first token too.
 */
export function hostedReplica(
  { ttftSeconds, secondsPerOutputToken, maxInFlight }: Pick<HostedModel, "ttftSeconds" | "secondsPerOutputToken" | "maxInFlight">,
  meanOutputTokens: number,
): ShapedReplica {
  const pace = secondsPerOutputToken ?? 0;
  const ttft = ttftSeconds ?? 0;
  const writing = pace * Math.max(1, meanOutputTokens);
  return {
    gpu: HOSTED_GPU,
    shape: { tp: 1, pp: 1 },
    replica: {
      stepTime: { decodeBaseSeconds: () => pace, secondsPerKvToken: 0, mixedStepSeconds: () => pace, provenance: [] },
      kvTokens: UNBOUNDED_TOKENS,
      maxSequences: Math.max(1, Math.floor((maxInFlight * writing) / (writing + ttft))),
      maxBatchedTokens: UNBOUNDED_TOKENS,
      requestSeconds: () => 0,
      // The first step gives the first token.
      delaySeconds: Math.max(0, ttft - pace),
    },
  };
}
