import { planOnGpus } from "@/server/clusters/testing/testCluster";
import type { KubernetesConnection } from "@/server/kubernetes/connection";
import { connectionSchema as kubernetesSchema } from "@/server/kubernetes/connection";
import { type ProcessConnection, connectionSchema as processSchema } from "@/server/processes/processConnection";
import { type RayConnection, connectionSchema as raySchema } from "@/server/ray/connection";
import type { Plan } from "@/solver/plan/plan";

/** One engine of a plan, all of whose names are hostile. */
export interface HostileEngine {
  readonly model: string;
  readonly node: string;
  readonly gpu: string;
  readonly source: string;
  readonly args: readonly string[];
}

export interface HostilePlan {
  readonly plan: Plan;
  readonly clusterId: string;
  readonly engines: readonly HostileEngine[];
  readonly processes: ProcessConnection;
  readonly kubernetes: KubernetesConnection;
  readonly ray: RayConnection;
}

/** Names that one engine uses, if it is not said otherwise. */
export const namesPerEngine = 10;

/**
 * A plan and connections of these names, as if no schema had ever seen them: a model, a node, a GPU type, a source and arguments for each engine. The first three also name the plan,
 * its id and the cluster. Models get a number at their end, so that no two are the same.
 */
export function hostilePlan(names: readonly string[], perEngine = namesPerEngine): HostilePlan {
  const engines = Array.from({ length: Math.floor(names.length / perEngine) }, (_, at): HostileEngine => {
    const [model = "", node = "", gpu = "", source = "", ...args] = names.slice(perEngine * at, perEngine * (at + 1));
    return { model: `${model}${at}`, node, gpu, source, args };
  });
  const plain = planOnGpus("plain", { "qwen2.5-3b": [0] });
  const [name = "", id = "", clusterId = ""] = names;
  const plan: Plan = {
    ...plain,
    id,
    metadata: { ...plain.metadata, name },
    policyHash: name,
    deployment: engines.map(({ model, node, gpu }) => ({
      ...{ model, gpu, precision: "bf16", gpus: 1 },
      replicas: [{ tp: 1, pp: 1, count: 1, shareEach: 1, placements: [[{ node, gpus: [0] }]] }],
    })),
  };
  const models = Object.fromEntries(engines.map(({ model, source, args }) => [model, { source, args: [...args] }]));
  const serveModels = Object.fromEntries(
    engines.map(({ model, source, args }) => [model, { source, engineKwargs: Object.fromEntries(args.map((arg) => [arg, arg])) }]),
  );
  const environment = Object.fromEntries(engines.slice(0, 1).flatMap(({ args, source }) => args.map((arg) => [arg, { value: source }])));
  return {
    ...{ plan, clusterId, engines },
    processes: { ...processSchema.parse({ kind: "processes", models: {}, ports: { from: 1, to: 65_535 } }), models, environment },
    kubernetes: {
      ...kubernetesSchema.parse({
        ...{ kind: "kubernetes", access: { from: "in-cluster" }, namespace: "models", models: {} },
        ...{ engine: { kind: "vllm", image: "vllm/vllm-openai:v0.30.0" }, pool: { endpointPicker: "picker" } },
      }),
      models,
      env: environment,
    },
    ray: { ...raySchema.parse({ kind: "ray", dashboard: "http://ray:8265", models: {} }), models: serveModels },
  };
}

/** The arguments with which vLLM serves an engine of one GPU. */
export const vllmArgs = (
  { model, source, args }: Pick<HostileEngine, "model" | "source" | "args">,
  { host, port }: { readonly host: string; readonly port: number },
): readonly string[] => [
  ...["serve", source, "--served-model-name", model, "--host", host, "--port", `${port}`],
  ...["--tensor-parallel-size", "1", "--pipeline-parallel-size", "1", "--max-num-seqs", "256", "--dtype", "bfloat16", ...args],
];
