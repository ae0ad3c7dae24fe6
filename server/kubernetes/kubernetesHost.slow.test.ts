import { writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { condition, needs, skipWithout } from "@/scripts/needs.mjs";
import type { EngineOrder } from "@/server/contracts/engine/engineOrder";
import { objectName } from "./names";
import { testImages } from "./testing/testEngines";
import { hostTools } from "./testing/testHost";
import { mergePatch, standInKubernetes, startTestKubernetes, type TestKubernetes, until } from "./testing/testKubernetes";

describe("Kubernetes host", () => {
  let kubernetes: TestKubernetes;
  beforeAll(async () => {
    kubernetes = await startTestKubernetes();
  }, 60_000);
  afterAll(() => kubernetes.stop(), 60_000);

  const { host, order, told, options, sentence, observed, failing } = hostTools(() => kubernetes);

  it("finds an engine that another studio's host started, and ends it", async () => {
    const engine = order([0, 1]);
    expect(await host().start(engine, options())).toEqual({ ok: true, value: "loading" });
    const found = await observed();
    expect(found.engines).toMatchObject([{ ...omitPrecision(engine), stopping: false }]);
    expect(found.nodes.find((node) => node.name === kubernetes.nodes[0])).toMatchObject({ gpus: 4, freeGpus: 2, closed: null });
    expect(await host().stop(engine.id, options())).toEqual({ ok: true, value: "its GPUs are free" });
    expect((await observed()).engines).toEqual([]);
  }, 60_000);

  it("labels an engine with the plan that starts it, and never begins one anew for another plan's label", async () => {
    const engine = order([0]);
    const { namespace, apps, core } = kubernetes;
    const name = objectName(engine.id);
    const plans = async () =>
      [await apps.readNamespacedDeployment({ name, namespace }), await core.readNamespacedService({ name, namespace })].map(
        ({ metadata }) => metadata?.labels?.["weir.dev/plan"],
      );
    const pods = async () => (await core.listNamespacedPod({ namespace })).items.map(({ metadata }) => metadata?.uid);
    const [first, second] = ["a".repeat(64), "b".repeat(64)];
    expect((await host().start(engine, { ...options(), planId: first })).ok).toBe(true);
    expect(await plans()).toEqual([first.slice(0, 63), first.slice(0, 63)]);
    const before = await pods();
    expect(await host().start(engine, { ...options(), planId: second })).toEqual({ ok: true, value: "was up already" });
    expect((await plans())[0]).toBe(first.slice(0, 63));
    expect(await pods()).toEqual(before);
    expect((await host().stop(engine.id, options())).ok).toBe(true);
  }, 60_000);

  it("counts GPUs of pods that are none of its own, and refuses an engine that they leave no room for", async () => {
    const leave = await kubernetes.occupy(kubernetes.nodes[0], 3);
    expect((await observed()).nodes.find((node) => node.name === kubernetes.nodes[0])).toMatchObject({ gpus: 4, othersGpus: 3 });
    const engine = order([0, 1]);
    const message = await failing(() => host().start(engine, options()));
    expect(message).toBe(`${engine.id} needs 2 GPUs of ${kubernetes.nodes[0]}, of whose 4 1 is free.`);
    await leave();
  }, 60_000);

  it("refuses an engine on a node that is not there", async () => {
    expect(await failing(() => host().start(order([0], "node9"), options()))).toBe("node9 is no node with GPUs of this cluster.");
  }, 60_000);

  it("refuses a model that it was not told how to load", async () => {
    const engine = order([0], kubernetes.nodes[0], "qwen2.5-72b");
    expect(await failing(() => host().start(engine, options()))).toMatch(/does not say what to load for qwen2.5-72b/);
  });

  it("takes no engine on a cordoned node, and says so", async () => {
    const name = kubernetes.nodes[1];
    await kubernetes.core.patchNode({ name, body: { spec: { unschedulable: true } } }, mergePatch);
    const found = await observed();
    expect(found.nodes.find((node) => node.name === name)).toMatchObject({ othersGpus: 4, freeGpus: 0, closed: "is cordoned" });
    expect(found.notes).toContain(`${name} is cordoned: it takes no new engines.`);
    expect(await failing(() => host().start(order([0], name), options()))).toBe(`${name} is cordoned: it takes no new engines.`);
    await kubernetes.core.patchNode({ name, body: { spec: { unschedulable: null } } }, mergePatch);
  }, 60_000);

  it("takes an engine back that no node takes, with the scheduler's words", async () => {
    const name = kubernetes.nodes[1];
    const relabel = (label: string) =>
      kubernetes.core.patchNode({ name, body: { metadata: { labels: { "kubernetes.io/hostname": label } } } }, mergePatch);
    await relabel("renamed");
    const message = await failing(() => host({}, { placeMs: 6_000 }).start(order([0], name), options()));
    expect(message).toMatch(/^After 6 s: no node takes it: 0\/\d+ nodes are available: .*match Pod's node affinity/);
    await relabel(name);
  }, 60_000);

  it("says that credentials are expired, repeats nothing of them, and takes new ones up from the same file", async () => {
    const path = `${kubernetes.kubeconfigPath}-expired`;
    const bad = withToken(kubernetes.kubeconfig, "hf_expired_secret");
    writeFileSync(path, bad);
    const fresh = host({ access: { from: "kubeconfig", path } });
    const message = await failing(() => fresh.start(order([0]), options()));
    expect(message).toMatch(/does not take these credentials: they are expired or missing\.$/);
    expect(message).not.toContain("hf_");
    expect(sentence(await fresh.observe({}))).toBe(message);
    writeFileSync(path, kubernetes.kubeconfig);
    expect((await fresh.observe({})).ok).toBe(true);
  }, 60_000);

  it("says which kubeconfig or context is missing, and repeats nothing of a broken file", async () => {
    const { kubeconfigPath: path } = kubernetes;
    expect(sentence(await host({ access: { from: "kubeconfig", path: "/nowhere" } }).observe({}))).toBe(
      "The kubeconfig /nowhere cannot be read.",
    );
    const lost = host({ access: { from: "kubeconfig", path, context: "prod" } });
    expect(sentence(await lost.observe({}))).toBe(`The kubeconfig ${path} has no context "prod" with a cluster.`);
    writeFileSync(`${path}-broken`, "users: [{ token: sk-secret");
    const broken = sentence(await host({ access: { from: "kubeconfig", path: `${path}-broken` } }).observe({}));
    expect(broken).toBe(`The kubeconfig ${path}-broken cannot be read.`);
  });

  it("waits for an API server that is away and comes back", { ...needs(standInKubernetes), timeout: 30_000 }, async () => {
    const engine = order([2]);
    await kubernetes.standIn?.away();
    const starting = host({}, { awayMs: 10_000 }).start(engine, options());
    await sleep(600);
    await kubernetes.standIn?.back();
    expect(await starting).toEqual({ ok: true, value: "loading" });
    expect(told.join()).toMatch(/The API server at http:\S+ cannot be reached \(ECONNREFUSED\)\./);
    expect((await host().stop(engine.id, options())).ok).toBe(true);
  });

  it("gives up on an API server that stays away, and changes nothing", { ...needs(standInKubernetes), timeout: 30_000 }, async () => {
    const before = await kubernetes.state();
    await kubernetes.standIn?.away();
    const message = sentence(await host().start(order([2]), options()));
    expect(message).toMatch(/^The API server at http:\S+ cannot be reached \(ECONNREFUSED\)\.$/);
    await kubernetes.standIn?.back();
    expect(await kubernetes.state()).toEqual(before);
  });

  it("leaves a field alone that another manager holds, names both, and applies nothing of the rest", async () => {
    const engine = order([0]);
    const { namespace, apps } = kubernetes;
    const name = objectName(engine.id);
    const labels = { app: "foreign" };
    const template = { metadata: { labels }, spec: { containers: [{ name: "engine", image: "weir.test/other:1" }] } };
    const spec = { replicas: 0, selector: { matchLabels: labels }, template };
    await apps.createNamespacedDeployment({ namespace, body: { metadata: { name }, spec }, fieldManager: "helm" });
    await until(async () => (await apps.readNamespacedDeployment({ namespace, name })).status?.observedGeneration === 1);
    const message = await failing(() => host().start(engine, options()));
    expect(message).toMatch(/^Deployment \S+ is refused: \.\S+ is held by helm, not by Weir, and \d+ more fields?\.$/);
    await apps.deleteNamespacedDeployment({ namespace, name });
  }, 60_000);

  it("leaves an engine that stands as it is, whatever its connection says by now", async () => {
    const engine = order([0]);
    expect((await host().start(engine, options())).ok).toBe(true);
    const before = await kubernetes.state();
    const newer = host({ loadSeconds: 77, engine: { kind: "sglang", image: testImages.crashing } });
    expect(await newer.start(engine, options())).toEqual({ ok: true, value: "was up already" });
    expect(await kubernetes.state()).toEqual(before);
    expect((await host().stop(engine.id, options())).ok).toBe(true);
  }, 60_000);

  it("says which field somebody turned under an engine, instead of turning it back", async () => {
    const engine = order([0]);
    expect((await host().start(engine, options())).ok).toBe(true);
    const { namespace, apps } = kubernetes;
    const patch = { namespace, name: objectName(engine.id), fieldManager: "kubectl-edit", body: { spec: { progressDeadlineSeconds: 77 } } };
    await apps.patchNamespacedDeployment(patch, mergePatch);
    const message = await failing(() => host().start(engine, options()));
    expect(message).toBe(
      `Deployment ${objectName(engine.id)} is refused: .spec.progressDeadlineSeconds is held by kubectl-edit, not by Weir.`,
    );
    expect((await host().stop(engine.id, options())).ok).toBe(true);
  }, 60_000);

  it.each([
    [testImages.crashing, /^The engine keeps crashing: it ended with exit code 3, 4 times so far\.$/],
    [testImages.missing, /^Its container cannot be made: ImagePullBackOff, Back-off pulling image "weir.test\/nowhere:1"\.$/],
  ])(
    "tells of an engine of image %s why it will never be up, and leaves nothing of it",
    async (image, words) => {
      const before = await kubernetes.state();
      const engine = order([3]);
      const one = host({ engine: { kind: "sglang", image } });
      expect((await one.start(engine, options())).ok).toBe(true);
      await until(async () => "failed" in ((await one.why(engine.id, {})) ?? {}));
      expect(await one.why(engine.id, {})).toEqual({ failed: expect.stringMatching(words) });
      expect((await one.stop(engine.id, options())).ok).toBe(true);
      expect(await kubernetes.state()).toEqual(before);
    },
    30_000,
  );

  it("plans with the pods of its namespace where it may see no others, and says so", needs(standInKubernetes), async () => {
    kubernetes.standIn?.forbidden.add("pods");
    expect((await observed()).notes.join()).toMatch(
      /^Pods of other namespaces than \S+ may not be seen: GPUs that they use are counted as free\./,
    );
    kubernetes.standIn?.forbidden.clear();
  });

  it("says that LeaderWorkerSets are not installed where an engine needs one", async (context) => {
    skipWithout(context, condition("a Kubernetes without LeaderWorkerSets", kubernetes.standIn !== null || !kubernetes.leaderWorkerSets));
    kubernetes.standIn?.absent.add("leaderworkersets");
    const placements = kubernetes.nodes.map((node) => ({ node, gpus: [0, 1] }));
    const engine = { ...order([0, 1]), id: "two-nodes", pp: 2, placements };
    const message = await failing(() => host().start(engine, options()));
    expect(message).toMatch(/^The cluster does not know LeaderWorkerSet: its API is not installed\./);
    kubernetes.standIn?.absent.clear();
  }, 60_000);

  it("runs an engine on two nodes as one group, which goes as one", async (context) => {
    skipWithout(context, condition("LeaderWorkerSets in Kubernetes", kubernetes.leaderWorkerSets));
    const placements = kubernetes.nodes.map((node) => ({ node, gpus: [0, 1] }));
    const engine = { ...order([0, 1]), id: "two-nodes", pp: 2, placements };
    const before = await kubernetes.state();
    expect(await host().start(engine, options())).toEqual({ ok: true, value: "loading" });
    const { engines, nodes } = await observed();
    expect(engines).toMatchObject([{ id: "two-nodes", placements }]);
    for (const name of kubernetes.nodes) expect(nodes.find((node) => node.name === name)?.freeGpus).toBe(2);
    const url = engines[0]?.url ?? "";
    await until(async () => (await fetch(`${url}/health`).catch(() => null))?.ok ?? false);
    expect(await host().why(engine.id, {})).toBeNull();
    expect(await host().stop(engine.id, options())).toEqual({ ok: true, value: "its GPUs are free" });
    expect(await kubernetes.state()).toEqual(before);
  }, 60_000);

  it("breaks off when it is told to", async () => {
    await expect(host().start(order([0]), { ...options(), signal: AbortSignal.abort() })).rejects.toThrow();
  });
});

const omitPrecision = ({ precision: _, ...rest }: EngineOrder) => rest;

/** A kubeconfig whose user has only a token. */
function withToken(kubeconfig: string, token: string): string {
  const config = parse(kubeconfig) as { users: { name: string; user: object }[] };
  return JSON.stringify({ ...config, users: config.users.map(({ name }) => ({ name, user: { token } })) });
}
