import { z } from "zod";
import { engineAccessFields } from "@/server/contracts/engine/engineAccess";
import { clusterFields } from "@/server/contracts/gateway/clusterFields";
import { engineLimitFields, limitSources } from "@/solver/hardware/engineLimits";
import { machineName, oneLine } from "@/solver/wording/names";
import { addressFault, oneAddress } from "../engineClient/address";

/** Fields of an endpoint that cannot be queried and were not given: each is a guess until a user confirms it. */
export const guessable = ["model", "gpu", "tp", "pp", "precision"] as const;

/** Part of engines' ids, and the node on which plans place the engine. */
const nameSchema = z
  .string()
  .regex(/^[a-z0-9]([a-z0-9.-]{0,38}[a-z0-9])?$/, "a name has up to 40 lower case letters, digits, dots and dashes");

const urlSchema = z.string().superRefine((text, context) => {
  const fault = addressFault(text);
  if (fault !== null) context.addIssue({ code: "custom", message: fault });
});

const endpointSchema = z.strictObject({
  name: nameSchema,
  /** Root of its API, without `/v1` and without a slash at the end. */
  url: urlSchema,
  ...engineAccessFields,
  /** Id of the card of the model, which is the model name in requests. */
  model: machineName,
  /** The engine's own name of it; absent: as its card. One of several if one address serves several. */
  servedName: oneLine.min(1).max(500).optional(),
  /**
   * The id of the card of the model whose adapter (LoRA) this is. It is served by the engine at this address, whose GPUs, batch and cache
   * it shares with that model and its other adapters.
   */
  adapterOf: machineName.optional(),
  gpu: machineName,
  tp: z.int().positive().max(64).default(1),
  pp: z.int().positive().max(64).default(1),
  precision: z.enum(["bf16", "fp8", "int4"]),
  guessed: z.array(z.enum(guessable)).default([]),
  /** Limits with which the engine was started, from itself or from an operator; absent: its defaults are assumed. */
  limits: z.strictObject({ ...engineLimitFields, source: z.enum(limitSources).default("operator") }).optional(),
});

/** Engines that already run, whoever runs them: plans change which of them get requests, and never start or stop one. */
export const connectionSchema = z
  .strictObject({
    kind: z.literal("endpoints"),
    endpoints: z.array(endpointSchema).min(1, "attach at least one endpoint").max(500),
    ...clusterFields,
  })
  .superRefine(({ endpoints }, context) => {
    const wrong = (index: number, member: string, message: string) =>
      context.addIssue({ code: "custom", path: ["endpoints", index, member], message });
    const names = new Set<string>();
    const served = new Set<string>();
    endpoints.forEach(({ name, url, model, servedName = model, caFile }, index) => {
      if (names.has(name)) wrong(index, "name", `Two endpoints are called ${name}; names must differ.`);
      // An invalid address is already reported.
      const place = `${addressFault(url) === null ? oneAddress(url) : url} ${servedName}`;
      if (served.has(place)) wrong(index, "url", `${servedName} at ${url} is listed twice.`);
      if (caFile !== undefined && !url.startsWith("https:")) wrong(index, "caFile", `${url} is no https address, so no CA vouches for it.`);
      names.add(name);
      served.add(place);
    });
  });

export type EndpointConnection = z.infer<typeof connectionSchema>;
export type Endpoint = EndpointConnection["endpoints"][number];
/** The operator's input form: fields with a default may be absent. */
export type EndpointConnectionInput = z.input<typeof connectionSchema>;
