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
import { batchJobFile } from "../jobFiles/batchJobFile";
import { testOrder, testPrompt } from "./testOrder";

/** Sessions in the form of `sessions.json`. */
type Sessions = readonly (readonly { readonly name: string; readonly command: readonly string[] }[])[];

interface HostileJob {
  readonly order: ExpertsOrder;
  /** Of the models: what each loads. */
  readonly sources: ReadonlyMap<string, string>;
}

/**
 * A batch on one worker, as if no schema had ever seen its names: four of them name batch, ensemble, prompts and GPU, the others pairwise a
 * model and what it loads. Models get a number at their end, so that no two are the same.
 */
export function hostileJob(names: readonly string[]): HostileJob {
  const [name = "", ensemble = "", promptSetId = "", gpu = "", ...pairs] = names;
  const plain = testOrder(1, promptSetId);
  const models = pairs.flatMap((model, at) => (at % 2 === 0 ? [[`${model}${at}`, pairs[at + 1] ?? ""] as const] : []));
  return {
    sources: new Map(models),
    order: {
      ...{ ...plain, gpu, workers: plain.workers.slice(0, 1) },
      request: { ...plain.request, name, workers: 1 },
      ensemble: { ...plain.ensemble, name: ensemble },
      sessions: [models.map(([model]) => ({ model, positions: [0] }))],
    },
  };
}

/** The text of a job's file. @throws Error if it is refused. */
export async function jobText({ order, sources }: HostileJob, format: "kubernetes" | "ray"): Promise<string> {
  const plain = catalogueOf(noUserCards);
  const card = modelCards["qwen2.5-3b"];
  if (card === undefined) throw new Error("There is no card.");
  const models = Object.fromEntries([...sources].map(([id, huggingFace]) => [id, { ...card, id, huggingFace }]));
  const prompts = { some: () => [{ position: 0, prompt: testPrompt(0) }] };
  const made = await batchJobFile(order, { format, connection: null, cards: { ...plain, models }, prompts: prompts as never });
  if (!made.ok) throw new Error(made.message);
  return made.text;
}

/** The sessions that the job must run. */
const meant = ({ sources }: HostileJob, flags: readonly string[]): Sessions => [
  [...sources].map(([model, source], turn) => ({
    name: `w0-s${turn}`,
    command: [
      ...["vllm", "run-batch", "--model", source, "--served-model-name", model, "--dtype", "bfloat16"],
      ...[...flags, "--tensor-parallel-size", "1"],
    ],
  })),
];

/** What is wrong with the objects of a job as a YAML reader sees them; empty: they hold exactly what went in. */
export async function kubernetesFaults(job: HostileJob): Promise<readonly string[]> {
  const text = await jobText(job, "kubernetes");
  const documents = parseAllDocuments(text, { version: "1.1" });
  const [program, ...others] = documents.map((one) => one.toJS() as { kind: string; data?: Readonly<Record<string, string>> });
  const kinds = new Set(others.map(({ kind }) => kind));
  const isWhole = isDeepStrictEqual(JSON.parse(program?.data?.["sessions.json"] ?? "null"), meant(job, []));
  return [
    ...documents.flatMap(({ errors }) => errors.map(({ message }) => message)),
    ...(rawSpecial.test(text) ? ["a special character stands in the text as it is"] : []),
    ...(isDeepStrictEqual(kinds, new Set(["ConfigMap", "PersistentVolumeClaim", "Job"])) ? [] : ["there are objects of other kinds"]),
    ...(isWhole ? [] : ["the sessions are not those that were written"]),
  ];
}

/** What is wrong with a run of the script that submits the Ray job, with a recorder in place of Ray. */
export async function rayFaults(job: HostileJob): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), "weir-ray-job-"));
  try {
    const [bin, work, script, kept] = [join(folder, "bin"), join(folder, "work"), join(folder, "job.sh"), join(folder, "sessions.json")];
    for (const one of [bin, work]) mkdirSync(one);
    const ray = `#!/bin/sh\nwhile [ "$1" != --working-dir ]; do shift; done\nexec cp "$2/sessions.json" ${kept}\n`;
    writeFileSync(join(bin, "ray"), ray, { mode: 0o755 });
    writeFileSync(script, await jobText(job, "ray"));
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
