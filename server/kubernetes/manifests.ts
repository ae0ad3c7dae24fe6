import type { Answer } from "@/server/clusters/connector/connector";
import type { EngineOrder } from "@/server/contracts/engine/engineOrder";
import type { KubernetesConnection } from "./connection";
import { labels, labelValue, longestLabel, manager, objectName, orderAnnotation } from "./names";
import { enginePort, type GroupRole, podCommand, podTemplate } from "./podTemplate";

/** An object as it is applied. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: "Service" | "Deployment" | "LeaderWorkerSet" | "InferencePool";
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: object;
}

export interface ManifestParts {
  readonly connection: KubernetesConnection;
  readonly clusterId: string;
  /** The plan that requires it, if known: it becomes a label. */
  readonly planId?: string | undefined;
}

/**
 * The objects of one engine: a Service, and a Deployment or, if it spans several nodes, a LeaderWorkerSet; an InferencePool of its model if
 * the connection has an endpoint picker. The running object comes last, so that it never exists without the objects that lead to it.
 *
 * @returns a sentence if Kubernetes cannot run it as ordered.
 */
export function engineObjects(engine: EngineOrder, parts: ManifestParts): Answer<readonly KubeObject[]> {
  const { connection } = parts;
  const groupLabels = { [labels.cluster]: labelValue(parts.clusterId), [labels.engine]: labelValue(engine.id) };
  const podLabels = { ...groupLabels, [labels.managedBy]: manager, [labels.model]: labelValue(engine.model) };
  const metadata: KubeObject["metadata"] = {
    name: objectName(engine.id),
    namespace: connection.namespace,
    labels: { ...podLabels, ...(parts.planId === undefined ? {} : { [labels.plan]: labelValue(parts.planId.slice(0, longestLabel)) }) },
    annotations: { [orderAnnotation]: JSON.stringify(engine) },
  };
  const nodes = engine.placements.map(({ node }) => node);
  if (new Set(engine.placements.map(({ gpus }) => gpus.length)).size !== 1)
    return refused(
      `${engine.model} on ${nodes.join(", ")} has a different number of GPUs on each node, which a LeaderWorkerSet cannot have.`,
    );
  const template = (role: GroupRole, on: readonly string[]) => {
    const command = podCommand(engine, connection, role);
    return command === null ? null : podTemplate({ engine, connection, role, labels: podLabels, command, nodes: on });
  };
  const first = template(nodes.length === 1 ? "alone" : "first", nodes.slice(0, 1));
  const others = nodes.length === 1 ? first : template("other", nodes.slice(1));
  if (first === null || others === null)
    return refused(`The cluster's connection does not say what to load for ${engine.model}: it is not among its models.`);
  const running: KubeObject =
    nodes.length === 1
      ? { apiVersion: "apps/v1", kind: "Deployment", metadata, spec: deploymentSpec(connection, groupLabels, first) }
      : {
          apiVersion: "leaderworkerset.x-k8s.io/v1",
          kind: "LeaderWorkerSet",
          metadata,
          spec: {
            replicas: 1,
            leaderWorkerTemplate: {
              size: nodes.length,
              restartPolicy: "RecreateGroupOnPodRestart",
              leaderTemplate: first,
              workerTemplate: onePerNode(others, groupLabels),
            },
          },
        };
  return { ok: true, value: [service(parts, metadata, groupLabels), ...pool(parts, engine), running] };
}

const refused = (message: string) => ({ ok: false, message }) as const;

/** Replaced without a spare GPU: the old pod ends before the new one begins. */
function deploymentSpec(connection: KubernetesConnection, matchLabels: Readonly<Record<string, string>>, template: object): object {
  return {
    replicas: 1,
    revisionHistoryLimit: 2,
    progressDeadlineSeconds: connection.loadSeconds,
    strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } },
    selector: { matchLabels },
    template,
  };
}

/** Only the first of a group answers requests. */
const leaderLabel = { "leaderworkerset.sigs.k8s.io/worker-index": "0" };

function service({ connection }: ManifestParts, metadata: KubeObject["metadata"], group: Readonly<Record<string, string>>): KubeObject {
  const { annotations, ...rest } = metadata;
  const several = (JSON.parse(annotations?.[orderAnnotation] ?? "{}") as EngineOrder).placements.length > 1;
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: rest,
    spec: {
      type: connection.reach.by === "node-port" ? "NodePort" : "ClusterIP",
      selector: several ? { ...group, ...leaderLabel } : group,
      ports: [{ name: "http", port: enginePort, targetPort: enginePort, protocol: "TCP" }],
    },
  };
}

function onePerNode<Template extends ReturnType<typeof podTemplate>>(template: Template, matchLabels: Readonly<Record<string, string>>) {
  const apart = [{ labelSelector: { matchLabels }, topologyKey: "kubernetes.io/hostname" }];
  const { affinity } = template.spec as { affinity?: object };
  const podAntiAffinity = { requiredDuringSchedulingIgnoredDuringExecution: apart };
  return { ...template, spec: { ...template.spec, affinity: { ...affinity, podAntiAffinity } } };
}

/** Name of the pool of a model's engines in one cluster. */
export const poolName = (model: string, clusterId: string): string => objectName(`pool-${clusterId}-${model}`);

function pool({ connection, clusterId }: ManifestParts, engine: EngineOrder): readonly KubeObject[] {
  if (connection.pool === undefined) return [];
  const selecting = { [labels.cluster]: labelValue(clusterId), [labels.model]: labelValue(engine.model) };
  const { endpointPicker, port } = connection.pool;
  return [
    {
      apiVersion: "inference.networking.k8s.io/v1",
      kind: "InferencePool",
      metadata: {
        name: poolName(engine.model, clusterId),
        namespace: connection.namespace,
        labels: { ...selecting, [labels.managedBy]: manager },
      },
      spec: {
        selector: { matchLabels: selecting },
        targetPorts: [{ number: enginePort }],
        // A cascade knows its engines itself: if the picker is down, requests must fail and be sent elsewhere.
        endpointPickerRef: { name: endpointPicker, port: { number: port }, failureMode: "FailClose" },
      },
    },
  ];
}
