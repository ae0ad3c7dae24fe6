import { z } from "zod";
import { engineAccessFields } from "@/server/contracts/engine/engineAccess";
import { clusterFields } from "@/server/contracts/gateway/clusterFields";
import { templateFault } from "@/server/engines/commandLine";
import { argument, machineName, oneLine, variableName, weightsSource } from "@/solver/wording/names";
import { givesKey, namesAKey } from "../lib/secrets";
import { processTemplates } from "./processTemplates";

const noKey = "This looks like a key: put it into an environment variable or a file, and have a variable of the engines refer to that.";

const ownArgument = argument.refine((text) => !givesKey(text), noKey);

const ownSecret = "This is the studio's own variable: give engines another, such as WEIR_ENGINE_KEY.";

/**
 * The value of an engine's variable: a plain value, in which `{gpus}` stands for the indices of its GPUs, or a reference that is read when
 * the engine is started.
 */
const variableSchema = z.union([
  z.strictObject({ value: ownArgument }),
  z.strictObject({
    fromEnv: z
      .string()
      .min(1)
      .refine((name) => !/^WEIR_(?!ENGINE_)/.test(name), ownSecret),
  }),
  z.strictObject({ fromFile: z.string().min(1) }),
]);

const modelSchema = z.strictObject({
  /** The source of the weights: a repository's name or a path. */
  source: weightsSource,
  /** Further flags, after Weir's own. */
  args: z.array(ownArgument).optional(),
  /** Name of the template with which it is started, if it is not the connection's. */
  engine: oneLine.min(1).optional(),
});

/** A server that its operator started: added to the cluster under the name it serves, never ended by Weir. */
const adoptedSchema = z.strictObject({
  url: z.url({ protocol: /^https?$/ }),
  precision: z.enum(["bf16", "fp8", "int4"]),
  /** Indices of the GPUs it runs on. */
  gpus: z.array(z.int().nonnegative()).min(1),
  /** The rest of its GPUs is tensor parallelism. */
  pp: z.int().positive().optional(),
  ...engineAccessFields,
});

/** A program that a cluster needs beside its engines, such as its judge: started while the cluster is attached, and again when it ends. */
const besideSchema = z.strictObject({
  name: machineName,
  command: z.array(ownArgument).min(1),
  /** Names of variables in `environment` that it gets too; absent: none, since engines' secrets are not its own. */
  variables: z.array(variableName).optional(),
});

/** How Weir starts engines as processes of this host: which ones, with which settings, on which ports. Keys by reference only. */
export const connectionSchema = z
  .strictObject({
    kind: z.literal("processes"),
    /** This host's name in plans; its host name by default. */
    node: machineName.optional(),
    /**
     * Data that nvidia-smi does not report: card of the GPUs if it names none that Weir knows, and their number if it is missing. With
     * `processor` they are cores of this host, whatever GPUs it has.
     */
    gpus: z.strictObject({ card: machineName, count: z.int().positive(), processor: z.literal(true).optional() }).optional(),
    /** Template of models without their own: `vllm`, `sglang`, `llama.cpp`, `weir`, or one of `templates`. */
    engine: oneLine.min(1).default("vllm"),
    /** The operator's own command lines, by name; one with the name of a built-in replaces it. */
    templates: z.record(oneLine.min(1), z.array(ownArgument)).default({}),
    /** By the id of the model's card, which is the model name in requests. */
    models: z.record(machineName, modelSchema),
    /** Variables of the engines in addition to the few that every program needs. */
    environment: z.record(variableName, variableSchema).default({}),
    /** Engines take the first free port of these, both ends included. */
    ports: z
      .strictObject({ from: z.int().min(1).max(65_535), to: z.int().min(1).max(65_535) })
      .refine(({ from, to }) => from <= to, "The range ends before it begins.")
      .default({ from: 8100, to: 8199 }),
    adopt: z.array(adoptedSchema).default([]),
    beside: z.array(besideSchema).default([]),
    ...clusterFields,
  })
  .superRefine(({ engine, templates, models, environment, adopt, beside }, context) => {
    const wrong = (path: readonly (string | number)[], message: string) => context.addIssue({ code: "custom", path: [...path], message });
    for (const [name, template] of Object.entries(templates)) {
      const fault = templateFault(template);
      if (fault !== null) wrong(["templates", name], fault);
    }
    const known = new Set([...Object.keys(processTemplates()), ...Object.keys(templates)]);
    const used = [{ path: ["engine"], name: engine }].concat(
      Object.entries(models).map(([id, model]) => ({ path: ["models", id, "engine"], name: model.engine ?? engine })),
    );
    for (const { path, name } of used) if (!known.has(name)) wrong(path, `There is no template "${name}".`);
    for (const [name, variable] of Object.entries(environment)) {
      if ("value" in variable && namesAKey(name)) wrong(["environment", name], noKey);
    }
    const twice = beside.findIndex(({ name }, index) => beside.findIndex((one) => one.name === name) !== index);
    if (twice >= 0) wrong(["beside", twice, "name"], "Two programs have this name.");
    beside.forEach(({ variables = [] }, index) => {
      const unknown = variables.find((name) => environment[name] === undefined);
      if (unknown !== undefined) wrong(["beside", index, "variables"], `There is no variable "${unknown}" in environment.`);
    });
    adopt.forEach(({ url, caFile, gpus, pp = 1 }, index) => {
      if (caFile !== undefined && !url.startsWith("https:"))
        wrong(["adopt", index, "caFile"], `${url} is no https address, so no CA vouches for it.`);
      if (gpus.length % pp !== 0) wrong(["adopt", index, "pp"], `${gpus.length} GPUs cannot be ${pp} equal parts.`);
    });
  });

export type ProcessConnection = z.infer<typeof connectionSchema>;
