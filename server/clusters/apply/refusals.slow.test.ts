import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { needs } from "@/scripts/needs.mjs";
import { gatewayStatusSchema } from "@/server/contracts/gateway/gatewayAdmin";
import { enterTestKeys } from "@/server/contracts/testing/testSecretOrigins";
import { createKubernetesHost } from "@/server/kubernetes/kubernetesHost";
import { objectName } from "@/server/kubernetes/names";
import { kubeconfigOf, standInKubernetes, startTestKubernetes } from "@/server/kubernetes/testing/testKubernetes";
import { testEngines } from "@/server/processes/testing/testEngines";
import { startTestRay } from "@/server/ray/testing/testRay";
import type { Plan } from "@/solver/plan/plan";
import { createConnector } from "../connector/clusterConnector";
import type { EngineHost } from "../connector/engineHost";
import { targetEngines } from "../steps/targetEngines";
import { planOnGpus, startTestCluster } from "../testing/testCluster";
import { createApplyRunner } from "./applyRunner";

/** Waiting time for an API that does not answer, in place of a minute. */
const awayMs = 1_500;
/**
 * During this time a cluster that was healthy at the start of the application breaks; a variable with a key is read again within a second.
 */
const graceMs = 1_500;
const at = "2026-01-01T00:00:00.000Z";

let cluster: Awaited<ReturnType<typeof startTestCluster>>;
const said: string[] = [];
beforeAll(async () => {
  cluster = await startTestCluster();
});
afterAll(async () => {
  process.stdout.write(`What a plan is refused for:\n${said.join("\n")}\n`);
  await cluster.stop();
});

/** A cluster of some kind behind the gateway, with a check for changes there. */
interface Room {
  readonly kind: string;
  readonly host: EngineHost;
  readonly state: () => Promise<unknown> | unknown;
}

function roomTools({ kind, host, state }: Room) {
  const { store, gateway } = cluster;
  const connector = createConnector({ host, gateway, planOf: (id) => store.plans.get(id) });
  if (store.clusters.get(kind) === null)
    store.clusters.insert({ id: kind, name: kind, kind: "described", gpu: "l40s", nodes: [{ name: "n", gpus: 1 }], usdPerGpuHour: 1 }, at);
  const runner = createApplyRunner({ store, connectorOf: () => connector, graceMs });

  /** The result of putting a plan into force; `meanwhile` runs between its start and its first step. */
  async function apply(plan: Plan | null, meanwhile: () => unknown = () => undefined): Promise<string> {
    if (plan !== null) {
      store.plans.keep(plan);
      store.approvals.insert({ planId: plan.id, clusterId: kind, actor: "a", at, reason: "" });
    }
    const planId = plan?.id ?? null;
    const order = { clusterId: kind, planId, kind: "apply", actor: "a", rollBackOnRegression: false } as const;
    const started = await runner.start(order);
    if (!started.ok) return `refused: ${started.message}`;
    await meanwhile();
    for (;;) {
      const application = store.applications.get(started.application.id);
      if (application?.endedAt) return application.state;
      if (application?.halt) return `halted: ${application.halt.sentence}`;
      await sleep(20);
    }
  }

  const gatewayState = async () => {
    const status = await gateway("/status", { schema: gatewayStatusSchema });
    return status.ok ? [status.value.value?.configEtag, status.value.value?.planId] : status.message;
  };

  /** Applies a plan that is refused, fixes the cause, rolls back if it had begun, and checks that cluster and gateway are unchanged. */
  async function refused(
    what: string,
    plan: Plan,
    { meanwhile, after }: { readonly meanwhile?: () => unknown; readonly after?: () => unknown } = {},
  ): Promise<string> {
    const before = [await state(), await gatewayState()];
    const sentence = await apply(plan, meanwhile);
    await after?.();
    const [halted] = store.applications.open();
    if (halted !== undefined) {
      expect(runner.abort(halted.id, "a")).toMatchObject({ ok: true });
      await vi.waitFor(() => expect(store.applications.get(halted.id)).toMatchObject({ state: "rolled-back", error: null }), 30_000);
    }
    expect([await state(), await gatewayState()]).toEqual(before);
    expect(sentence).toMatch(/^(refused|halted): [A-Z].*\.$/s);
    expect(sentence).not.toMatch(/\n\s+at |undefined|\[object/);
    said.push(`${kind} | ${what} | ${sentence}`);
    return sentence;
  }
  return { apply, refused };
}

describe("a plan that Kubernetes cannot carry out changes nothing", { ...needs(standInKubernetes), timeout: 120_000 }, () => {
  let kubernetes: Awaited<ReturnType<typeof startTestKubernetes>>;
  let tools: ReturnType<typeof roomTools>;
  let node: string;
  let token: string;
  beforeAll(async () => {
    kubernetes = await startTestKubernetes();
    node = kubernetes.nodes[0];
    const { standIn } = kubernetes;
    if (standIn === null) throw new Error("There is no stand-in.");
    token = "studio";
    standIn.tokens.add(token);
    const path = `${kubernetes.kubeconfigPath}-studio`;
    writeFileSync(path, kubeconfigOf(standIn, token));
    const connection = kubernetes.connection({ access: { from: "kubeconfig", path } });
    const host = createKubernetesHost(connection, { clusterId: "lab", awayMs, placeMs: 10_000, everyMs: 50 });
    tools = roomTools({ kind: "kubernetes", host, state: () => kubernetes.state() });
  }, 60_000);
  afterAll(() => kubernetes.stop(), 60_000);

  it("for want of GPUs", async () => {
    const leave = await kubernetes.occupy(node, 3);
    const sentence = await tools.refused("not enough GPUs", planOnGpus("k8s", { "qwen2.5-3b": [0, 1] }, node));
    expect(sentence).toBe(`refused: The plan wants 2 GPUs of ${node}; others use 3 of its 4.`);
    await leave();
  });

  it("on a node that is not there", async () => {
    expect(await tools.refused("unknown node", planOnGpus("k8s", { "qwen2.5-3b": [0] }, "node9"))).toMatch(
      /on node9, which this cluster does not have\.$/,
    );
  });

  it("with credentials that expire before, or in the middle", async () => {
    const plan = planOnGpus("k8s", { "qwen2.5-3b": [0] }, node);
    const tokens = kubernetes.standIn?.tokens;
    const renew = () => tokens?.add(token);
    tokens?.delete(token);
    const words = /does not take these credentials: they are expired or missing\.$/;
    expect(await tools.refused("credentials expired before", plan, { after: renew })).toMatch(words);
    const meanwhile = () => tokens?.delete(token);
    expect(await tools.refused("credentials expire in the middle", plan, { meanwhile, after: renew })).toMatch(words);
  });

  it("with an API server that stays away, and goes on with one that comes back", async () => {
    const plan = planOnGpus("k8s", { "qwen2.5-3b": [0] }, node);
    const { standIn } = kubernetes;
    const meanwhile = () => standIn?.away();
    expect(await tools.refused("API server stays away", plan, { meanwhile, after: () => standIn?.back() })).toMatch(
      /^halted: Start .*: The API server at http:\S+ cannot be reached \(ECONNREFUSED\)\.$/,
    );
    const before = await kubernetes.state();
    const backSoon = async (): Promise<void> => {
      await standIn?.away();
      setTimeout(() => void standIn?.back(), graceMs + awayMs / 2);
    };
    expect(await tools.apply(plan, backSoon)).toBe("done");
    expect(await tools.apply(null)).toBe("done");
    await expect.poll(() => kubernetes.state(), { timeout: 20_000 }).toEqual(before);
    said.push("kubernetes | API server is away and comes back | done");
  });

  it("over a field that another manager holds", async () => {
    const plan = planOnGpus("k8s", { "qwen2.5-3b": [0] }, node);
    const [engine] = targetEngines(plan);
    const name = objectName(engine?.id ?? "");
    const { namespace, apps } = kubernetes;
    const labels = { app: "foreign" };
    const template = { metadata: { labels }, spec: { containers: [{ name: "engine", image: "weir.test/other:1" }] } };
    const spec = { replicas: 0, selector: { matchLabels: labels }, template };
    await apps.createNamespacedDeployment({ namespace, body: { metadata: { name }, spec }, fieldManager: "helm" });
    const observed = async () => (await apps.readNamespacedDeployment({ namespace, name })).status?.observedGeneration;
    await expect.poll(observed).toBe(1);
    expect(await tools.refused("field held by another manager", plan)).toMatch(
      /^halted: Start .*: Deployment \S+ is refused: \.\S+ is held by helm, not by Weir, and \d+ more fields?\.$/,
    );
    await apps.deleteNamespacedDeployment({ namespace, name });
  });
});

describe("a plan that Ray cannot carry out changes nothing", { timeout: 120_000 }, () => {
  let ray: Awaited<ReturnType<typeof startTestRay>>;
  let tools: ReturnType<typeof roomTools>;
  let node: string;
  const right = "the-right-token";
  let forgetKeys: () => void = () => undefined;
  beforeAll(async () => {
    ray = await startTestRay(right);
    forgetKeys = enterTestKeys([{ key: { environment: "WEIR_ENGINE_RAY" }, url: ray.serve.url }]);
    node = ray.nodes[0];
    vi.stubEnv("WEIR_ENGINE_RAY", right);
    const host = ray.host({ key: { environment: "WEIR_ENGINE_RAY" } }, { patienceMs: awayMs });
    ray.serve.deploy({ name: "search", import_path: "small:build", route_prefix: "/search", args: { model: "search", gpus: 0 } });
    await vi.waitFor(() => expect(ray.serve.applications.get("search")?.status).toBe("RUNNING"), { timeout: 10_000 });
    const state = () => [[...ray.serve.applications].map(([name, { config, builds }]) => [name, config, builds]), ray.serve.puts.length];
    tools = roomTools({ kind: "ray", host, state });
  }, 60_000);
  afterAll(async () => {
    forgetKeys();
    vi.unstubAllEnvs();
    await ray.serve.stop();
  });

  it("for want of GPUs", async () => {
    ray.serve.training.set("node0", 3);
    const sentence = await tools.refused("not enough GPUs", planOnGpus("ray", { "qwen2.5-3b": [0, 1] }, node));
    expect(sentence).toBe(`refused: The plan wants 2 GPUs of ${node}; others use 3 of its 4.`);
    ray.serve.training.clear();
  });

  it("on a node that is not there", async () => {
    expect(await tools.refused("unknown node", planOnGpus("ray", { "qwen2.5-3b": [0] }, "10.9.9.9"))).toMatch(
      /on 10\.9\.9\.9, which this cluster does not have\.$/,
    );
  });

  it("with a token that is not taken any more, before or in the middle", async () => {
    const plan = planOnGpus("ray", { "qwen2.5-3b": [0] }, node);
    const expire = () => vi.stubEnv("WEIR_ENGINE_RAY", "an-old-one");
    const renew = async (): Promise<void> => {
      vi.stubEnv("WEIR_ENGINE_RAY", right);
      await sleep(1_100);
    };
    expire();
    await sleep(1_100);
    const before = await tools.refused("token not taken before", plan, { after: renew });
    expect(before).toMatch(/does not take the connection's key/);
    const meanwhile = await tools.refused("token not taken in the middle", plan, { meanwhile: expire, after: renew });
    expect(meanwhile).toMatch(/^halted: Start .* does not take the connection's key/);
    expect(before + meanwhile).not.toMatch(/an-old-one|the-right-token/);
  });

  it("with a dashboard that stays away, and goes on with one that comes back", async () => {
    const plan = planOnGpus("ray", { "qwen2.5-3b": [0] }, node);
    const { serve } = ray;
    expect(await tools.refused("dashboard stays away", plan, { meanwhile: () => serve.away(), after: () => serve.back() })).toMatch(
      /^halted: Start .*Ray's dashboard at http:\S+ cannot be reached \(ECONNREFUSED\)\.$/,
    );
    const backSoon = async (): Promise<void> => {
      await serve.away();
      setTimeout(() => void serve.back(), graceMs + awayMs / 2);
    };
    expect(await tools.apply(plan, backSoon)).toBe("done");
    expect(await tools.apply(null)).toBe("done");
    await vi.waitFor(() => expect([...serve.applications.keys()]).toEqual(["search"]), { timeout: 10_000 });
    said.push("ray | dashboard is away and comes back | done");
  });
});

describe("a plan that this host cannot carry out changes nothing", { timeout: 120_000 }, () => {
  let engines: ReturnType<typeof testEngines>;
  let tools: ReturnType<typeof roomTools>;
  beforeAll(() => {
    engines = testEngines();
    keyFile = join(engines.home, "key");
    const environment = { HF_TOKEN: { fromEnv: "MY_TOKEN" }, MY_KEY: { fromFile: keyFile } };
    const host = engines.host({ environment }, { environment: variables });
    restore();
    tools = roomTools({ kind: "processes", host, state: async () => (await host.observe({})) as unknown });
  });
  afterAll(() => engines.clear());

  const variables: Record<string, string | undefined> = { PATH: process.env.PATH };
  let keyFile: string;
  const restore = (): void => {
    variables.MY_TOKEN = "quite-secret";
    writeFileSync(keyFile, "quite-secret-too");
  };

  it("with a variable or a file that leads nowhere any more when an engine is to be started", async () => {
    const plan = planOnGpus("host", { "qwen2.5-3b": [0] });
    const unset = () => delete variables.MY_TOKEN;
    expect(await tools.refused("variable gone in the middle", plan, { meanwhile: unset, after: restore })).toMatch(
      /^halted: Start .*: The engines' variable HF_TOKEN refers to the studio's variable MY_TOKEN, which is not set\.$/,
    );
    const remove = () => rmSync(keyFile);
    expect(await tools.refused("key file gone in the middle", plan, { meanwhile: remove, after: restore })).toMatch(
      /^halted: Start .*: The engines' variable MY_KEY refers to the file \S+, which cannot be read\.$/,
    );
  });

  it("for want of GPUs, and on a node that is not there", async () => {
    expect(await tools.refused("not enough GPUs", planOnGpus("host", { "qwen2.5-3b": [0, 9] }))).toMatch(
      /^refused: The plan places qwen2\.5-3b on GPU 9 of node1, which has \d+\.$/,
    );
    expect(await tools.refused("unknown node", planOnGpus("host", { "qwen2.5-3b": [0] }, "node9"))).toMatch(
      /on node9, which this cluster does not have\.$/,
    );
  });
});
