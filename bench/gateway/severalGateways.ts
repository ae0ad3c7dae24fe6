import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { GatewayStatus } from "@/server/contracts/gateway/gatewayAdmin";
import { ValkeyProcess } from "@/server/gateway/testing/valkeyProcess";
import { freePorts } from "@/server/testing/freePorts";
import { quantile } from "@/solver/numeric/quantile";
import { atMost, type Benchmark } from "../lib/benchmark";
import { once } from "../lib/once";
import { machine, writeTables } from "../lib/results";
import { table } from "../lib/tables";
import { type BenchGateway, benchPolicies, fixedModel, mockedBy, startBenchGateway, startMock } from "./gatewayBench";

const gateways = 3;
const requests = 1_500;
const clientsPerGateway = 8;
const restarts = 2;
const latencyRequests = 300;
/** What the mock counts. */
const tokensPerAnswer = 300;
/** Refusals after which a limit counts as reached. */
const refusalsAtEnd = 200;

const key = "bench";
const sha256 = createHash("sha256").update(key).digest("hex");
const body = JSON.stringify({
  model: fixedModel,
  max_tokens: 100,
  messages: [{ role: "user", content: "Where does the water go? ".repeat(32) }],
});

interface Outcome {
  readonly passed: number;
  /** Neither answered nor refused by the limit, or without a connection. */
  readonly lost: number;
}

interface Measured {
  readonly kept: Outcome;
  /** The same with a Valkey that is killed after a third, and started again when the limit is reached. */
  readonly killed: Outcome & { readonly passedAway: number };
  readonly restarted: { readonly asked: number; readonly lost: number };
  /** Of requests one after the other, whose key has a limit. */
  readonly p50Ms: { readonly alone: number; readonly shared: number };
}

const measured = once(async (): Promise<Measured> => {
  const directory = mkdtempSync(join(tmpdir(), "weir-bench-valkey-"));
  const [port = 0] = await freePorts(1);
  const valkey = new ValkeyProcess(port, directory);
  const mock = await startMock();
  const start = (more: { readonly tokens: number; readonly valkeyUrl?: string; readonly bundle?: "gatewayParent" }) =>
    startBenchGateway(
      benchPolicies.fixed ?? never(),
      { ...mockedBy(mock.url), settings: { keys: [{ name: key, sha256, limits: { tokensPerDay: more.tokens } }] } },
      {
        ...(more.valkeyUrl !== undefined && { environment: { WEIR_VALKEY_URL: more.valkeyUrl } }),
        ...(more.bundle !== undefined && { bundle: more.bundle }),
      },
    );
  const several = async <T>(measure: (started: readonly BenchGateway[]) => Promise<T>): Promise<T> => {
    await valkey.start();
    const tokens = requests * tokensPerAnswer;
    const started = await Promise.all(Array.from({ length: gateways }, () => start({ tokens, valkeyUrl: valkey.url })));
    try {
      await reach(started, (sharing) => sharing.reachable && sharing.gateways === gateways);
      return await measure(started);
    } finally {
      await Promise.all(started.map((gateway) => gateway.close()));
      await valkey.kill();
    }
  };
  try {
    const kept = await several(async (started) => {
      const load = new Load(started, clientsPerGateway);
      await load.refused(refusalsAtEnd);
      return load.end();
    });
    const killed = await several(async (started) => {
      const load = new Load(started, clientsPerGateway);
      await load.passed(requests / 3);
      await valkey.kill();
      await reach(started, ({ reachable }) => !reachable);
      const before = load.outcome.passed;
      await load.refused(refusalsAtEnd);
      const passedAway = load.outcome.passed - before;
      await valkey.start();
      await reach(started, ({ reachable }) => reachable);
      await sleep(2_000);
      return { ...(await load.end()), passedAway };
    });
    const restarted = await withGateway(start({ tokens: 1e12, bundle: "gatewayParent" }), async (gateway) => {
      const load = new Load([gateway], clientsPerGateway);
      for (let restart = 0; restart < restarts; restart += 1) {
        const since = await uptimeSeconds(gateway);
        const sentMs = performance.now();
        process.kill(gateway.pid, "SIGHUP");
        const isOld = async () => (await uptimeSeconds(gateway)) > since + (performance.now() - sentMs) / 1000 - 0.5;
        while (await isOld()) await sleep(100);
        await sleep(1_000);
      }
      const { passed, lost } = await load.end();
      return { asked: passed + lost, lost };
    });
    const alone = await withGateway(start({ tokens: 1e12 }), p50Of);
    await valkey.start();
    const shared = await withGateway(start({ tokens: 1e12, valkeyUrl: valkey.url }), p50Of);
    const result = { kept, killed, restarted, p50Ms: { alone, shared } };
    writeTables("several-gateways", [
      `${machine}; another load on the machine shows in the latencies.`,
      table(
        ["measured", "figure"],
        [
          [`${gateways} gateways, a budget of ${requests} requests: passed`, String(kept.passed)],
          ["the same, Valkey killed under load: passed in all", String(killed.passed)],
          ["of these while it was away", String(killed.passedAway)],
          ["lost", String(kept.lost + killed.lost)],
          [`${restarts} restarts under load: requests`, String(restarted.asked)],
          ["failed or refused", String(restarted.lost)],
          ["p50 of a request whose key has a limit, one gateway", `${alone.toFixed(2)} ms`],
          ["the same over Valkey", `${shared.toFixed(2)} ms`],
        ],
      ),
    ]);
    return result;
  } finally {
    await valkey.kill();
    await mock.close();
    rmSync(directory, { recursive: true, force: true });
  }
});

const percentOff = (passed: number): number => (100 * (passed - requests)) / requests;

export const severalGatewaysBenchmarks: readonly Benchmark[] = [
  {
    name: "several gateways, budget of three kept",
    budget: atMost(2, "gateways decide without one another while Valkey answers"),
    run: async () => {
      const { kept } = await measured();
      return {
        figure: Math.abs(percentOff(kept.passed)) + 100 * kept.lost,
        unit: "% off",
        detail: `${kept.passed} of ${requests} requests passed, ${kept.lost} were lost; 24 clients, closed loop`,
      };
    },
  },
  {
    name: "several gateways, limit exceeded while Valkey was killed",
    budget: atMost(2, "gateways use more than their shares of what was left, or forget what they used"),
    run: async () => {
      const { killed } = await measured();
      const { passed, passedAway, lost } = killed;
      return {
        figure: Math.max(0, percentOff(passed)) + 100 * lost,
        unit: "% beyond",
        detail: `${passed} of ${requests} requests passed, ${passedAway} of them while Valkey was away; ${lost} were lost`,
      };
    },
  },
  {
    name: "several gateways, requests lost over restarts",
    budget: atMost(0, "a process closes its port, or a connection, before its successor listens"),
    run: async () => {
      const { restarted } = await measured();
      const detail = `${restarts} restarts, ${restarted.asked} requests of 8 clients, half with a new connection each`;
      return { figure: restarted.lost, unit: "requests", detail };
    },
  },
  {
    name: "several gateways, time that Valkey adds to a request",
    budget: null,
    run: async () => {
      const { p50Ms } = await measured();
      const detail = `p50 of a request whose key has a limit: ${p50Ms.alone.toFixed(2)} ms in one gateway, ${p50Ms.shared.toFixed(2)} ms over Valkey`;
      return { figure: p50Ms.shared - p50Ms.alone, unit: "ms", detail };
    },
  },
];

async function withGateway<T>(starting: Promise<BenchGateway>, measure: (gateway: BenchGateway) => Promise<T>): Promise<T> {
  const gateway = await starting;
  try {
    return await measure(gateway);
  } finally {
    await gateway.close();
  }
}

const statusOf = async (gateway: BenchGateway): Promise<GatewayStatus> => (await (await gateway.read("/status")).json()) as GatewayStatus;

const uptimeSeconds = async (gateway: BenchGateway): Promise<number> => (await statusOf(gateway)).uptimeSeconds;

async function reach(started: readonly BenchGateway[], holds: (sharing: NonNullable<GatewayStatus["sharing"]>) => boolean): Promise<void> {
  for (const gateway of started) while (!holds((await statusOf(gateway)).sharing ?? never())) await sleep(50);
}

async function p50Of(gateway: BenchGateway): Promise<number> {
  const agent = new Agent({ keepAlive: true });
  const waitsMs: number[] = [];
  for (let request = 0; request < latencyRequests; request += 1) {
    const sentMs = performance.now();
    if ((await ask(gateway.url, agent)) !== 200) throw new Error("A request of the benchmark was not answered.");
    if (request >= latencyRequests / 4) waitsMs.push(performance.now() - sentMs);
  }
  agent.destroy();
  return quantile(waitsMs, 0.5);
}

/** Clients that ask one request after the other; half of them open a connection for each. */
class Load {
  #passed = 0;
  #refused = 0;
  #lost = 0;
  #isOver = false;
  readonly #clients: readonly Promise<void>[];

  constructor(targets: readonly BenchGateway[], clients: number) {
    this.#clients = targets.flatMap(({ url }) => Array.from({ length: clients }, (_, client) => this.#run(url, client % 2 === 0)));
  }

  get outcome(): Outcome {
    return { passed: this.#passed, lost: this.#lost };
  }

  /** Resolves when so many requests have passed. */
  async passed(count: number): Promise<void> {
    while (this.#passed < count) await sleep(5);
  }

  /** Resolves when the limit has refused so many. */
  async refused(count: number): Promise<void> {
    while (this.#refused < count) await sleep(5);
  }

  async end(): Promise<Outcome> {
    this.#isOver = true;
    await Promise.all(this.#clients);
    return this.outcome;
  }

  async #run(url: string, keepAlive: boolean): Promise<void> {
    const agent = new Agent({ keepAlive });
    while (!this.#isOver) {
      const status = await ask(url, agent).catch(() => 0);
      if (status === 200) this.#passed += 1;
      else if (status === 429) this.#refused += 1;
      else this.#lost += 1;
      if (status !== 200) await sleep(10);
    }
    agent.destroy();
  }
}

/** Sends one request and reads its answer; returns the status. */
function ask(url: string, agent: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", authorization: `Bearer ${key}` };
    const request = httpRequest(`${url}/v1/chat/completions`, { method: "POST", headers, agent }, (response) => {
      response.resume();
      response.once("end", () => resolve(response.statusCode ?? 0));
      response.once("error", reject);
    });
    request.once("error", reject);
    request.end(body);
  });
}

function never(): never {
  throw new Error("The benchmark has no such policy, or the gateway shares nothing.");
}
