import { Deployment } from "kubernetes-models/apps/v1";
import { Service } from "kubernetes-models/v1";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { planOnGpus } from "@/server/clusters/testing/testCluster";
import type { EngineOrder } from "@/server/contracts/engine/engineOrder";
import { connectionSchema, type KubernetesConnectionInput } from "./connection";
import { exportCommandLines, exportManifests } from "./exportPlan";
import { engineObjects, type KubeObject } from "./manifests";
import { labels, labelValue, objectName, orderAnnotation } from "./names";

const connection = (change: Partial<KubernetesConnectionInput> = {}) =>
  connectionSchema.parse({
    kind: "kubernetes",
    access: { from: "in-cluster" },
    namespace: "models",
    engine: { kind: "vllm", image: "vllm/vllm-openai:v0.30.0" },
    models: {
      "llama-3.1-8b": { source: "meta-llama/Llama-3.1-8B-Instruct", args: ["--max-model-len", "8192"] },
      "qwen2.5-3b": { source: "/weights/qwen $(HOME)", engine: { kind: "sglang", image: "lmsysorg/sglang:v0.5.17" } },
    },
    env: { HF_TOKEN: { secret: "hugging-face", key: "token" }, HF_HOME: { value: "/weights" } },
    weights: { claim: "weights", mountPath: "/weights" },
    ...change,
  });

const order = (change: Partial<EngineOrder> = {}): EngineOrder => ({
  id: "llama-3.1-8b-bf16-tp2-pp1-node1-0-1",
  model: "llama-3.1-8b",
  precision: "bf16",
  gpu: "l40s",
  tp: 2,
  pp: 1,
  placements: [{ node: "node1", gpus: [0, 1] }],
  ...change,
});

function made(engine = order(), change: Partial<KubernetesConnectionInput> = {}): readonly KubeObject[] {
  const objects = engineObjects(engine, { connection: connection(change), clusterId: "lab" });
  if (!objects.ok) throw new Error(objects.message);
  return objects.value;
}

const one = (kind: KubeObject["kind"], objects: readonly KubeObject[]) => {
  const found = objects.find((object) => object.kind === kind);
  if (found === undefined) throw new Error(`There is no ${kind}.`);
  return found as KubeObject & { spec: Record<string, never> };
};

const twoNodes = order({ pp: 2, placements: ["node1", "node2"].map((node) => ({ node, gpus: [0, 1] })) });

describe("manifests", () => {
  it.each([
    ["one GPU, no environment, no weights", order({ tp: 1, placements: [{ node: "node1", gpus: [3] }] }), { env: {}, weights: undefined }],
    ["two GPUs with all that a connection can give", order(), {}],
    ["SGLang behind node ports", order({ model: "qwen2.5-3b" }), { reach: { by: "node-port" } }],
  ] as const)("of %s are Deployments and Services by Kubernetes' published schemas", (_, engine, change) => {
    const objects = made(engine, change as Partial<KubernetesConnectionInput>);
    const deployment = one("Deployment", objects);
    expect(() => new Deployment(deployment as never).validate()).not.toThrow();
    expect(() => new Service(one("Service", objects) as never).validate()).not.toThrow();
    // The schemas do find faults.
    const broken = { ...deployment, spec: { ...deployment.spec, replicas: "one" } };
    expect(() => new Deployment(broken as never).validate()).toThrow();
  });

  it("take a replica's GPUs and never one more while it is replaced", () => {
    const { spec } = one("Deployment", made()) as unknown as { spec: Record<string, never> };
    expect(spec).toMatchObject({
      replicas: 1,
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } },
      progressDeadlineSeconds: 1800,
      template: {
        spec: {
          nodeSelector: { "kubernetes.io/hostname": "node1" },
          terminationGracePeriodSeconds: 600,
          containers: [
            {
              resources: { limits: { "nvidia.com/gpu": "2" } },
              readinessProbe: { httpGet: { path: "/health" } },
              startupProbe: { periodSeconds: 5, failureThreshold: 360 },
              env: [
                { name: "HF_TOKEN", valueFrom: { secretKeyRef: { name: "hugging-face", key: "token" } } },
                { name: "HF_HOME", value: "/weights" },
              ],
            },
          ],
          volumes: [{ name: "shm", emptyDir: { medium: "Memory" } }, { name: "weights" }],
        },
      },
    });
  });

  it("serve a model under its card's name, and keep an operator's dollar signs from Kubernetes", () => {
    const command = (objects: readonly KubeObject[]) =>
      (one("Deployment", objects).spec as unknown as { template: { spec: { containers: { command: string[] }[] } } }).template.spec
        .containers[0]?.command;
    expect(command(made())?.join(" ")).toBe(
      "vllm serve meta-llama/Llama-3.1-8B-Instruct --served-model-name llama-3.1-8b --host 0.0.0.0 --port 8000 " +
        "--tensor-parallel-size 2 --pipeline-parallel-size 1 --max-num-seqs 256 --dtype bfloat16 --max-model-len 8192",
    );
    expect(command(made(order({ model: "qwen2.5-3b" })))).toContain("/weights/qwen $$(HOME)");
  });

  it("keep the whole order with the object, so that whoever reads it knows the engine again", () => {
    const { metadata } = one("Deployment", made());
    expect(JSON.parse(metadata.annotations?.[orderAnnotation] ?? "")).toEqual(order());
    expect(metadata.labels).toMatchObject({ [labels.managedBy]: "weir", [labels.cluster]: "lab", [labels.engine]: order().id });
  });

  it("name objects so that Kubernetes takes the name and no two ids share one", () => {
    const long = `llama-${"x".repeat(74)}`;
    const ids = ["a.b", "a-b", "a_b", "a-b-", "9", long, `${long}y`, order().id];
    const names = ids.map(objectName);
    expect(new Set(names).size).toBe(ids.length);
    for (const name of names) expect(name).toMatch(/^[a-z]([-a-z0-9]{0,50}[a-z0-9])?$/);
    const values = [...ids, "a.", "Model/With Slash", "-"].map(labelValue);
    expect(new Set(values).size).toBe(values.length);
    for (const value of values) expect(value).toMatch(/^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/);
  });

  it("of an engine on two nodes are a LeaderWorkerSet, unchecked against a schema: one pod a node, ranks by its environment", () => {
    const { spec } = one("LeaderWorkerSet", made(twoNodes)) as unknown as { spec: Record<string, never> };
    expect(spec).toMatchObject({
      replicas: 1,
      leaderWorkerTemplate: {
        size: 2,
        leaderTemplate: { spec: { nodeSelector: { "kubernetes.io/hostname": "node1" } } },
        workerTemplate: { spec: { nodeSelector: { "kubernetes.io/hostname": "node2" }, affinity: { podAntiAffinity: {} } } },
      },
    });
    const text = JSON.stringify(spec);
    expect(text).toContain('"--nnodes","2","--node-rank","$(LWS_WORKER_INDEX)","--master-addr","$(LWS_LEADER_ADDRESS)"');
    expect(text.match(/--headless/g)).toHaveLength(1);
    expect(one("Service", made(twoNodes)).spec).toMatchObject({ selector: { "leaderworkerset.sigs.k8s.io/worker-index": "0" } });
  });

  it("of a model whose requests go by an endpoint picker have an InferencePool, unchecked against a schema", () => {
    const pool = one("InferencePool", made(order(), { pool: { endpointPicker: "picker" } }));
    expect(pool.spec).toEqual({
      selector: { matchLabels: { [labels.cluster]: "lab", [labels.model]: "llama-3.1-8b" } },
      targetPorts: [{ number: 8000 }],
      endpointPickerRef: { name: "picker", port: { number: 9002 }, failureMode: "FailClose" },
    });
  });

  it("are refused with a sentence where Kubernetes cannot give what is ordered", () => {
    const uneven = order({
      pp: 2,
      placements: [
        { node: "node1", gpus: [0] },
        { node: "node2", gpus: [0, 1] },
      ],
    });
    const parts = { connection: connection(), clusterId: "lab" };
    expect(engineObjects(uneven, parts)).toMatchObject({
      ok: false,
      message: expect.stringMatching(/different number of GPUs on each node.*\.$/),
    });
    expect(engineObjects(order({ model: "gpt-9" }), parts)).toMatchObject({
      ok: false,
      message: expect.stringMatching(/^The cluster's .*gpt-9.*\.$/),
    });
  });
});

describe("a connection to Kubernetes", () => {
  it("takes no secret by its value, and repeats none", () => {
    const message = String(connectionSchema.safeParse({ ...connection(), env: { HF_TOKEN: { value: "hf_abc" } } }).error);
    expect(message).toContain("name the Secret and key that hold it");
    expect(message).not.toContain("hf_abc");
  });

  it("takes no URL with a path, which engines' own paths would replace", () => {
    const reach = (template: string) => connectionSchema.safeParse({ ...connection(), reach: { by: "url", template } }).success;
    expect(reach("https://{service}.{namespace}.engines.example.com:8443")).toBe(true);
    expect(reach("https://proxy.example.com/{service}/")).toBe(false);
  });
});

describe("files of a plan", () => {
  const plan = planOnGpus("two sizes", { "qwen2.5-3b": [0, 1], "llama-3.1-8b": [2] });

  it("hold every object once, as applying it makes it, with the plan as a label", () => {
    const exported = exportManifests(plan, connection({ pool: { endpointPicker: "picker" } }), "lab");
    if (!exported.ok) throw new Error(exported.message);
    const objects = parseAllDocuments(exported.value).map((document) => document.toJS() as KubeObject);
    expect(objects.map(({ kind }) => kind).sort()).toEqual([
      ...Array(3).fill("Deployment"),
      ...Array(2).fill("InferencePool"),
      ...Array(3).fill("Service"),
    ]);
    const deployments = objects.filter(({ kind }) => kind === "Deployment");
    for (const { metadata } of deployments) expect(metadata.labels[labels.plan]).toBe(plan.id.slice(0, 63));
    const order = JSON.parse(deployments[0]?.metadata.annotations?.[orderAnnotation] ?? "") as EngineOrder;
    const applied = engineObjects(order, { connection: connection(), clusterId: "lab", planId: plan.id });
    expect(applied.ok && applied.value.at(-1)).toEqual(deployments[0]);
  });

  it("are strings to readers of YAML 1.1 too where that has other words for true and false", () => {
    const named = exportManifests(planOnGpus("one", { n: [0] }), connection({ models: { n: { source: "yes" } } }), "on");
    const text = named.ok ? named.value : named.message;
    for (const document of parseAllDocuments(text, { version: "1.1" })) {
      const { metadata, spec } = document.toJS() as KubeObject;
      expect(metadata.labels).toMatchObject({ [labels.cluster]: "on", [labels.model]: "n" });
      if ("template" in spec) expect(JSON.stringify(spec)).toContain('"serve","yes","--served-model-name","n"');
    }
  });

  it("are command lines too, each engine of a node on a port of its own, quoted for a shell", () => {
    const exported = exportCommandLines(plan, connection());
    if (!exported.ok) throw new Error(exported.message);
    const commands = exported.value.split("\n").filter((line) => line.startsWith("CUDA_DEVICE_ORDER"));
    expect(commands).toHaveLength(3);
    expect(commands[0]).toMatch(
      /^CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=0 python3 -m sglang.launch_server --model-path '\/weights\/qwen \$\(HOME\)' /,
    );
    expect(commands.map((line) => /--port (\d+)/.exec(line)?.[1])).toEqual(["8000", "8001", "8002"]);
  });

  it("are a sentence where the connection does not know a model", () => {
    const unknown = planOnGpus("one", { "qwen2.5-72b": [0] });
    expect(exportManifests(unknown, connection(), "lab")).toMatchObject({ ok: false, message: expect.stringMatching(/qwen2.5-72b.*\.$/) });
    expect(exportCommandLines(unknown, connection())).toMatchObject({ ok: false, message: expect.stringMatching(/qwen2.5-72b.*\.$/) });
  });
});
