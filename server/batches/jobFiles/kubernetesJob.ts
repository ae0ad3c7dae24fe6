import { type KubernetesConnection, knownGpuProducts } from "@/server/kubernetes/connection";
import { labels, labelValue, manager } from "@/server/kubernetes/names";
import { gpuResource } from "@/server/kubernetes/podTemplate";
import { yamlDocuments } from "@/server/lib/yamlText";
import type { ExpertsOrder } from "@/server/store/documents/batchOrder";
import { grouped, inputParts } from "./jobParts";
import type { SessionInput } from "./sessionInputs";
import { workerProgram } from "./workerProgram";

/** For a cluster without a Kubernetes connection: vLLM's own image, at a fixed tag. */
const defaultImage = "vllm/vllm-openai:v0.11.0";

/** A worker that fails this often stays failed; the others continue. */
const retriesPerWorker = 3;

export interface KubernetesJobParts {
  /** Of all objects: a DNS label. */
  readonly name: string;
  /** The sessions of all workers, as JSON. */
  readonly sessions: string;
  readonly inputs: readonly SessionInput[];
  /** null: defaults. */
  readonly connection: KubernetesConnection | null;
}

/** The experts' stage of a batch as an Indexed Job, a pod for each worker, with its inputs in ConfigMaps and its results on a volume claim. */
export function kubernetesJob(order: ExpertsOrder, { name, sessions, inputs, connection }: KubernetesJobParts): string {
  const metadata = (suffix: string) => ({
    name: `${name}${suffix}`,
    ...(connection === null ? {} : { namespace: connection.namespace }),
    labels: { [labels.managedBy]: manager, "weir.dev/batch": labelValue(name) },
  });
  const data = { "worker.py": workerProgram, "sessions.json": sessions };
  const programMap = { apiVersion: "v1", kind: "ConfigMap", metadata: metadata("-program"), data };
  const inputMaps = grouped(inputParts(inputs)).map((parts, at) => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: metadata(`-inputs-${at}`),
    binaryData: Object.fromEntries(parts.map(({ file, base64 }) => [file, base64])),
  }));
  const claim = {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: metadata("-results"),
    spec: { accessModes: ["ReadWriteMany"], resources: { requests: { storage: "10Gi" } } },
  };
  const workers = order.sessions.length;
  const job = {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: metadata(""),
    spec: {
      ...{ completions: workers, parallelism: workers, completionMode: "Indexed", backoffLimitPerIndex: retriesPerWorker },
      template: { metadata: { labels: metadata("").labels }, spec: podSpec(order, { connection, metadata, inputMaps }) },
    },
  };
  return yamlDocuments([programMap, ...inputMaps, claim, job]);
}

interface PodParts {
  readonly connection: KubernetesConnection | null;
  readonly metadata: (suffix: string) => { readonly name: string };
  readonly inputMaps: readonly { readonly metadata: { readonly name: string } }[];
}

function podSpec(order: ExpertsOrder, { connection, metadata, inputMaps }: PodParts) {
  const gpus = { [gpuResource]: `${order.request.gpusPerWorker}` };
  const isShared = order.request.gpusPerWorker > 1;
  const weights = connection?.weights;
  const mounts = [
    { name: "program", mountPath: "/program" },
    { name: "inputs", mountPath: "/inputs" },
    { name: "results", mountPath: "/results" },
    // Ranks on one node communicate over shared memory, of which containers have 64 MB by default.
    ...(isShared ? [{ name: "shm", mountPath: "/dev/shm" }] : []),
    ...(weights === undefined ? [] : [{ name: "weights", mountPath: weights.mountPath, readOnly: true }]),
  ];
  return {
    restartPolicy: "Never",
    ...placedOn(order.gpu, connection),
    tolerations: [{ key: gpuResource, operator: "Exists", effect: "NoSchedule" }],
    enableServiceLinks: false,
    containers: [
      {
        name: "worker",
        image: connection?.engine.kind === "vllm" ? connection.engine.image : defaultImage,
        // Kubernetes replaces the index; all of it is constant.
        command: ["python3", "/program/worker.py", "$(JOB_COMPLETION_INDEX)", "/inputs", "/results"],
        env: Object.entries(connection?.env ?? {}).map(([name, from]) =>
          "value" in from ? { name, value: from.value } : { name, valueFrom: { secretKeyRef: { name: from.secret, key: from.key } } },
        ),
        resources: { requests: gpus, limits: gpus },
        volumeMounts: mounts,
      },
    ],
    volumes: [
      { name: "program", configMap: { name: metadata("-program").name } },
      { name: "inputs", projected: { sources: inputMaps.map((map) => ({ configMap: { name: map.metadata.name } })) } },
      { name: "results", persistentVolumeClaim: { claimName: metadata("-results").name } },
      ...(isShared ? [{ name: "shm", emptyDir: { medium: "Memory" } }] : []),
      ...(weights === undefined ? [] : [{ name: "weights", persistentVolumeClaim: { claimName: weights.claim } }]),
    ],
  };
}

/** On nodes with the GPUs for which sessions were placed, if nodes declare their GPUs. */
function placedOn(gpu: string, connection: KubernetesConnection | null) {
  const products = Object.entries({ ...knownGpuProducts, ...connection?.gpuProducts }).flatMap(([product, card]) =>
    card === gpu ? [product] : [],
  );
  if (connection === null || connection.gpu === gpu || products.length === 0) return {};
  const nodeSelectorTerms = [{ matchExpressions: [{ key: "nvidia.com/gpu.product", operator: "In", values: products }] }];
  return { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } } };
}
