import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { Job } from "kubernetes-models/batch/v1";
import { ConfigMap, PersistentVolumeClaim } from "kubernetes-models/v1";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { connectionSchema as kubernetesSchema } from "@/server/kubernetes/connection";
import { connectionSchema as raySchema } from "@/server/ray/connection";
import { openStore, type Store } from "@/server/store/store";
import { catalogueOf, noUserCards } from "@/solver/hardware/catalogue";
import { boundedBody } from "../batchAttempt";
import { testOrder, testPrompt } from "../testing/testOrder";
import { batchJobFile, type JobFileParts } from "./batchJobFile";
import { sessionInputs } from "./sessionInputs";

const questions = 7;
const cards = catalogueOf(noUserCards);

let folder = "";
let store: Store;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-job-files-"));
  store = openStore(folder);
  keepPrompts("set", (at) => testPrompt(at));
});
afterAll(() => {
  store.close();
  rmSync(folder, { recursive: true });
});

function keepPrompts(id: string, promptAt: (at: number) => ReturnType<typeof testPrompt>, count = questions): void {
  store.prompts.begin(id, new Date(0).toISOString());
  store.prompts.add(
    id,
    0,
    Array.from({ length: count }, (_, at) => promptAt(at)),
  );
}

const file = (parts: Pick<JobFileParts, "format"> & Partial<JobFileParts>, order = testOrder(questions)) =>
  batchJobFile(order, { connection: null, cards, prompts: store.prompts, ...parts });

async function text(parts: Pick<JobFileParts, "format"> & Partial<JobFileParts>, order = testOrder(questions)): Promise<string> {
  const made = await file(parts, order);
  if (!made.ok) throw new Error(made.message);
  return made.text;
}

/**
 * A folder of programs: one that answers every request of a batch as `vllm` would, unless it must fail, and one that runs a job at once in
 * place of Ray.
 */
function programs(): string {
  const bin = mkdtempSync(join(folder, "bin-"));
  const vllm = [
    "#!/usr/bin/env node",
    'const { appendFileSync, readFileSync, writeFileSync, existsSync } = require("node:fs");',
    "const argv = process.argv.slice(2);",
    "const after = (flag) => argv[argv.indexOf(flag) + 1];",
    `appendFileSync(${JSON.stringify(join(bin, "calls"))}, argv.join(" ") + "\\n");`,
    'if (argv[0] !== "run-batch") process.exit(64);',
    'const lines = readFileSync(after("-i"), "utf8").trim().split("\\n").map((line) => JSON.parse(line));',
    'const answers = lines.map(({ custom_id, body }) => JSON.stringify({ custom_id, model: body.model, asked: body, response: { status_code: 200 } }) + "\\n");',
    `const dies = ${JSON.stringify(join(bin, "dies"))};`,
    'if (existsSync(dies) && readFileSync(dies, "utf8") === after("--served-model-name")) {',
    '  writeFileSync(after("-o"), answers[0]);',
    '  process.kill(process.pid, "SIGKILL");',
    "}",
    'else writeFileSync(after("-o"), answers.join(""));',
  ].join("\n");
  const ray = [
    "#!/usr/bin/env bash",
    `echo "$@" >> ${join(bin, "submitted")}`,
    'while [ "$1" != -- ]; do if [ "$1" = --working-dir ]; then folder=$2; fi; shift; done',
    "shift",
    'cd "$folder" && "$@"',
  ].join("\n");
  for (const [name, program] of Object.entries({ vllm, ray })) {
    writeFileSync(join(bin, name), program);
    chmodSync(join(bin, name), 0o755);
  }
  return bin;
}

const run = (bin: string, interpreter: "bash" | "python3", ...args: readonly string[]) =>
  spawnSync(interpreter, args, { encoding: "utf8", env: { ...process.env, PATH: `${bin}:${process.env.PATH}` } });
const bash = (bin: string, ...args: readonly string[]) => run(bin, "bash", ...args);
const python = (bin: string, ...args: readonly string[]) => run(bin, "python3", ...args);

/** Command lines of all sessions. */
const commandsOf = (sessions: string | undefined): readonly string[] =>
  (JSON.parse(sessions ?? "[]") as { command: string[] }[][]).flat().map(({ command }) => command.join(" "));

interface KubeDocument {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly binaryData?: Readonly<Record<string, string>>;
}

const documents = (yaml: string): readonly KubeDocument[] => parseAllDocuments(yaml, { version: "1.1" }).map((one) => one.toJS());

/** The files of a pod of the job: its program, and its inputs in one folder. */
function mounted(yaml: string): { readonly program: string; readonly inputs: string } {
  const at = mkdtempSync(join(folder, "pod-"));
  const inputs = join(at, "inputs");
  mkdirSync(inputs);
  for (const { binaryData = {} } of documents(yaml))
    for (const [name, base64] of Object.entries(binaryData)) writeFileSync(join(inputs, name), Buffer.from(base64, "base64"));
  const { data = {} } = documents(yaml).find((one) => one.data !== undefined) ?? {};
  for (const [name, text] of Object.entries(data)) writeFileSync(join(at, name), text);
  return { program: join(at, "worker.py"), inputs };
}

const answered = (results: string) =>
  readdirSync(results)
    .sort()
    .flatMap((name) =>
      readFileSync(join(results, name), "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as { custom_id: string; model: string; asked: Record<string, unknown> })
        .map(({ custom_id, model }) => `${name.replace(".jsonl", "")} ${model} ${custom_id}`),
    );

const all = (session: string, model: string, from: number, before: number) =>
  Array.from({ length: before - from }, (_, at) => `${session} ${model} p${from + at}`);
const whole = [...all("w0-s0", "qwen2.5-3b", 0, 7), ...all("w0-s1", "qwen2.5-7b", 0, 3), ...all("w1-s0", "qwen2.5-7b", 3, 7)];

it("writes objects for Kubernetes that its published schemas take, with a pod of its GPUs for each worker", async () => {
  const connection = kubernetesSchema.parse({
    ...{
      kind: "kubernetes",
      access: { from: "in-cluster" },
      namespace: "models",
      engine: { kind: "vllm", image: "registry.example/vllm:1" },
    },
    models: { "qwen2.5-3b": { source: "/weights/three" }, "qwen2.5-7b": { source: "/weights/seven", args: ["--max-model-len", "8192"] } },
    ...{ env: { HF_TOKEN: { secret: "hf", key: "token" } }, weights: { claim: "weights", mountPath: "/weights" } },
  });
  const yaml = await text({ format: "kubernetes", connection });
  const objects = documents(yaml);
  expect(objects.map(({ kind }) => kind)).toEqual(["ConfigMap", "ConfigMap", "PersistentVolumeClaim", "Job"]);
  const classes = { ConfigMap, PersistentVolumeClaim, Job };
  for (const object of objects) {
    const Kind = classes[object.kind as keyof typeof classes];
    expect(() => new Kind(object as never).validate()).not.toThrow();
  }
  const job = objects.at(-1) as unknown as { spec: Record<string, unknown> };
  expect(() => new Job({ ...job, spec: { ...job.spec, completions: "two" } } as never).validate()).toThrow();
  expect(job).toMatchObject({
    metadata: { namespace: "models" },
    spec: {
      ...{ completions: 2, parallelism: 2, completionMode: "Indexed" },
      template: {
        spec: {
          restartPolicy: "Never",
          containers: [{ image: "registry.example/vllm:1", resources: { limits: { "nvidia.com/gpu": "1" } } }],
          affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [expect.anything()] } } },
        },
      },
    },
  });
  const commands = commandsOf(objects[0]?.data?.["sessions.json"]);
  expect(commands[1]).toContain("--model /weights/seven --served-model-name qwen2.5-7b");
  expect(commands[1]).toContain("--max-model-len 8192");
  // It contains no secret, and states what it leaves out.
  expect(yaml).toContain("secretKeyRef");
  expect(yaml).toContain("# It runs the experts only.");
});

it("asks for no GPUs for a worker that has no session", async () => {
  const order = testOrder(questions);
  const [first = [], second = []] = order.sessions;
  const idle = { ...order, workers: [...order.workers, { node: "n1", gpus: [2] }], sessions: [first, [], second] };
  for (const format of ["kubernetes", "ray"] as const) expect(await text({ format }, idle)).toBe(await text({ format }, order));
});

it("takes vLLM's own image where the cluster's engines are others, and none of their flags", async () => {
  const connection = kubernetesSchema.parse({
    ...{
      kind: "kubernetes",
      access: { from: "in-cluster" },
      namespace: "models",
      engine: { kind: "sglang", image: "registry.example/sglang:1" },
    },
    models: {
      "qwen2.5-3b": { source: "/weights/three", args: ["--mem-fraction-static", "0.8"] },
      "qwen2.5-7b": { source: "/weights/seven" },
    },
  });
  const yaml = await text({ format: "kubernetes", connection });
  expect(yaml).toContain("image: vllm/vllm-openai:");
  expect(commandsOf(documents(yaml)[0]?.data?.["sessions.json"])[0]).toContain("--model /weights/three");
  expect(yaml).not.toContain("sglang");
  expect(yaml).not.toContain("--mem-fraction-static");
});

it("asks every expert every prompt it has exactly once, session by session", async () => {
  const { program, inputs } = mounted(await text({ format: "kubernetes" }));
  const bin = programs();
  const results = mkdtempSync(join(folder, "results-"));
  for (const worker of ["0", "1"]) expect(python(bin, program, worker, inputs, results)).toMatchObject({ status: 0, stderr: "" });
  expect(answered(results)).toEqual(whole);
  const [first] = readFileSync(join(results, "w0-s0.jsonl"), "utf8").split("\n");
  expect(JSON.parse(first ?? "").asked).toEqual({
    ...{ messages: testPrompt(0).body.messages, temperature: 0, max_tokens: 512, model: "qwen2.5-3b" },
  });
  expect(readFileSync(join(bin, "calls"), "utf8").split("\n")[0]).toContain("--model Qwen/Qwen2.5-3B-Instruct");
});

it("lets answers be as long as prompt and ensemble both allow, as the studio's own run does", async () => {
  const bodies = [{ max_tokens: 8000 }, { max_tokens: 100 }, { max_completion_tokens: 8000, max_tokens: 50 }, {}].map((own) => ({
    ...testPrompt(0).body,
    ...own,
  }));
  const asked = await Promise.all(
    bodies.map(async (body) => {
      const some = () => [{ position: 0, prompt: { ...testPrompt(0), body } }];
      const made = await sessionInputs(testOrder(1), { some });
      if (!made.ok) throw new Error(made.message);
      return JSON.parse(gunzipSync(made.inputs[0]!.gzip).toString()).body as Readonly<Record<string, unknown>>;
    }),
  );
  const limits = (each: readonly Readonly<Record<string, unknown>>[]) => each.map((body) => [body.max_tokens, body.max_completion_tokens]);
  expect(limits(asked)).toEqual([
    [512, undefined],
    [100, undefined],
    [undefined, 512],
    [512, undefined],
  ]);
  expect(limits(asked)).toEqual(limits(bodies.map((body) => boundedBody(body, 512))));
});

it("goes on with the session that was cut off when a worker is run again, and does none again that is done", async () => {
  const { program, inputs } = mounted(await text({ format: "kubernetes" }));
  const bin = programs();
  const results = mkdtempSync(join(folder, "results-"));
  writeFileSync(join(bin, "dies"), "qwen2.5-7b");
  expect(python(bin, program, "0", inputs, results).status).not.toBe(0);
  expect(readdirSync(results).sort()).toEqual(["w0-s0.jsonl", "w0-s1.part"]);
  rmSync(join(bin, "dies"));
  expect(python(bin, program, "0", inputs, results).status).toBe(0);
  expect(answered(results)).toEqual(whole.filter((line) => line.startsWith("w0")));
  const calls = readFileSync(join(bin, "calls"), "utf8").trim().split("\n");
  expect(calls.map((call) => /--served-model-name (\S+)/.exec(call)?.[1])).toEqual(["qwen2.5-3b", "qwen2.5-7b", "qwen2.5-7b"]);
});

it("cuts inputs that no object of Kubernetes would hold, and puts them together again", async () => {
  keepPrompts("large", (at) => testPrompt(at, randomBytes(400_000).toString("hex")));
  const yaml = await text({ format: "kubernetes" }, testOrder(questions, "large"));
  const maps = documents(yaml).filter(({ binaryData }) => binaryData !== undefined);
  expect(maps.length).toBeGreaterThan(3);
  for (const map of maps) expect(JSON.stringify(map).length).toBeLessThan(1024 * 1024);
  const { program, inputs } = mounted(yaml);
  const results = mkdtempSync(join(folder, "results-"));
  expect(python(programs(), program, "0", inputs, results).status).toBe(0);
  expect(answered(results)).toEqual(whole.filter((line) => line.startsWith("w0")));
}, 20_000);

it("writes a script that submits a Ray job with its GPUs for each worker, which a shell runs as it is", async () => {
  const connection = raySchema.parse({
    ...{ kind: "ray", dashboard: "http://ray.example:8265" },
    models: { "qwen2.5-3b": { source: "org/three" }, "qwen2.5-7b": { source: "org/seven's" } },
  });
  const script = join(folder, "ray.sh");
  writeFileSync(script, await text({ format: "ray", connection }));
  const bin = programs();
  const results = mkdtempSync(join(folder, "results with blanks-"));
  expect(bash(bin, script).status).toBe(2);
  expect(bash(bin, script, results)).toMatchObject({ status: 0, stderr: "" });
  const [own = "", ...others] = readdirSync(results);
  expect(others).toEqual([]);
  expect(answered(join(results, own))).toEqual(whole);
  const submitted = readFileSync(join(bin, "submitted"), "utf8").trim().split("\n");
  expect(submitted).toHaveLength(2);
  for (const line of submitted) expect(line).toMatch(/^job submit --address http:\/\/ray\.example:8265 --no-wait --entrypoint-num-gpus 1 /);
  expect(readFileSync(join(bin, "calls"), "utf8")).toContain("--model org/seven's --served-model-name qwen2.5-7b");
});

it("does not take another batch's results in the same folder for its own, and asks nothing again that a Ray script ran before", async () => {
  const bin = programs();
  const results = join(folder, "results of both");
  const sameShape = { ...testOrder(questions), request: { ...testOrder(questions).request, promptSetId: "other" } };
  keepPrompts("other", (at) => ({ ...testPrompt(at), id: `other-p${at}` }));
  const scripts = await Promise.all(
    [testOrder(questions), sameShape].map(async (order, at) => {
      const path = join(folder, `both-${at}.sh`);
      writeFileSync(path, await text({ format: "ray" }, order));
      return path;
    }),
  );
  for (const script of [...scripts, ...scripts]) expect(bash(bin, script, results)).toMatchObject({ status: 0, stderr: "" });
  const asked = readdirSync(results).map((own) => answered(join(results, own)));
  const others = whole.map((line) => line.replace(/p(\d)$/, "other-p$1"));
  expect(asked.sort((one, other) => (one.join() < other.join() ? -1 : 1))).toEqual([others, whole]);
  expect(readFileSync(join(bin, "calls"), "utf8").trim().split("\n")).toHaveLength(6);
});

it("gives the same file for the same batch, and another name where what is run differs", async () => {
  const [one, again, other] = [
    await file({ format: "kubernetes" }),
    await file({ format: "kubernetes" }),
    await file({ format: "kubernetes" }, testOrder(questions - 1)),
  ];
  expect(one).toEqual(again);
  if (!one.ok || !other.ok) throw new Error("It is refused.");
  expect(one.name).toMatch(/^weir-batch-night-run-[0-9a-f]{8}\.yaml$/);
  expect(other.name).not.toBe(one.name);
});

it("says what is missing: what to load, texts that are gone, prompts that are too large", async () => {
  const closed = { ...cards, models: { ...cards.models, "qwen2.5-3b": { ...cards.models["qwen2.5-3b"]!, huggingFace: null } } };
  expect(await file({ format: "ray", cards: closed })).toMatchObject({
    ok: false,
    message: expect.stringContaining("what to load for qwen2.5-3b"),
  });
  expect(await file({ format: "ray" }, testOrder(questions, "gone"))).toMatchObject({
    ok: false,
    message: expect.stringContaining("deleted"),
  });
  keepPrompts("huge", (at) => testPrompt(at, randomBytes(6_000_000).toString("base64")), 3);
  expect(await file({ format: "ray" }, testOrder(3, "huge"))).toMatchObject({
    ok: false,
    message: expect.stringContaining("sample fewer"),
  });
}, 20_000);

it("writes prompts down no further where they are too many already", async () => {
  const pages: number[] = [];
  const some = (_: string, from: number, to: number) => {
    pages.push(from);
    const texts = randomBytes(15_000 * (to - from)).toString("base64");
    return Array.from({ length: to - from }, (_, at) => ({
      position: from + at,
      prompt: testPrompt(from + at, texts.slice(at * 20_000, (at + 1) * 20_000)),
    }));
  };
  expect(await sessionInputs(testOrder(5_000), { some })).toMatchObject({ ok: false, message: expect.stringContaining("sample fewer") });
  expect(pages).toEqual([0, 500]);
}, 20_000);
