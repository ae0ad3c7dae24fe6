import type { EngineOrder } from "@/server/contracts/engine/engineOrder";
import type { KubernetesConnection } from "./connection";
import { engineCommand } from "./engineCommand";

/** Where engines listen inside their pods. */
export const enginePort = 8000;

/** Every pod has an address of its own. */
const rendezvousPort = 29_500;

export const gpuResource = "nvidia.com/gpu";

const probeSeconds = 5;

/** Part of a group of pods on several nodes, one a node; `first` answers requests. */
export type GroupRole = "alone" | "first" | "other";

/** The command that a pod of an engine runs; null where the connection does not know its model. */
export function podCommand(engine: EngineOrder, connection: KubernetesConnection, role: GroupRole): readonly string[] | null {
  const lws = { rank: "$(LWS_WORKER_INDEX)", leader: "$(LWS_LEADER_ADDRESS)", rendezvousPort };
  const group = { nodes: engine.placements.length, ...lws, first: role === "first" };
  return engineCommand(engine, connection, {
    port: enginePort,
    group: role === "alone" ? null : group,
    // Kubernetes replaces $(NAME) by the environment, which is meant for what it says of a group's pods only.
    literal: (argument) => argument.replaceAll("$(", "$$$$("),
  });
}

export interface PodTemplateParts {
  readonly engine: EngineOrder;
  readonly connection: KubernetesConnection;
  readonly role: GroupRole;
  readonly labels: Readonly<Record<string, string>>;
  readonly command: readonly string[];
  /** Nodes that it may stand on. */
  readonly nodes: readonly string[];
}

/** The pod of an engine, or one of its group: on its node, with as many GPUs as the plan gives it there. Which ones the node chooses. */
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
      // A Service called "vllm" would set VLLM_PORT to an address where vLLM reads a number.
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
            // Ranks on one node talk over shared memory, of which containers have 64 MB.
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

/** A label says which host a node is; its name usually is the same. */
const hostnameLabel = "kubernetes.io/hostname";

function placeOn(nodes: readonly string[]) {
  const [only] = nodes;
  if (only !== undefined && nodes.length === 1) return { nodeSelector: { [hostnameLabel]: only } };
  const terms = [{ matchExpressions: [{ key: hostnameLabel, operator: "In", values: [...nodes] }] }];
  return { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } } } };
}
