import { createHash } from "node:crypto";
import { once } from "node:events";
import { Pool } from "undici";
import { quantile } from "@/solver/numeric/quantile";
import { startBenchGateway } from "../gateway/gatewayBench";
import { atMost, type Benchmark, type Measurement } from "../lib/benchmark";
import { endChild, said, startBundle } from "../lib/childProcess";
import { Emulation } from "../lib/emulation";
import { writeResults, writeTables } from "../lib/results";
import { table } from "../lib/tables";

const model = "gemma-2-2b";
const perSecond = 200;
/** Undisturbed and attacked windows take turns, so that what else the machine does meets both. */
const windows = 3;
const windowSeconds = 2;
/** Time between windows, in which attackers get going or what they left is worked off. */
const changeSeconds = 0.5;
const timeScale = 4;
const outputTokens = 8;

const attacks = ["deep 1 MB", "deep 8 MB", "deep 100 MB", "gzip", "deflate", "br", "slow bodies", "wrong keys"] as const;

const keys = ["innocent", "hostile"].map((name) => ({ name, sha256: createHash("sha256").update(name).digest("hex") }));

const outcomes = {
  name: "hostile clients",
  promptIds: ["p"],
  inputTokens: [50],
  models: [{ model, outputTokens: [outputTokens], label: [100], judged: [100] }],
};

/** The latencies of one phase, in milliseconds. */
interface Phase {
  readonly p50: number;
  readonly p99: number;
  /** Requests that were not answered with 200. */
  readonly failed: number;
}

interface Row {
  readonly attack: (typeof attacks)[number];
  readonly undisturbed: Phase;
  readonly attacked: Phase;
  /** Answers to the attackers by status, and what they sent. */
  readonly answers: string;
}

interface Window {
  readonly latencies: readonly number[];
  readonly failed: number;
}

function phaseOf(all: readonly Window[]): Phase {
  const latencies = all.flatMap((one) => one.latencies);
  return { p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99), failed: all.reduce((sum, one) => sum + one.failed, 0) };
}

/** An innocent client with a right key: an open loop, whether or not earlier requests were answered. */
async function measured(pool: Pool, seconds: number): Promise<Window> {
  const body = JSON.stringify({ model, messages: [{ role: "user", content: "[prompt p] Where does the water go?" }] });
  const headers = { "content-type": "application/json", authorization: "Bearer innocent" };
  const latencies: number[] = [];
  let failed = 0;
  const send = async (): Promise<void> => {
    const sentMs = performance.now();
    const answer = await pool.request({ method: "POST", path: "/v1/chat/completions", headers, body }).catch(() => null);
    await answer?.body.dump();
    if (answer?.statusCode !== 200) failed += 1;
    latencies.push(performance.now() - sentMs);
  };
  const pending: Promise<void>[] = [];
  const startedMs = performance.now();
  for (let index = 0; index < perSecond * seconds; ) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    for (; index < perSecond * seconds && startedMs + (index * 1000) / perSecond <= performance.now(); index += 1) pending.push(send());
  }
  await Promise.all(pending);
  return { latencies, failed };
}

async function under(attack: (typeof attacks)[number], gatewayUrl: string, pool: Pool): Promise<Row> {
  const attacker = startBundle("attacker", { args: [attack, gatewayUrl, "hostile"] });
  try {
    await said(attacker, /ready/);
    const [undisturbed, attacked]: [Window[], Window[]] = [[], []];
    for (let window = 0; window < windows; window += 1) {
      undisturbed.push(await measured(pool, windowSeconds));
      attacker.stdin?.write("go\n");
      await sleep(changeSeconds);
      attacked.push(await measured(pool, windowSeconds));
      attacker.stdin?.write("rest\n");
      await sleep(changeSeconds);
    }
    const answers = said(attacker, /^(\{.*\})$/m);
    attacker.stdin?.end();
    const [counts = ""] = await answers;
    if (attacker.exitCode === null) await once(attacker, "exit");
    return {
      attack,
      undisturbed: phaseOf(undisturbed),
      attacked: phaseOf(attacked),
      answers: counts.replaceAll(/["{}]/g, "").replaceAll(",", ", ").replaceAll(":", " × "),
    };
  } finally {
    await endChild(attacker);
  }
}

const sleep = (seconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, seconds * 1000));

async function measureAll(): Promise<readonly Row[]> {
  const emulation = await Emulation.start({ models: [model], outcomes, timeScale });
  try {
    const policy = { kind: "fixed", model, order: { kind: "fcfs" }, place: { kind: "least-load" } } as const;
    const engines = (): readonly string[] => emulation.engineUrls;
    const gateway = await startBenchGateway(policy, { engines, judge: emulation.judgeUrl, timeScale, settings: { keys } });
    const pool = new Pool(gateway.url, { connections: 256 });
    try {
      await measured(pool, 2);
      const rows: Row[] = [];
      for (const attack of attacks) rows.push(await under(attack, gateway.url, pool));
      return rows;
    } finally {
      await pool.destroy();
      await gateway.close();
    }
  } finally {
    await emulation.end();
  }
}

const ratioOf = ({ undisturbed, attacked }: Row): number => attacked.p99 / undisturbed.p99;

/** An innocent client's p99 while others attack the gateway; writes every figure to bench/results/hostile-clients.json. */
export const hostileClientBenchmarks: readonly Benchmark[] = [
  {
    name: "hostile clients, p99 of an innocent one over its undisturbed p99, worst attack",
    budget: atMost(3, "an attack takes memory, connections or processor time from clients with a key"),
    async run(): Promise<Measurement> {
      const rows = await measureAll();
      writeResults("hostile-clients", rows);
      const ms = (value: number): string => `${value.toFixed(1)} ms`;
      const shown = table(
        ["attack", "undisturbed p50", "p99", "attacked p50", "p99", "p99 ratio", "failed", "answers to the attackers"],
        rows.map((row) => [
          row.attack,
          ...[row.undisturbed.p50, row.undisturbed.p99, row.attacked.p50, row.attacked.p99].map(ms),
          ratioOf(row).toFixed(2),
          String(row.undisturbed.failed + row.attacked.failed),
          row.answers,
        ]),
      );
      writeTables("hostile-clients", [shown]);
      process.stderr.write(`\n${shown}\n\n`);
      const worst = rows.reduce((most, row) => (ratioOf(row) > ratioOf(most) ? row : most));
      const detail = `${worst.attack}: ${ms(worst.attacked.p99)} attacked, ${ms(worst.undisturbed.p99)} undisturbed, ${perSecond} requests/s to an emulated engine, ${windows} windows of ${windowSeconds} s of each for each of ${rows.length} attacks`;
      return { figure: ratioOf(worst), unit: "times", detail };
    },
  },
];
