import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { parseAllDocuments } from "yaml";
import type { ExpertsOrder } from "@/server/store/documents/batchOrder";
import { rawSpecial } from "@/server/testing/hostileNames";
import { catalogueOf, noUserCards } from "@/solver/hardware/catalogue";
import { modelCards } from "@/solver/hardware/models";
import { batchJobFile, type JobFileParts } from "../jobFiles/batchJobFile";
import { kubernetesJob } from "../jobFiles/kubernetesJob";
import { rayFlags, rayJob } from "../jobFiles/rayJob";
import { type LoadedModel, workerSessions } from "../jobFiles/workerSessions";
import { testOrder, testPrompt } from "./testOrder";

type Format = JobFileParts["format"];

/** Sessions in the form of `sessions.json`. */
type Sessions = readonly (readonly { readonly name: string; readonly command: readonly string[] }[])[];

interface HostileJob {
  readonly order: ExpertsOrder;
  /** Of the models: what each loads. */
  readonly loaded: ReadonlyMap<string, LoadedModel>;
}

/**
 * A batch on one worker, as if no schema had ever seen its names: four of them name batch, ensemble, prompts and GPU, the others a
 * model, what it loads, and its flags. Models get a number at their end, so that no two are the same.
 *
 * @param perSession names of each model: 2 for no flags.
 */
export function hostileJob(names: readonly string[], perSession: number): HostileJob {
  const [name = "", ensemble = "", promptSetId = "", gpu = "", ...others] = names;
  const plain = testOrder(1, promptSetId);
  const models = Array.from({ length: Math.floor(others.length / perSession) }, (_, at): readonly [string, LoadedModel] => {
    const [model = "", source = "", ...args] = others.slice(perSession * at, perSession * (at + 1));
    return [`${model}${at}`, { source, args, precision: "bf16" }];
  });
  return {
    loaded: new Map(models),
    order: {
      ...{ ...plain, gpu, workers: plain.workers.slice(0, 1) },
      request: { ...plain.request, name, workers: 1 },
      ensemble: { ...plain.ensemble, name: ensemble },
      sessions: [models.map(([model]) => ({ model, positions: [0] }))],
    },
  };
}

/** The text of a job's file, of models without flags. @throws Error if it is refused. */
export async function jobText({ order, loaded }: HostileJob, format: Format): Promise<string> {
  const plain = catalogueOf(noUserCards);
  const card = modelCards["qwen2.5-3b"];
  if (card === undefined) throw new Error("There is no card.");
  const models = Object.fromEntries([...loaded].map(([id, { source }]) => [id, { ...card, id, huggingFace: source }]));
  const prompts = { some: () => [{ position: 0, prompt: testPrompt(0) }] };
  const made = await batchJobFile(order, { format, connection: null, cards: { ...plain, models }, prompts: prompts as never });
  if (!made.ok) throw new Error(made.message);
  return made.text;
}

/** The same without its comments and its prompts, of which a shell unpacks each session's on its own. */
export function bareJobText({ order, loaded }: HostileJob, format: Format): string {
  const made = workerSessions(order, (model) => loaded.get(model) ?? "There is no such model.", format === "ray" ? rayFlags : []);
  if (!made.ok) throw new Error(made.message);
  const parts = { name: "weir-batch", sessions: made.json, inputs: [] };
  return format === "ray" ? rayJob(order, { ...parts, address: null }) : kubernetesJob(order, { ...parts, connection: null });
}

/** The sessions that the job must run. */
const meant = ({ loaded }: HostileJob, flags: readonly string[]): Sessions => [
  [...loaded].map(([model, { source, args }], turn) => ({
    name: `w0-s${turn}`,
    command: [
      ...["vllm", "run-batch", "--model", source, "--served-model-name", model, "--dtype", "bfloat16"],
      ...[...flags, "--tensor-parallel-size", "1", ...args],
    ],
  })),
];

/** What is wrong with the objects of a job as a YAML reader sees them; empty: they hold exactly what went in. */
export function kubernetesFaults(job: HostileJob, text: string): readonly string[] {
  const documents = parseAllDocuments(text, { version: "1.1" });
  const [program, ...others] = documents.map((one) => one.toJS() as { kind: string; data?: Readonly<Record<string, string>> });
  const kinds = new Set(others.map(({ kind }) => kind));
  const isWhole = isDeepStrictEqual(JSON.parse(program?.data?.["sessions.json"] ?? "null"), meant(job, []));
  return [
    ...documents.flatMap(({ errors }) => errors.map(({ message }) => message)),
    ...(rawSpecial.test(text) ? ["a special character is not escaped"] : []),
    ...([...kinds].every((kind) => ["ConfigMap", "PersistentVolumeClaim", "Job"].includes(kind))
      ? []
      : ["there are objects of other kinds"]),
    ...(isWhole ? [] : ["the sessions are not those that were written"]),
  ];
}

/** What is wrong with a run of the script that submits the Ray job, with a recorder in place of Ray. */
export function rayFaults(job: HostileJob, text: string): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), "weir-ray-job-"));
  try {
    const [bin, work, script, kept] = [join(folder, "bin"), join(folder, "work"), join(folder, "job.sh"), join(folder, "sessions.json")];
    for (const one of [bin, work]) mkdirSync(one);
    const ray = `#!/bin/sh\nwhile [ "$1" != --working-dir ]; do shift; done\nexec cp "$2/sessions.json" ${kept}\n`;
    writeFileSync(join(bin, "ray"), ray, { mode: 0o755 });
    writeFileSync(script, text);
    const checked = spawnSync("bash", ["-n", script], { encoding: "utf8" });
    const env = { ...process.env, PATH: `${bin}:${process.env.PATH}` };
    const { status, stderr } = spawnSync("bash", [script, join(folder, "results")], { cwd: work, encoding: "utf8", env });
    const submitted: unknown = existsSync(kept) ? JSON.parse(readFileSync(kept, "utf8")) : null;
    const left = readdirSync(work);
    return [
      ...(status === 0 && `${checked.stderr}${stderr}` === "" ? [] : [`the script ended with ${status}: ${checked.stderr}${stderr}`]),
      ...(left.length === 0 ? [] : [`the script wrote ${left.join(", ")}`]),
      ...(isDeepStrictEqual(submitted, meant(job, ["--distributed-executor-backend", "mp"]))
        ? []
        : ["the sessions are not those that were written"]),
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
}
