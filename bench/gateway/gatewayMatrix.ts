import { quantile } from "@/solver/numeric/quantile";
import { atLeast, type Benchmark, type Measurement } from "../lib/benchmark";
import { writeResults } from "../lib/results";
import { closedLoop } from "./closedLoop";
import {
  type BenchGateway,
  benchPolicies,
  cascadeModel,
  chatBody,
  mockedBy,
  openLoopLatencies,
  startBenchGateway,
  startMock,
} from "./gatewayBench";

/** Requests a second of the open loops. */
const rates = [500, 1000] as const;
const openSeconds = 1.5;
const closedSeconds = 2;
const rounds = 3;
/** The budgets of a gateway: maximum additional milliseconds at the first of the rates. */
const mostAddedMs = { p50: 1, p99: 5 } as const;

/** Cost of one policy over a mock that answers at once, streamed or not; medians of the rounds. */
interface Row {
  readonly policy: string;
  readonly stream: boolean;
  /** Additional milliseconds compared with the same request directly to the mock, by rate. */
  readonly added: readonly { readonly perSecond: number; readonly p50: number; readonly p99: number }[];
  readonly closedPerSecond: number;
  readonly straightPerSecond: number;
  readonly cpuSecondsPerThousand: number;
  /** At the end. */
  readonly rssBytes: number;
}

interface Round {
  readonly added: Row["added"];
  readonly closedPerSecond: number;
  readonly straightPerSecond: number;
  readonly cpuSecondsPerThousand: number;
}

type Named = readonly [policy: string, gateway: BenchGateway];

async function measureAll(): Promise<readonly Row[]> {
  const mock = await startMock();
  const gateways: Named[] = [];
  try {
    for (const [name, policy] of Object.entries(benchPolicies)) gateways.push([name, await startBenchGateway(policy, mockedBy(mock.url))]);
    const cells = [false, true].flatMap((stream) => gateways.map((named) => ({ named, stream, rounds: [] as Round[] })));
    // The first round warms up.
    for (let round = 0; round <= rounds; round += 1) {
      for (const stream of [false, true]) {
        const straight = await measureStraight(mock.url, stream);
        for (const cell of cells.filter((one) => one.stream === stream)) {
          const measured = await measureOne(cell.named[1], stream, straight);
          if (round > 0) cell.rounds.push(measured);
        }
      }
      process.stderr.write(round === 0 ? "warmed up\n" : `round ${round} of ${rounds}\n`);
    }
    return await Promise.all(cells.map(async ({ named, stream, rounds }) => rowOf(named, stream, rounds)));
  } finally {
    await Promise.all([mock.close(), ...gateways.map(([, gateway]) => gateway.close())]);
  }
}

interface Straight {
  readonly latenciesMs: ReadonlyMap<number, readonly number[]>;
  readonly closedPerSecond: number;
}

async function measureStraight(url: string, stream: boolean): Promise<Straight> {
  const latenciesMs = new Map<number, readonly number[]>();
  for (const perSecond of rates) {
    latenciesMs.set(perSecond, await openLoopLatencies(url, { model: cascadeModel, stream, perSecond, seconds: openSeconds }));
  }
  const closed = await closedLoop(url, chatBody({ model: cascadeModel, stream }), closedSeconds);
  return { latenciesMs, closedPerSecond: closed.requestsPerSecond };
}

async function measureOne(gateway: BenchGateway, stream: boolean, straight: Straight): Promise<Round> {
  const added = [];
  for (const perSecond of rates) {
    const through = await openLoopLatencies(gateway.url, { model: cascadeModel, stream, perSecond, seconds: openSeconds });
    const over = (q: number): number => quantile(through, q) - quantile(straight.latenciesMs.get(perSecond) ?? [], q);
    added.push({ perSecond, p50: over(0.5), p99: over(0.99) });
  }
  const before = await gateway.usage();
  const startedMs = performance.now();
  const { requestsPerSecond } = await closedLoop(gateway.url, chatBody({ model: cascadeModel, stream }), closedSeconds);
  const requests = (requestsPerSecond * (performance.now() - startedMs)) / 1000;
  const after = await gateway.usage();
  return {
    added,
    closedPerSecond: requestsPerSecond,
    straightPerSecond: straight.closedPerSecond,
    cpuSecondsPerThousand: (1000 * (after.cpuSeconds - before.cpuSeconds)) / requests,
  };
}

async function rowOf([policy, gateway]: Named, stream: boolean, measured: readonly Round[]): Promise<Row> {
  const median = (value: (round: Round) => number): number => quantile(measured.map(value), 0.5);
  return {
    policy,
    stream,
    added: rates.map((perSecond, index) => ({
      perSecond,
      p50: median(({ added }) => added[index]?.p50 ?? Number.NaN),
      p99: median(({ added }) => added[index]?.p99 ?? Number.NaN),
    })),
    closedPerSecond: median((round) => round.closedPerSecond),
    straightPerSecond: median((round) => round.straightPerSecond),
    cpuSecondsPerThousand: median((round) => round.cpuSecondsPerThousand),
    rssBytes: (await gateway.usage()).rssBytes,
  };
}

function tableOf(rows: readonly Row[]): string {
  const added = rates.flatMap((rate) => [`added p50 at ${rate}/s`, `p99`]);
  const heads = ["policy", "", ...added, "closed loop", "straight", "CPU s / 1000", "RSS"];
  const lines = rows.map((row) => [
    row.policy,
    row.stream ? "streamed" : "whole",
    ...row.added.flatMap(({ p50, p99 }) => [`${p50.toFixed(2)} ms`, `${p99.toFixed(2)} ms`]),
    `${Math.round(row.closedPerSecond).toLocaleString("en")}/s`,
    `${Math.round(row.straightPerSecond).toLocaleString("en")}/s`,
    row.cpuSecondsPerThousand.toFixed(3),
    `${(row.rssBytes / 2 ** 20).toFixed(0)} MB`,
  ]);
  return [heads, heads.map(() => "---"), ...lines].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/**
 * Each policy, streamed and not, compared with the mock directly, in alternating rounds. Writes every figure to bench/results/gateway.json.
 */
export const gatewayMatrixBenchmarks: readonly Benchmark[] = [
  {
    name: "gateway over policies, share of added latencies in budget",
    budget: atLeast(1, "one policy, streamed or not, adds more than 1 ms to the p50 or 5 ms to the p99"),
    async run(): Promise<Measurement> {
      const rows = await measureAll();
      writeResults("gateway", rows);
      process.stderr.write(`\n${tableOf(rows)}\n\n`);
      const kept = rows.filter(({ added: [first] }) => first !== undefined && first.p50 <= mostAddedMs.p50 && first.p99 <= mostAddedMs.p99);
      const missed = rows.filter((row) => !kept.includes(row)).map(({ policy, stream }) => `${policy}${stream ? " streamed" : ""}`);
      const detail = `${rows.length} of policy and form, p50 at most ${mostAddedMs.p50} ms and p99 at most ${mostAddedMs.p99} ms over a bare mock at ${rates[0]}/s, median of ${rounds} rounds`;
      return {
        figure: kept.length / rows.length,
        unit: "",
        detail: missed.length === 0 ? detail : `${detail}; missed: ${missed.join(", ")}`,
      };
    },
  },
];
