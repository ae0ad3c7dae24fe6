import { z } from "zod";
import { clusterFields } from "@/server/contracts/gateway/clusterFields";
import { givesKey, namesAKey } from "@/server/lib/secrets";
import { argument, dnsLabel, dnsName, machineName, oneLine, variableName, weightsSource } from "@/solver/wording/names";

const engineSchema = z.strictObject({
  kind: z.enum(["vllm", "sglang"]),
  /** Container image, preferably with a fixed tag or digest. */
  image: machineName,
});

/** Cards of GPUs by the value of NVIDIA's feature discovery in `nvidia.com/gpu.product`; an operator's own are added. */
export const knownGpuProducts: Readonly<Record<string, string>> = {
  "NVIDIA-A100-SXM4-80GB": "a100-sxm-80g",
  "NVIDIA-A100-80GB-PCIe": "a100-pcie-80g",
  "NVIDIA-H100-80GB-HBM3": "h100-sxm",
  "NVIDIA-H100-PCIe": "h100-pcie",
  "NVIDIA-H200": "h200-sxm",
  "NVIDIA-B200": "b200-sxm",
  "NVIDIA-B300": "b300-sxm",
  "NVIDIA-GB200": "gb200",
  "NVIDIA-L40S": "l40s",
  "NVIDIA-L4": "l4",
  "NVIDIA-A30": "a30",
  "NVIDIA-A10G": "a10g",
  "NVIDIA-GeForce-RTX-4090": "rtx-4090",
};

const plainText = argument.refine(
  (text) => !givesKey(text),
  "This looks like a key: put it into a Secret of the namespace and name that under env.",
);

/** Host and port only: engines are called under `/v1`, so a proxy's own path would be lost. */
const urlTemplate = oneLine.regex(
  /^https?:\/\/[^/?#]+\/?$/,
  "must be http:// or https:// with a host and no path, such as http://{service}.{namespace}.engines.example.com",
);

/** Where a Kubernetes cluster is and how engines run in it. Credentials stay in the kubeconfig and in the cluster's Secrets. */
export const connectionSchema = z.strictObject({
  kind: z.literal("kubernetes"),
  access: z.discriminatedUnion("from", [
    z.strictObject({ from: z.literal("kubeconfig"), path: oneLine.min(1), context: oneLine.min(1).optional() }),
    /** The service account of the pod that the studio runs in. */
    z.strictObject({ from: z.literal("in-cluster") }),
  ]),
  namespace: dnsLabel,
  /** How gateway and studio reach engines: their Services' names, a port of their node, or through a proxy. */
  reach: z
    .discriminatedUnion("by", [
      z.strictObject({ by: z.literal("service") }),
      /** `host` if nodes are reached under another address than the one they report. */
      z.strictObject({ by: z.literal("node-port"), host: oneLine.min(1).optional() }),
      /** `{service}` and `{namespace}` are filled in. */
      z.strictObject({ by: z.literal("url"), template: urlTemplate }),
    ])
    .default({ by: "service" }),
  engine: engineSchema,
  /** By card: the weights, flags in addition to Weir's own, and another engine than the cluster's. */
  models: z.record(
    machineName,
    z.strictObject({ source: weightsSource, args: z.array(plainText).default([]), engine: engineSchema.optional() }),
  ),
  /** Environment of engines. Secrets are referenced by name, never stored here. */
  env: z
    .record(variableName, z.union([z.strictObject({ value: plainText }), z.strictObject({ secret: dnsName, key: oneLine.min(1) })]))
    .default({})
    .superRefine((env, context) => {
      for (const [name, from] of Object.entries(env)) {
        if ("value" in from && namesAKey(name))
          context.addIssue({
            code: "custom",
            path: [name],
            message: "is a secret by its name: name the Secret and key that hold it instead",
          });
      }
    }),
  /** A volume claim with weights, for sources that are paths. */
  weights: z.strictObject({ claim: dnsName, mountPath: oneLine.startsWith("/") }).optional(),
  /** Cards by `nvidia.com/gpu.product`, in addition to the known ones. */
  gpuProducts: z.record(oneLine, machineName).default({}),
  /** Card of GPUs whose nodes have no such label. */
  gpu: machineName.optional(),
  /** Time limit for an engine to load. */
  loadSeconds: z.int().positive().default(1800),
  /** Time for an ending engine to finish its requests; after the gateway's drain there are none. */
  graceSeconds: z.int().nonnegative().default(600),
  /** If given, each model gets an InferencePool that this endpoint picker serves. */
  pool: z.strictObject({ endpointPicker: dnsLabel, port: z.int().positive().default(9002) }).optional(),
  ...clusterFields,
});

export type KubernetesConnection = z.infer<typeof connectionSchema>;
/** The operator's input form: fields with a default may be absent. */
export type KubernetesConnectionInput = z.input<typeof connectionSchema>;
