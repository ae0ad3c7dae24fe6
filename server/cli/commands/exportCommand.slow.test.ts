import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it, test } from "vitest";
import { parse, parseAllDocuments, stringify } from "yaml";
import { planOnGpus } from "@/server/clusters/testing/testCluster";
import { openStore } from "@/server/store/store";
import { weirIn } from "../testing/testWeir";

const folder = mkdtempSync(join(tmpdir(), "weir-export-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const weir = weirIn(folder);

const plan = planOnGpus("export me", { "qwen2.5-3b": [0, 1], "qwen2.5-7b": [2] });
const file = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
const document = file("plan.json", JSON.stringify(plan));
const models = { "qwen2.5-3b": { source: "Qwen/Qwen2.5-3B-Instruct" }, "qwen2.5-7b": { source: "Qwen/Qwen2.5-7B-Instruct" } };
const kubernetes = {
  kind: "kubernetes",
  access: { from: "kubeconfig", path: "/nowhere" },
  namespace: "llm",
  engine: { kind: "vllm", image: "vllm/vllm-openai:v0.30.0" },
  models,
};
const connections = {
  kubernetes: file("kubernetes.yaml", stringify(kubernetes)),
  sglang: file("sglang.yaml", stringify({ ...kubernetes, engine: { kind: "sglang", image: "lmsysorg/sglang:v1" } })),
  ray: file("ray.yaml", stringify({ kind: "ray", dashboard: "http://ray:8265", models })),
  processes: file("processes.yaml", stringify({ kind: "processes", node: "node1", models })),
};
const withKey = (name: string, change: object): string => file(`${name}.yaml`, stringify({ ...kubernetes, ...change }));
const written = async (...args: readonly string[]): Promise<string> => {
  const { code, stdout, stderr } = await weir("export", document, ...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout;
};

it("writes manifests of every engine, which name the plan", async () => {
  const text = await written("--format", "kubernetes", "--connection", connections.kubernetes);
  const kinds = parseAllDocuments(text).map((one) => one.toJS() as { kind: string; metadata: { labels: Record<string, string> } });
  expect(kinds.filter(({ kind }) => kind === "Deployment")).toHaveLength(3);
  expect(kinds.every(({ metadata }) => metadata.labels["weir.dev/plan"] === plan.id.slice(0, 63))).toBe(true);
});

it.each([
  ["kubernetes", "kubernetes"],
  ["ray", "ray"],
  ["commands", "processes"],
] as const)("says in %s which policy belongs to the engines", async (format, connection) => {
  const text = await written("--format", format, "--connection", connections[connection]);
  expect(text.split("\n").slice(0, 2)).toEqual([expect.stringContaining(plan.id), expect.stringContaining(plan.policyHash)]);
});

it("writes a Ray Serve configuration", async () => {
  const text = await written("--format", "ray", "--connection", connections.ray);
  expect((parse(text) as { applications: unknown[] }).applications).toHaveLength(3);
});

it("writes command lines of vLLM and of SGLang, for nodes and for one host, on ports of their own", async () => {
  const vllm = await written("--format", "commands", "--connection", connections.kubernetes);
  expect(vllm.match(/^CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=\d vllm serve Qwen/gm)).toHaveLength(3);
  const sglang = await written("--format", "commands", "--connection", connections.sglang);
  expect(sglang.match(/ python3 -m sglang\.launch_server --model-path Qwen/g)).toHaveLength(3);
  const needing = await written("--format", "commands", "--connection", withKey("env", { env: { HF_TOKEN: { secret: "s", key: "k" } } }));
  expect(needing.match(/^# with HF_TOKEN in its environment$/gm)).toHaveLength(3);
  const host = await written("--format", "commands", "--connection", connections.processes);
  expect(host.match(/--port \d+/g)).toEqual(["--port 8100", "--port 8101", "--port 8102"]);
});

it("takes plan and connection from the studio of this machine, and writes to a file or as JSON", async () => {
  const store = openStore(join(folder, "state"));
  store.plans.keep(plan);
  const { inputs } = plan;
  const spec = { ...inputs.cluster, id: "lab", name: "lab", kind: "kubernetes" as const };
  store.clusters.insert(spec, new Date().toISOString(), { connection: kubernetes, gateway: null });
  store.close();
  const out = join(folder, "out.yaml");
  const toFile = await weir("export", plan.id, "--format", "kubernetes", "--cluster", "lab", "--out", out);
  expect(toFile).toEqual({ code: 0, stdout: "", stderr: "" });
  const json = await weir("export", plan.id, "--format", "kubernetes", "--cluster", "lab", "--json");
  expect(JSON.parse(json.stdout)).toEqual({ name: `export-me-${plan.id.slice(0, 8)}.yaml`, text: readFileSync(out, "utf8") });
});

test.each([
  [
    "a connection of another kind",
    ["--format", "ray", "--connection", connections.kubernetes],
    /^A Serve configuration needs .* this one is of Kubernetes\.$/,
  ],
  [
    "a model that the connection does not know",
    ["--format", "ray", "--connection", file("few.yaml", stringify({ kind: "ray", dashboard: "http://ray:8265", models: {} }))],
    /does not say what to load for qwen2.5-3b/,
  ],
  [
    "a connection that is none",
    ["--format", "ray", "--connection", file("bad.yaml", "kind: ray\n")],
    /^bad\.yaml: Line 1: dashboard: It is missing\.$/,
  ],
  [
    "a key among an engine's arguments",
    [
      "--format",
      "kubernetes",
      "--connection",
      withKey("argument", { models: { ...models, "qwen2.5-3b": { source: "s", args: ["--api-key", "quite-hidden"] } } }),
    ],
    /^argument\.yaml: Line \d+: models\.qwen2\.5-3b\.args\.0: This looks like a key: put it into a Secret/,
  ],
  [
    "a variable that holds a key by its name",
    ["--format", "kubernetes", "--connection", withKey("variable", { env: { DB_SECRET_VALUE: { value: "quite-hidden" } } })],
    /^variable\.yaml: Line \d+: env\.DB_SECRET_VALUE: Is a secret by its name/,
  ],
  [
    "what looks like a key, wherever it stands",
    ["--format", "kubernetes", "--connection", withKey("value", { env: { WHO: { value: "hf_ABCDEFGHIJKL" } } })],
    /^value\.yaml: Line \d+ holds what looks like a key\./,
  ],
  ["a cluster that is not there", ["--format", "ray", "--cluster", "nowhere"], /^This studio has no cluster nowhere: /],
  ["no format", ["--connection", connections.ray], /--format/],
])("says in a sentence what is wrong with %s", async (_, args, says) => {
  const { code, stdout, stderr } = await weir("export", document, ...args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr.trim()).toMatch(says);
  expect(stderr.trim().split("\n")).toHaveLength(1);
  expect(stderr).not.toContain("quite-hidden");
});

test("a plan that was changed after it was sealed, and one that is not there, are refused", async () => {
  const changed = file("changed.json", JSON.stringify({ ...plan, topologyHash: "0".repeat(64) }));
  const refused = await weir("export", changed, "--format", "ray", "--connection", connections.ray);
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("topologyHash does not match") });
  const missing = await weir("export", "abc", "--format", "ray", "--connection", connections.ray);
  expect(missing).toMatchObject({ code: 2, stderr: "abc is neither a file nor a plan that this studio keeps.\n" });
});
