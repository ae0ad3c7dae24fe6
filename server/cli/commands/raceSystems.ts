import { stringify } from "yaml";
import { z } from "zod";
import type { LabCell, LabRun, LabSpec, Outcome } from "@/server/contracts/studio";
import { labSpecSchema } from "@/server/contracts/studio/lab";
import { labNotes } from "@/server/lab/labNotes";
import { labRefusal } from "@/server/lab/labRefusal";
import { labRunId } from "@/server/lab/labRunId";
import { runLab } from "@/server/lab/runLab";
import { suggestLab } from "@/server/lab/suggestLab";
import { faultSentence } from "@/server/lib/fieldFault";
import { workloadHash } from "@/server/workloads/workloadCodec";
import { engineProfiles } from "@/solver/hardware/builtInProfiles";
import { type CardCatalogue, cardOf } from "@/solver/hardware/catalogue";
import type { EngineProfile } from "@/solver/hardware/engineProfile";
import type { Workload } from "@/solver/workload/workload";
import { describeLab } from "../describe/describeLab";
import { noGpuCard } from "../flags/clusterFile";
import { EXIT, type ExitCode, must, refuse } from "../flags/exitCodes";
import { readProfile } from "../flags/profileFlag";
import { readPromptTexts } from "../flags/promptTexts";
import { readCards, readWorkload, type WorkloadFlags } from "../flags/workloadFlags";
import { readYamlFile } from "../flags/yamlFile";
import { readRecorded } from "./recordedRuns";

export interface RaceFlags extends WorkloadFlags {
  readonly spec?: string;
  readonly printSpec?: boolean;
  readonly prompts?: string;
  readonly recorded?: string;
  readonly gpu?: string;
  readonly usdPerGpuHour?: number;
  readonly profile?: string;
  readonly json?: boolean;
}

/** Default if no GPU is given. */
const COMMON_GPU = "h100-sxm";

/** `weir compare --spec`: the lab without the studio. The same description of the same workload gives the same figures there. */
export async function raceSystems(flags: RaceFlags): Promise<ExitCode> {
  const { catalogue, userCards } = readCards(flags);
  const profile = readProfile(flags.profile);
  const { workload } = must(await readWorkload(flags, catalogue));
  if (flags.printSpec === true) return printSpec(flags, { workload, catalogue, profile: profile ?? engineProfiles.vllm });
  const { spec } = must(readLabSpec(flags.spec ?? "", workloadHash(workload)));
  const named = profileOf(spec, profile);
  if (named === null) return refuse(`${flags.spec}: engineProfile: "${spec.engineProfile}" is not built in: give its file with --profile.`);
  const hardware = { catalogue, profile: named };
  const refused = labRefusal(spec, { workload, artefactOf: () => null, ...hardware });
  if (refused !== null) return refuse(`${flags.spec}: ${faultSentence(refused)}`);
  const prompts = flags.prompts === undefined ? null : await readPromptTexts(flags.prompts, workload.outcomes.promptIds);
  const texts = prompts === null ? null : ({ kind: "given", texts: prompts.texts } as const);
  const runs = flags.recorded === undefined ? null : await readRecorded(flags.recorded, spec);
  const cells: LabCell[] = [];
  const cellsAll = spec.systems.length * spec.rates.length * spec.seeds.length;
  const tell = (line: string) => process.stderr.write(`${line}\n`);
  const task = {
    spec,
    workload,
    userCards,
    engineProfile: named,
    artefacts: {},
    texts,
    ...(runs === null ? {} : { recorded: runs.recorded }),
  };
  await runLab(task, {
    ...{ done: [], signal: new AbortController().signal, onDoing: tell },
    onCell(cell) {
      cells.push(cell);
      if (cells.length % spec.systems.length === 0) tell(`${cells.length} of ${cellsAll} cells`);
    },
  });
  cells.sort((a, b) => a.seed - b.seed || a.rate - b.rate || a.system - b.system);
  const notes = labNotes({ spec, workload, texts: texts !== null, recorded: runs?.notes, ...hardware });
  const answer: Pick<LabRun, "id" | "spec" | "workloadName" | "cells" | "notes"> = {
    ...{ id: labRunId(task, prompts?.id ?? null), workloadName: workload.name, spec, notes, cells },
  };
  process.stdout.write(flags.json === true ? `${JSON.stringify(answer, null, 2)}\n` : describeLab(spec, cells, notes));
  return EXIT.done;
}

/** The profile that a description names, built in or from the file; null if it is neither. */
function profileOf({ engineProfile = engineProfiles.vllm.id }: LabSpec, given: EngineProfile | null): EngineProfile | null {
  return given?.id === engineProfile ? given : (Object.values(engineProfiles).find(({ id }) => id === engineProfile) ?? null);
}

interface SpecGround {
  readonly workload: Workload;
  readonly catalogue: CardCatalogue;
  readonly profile: EngineProfile;
}

function printSpec({ gpu = COMMON_GPU, usdPerGpuHour, json }: RaceFlags, ground: SpecGround): ExitCode {
  const card = cardOf(ground.catalogue.gpus, gpu);
  if (card === undefined) return refuse(`--gpu: ${noGpuCard(gpu, ground.catalogue.gpus)}.`);
  const price = usdPerGpuHour ?? card.usdPerGpuHour;
  if (price === null) return refuse(`--usd-per-gpu-hour: no list price is known for ${gpu}; give one.`);
  const workloadId = workloadHash(ground.workload);
  const suggested = suggestLab({ ...ground, workloadId, replicas: null, gpu, usdPerGpuHour: price });
  if (!suggested.ok) return refuse(suggested.message, EXIT.infeasible);
  const { spec } = suggested.suggestion;
  process.stdout.write(json === true ? `${JSON.stringify(spec, null, 2)}\n` : stringify(spec, { aliasDuplicateObjects: false }));
  return EXIT.done;
}

/** A description in a file may omit its workload: the flags give it. */
const fileSchema = labSpecSchema.partial({ workloadId: true });
/** A run, as the Lab page and `--json` write it: with its description and the workload's name. */
const runSchema = z.object({ spec: z.record(z.string(), z.unknown()), workloadName: z.string().optional() });

type Read = Outcome<{ readonly spec: LabSpec }>;

/**
 * The description of a run in a YAML or JSON file, alone or within an exported run, or one sentence with file, line and field. A
 * description of another workload than the flags' is refused.
 */
export function readLabSpec(path: string, workloadId: string): Read {
  const run = readYamlFile("--spec", path, runSchema);
  const read = run.ok ? readYamlFile("--spec", path, runSchema.extend({ spec: fileSchema })) : readYamlFile("--spec", path, fileSchema);
  if (!read.ok) return read;
  const spec = "spec" in read.value ? read.value.spec : read.value;
  const { workloadId: named = workloadId } = spec;
  if (named === workloadId) return { ok: true, spec: { ...spec, workloadId } };
  const called = run.ok && run.value.workloadName !== undefined ? ` (${run.value.workloadName})` : "";
  return {
    ok: false,
    message: `${path}: workloadId does not match the files: it names ${named}${called}, and the files make ${workloadId}. Give that workload, or leave the field out.`,
  };
}
