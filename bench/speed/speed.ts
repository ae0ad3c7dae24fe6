import { readFileSync } from "node:fs";
import { startMock } from "../gateway/gatewayBench";
import { atLeast, atMost, type Benchmark } from "../lib/benchmark";
import { canPin } from "../lib/childProcess";
import { median } from "../lib/median";
import { once } from "../lib/once";
import { processTree } from "../lib/processTree";
import { machine, writeTables } from "../lib/results";
import { table } from "../lib/tables";
import { type Load, type LoadProcess, type LoadResult, startLoad } from "./load";
import { startOthers, startProxy, startWeir, type Target } from "./targets";

const rounds = 3;
const connections = 32;
/** Requests before anything is measured, in which compilers settle; a slow gateway gets fewer. */
const warmUp = { requests: 15_000, seconds: 15 };
/** Requests after which memory is read, those before counted; a slow gateway gets fewer. */
const memoryAfter = { requests: 100_000, seconds: 45 };
const closedSeconds = 4;
const open = { perSecond: 500, seconds: 3 };
const streaming = { connections: 200, spreadMs: 50 };

interface Round {
  readonly closed: LoadResult;
  /** Null for a gateway that does not answer so many a second. */
  readonly open: LoadResult | null;
  /** Null for a cascade, whose answers are judged before they are sent, and for a gateway that fails under them. */
  readonly streams: LoadResult | null;
}

interface Measured {
  readonly target: Pick<Target, "name" | "kind">;
  readonly rounds: readonly Round[];
  readonly rssBytes: number;
  /** Requests that it had answered when its memory was read. */
  readonly requests: number;
}

const prompt = "Where does the water go? ".repeat(32);

function bodyOf(model: string, more: object = {}): string {
  return JSON.stringify({ model, stream: false, messages: [{ role: "user", content: prompt }], ...more });
}

/** Everything in one run, the gateways in turns. */
const measured = once(async () => {
  const isPinned = canPin();
  const [gatewayCore, otherCore] = isPinned ? [0, 1] : [undefined, undefined];
  const mock = await startMock({ core: otherCore });
  const load = await startLoad(otherCore);
  const place = { upstream: mock.url, core: gatewayCore };
  const targets: Target[] = [];
  try {
    for (const kind of ["fixed", "cascade"] as const) targets.push(await startProxy(kind, place), await startWeir(kind, place));
    const { targets: others, left } = await startOthers(place);
    targets.push(...others);
    for (const line of left) process.stderr.write(`${line}\n`);
    const answered = new Map<Target, number>();
    for (const target of targets) {
      const warm = await load.send(closedLoad(target, warmUp)).catch(failedOf(target));
      if (warm !== null) answered.set(target, warm.count);
    }
    const straight: LoadResult[] = [];
    const found = new Map<Target, Round[]>([...answered.keys()].map((target) => [target, []]));
    for (let round = 0; round < rounds; round += 1) {
      straight.push(await load.send({ kind: "open", url: mock.url, body: bodyOf("mock"), ...open }));
      for (const [target, own] of found) {
        const seen = await measureOnce(load, target).catch(failedOf(target));
        if (seen !== null) own.push(seen);
      }
      process.stderr.write(`round ${round + 1} of ${rounds}\n`);
    }
    const rows: Measured[] = [];
    for (const [target, own] of found) {
      const before = own.reduce((sum, { closed, open: opened }) => sum + closed.count + (opened?.count ?? 0), answered.get(target) ?? 0);
      const limits = { ...memoryAfter, requests: Math.max(1, memoryAfter.requests - before) };
      const last = await load.send(closedLoad(target, limits)).catch(failedOf(target));
      rows.push({ target, rounds: own, rssBytes: residentBytes(target.pid), requests: before + (last?.count ?? 0) });
    }
    return { rows, straight, isPinned, left };
  } finally {
    await Promise.all([load.close(), ...targets.map((target) => target.close())]);
    await mock.close();
  }
});

const closedLoad = ({ url, model, headers = {} }: Target, limits: { requests?: number; seconds: number }): Load => ({
  ...{ kind: "closed", url, body: bodyOf(model), headers, connections },
  ...limits,
});

async function measureOnce(load: LoadProcess, target: Target): Promise<Round> {
  const { url, model, headers = {}, kind } = target;
  const closed = await load.send(closedLoad(target, { seconds: closedSeconds }));
  const keepsUp = closed.count / closed.seconds > 1.2 * open.perSecond;
  const opened = keepsUp ? await load.send({ kind: "open", url, headers, body: bodyOf(model), ...open }).catch(failedOf(target)) : null;
  const paced = bodyOf(model, { stream: true, user: "paced" });
  const streams =
    kind === "fixed" ? await load.send({ kind: "streams", url, headers, body: paced, ...streaming }).catch(failedOf(target)) : null;
  return { closed, open: opened, streams };
}

/** Goes on without a figure of another gateway. */
function failedOf({ name }: Target): (error: Error) => null {
  return (error) => {
    if (name === "Weir" || name === "bare proxy") throw error;
    process.stderr.write(`${name}: ${error.message}\n`);
    return null;
  };
}

/** Memory of a process and those it started. */
function residentBytes(pid: number): number {
  return processTree(pid)
    .map(({ pid: one }) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${one}/status`, "utf8"))?.[1] ?? 0) * 1024)
    .reduce((sum, bytes) => sum + bytes, 0);
}

const medianOf = ({ rounds: own }: Measured, value: (round: Round) => number | undefined): number =>
  median(own.map((round) => value(round) ?? Number.NaN));

const perSecond = (row: Measured): number => medianOf(row, ({ closed }) => closed.count / closed.seconds);
const tail = (row: Measured): number => medianOf(row, ({ closed }) => closed.p99);

/** Median over rounds of a figure of Weir's by the proxy's of the same round. */
function ratioOf(rows: readonly Measured[], kind: Target["kind"], value: (round: Round) => number): number {
  const of = (name: string) => rows.find(({ target }) => target.name === name && target.kind === kind)?.rounds ?? [];
  const proxy = of("bare proxy");
  return median(of("Weir").map((round, at) => value(round) / (proxy[at] === undefined ? Number.NaN : value(proxy[at]))));
}

interface Figures {
  readonly fixed: number;
  readonly tail: number;
  readonly memory: number;
  readonly cascade: number;
}

const figures = once(async (): Promise<Figures> => {
  const { rows, straight, isPinned, left } = await measured();
  const memoryOf = (name: string) => rows.find(({ target }) => target.name === name && target.kind === "fixed")?.rssBytes ?? Number.NaN;
  const found = {
    fixed: ratioOf(rows, "fixed", ({ closed }) => closed.count / closed.seconds),
    tail: ratioOf(rows, "fixed", ({ closed }) => closed.p99),
    memory: memoryOf("Weir") / memoryOf("bare proxy"),
    cascade: ratioOf(rows, "cascade", ({ closed }) => closed.count / closed.seconds),
  };
  const pinnedWords = isPinned
    ? "Gateway on one core, upstream and load generator on the other"
    : "Processes are not pinned to cores on this machine";
  const from = [median(straight.map(({ p50 }) => p50)), median(straight.map(({ p99 }) => p99))] as const;
  writeTables("gateway-speed", [
    `On ${machine}, ${new Date().toISOString().slice(0, 10)}. ${pinnedWords}; ${connections} connections, medians of ${rounds} rounds in which gateways take turns.${left.map((line) => ` ${line}`).join("")}`,
    targetTable(found),
    figureTable(rows, from),
  ]);
  return found;
});

function targetTable({ fixed, tail: slow, memory, cascade }: Figures): string {
  const line = (what: string, figure: number, limit: string, kept: boolean) => [what, figure.toFixed(2), limit, kept ? "kept" : "missed"];
  return table(
    ["Weir by the bare proxy", "figure", "target", ""],
    [
      line("requests/s, fixed model", fixed, "at least 0.6, goal 0.85", fixed >= 0.6),
      line("p99 at saturation", slow, "at most 3", slow <= 3),
      line("memory after 100,000 requests", memory, "at most 1.5", memory <= 1.5),
      line("requests/s, cascade, same upstream calls", cascade, "at least 0.8", cascade >= 0.8),
    ],
  );
}

function figureTable(rows: readonly Measured[], [straightP50, straightP99]: readonly [number, number]): string {
  const ms = (value: number): string => (Number.isNaN(value) ? "-" : value.toFixed(2));
  return table(
    [
      "gateway",
      "",
      "requests/s",
      "p50, ms",
      "p99",
      "added p50 at 500/s",
      "p99",
      "200 streams: between chunks p50",
      "p99",
      "memory, MB",
      "after requests",
    ],
    rows.map((row) => [
      row.target.name,
      row.target.kind,
      Math.round(perSecond(row)).toLocaleString("en"),
      ms(medianOf(row, ({ closed }) => closed.p50)),
      ms(tail(row)),
      ms(medianOf(row, ({ open: opened }) => opened?.p50) - straightP50),
      ms(medianOf(row, ({ open: opened }) => opened?.p99) - straightP99),
      ms(medianOf(row, ({ streams }) => streams?.p50)),
      ms(medianOf(row, ({ streams }) => streams?.p99)),
      (row.rssBytes / 2 ** 20).toFixed(0),
      row.requests.toLocaleString("en"),
    ]),
  );
}

const detail = `one run with a bare proxy of node:http and undici over the same upstream, ${connections} connections`;

/** Weir's gateway beside a bare proxy and other gateways. */
export const speedBenchmarks: readonly Benchmark[] = [
  {
    name: "gateway speed, fixed model by a bare proxy",
    budget: atLeast(0.6, "what the gateway does itself costs more than two thirds of what passing a request on costs"),
    run: async () => ({ figure: (await figures()).fixed, unit: "x", detail: `requests/s, ${detail}` }),
  },
  {
    name: "gateway speed, p99 at saturation by a bare proxy",
    budget: atMost(3, "garbage collection or logs stop requests"),
    run: async () => ({ figure: (await figures()).tail, unit: "x", detail }),
  },
  {
    name: "gateway speed, memory by a bare proxy",
    budget: atMost(1.5, "records of requests and garbage take more than the process itself"),
    run: async () => ({ figure: (await figures()).memory, unit: "x", detail: `resident after 100,000 requests, ${detail}` }),
  },
  {
    name: "gateway speed, cascade by a bare proxy with the same calls",
    budget: atLeast(0.8, "judging and escalating cost the gateway more than a quarter of what the calls themselves cost"),
    run: async () => ({ figure: (await figures()).cascade, unit: "x", detail: `requests/s, 2.4 upstream calls each, ${detail}` }),
  },
];
