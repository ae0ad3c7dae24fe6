import { z } from "zod";
import { engineAccessFields } from "@/server/contracts/engine/engineAccess";
import { clusterFields } from "@/server/contracts/gateway/clusterFields";
import { looksLikeKey, namesAKey } from "@/server/lib/secrets";
import { machineName, oneLine, weightsSource } from "@/solver/wording/names";

/** Builds an application of one model in Ray Serve LLM, which is served by vLLM. */
export const llmImportPath = "ray.serve.llm:build_openai_app";

/** Cards of GPUs by Ray's accelerator types; an operator's own are added. Ray does not distinguish an H100 SXM from a PCIe one. */
export const knownAccelerators: Readonly<Record<string, string>> = {
  "A100-80G": "a100-sxm-80g",
  A100: "a100-sxm-80g",
  H100: "h100-sxm",
  H200: "h200-sxm",
  B200: "b200-sxm",
  B300: "b300-sxm",
  GB200: "gb200",
  L40S: "l40s",
  L4: "l4",
  A10G: "a10g",
};

const jsonObject = z.record(z.string(), z.json()).superRefine((value, context) => {
  if (holdsKey(value))
    context.addIssue({
      code: "custom",
      message: "This holds what looks like a key, which everybody would read who asks Ray: give it to the nodes' own environment instead.",
    });
});

function holdsKey(value: unknown): boolean {
  if (typeof value === "string") return looksLikeKey(value);
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([name, held]) => (namesAKey(name) && typeof held === "string" && held !== "") || holdsKey(held));
}

const webAddress = z.url({ protocol: /^https?$/ });

/** Ray's dashboard uses addresses relative to the root. */
const rootAddress = webAddress.refine((text) => !URL.canParse(text) || new URL(text).pathname === "/", "must have no path");

/** Where a Ray cluster's dashboard is and how engines run in Ray Serve. The token that Ray requires is `key`, by reference only. */
export const connectionSchema = z.strictObject({
  kind: z.literal("ray"),
  /** The dashboard, as a rule on port 8265 of the head node. */
  dashboard: rootAddress,
  ...engineAccessFields,
  /** Where gateway and studio reach Serve's proxies; absent: the dashboard's host at the port that Serve reports. */
  serveUrl: webAddress.optional(),
  /** Where Serve listens if it is not started yet; absent: Ray's default, every address and port 8000. */
  http: z.strictObject({ host: oneLine.min(1), port: z.int().min(1).max(65_535) }).optional(),
  /**
   * Resource that only one node has, which binds engines to it; plans name a node by the value of `{node}`. Ray gives each node one with
   * its address.
   */
  nodeResource: oneLine.refine((text) => text.split("{node}").length === 2, "must hold {node} once").default("node:{node}"),
  /** Cards by Ray's accelerator types, in addition to the known ones. */
  accelerators: z.record(oneLine, machineName).default({}),
  /** Card of GPUs whose nodes report no accelerator type. */
  gpu: machineName.optional(),
  /**
   * The builder of an engine's application, and its arguments: JSON whose strings may contain {model}, {source}, {tp} and similar
   * placeholders.
   */
  importPath: z
    .string()
    .regex(/^[\w.]+[:.]\w+$/, "must be module:attribute")
    .default(llmImportPath),
  args: jsonObject.optional(),
  /** Ray's `runtime_env` of every engine. */
  runtimeEnv: jsonObject.default({}),
  /** By card: the weights, and vLLM's arguments in addition to Weir's own. */
  models: z.record(machineName, z.strictObject({ source: weightsSource, engineKwargs: jsonObject.default({}) })),
  ...clusterFields,
});

export type RayConnection = z.infer<typeof connectionSchema>;
/** The operator's input form: fields with a default may be absent. */
export type RayConnectionInput = z.input<typeof connectionSchema>;
