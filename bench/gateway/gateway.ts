import { quantile } from "@/solver/numeric/quantile";
import { atLeast, atMost, type Benchmark, type Measurement } from "../lib/benchmark";
import { closedLoop } from "./closedLoop";
import {
  benchCascade,
  cascadeModel,
  chatBody,
  fixedModel,
  mockedBy,
  openLoopLatencies,
  startBenchGateway,
  startMock,
} from "./gatewayBench";

/** Runs with a gateway with an active two-stage cascade, over a mock. */
async function withGateway(measure: (gatewayUrl: string, mockUrl: string) => Promise<Measurement>): Promise<Measurement> {
  const mock = await startMock();
  const gateway = await startBenchGateway(benchCascade(["small", fixedModel]), mockedBy(mock.url));
  try {
    return await measure(gateway.url, mock.url);
  } finally {
    await Promise.all([gateway.close(), mock.close()]);
  }
}

function throughput(name: string, model: string, leastPerSecond: number): Benchmark {
  return {
    name,
    budget: atLeast(leastPerSecond, `a request costs the gateway more than ${(1000 / leastPerSecond).toFixed(2)} ms of its core`),
    run: () =>
      withGateway(async (gatewayUrl) => {
        const body = chatBody({ model, stream: false });
        await closedLoop(gatewayUrl, body, 2);
        const { requestsPerSecond, tool } = await closedLoop(gatewayUrl, body, 6);
        return {
          figure: requestsPerSecond,
          unit: "requests/s",
          detail: `${tool} with 64 connections, not streamed, bare mock upstream on the same machine`,
        };
      }),
  };
}

/** Difference of a quantile through the gateway and directly to the mock at 500 requests a second: median of interleaved rounds. */
function addedLatency(q: number, mostMs: number): Benchmark {
  return {
    name: `gateway added latency p${q * 100}`,
    budget: atMost(mostMs, "requests wait for logs, records or garbage of others on the gateway's one thread"),
    run: () =>
      withGateway(async (gatewayUrl, mockUrl) => {
        const load = { model: fixedModel, stream: false, perSecond: 500, seconds: 0.8 };
        await openLoopLatencies(gatewayUrl, load);
        const rounds: { readonly straight: number; readonly through: number }[] = [];
        for (let round = 0; round < 5; round += 1) {
          const straight = quantile(await openLoopLatencies(mockUrl, load), q);
          rounds.push({ straight, through: quantile(await openLoopLatencies(gatewayUrl, load), q) });
        }
        const median = (values: readonly number[]): number => quantile(values, 0.5);
        const [through, straight] = [median(rounds.map((round) => round.through)), median(rounds.map((round) => round.straight))];
        const detail = `fixed model at 500 requests/s, median of 5 rounds: ${through.toFixed(2)} ms through, ${straight.toFixed(2)} ms straight`;
        return { figure: median(rounds.map((round) => round.through - round.straight)), unit: "ms", detail };
      }),
  };
}

/** The claims of Weir's gateway. */
export const gatewayBenchmarks: readonly Benchmark[] = [
  throughput("gateway, fixed model", fixedModel, 5000),
  throughput("gateway, cascade with judge, 2.4 upstream calls each", cascadeModel, 3000),
  addedLatency(0.5, 1),
  addedLatency(0.99, 5),
];
