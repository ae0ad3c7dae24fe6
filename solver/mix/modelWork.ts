import { type ServedRequests, throughputCurve } from "@/solver/engine/throughputCurve";
import type { ShapedReplica } from "@/solver/hardware/replicaShapes";
import { mean } from "@/solver/numeric/quantile";
import type { MixShape } from "./problem";

/** Work of one model's tokens. The unit is a second of one replica of the model's smallest shape, saturated. */
export interface TokenWork {
  readonly perInputToken: number;
  readonly perOutputToken: number;
}

/** A model's tokens in work, and its shapes by the work that they do. */
export interface ModelWork {
  readonly work: TokenWork;
  readonly shapes: readonly MixShape[];
}

/** Share of the work of a request that its input takes at most: measured rates differ by noise. */
const MOST_INPUT = 0.9;

/**
 * How much work a model's requests are, and how much its replicas do, from the throughput curves of its shapes (`throughputCurve`, Aragog,
 * section 3.2) for the requests of the mix. The smallest shape is timed on the requests and on the same with half of their input: the
 * difference is the input's work. Classes with longer prompts or answers than the mean then count with more work. That work is linear in
 * tokens is assumed; for the mean request of the mix it is exact.
 *
 * @param shapes at least one, that with the fewest GPUs first.
 * @throws RangeError when a replica has room for none of the requests.
 */
export function modelWork(shapes: readonly ShapedReplica[], requests: ServedRequests): ModelWork {
  const curves = shapes.map(({ replica }) => throughputCurve(replica, requests));
  const [input, output] = [mean(Array.from(requests.inputTokens)), mean(Array.from(requests.outputTokens))];
  const [smallest] = shapes;
  const secondsOf = (curve: { readonly throughput: (typeof curves)[number]["throughput"] } | undefined): number =>
    output / (curve?.throughput.at(-1)?.tokensPerSecond ?? Number.NaN);
  const seconds = secondsOf(curves[0]);
  const halved = { ...requests, inputTokens: Array.from(requests.inputTokens, (tokens) => Math.max(1, Math.round(tokens / 2))) };
  const without = smallest === undefined ? seconds : secondsOf(throughputCurve(smallest.replica, halved));
  const ofInput = Math.min(MOST_INPUT * seconds, Math.max(0, 2 * (seconds - without)));
  const work = { perInputToken: ofInput / input, perOutputToken: (seconds - ofInput) / output };
  return {
    work,
    shapes: shapes.map(({ gpu, shape }, at) => ({
      ...{ gpu, shape },
      curve: (curves[at]?.throughput ?? []).map(({ batch, tokensPerSecond }) => ({
        inFlight: batch,
        workPerSecond: (tokensPerSecond / output) * seconds,
      })),
    })),
  };
}

/** Work of one request. */
export const workOf = ({ perInputToken, perOutputToken }: TokenWork, inputTokens: number, outputTokens: number): number =>
  perInputToken * inputTokens + perOutputToken * outputTokens;
