import type { EngineOrder } from "@/server/contracts/engine/engineOrder";
import type { KubernetesConnection } from "./connection";
import { engineCommand } from "./engineCommand";

/** Port on which engines listen inside their pods. */
export const enginePort = 8000;

/** One port is sufficient: every pod has its own address. */
const rendezvousPort = 29_500;

export const gpuResource = "nvidia.com/gpu";

const probeSeconds = 5;

/** Role in a group of pods on several nodes, one per node; `first` answers requests. */
export type GroupRole = "alone" | "first" | "other";

/** The command of an engine's pod; null if the connection does not know its model. */
export function podCommand(engine: EngineOrder, connection: KubernetesConnection, role: GroupRole): readonly string[] | null {
  const lws = { rank: "$(LWS_WORKER_INDEX)", leader: "$(LWS_LEADER_ADDRESS)", rendezvousPort };
  const group = { nodes: engine.placements.length, ...lws, first: role === "first" };
  return engineCommand(engine, connection, {
    port: enginePort,
    group: role === "alone" ? null : group,
    // Kubernetes replaces $(NAME) from the environment, which is intended only for its own values about a group's pods.
    literal: (argument) => argument.replaceAll("$(", "$$$$("),
  });
}

export interface PodTemplateParts {
  readonly engine: EngineOrder;
  readonly connection: KubernetesConnection;
  readonly role: GroupRole;
  readonly labels: Readonly<Record<string, string>>;
  readonly command: readonly string[];
  /** Nodes on which it may run. */
  readonly nodes: readonly string[];
}

/** The pod of an engine, or one of its group: on its node, with the plan's number of GPUs there. The node chooses which ones. */
export function podTemplate({ engine, connection, role, labels, command, nodes }: PodTemplateParts) {
  const { image } = connection.models[engine.model]?.engine ?? connection.engine;
  const gpus = { [gpuResource]: `${engine.placements[0]?.gpus.length ?? 0}` };
  const health = { httpGet: { path: "/health", port: enginePort }, periodSeconds: probeSeconds, timeoutSeconds: probeSeconds };
  const { weights } = connection;
  const shared = engine.tp * engine.pp > 1;
  return {
    metadata: { labels },
    spec: {
      ...placeOn(nodes),
      tolerations: [{ key: gpuResource, operator: "Exists", effect: "NoSchedule" }],
      // A Service called "vllm" would set VLLM_PORT to an address where vLLM expects a number.
      enableServiceLinks: false,
      terminationGracePeriodSeconds: connection.graceSeconds,
      containers: [
        {
          name: "engine",
          image,
          command: [...command],
          env: Object.entries(connection.env).map(([name, from]) =>
            "value" in from ? { name, value: from.value } : { name, valueFrom: { secretKeyRef: { name: from.secret, key: from.key } } },
          ),
          resources: { requests: gpus, limits: gpus },
          volumeMounts: [
            // Ranks on one node communicate over shared memory, of which containers have 64 MB by default.
            ...(shared ? [{ name: "shm", mountPath: "/dev/shm" }] : []),
            ...(weights === undefined ? [] : [{ name: "weights", mountPath: weights.mountPath, readOnly: true }]),
          ],
          ...(role === "other"
            ? {}
            : {
                ports: [{ name: "http", containerPort: enginePort, protocol: "TCP" }],
                readinessProbe: { ...health, failureThreshold: 3 },
                startupProbe: { ...health, failureThreshold: Math.ceil(connection.loadSeconds / probeSeconds) },
              }),
        },
      ],
      volumes: [
        ...(shared ? [{ name: "shm", emptyDir: { medium: "Memory" } }] : []),
        ...(weights === undefined ? [] : [{ name: "weights", persistentVolumeClaim: { claimName: weights.claim } }]),
      ],
    },
  };
}

/** A label with the node's host name, which is usually the node's name. */
const hostnameLabel = "kubernetes.io/hostname";

function placeOn(nodes: readonly string[]) {
  const [only] = nodes;
  if (only !== undefined && nodes.length === 1) return { nodeSelector: { [hostnameLabel]: only } };
  const terms = [{ matchExpressions: [{ key: hostnameLabel, operator: "In", values: [...nodes] }] }];
  return { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } } } };
}
