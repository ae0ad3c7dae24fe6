import { dirname, resolve } from "node:path";
import { z } from "zod";
import type { MixAsked } from "@/server/planning/mix/mixTask";
import { workflows as shipped } from "@/solver/workflow/templates";
import { documentOfWorkflow } from "@/solver/workflow/workflowDocuments";
import { must, refuse } from "./exitCodes";
import { readWorkflowFile } from "./workflowFlags";
import { readYamlFile } from "./yamlFile";

const rate = z.number().positive().max(1e6);
const floor = z.number().min(0).max(100);

const mixFileSchema = z.strictObject({
  /** Requests of no workflow. */
  singles: z.strictObject({ rate, floor }).optional(),
  workflows: z
    .array(
      z.strictObject({
        /** A file with a workflow, relative to this one. */
        file: z.string().min(1).optional(),
        /** A workflow that Weir ships, by name. */
        name: z.string().min(1).optional(),
        /** Programs a second. */
        rate,
        floor,
        predictor: z
          .string()
          .regex(/^[0-9a-f]{64}$/, "is the SHA-256 of a predictor, as the studio lists it")
          .optional(),
      }),
    )
    .max(16)
    .default([]),
});

interface ReadMix {
  readonly traffic: Pick<MixAsked, "singles" | "workflows">;
  /** What was assumed about graphs of other tools, a sentence each. */
  readonly notes: readonly string[];
}

/**
 * The traffic of a mix from its file: rates and floors of single requests and of workflows.
 * @throws Refusal with the file and its problem.
 */
export function readMixFile(path: string): ReadMix {
  const { singles, workflows } = must(readYamlFile("--mix", path, mixFileSchema)).value;
  if (singles === undefined && workflows.length === 0) return refuse(`${path}: it names neither singles nor workflows.`);
  const read = workflows.map((own, at) => {
    const { document, notes } = workflowOf(path, own, at);
    const { rate: programsPerSecond, floor: qualityFloor, predictor } = own;
    return { notes, asked: { workflow: document, programsPerSecond, qualityFloor, ...(predictor === undefined ? {} : { predictor }) } };
  });
  return {
    traffic: {
      singles: singles === undefined ? null : { requestsPerSecond: singles.rate, qualityFloor: singles.floor },
      workflows: read.map(({ asked }) => asked),
    },
    notes: read.flatMap(({ notes }) => notes),
  };
}

function workflowOf(path: string, { file, name }: z.infer<typeof mixFileSchema>["workflows"][number], at: number) {
  if ((file === undefined) === (name === undefined))
    return refuse(`${path}: workflows.${at}: give file, or name of a workflow that Weir ships.`);
  if (file !== undefined) return readWorkflowFile("--mix", resolve(dirname(path), file));
  // A branch or a loop has no configurations.
  const known = shipped.filter(({ otherShapes }) => otherShapes === undefined);
  const found = known.find((own) => own.name === name);
  if (found === undefined)
    return refuse(`${path}: workflows.${at}.name: there is no workflow ${name}; Weir ships ${known.map((own) => own.name).join(", ")}.`);
  return { document: documentOfWorkflow(found), notes: [] as readonly string[] };
}
