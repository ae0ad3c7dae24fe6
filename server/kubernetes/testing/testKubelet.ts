import { setTimeout as sleep } from "node:timers/promises";
import {
  AppsV1Api,
  CoreV1Api,
  CustomObjectsApi,
  type KubeConfig,
  PatchStrategy,
  setHeaderOptions,
  type V1Deployment,
  type V1Node,
  type V1Pod,
  type V1PodTemplateSpec,
  type V1Service,
} from "@kubernetes/client-node";
import { type ContainerProcess, startContainer, testImages } from "./testEngines";

/** Part of a container's status in the kubelets' form. */
type ContainerState = Record<string, unknown>;

interface Standing {
  readonly pods: readonly V1Pod[];
  readonly services: readonly V1Service[];
  readonly nodes: readonly V1Node[];
}

/** The fields of a LeaderWorkerSet that are read. */
interface Group {
  readonly metadata: { readonly name: string; readonly uid: string; readonly deletionTimestamp?: string };
  readonly spec: {
    readonly leaderWorkerTemplate: {
      readonly size: number;
      readonly leaderTemplate: V1PodTemplateSpec;
      readonly workerTemplate: V1PodTemplateSpec;
    };
  };
}

const groupApi = { group: "leaderworkerset.x-k8s.io", version: "v1", plural: "leaderworkersets" };
const merge = setHeaderOptions("Content-Type", PatchStrategy.MergePatch);
const gpuResource = "nvidia.com/gpu";
const roundMs = 50;

/**
 * Runs pods behind an API server without controllers: the controllers of Deployments, the scheduler, the garbage collector, the proxy of
 * Services and the kubelets, each as far as engines need it; and the controller of LeaderWorkerSets. Uses Kubernetes' API only through its
 * published client.
 */
export class TestKubelet {
  private readonly core: CoreV1Api;
  private readonly apps: AppsV1Api;
  private readonly custom: CustomObjectsApi;
  private readonly containers = new Map<string, ContainerProcess>();
  private readonly running: Promise<void>;
  private stopped = false;

  constructor(
    config: KubeConfig,
    private readonly namespace: string,
  ) {
    this.core = config.makeApiClient(CoreV1Api);
    this.apps = config.makeApiClient(AppsV1Api);
    this.custom = config.makeApiClient(CustomObjectsApi);
    this.running = this.keepGoing();
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.running;
    await Promise.all([...this.containers.values()].map((one) => one.end()));
  }

  private async keepGoing(): Promise<void> {
    while (!this.stopped) {
      // A round that conflicts with another writer, or finds no server, is repeated by the next.
      await this.round().catch(() => undefined);
      await sleep(roundMs);
    }
  }

  private async round(): Promise<void> {
    const { namespace } = this;
    const { items: deployments } = await this.apps.listNamespacedDeployment({ namespace });
    const standing: Standing = {
      pods: (await this.core.listNamespacedPod({ namespace })).items,
      services: (await this.core.listNamespacedService({ namespace })).items,
      nodes: (await this.core.listNode()).items,
    };
    for (const deployment of deployments) await this.control(deployment, standing.pods);
    const groups = await this.custom.listNamespacedCustomObject({ ...groupApi, namespace }).catch(() => ({ items: [] }));
    for (const group of (groups as { items: Group[] }).items) await this.controlGroup(group, standing.pods);
    for (const pod of standing.pods) {
      if (pod.metadata?.deletionTimestamp !== undefined) await this.end(pod);
      else if (pod.spec?.nodeName === undefined) await this.schedule(pod, standing);
      else await this.run(pod, standing);
    }
  }

  private async control(deployment: V1Deployment, pods: readonly V1Pod[]): Promise<void> {
    const { namespace } = this;
    const { uid = "", name = "", deletionTimestamp, finalizers = [], generation } = deployment.metadata ?? {};
    const own = pods.filter((pod) => pod.metadata?.ownerReferences?.some((owner) => owner.uid === uid));
    if (deletionTimestamp !== undefined) {
      const left = own.filter((pod) => pod.metadata?.deletionTimestamp === undefined);
      for (const pod of left) await this.core.deleteNamespacedPod({ namespace, name: pod.metadata?.name ?? "" });
      const body = { metadata: { finalizers: finalizers.filter((one) => one !== "foregroundDeletion") } };
      if (own.length === 0) await this.apps.patchNamespacedDeployment({ namespace, name, body }, merge);
      return;
    }
    const template = deployment.spec?.template;
    if (own.length === 0 && template?.spec !== undefined && deployment.spec?.replicas !== 0) {
      const ownerReferences = [{ apiVersion: "apps/v1", kind: "Deployment", name, uid, controller: true, blockOwnerDeletion: true }];
      const metadata = { ...template.metadata, name: `${name}-${uid.slice(0, 5)}`, ownerReferences };
      await this.core.createNamespacedPod({ namespace, body: { metadata, spec: template.spec } });
    }
    const ready = own.filter((pod) => pod.status?.conditions?.some((one) => one.type === "Ready" && one.status === "True")).length;
    const conditions = [
      {
        type: "Available",
        status: ready > 0 ? "True" : "False",
        reason: ready > 0 ? "MinimumReplicasAvailable" : "MinimumReplicasUnavailable",
      },
    ];
    const status = { observedGeneration: generation, replicas: own.length, readyReplicas: ready, conditions };
    await this.apps.patchNamespacedDeploymentStatus({ namespace, name, body: { status } }, merge);
  }

  /** The first of a group has index 0, by which Services find it. */
  private async controlGroup({ metadata: { name, uid, deletionTimestamp }, spec }: Group, pods: readonly V1Pod[]): Promise<void> {
    const { namespace } = this;
    const own = pods.filter((pod) => pod.metadata?.ownerReferences?.some((owner) => owner.uid === uid));
    if (deletionTimestamp !== undefined) {
      const left = own.filter((pod) => pod.metadata?.deletionTimestamp === undefined);
      for (const pod of left) await this.core.deleteNamespacedPod({ namespace, name: pod.metadata?.name ?? "" });
      const body = { metadata: { finalizers: null } };
      if (own.length === 0) await this.custom.patchNamespacedCustomObject({ ...groupApi, namespace, name, body }, merge);
      return;
    }
    const { size, leaderTemplate, workerTemplate } = spec.leaderWorkerTemplate;
    for (let index = own.length; index < size; index += 1) {
      const template = index === 0 ? leaderTemplate : workerTemplate;
      const labels = { ...template.metadata?.labels, "leaderworkerset.sigs.k8s.io/worker-index": `${index}` };
      const ownerReferences = [{ apiVersion: "leaderworkerset.x-k8s.io/v1", kind: "LeaderWorkerSet", name, uid }];
      const metadata = { labels, ownerReferences, name: index === 0 ? `${name}-0` : `${name}-0-${index}` };
      if (template.spec !== undefined) await this.core.createNamespacedPod({ namespace, body: { metadata, spec: template.spec } });
    }
  }

  private async schedule(pod: V1Pod, { pods, nodes }: Standing): Promise<void> {
    const wanted = pod.spec?.nodeSelector?.["kubernetes.io/hostname"];
    const asked = gpusOf(pod);
    const fitting = nodes.filter((node) => wanted === undefined || node.metadata?.labels?.["kubernetes.io/hostname"] === wanted);
    const free = (node: V1Node): number => {
      const there = pods.filter((one) => one.spec?.nodeName === node.metadata?.name);
      return Number(node.status?.allocatable?.[gpuResource] ?? 0) - there.reduce((sum, one) => sum + gpusOf(one), 0);
    };
    const name = pod.metadata?.name ?? "";
    const { namespace } = this;
    const [node] = fitting.filter((one) => one.spec?.unschedulable !== true && free(one) >= asked);
    if (node !== undefined) {
      const target = { apiVersion: "v1", kind: "Node", name: node.metadata?.name ?? "" };
      await this.core.createNamespacedPodBinding({ namespace, name, body: { metadata: { name }, target } });
      return;
    }
    const why = fitting.length === 0 ? "node(s) didn't match Pod's node affinity/selector" : `Insufficient ${gpuResource}`;
    const message = `0/${nodes.length} nodes are available: ${Math.max(1, fitting.length)} ${why}.`;
    const status = { phase: "Pending", conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message }] };
    await this.core.patchNamespacedPodStatus({ namespace, name, body: { status } }, merge);
  }

  private async run(pod: V1Pod, { services }: Standing): Promise<void> {
    const [container] = pod.spec?.containers ?? [];
    const uid = pod.metadata?.uid ?? "";
    if (container === undefined) return;
    const image = container.image ?? "";
    const known: readonly string[] = Object.values(testImages);
    // Test pods that only hold GPUs have their own image and never start.
    if (!known.includes(image)) return;
    if (image === testImages.missing)
      return this.tell(pod, { waiting: { reason: "ImagePullBackOff", message: `Back-off pulling image "${image}"` } }, false);
    // Ranks that answer no requests have no port.
    if (container.command?.includes("--headless")) return this.tell(pod, { running: {} }, true);
    const port = services.find((service) => selects(service, pod))?.spec?.ports?.[0]?.nodePort;
    if (port === undefined) return;
    const process = this.containers.get(uid) ?? startContainer({ image, command: container.command ?? [], port });
    this.containers.set(uid, process);
    const exitCode = process.exitCode();
    if (exitCode !== null) {
      const terminated = { exitCode, reason: "Error" };
      return this.tell(
        pod,
        { waiting: { reason: "CrashLoopBackOff", message: "back-off restarting failed container" } },
        false,
        terminated,
      );
    }
    const healthy = await fetch(`http://127.0.0.1:${port}/health`).then(
      (answer) => answer.ok,
      () => false,
    );
    await this.tell(pod, { running: {} }, healthy);
  }

  private async tell(pod: V1Pod, state: ContainerState, ready: boolean, terminated?: object): Promise<void> {
    const said = { type: "Ready", status: ready ? "True" : "False" };
    const conditions = [{ type: "PodScheduled", status: "True" }, said];
    const lastState = terminated === undefined ? {} : { terminated };
    const [container] = pod.spec?.containers ?? [];
    const of = { name: container?.name, image: container?.image, imageID: "", restartCount: terminated === undefined ? 0 : 4 };
    const status = {
      phase: "running" in state ? "Running" : "Pending",
      conditions,
      containerStatuses: [{ ...of, ready, state, lastState }],
    };
    await this.core.patchNamespacedPodStatus({ namespace: this.namespace, name: pod.metadata?.name ?? "", body: { status } }, merge);
  }

  private async end(pod: V1Pod): Promise<void> {
    const uid = pod.metadata?.uid ?? "";
    await this.containers.get(uid)?.end();
    this.containers.delete(uid);
    await this.core.deleteNamespacedPod({ namespace: this.namespace, name: pod.metadata?.name ?? "", gracePeriodSeconds: 0 });
  }
}

const gpusOf = (pod: V1Pod): number =>
  (pod.spec?.containers ?? []).reduce((sum, one) => sum + Number(one.resources?.requests?.[gpuResource] ?? 0), 0);

const selects = (service: V1Service, pod: V1Pod): boolean =>
  Object.entries(service.spec?.selector ?? { "": "" }).every(([key, value]) => pod.metadata?.labels?.[key] === value);
