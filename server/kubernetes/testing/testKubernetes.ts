import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AppsV1Api, CoreV1Api, CustomObjectsApi, KubeConfig, PatchStrategy, setHeaderOptions, type V1Pod } from "@kubernetes/client-node";
import { condition } from "@/scripts/needs.mjs";
import { connectionSchema, type KubernetesConnectionInput } from "../connection";
import { startTestApiServer, type TestApiServer } from "./testApiServer";
import { testImages } from "./testEngines";
import { TestKubelet } from "./testKubelet";

/** A kubeconfig of an API server with nothing else behind it, such as `kube-apiserver` alone; without it the stand-in is started. */
export const realKubeconfig = process.env.WEIR_TEST_KUBECONFIG;

/** What only a stand-in does: no real API server is asked for it. */
export const standInKubernetes = condition("a stand-in for Kubernetes (no WEIR_TEST_KUBECONFIG)", realKubeconfig === undefined);

export const mergePatch = setHeaderOptions("Content-Type", PatchStrategy.MergePatch);

export type TestKubernetes = Awaited<ReturnType<typeof startTestKubernetes>>;

/**
 * An API server with two nodes of four L40S each, a namespace, and a component that runs its pods. `stop` removes everything that it
 * created.
 */
export async function startTestKubernetes() {
  const folder = mkdtempSync(join(tmpdir(), "weir-kubernetes-"));
  const tag = randomBytes(3).toString("hex");
  const namespace = `weir-test-${tag}`;
  const kubeconfigPath = join(folder, "kubeconfig");
  const standIn = realKubeconfig === undefined ? await startTestApiServer() : null;
  standIn?.tokens.add("good");
  const kubeconfig = standIn === null ? readFileSync(realKubeconfig ?? "", "utf8") : kubeconfigOf(standIn);
  writeFileSync(kubeconfigPath, kubeconfig, { mode: 0o600 });
  const config = new KubeConfig();
  config.loadFromFile(kubeconfigPath);
  const core = config.makeApiClient(CoreV1Api);
  const apps = config.makeApiClient(AppsV1Api);
  const nodes = [`node1-${tag}`, `node2-${tag}`] as const;

  await core.createNamespace({ body: { metadata: { name: namespace } } });
  await core.createNamespacedServiceAccount({ namespace, body: { metadata: { name: "default" } } });
  for (const name of nodes) {
    const labels = { "kubernetes.io/hostname": name, "nvidia.com/gpu.product": "NVIDIA-L40S" };
    await core.createNode({ body: { metadata: { name, labels } } });
    const gpus = { "nvidia.com/gpu": "4", cpu: "8", memory: "64Gi", pods: "100" };
    const conditions = [{ type: "Ready", status: "True", reason: "KubeletReady", message: "" }];
    const status = { capacity: gpus, allocatable: gpus, conditions, addresses: [{ type: "InternalIP", address: "127.0.0.1" }] };
    await core.patchNodeStatus({ name, body: { status } }, mergePatch);
  }
  const kubelet = new TestKubelet(config, namespace);

  const groups = { group: "leaderworkerset.x-k8s.io", version: "v1", plural: "leaderworkersets", namespace };
  const leaderWorkerSets = await config
    .makeApiClient(CustomObjectsApi)
    .listNamespacedCustomObject(groups)
    .then(
      () => true,
      () => false,
    );

  return {
    standIn,
    /** Whether their API is installed. */
    leaderWorkerSets,
    namespace,
    nodes,
    kubeconfig,
    kubeconfigPath,
    core,
    apps,
    connection: (change: Partial<KubernetesConnectionInput> = {}) =>
      connectionSchema.parse({
        kind: "kubernetes",
        access: { from: "kubeconfig", path: kubeconfigPath },
        namespace,
        reach: { by: "node-port" },
        engine: { kind: "vllm", image: testImages.serving },
        models: { "qwen2.5-3b": { source: "Qwen/Qwen2.5-3B-Instruct" }, "qwen2.5-7b": { source: "Qwen/Qwen2.5-7B-Instruct" } },
        graceSeconds: 1,
        ...change,
      }),
    /** A pod that is not this studio's, on a node, with GPUs. */
    async occupy(node: string, gpus: number): Promise<() => Promise<void>> {
      const requests = { "nvidia.com/gpu": String(gpus) };
      const container = { name: "training", image: "weir.test/other:1", resources: { requests, limits: requests } };
      const spec = { nodeSelector: { "kubernetes.io/hostname": node }, containers: [container] };
      await core.createNamespacedPod({ namespace, body: { metadata: { name: "training" }, spec } });
      const bound = (pod: V1Pod) => pod.spec?.nodeName === node;
      await until(async () => bound(await core.readNamespacedPod({ namespace, name: "training" })));
      return async () => {
        await core.deleteNamespacedPod({ namespace, name: "training" });
        await until(async () => (await core.listNamespacedPod({ namespace })).items.length === 0);
      };
    },
    /** Everything that a step could have changed, except what changes with time. */
    async state(): Promise<readonly string[]> {
      const { items: deployments } = await apps.listNamespacedDeployment({ namespace });
      const { items: services } = await core.listNamespacedService({ namespace });
      const { items: pods } = await core.listNamespacedPod({ namespace });
      const { items } = await core.listNode();
      const own = items.filter(({ metadata }) => nodes.some((name) => name === metadata?.name));
      const of = (kind: string, all: readonly { metadata?: { name?: string; generation?: number }; spec?: unknown }[]) =>
        all.map(({ metadata, spec }) => `${kind} ${metadata?.name} ${JSON.stringify(spec)}`);
      return [...of("deployment", deployments), ...of("service", services), ...of("pod", pods), ...of("node", own)].sort();
    },
    async stop(): Promise<void> {
      await kubelet.stop();
      await removeNamespace(config, namespace);
      for (const name of nodes) await core.deleteNode({ name });
      await standIn?.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** Removes a namespace with all that tests leave in it, if no controller does: behind the stand-in, and behind `kube-apiserver` alone. */
export async function removeNamespace(config: KubeConfig, namespace: string): Promise<void> {
  const core = config.makeApiClient(CoreV1Api);
  const apps = config.makeApiClient(AppsV1Api);
  const names = ({ items }: { readonly items: readonly { metadata?: { name?: string } }[] }) =>
    items.map(({ metadata }) => metadata?.name ?? "");
  for (const name of names(await apps.listNamespacedDeployment({ namespace }))) await apps.deleteNamespacedDeployment({ name, namespace });
  for (const name of names(await core.listNamespacedPod({ namespace })))
    await core.deleteNamespacedPod({ name, namespace, gracePeriodSeconds: 0 });
  for (const name of names(await core.listNamespacedService({ namespace }))) await core.deleteNamespacedService({ name, namespace });
  await core.deleteNamespace({ name: namespace });
  const lingering = await core.readNamespace({ name: namespace }).catch(() => null);
  if (lingering !== null)
    await core.replaceNamespaceFinalize({ name: namespace, body: { ...lingering, spec: { finalizers: [] } } }).catch(() => null);
}

/** A kubeconfig of the stand-in. Clients require an explicit setting for its plain HTTP. */
export function kubeconfigOf(server: TestApiServer, token = "good"): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "test",
    clusters: [{ name: "test", cluster: { server: server.url, "insecure-skip-tls-verify": true } }],
    users: [{ name: "test", user: { token } }],
    contexts: [{ name: "test", context: { cluster: "test", user: "test" } }],
  });
}

export async function until(holds: () => Promise<boolean>, limitMs = 20_000): Promise<void> {
  const deadline = Date.now() + limitMs;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error("It did not come to hold in time.");
    await new Promise((wake) => setTimeout(wake, 50));
  }
}
