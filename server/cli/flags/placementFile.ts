import { z } from "zod";
import type { OpenPlacement } from "@/solver/ensemble/placement/placeExperts";
import { must } from "./exitCodes";
import { readYamlFile } from "./yamlFile";

/** Limits of one placement: workers, experts, and their product; a larger search takes minutes. */
const MOST_WORKERS = 512;
const MOST_EXPERTS = 100;
const MOST_CELLS = 10_000;

const seconds = z.number().min(0).max(1e6);

const fieldsSchema = z.strictObject({
  workers: z.int().min(1).max(MOST_WORKERS),
  /** Absent or null: swept. */
  maxModelsPerWorker: z.int().min(1).nullish(),
  experts: z
    .array(
      z.strictObject({
        name: z.string().min(1).max(200),
        prompts: z.int().min(0).max(1e9),
        secondsPerPrompt: seconds,
        loadSeconds: seconds,
      }),
    )
    .min(1)
    .max(MOST_EXPERTS)
    .superRefine((experts, context) => {
      const names = experts.map(({ name }) => name);
      const twice = names.findIndex((name, index) => names.indexOf(name) < index);
      if (twice >= 0) context.addIssue({ code: "custom", path: [twice, "name"], message: `there are two experts named ${names[twice]}` });
    }),
  replicas: z.enum(["amortised", "single"]).default("amortised"),
});

const instanceSchema = fieldsSchema.superRefine(({ experts, workers }, context) => {
  if (experts.length * workers <= MOST_CELLS) return;
  const most = Math.floor(MOST_CELLS / experts.length);
  context.addIssue({ code: "custom", path: ["workers"], message: `${experts.length} experts are placed on ${most} workers at most` });
});

/**
 * The experts of a placement, from a file in which the seconds rise by a constant for each prompt;
 * @throws Refusal with file, line and field if it is invalid.
 */
export function readPlacementFile(path: string): OpenPlacement {
  const { workers, maxModelsPerWorker = null, experts, replicas } = must(readYamlFile("--instance", path, instanceSchema)).value;
  return {
    workers,
    maxModelsPerWorker,
    replicas,
    experts: experts.map(({ secondsPerPrompt, ...expert }) => ({ ...expert, cost: (count) => secondsPerPrompt * count })),
  };
}
