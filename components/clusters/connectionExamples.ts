import type { AttachKind } from "./clustersCodec";

export type WrittenKind = Exclude<AttachKind, "endpoints">;

interface ConnectionExample {
  readonly title: string;
  /** What Weir does there, in a sentence. */
  readonly says: string;
  readonly text: string;
}

/** A first connection of each kind: every active line is valid or a placeholder to change; all others are comments. */
export const connectionExamples: Readonly<Record<WrittenKind, ConnectionExample>> = {
  processes: {
    title: "This host",
    says: "The studio starts engines as processes of the host it runs on, each on the GPUs that the plan gives it, and ends them again.",
    text: `kind: processes
# What starts an engine: vllm, sglang, llama.cpp, or a command line of your own under "templates".
engine: vllm
# By the id of the model's card, which is the name that requests give it.
models:
  llama-3.1-8b:
    source: meta-llama/Llama-3.1-8B-Instruct
    args: ["--max-model-len", "16384"]
# Variables of the engines. Keys by reference: fromEnv or fromFile.
environment:
  HF_TOKEN: { fromEnv: HF_TOKEN }
ports: { from: 8100, to: 8199 }
# Where nvidia-smi is missing, or names no GPU that Weir knows:
# gpus: { card: l40s, count: 4 }
# Servers that you started: requests are sent there, and they are never ended.
# adopt: [{ url: "http://127.0.0.1:8000", precision: bf16, gpus: [3] }]
`,
  },
  kubernetes: {
    title: "Kubernetes",
    says: "The studio applies Deployments, LeaderWorkerSets and Services to one namespace, after a dry run, and takes no field from others.",
    text: `kind: kubernetes
# A kubeconfig that the studio can read, or { from: in-cluster } where it runs in a pod.
access: { from: kubeconfig, path: /home/weir/.kube/config }
namespace: llm
# How gateway and studio reach engines: { by: service } inside the cluster, { by: node-port } from outside.
reach: { by: node-port }
engine: { kind: vllm, image: "vllm/vllm-openai:v0.11.0" }
# By the id of the model's card.
models:
  llama-3.1-8b:
    source: meta-llama/Llama-3.1-8B-Instruct
    args: ["--max-model-len", "16384"]
# Secrets are named, never written down here.
env:
  HF_TOKEN: { secret: hugging-face, key: token }
# Card of GPUs whose nodes have no label nvidia.com/gpu.product:
# gpu: h100-sxm
# Figures of GPUs, from dcgm-exporter on each node:
# dcgmUrls: ["http://gpu-1:9400/metrics"]
`,
  },
  ray: {
    title: "Ray Serve",
    says: "The studio adds one application for each engine to Ray Serve. Applications of others are read first and written back as they are.",
    text: `kind: ray
# Ray's dashboard, as a rule on port 8265 of the head node.
dashboard: http://ray-head:8265
# Where Ray asks for a token, the variable of the studio that holds it:
# key: { environment: WEIR_ENGINE_RAY_TOKEN }
# By the id of the model's card.
models:
  llama-3.1-8b:
    source: meta-llama/Llama-3.1-8B-Instruct
    engineKwargs: { max_model_len: 16384 }
# Card of GPUs whose nodes tell no accelerator type:
# gpu: h100-sxm
# Figures of GPUs, from dcgm-exporter on each node:
# dcgmUrls: ["http://gpu-1:9400/metrics"]
`,
  },
};
