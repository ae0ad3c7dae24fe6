import { z } from "zod";
import type { ObservedEngine } from "@/server/clusters/connector/connector";
import { engineId } from "@/server/clusters/steps/targetEngines";
import type { EngineOrder } from "@/server/contracts/engine/engineOrder";
import { askEndpoint, type EndpointAnswer, jsonOf } from "@/server/engineClient/askEndpoint";
import type { ProcessConnection } from "./processConnection";

/** An engine that its operator started. */
export interface AdoptedServer extends EngineOrder, Pick<ObservedEngine, "access"> {
  readonly url: string;
}

export interface AdoptedLook {
  /** Under the ids that a plan gives engines of the same models on those GPUs. */
  readonly servers: readonly AdoptedServer[];
  /** Why a listed server did not report its models, a sentence each. */
  readonly notes: readonly string[];
}

export interface AdoptedServerOptions {
  readonly node: string;
  readonly gpu: string;
  readonly limitMs: number;
}

/** A server answers a request for its models at once. */
const askLimitMs = 2_000;

const modelListSchema = z.object({ data: z.array(z.object({ id: z.string() })) });

/**
 * Observes the listed servers. One that answered before and does not now stays the engine that it was: it may only be busy, and its GPUs
 * are in use either way. One that never answered is no engine yet.
 */
export function createAdoptedServers({
  adopt,
  models,
}: Pick<ProcessConnection, "adopt" | "models">): (options: AdoptedServerOptions) => Promise<AdoptedLook> {
  const lastModels = new Map<string, string>();
  return async ({ node, gpu, limitMs }) => {
    const looks = await Promise.all(
      adopt.map(async ({ url, precision, gpus, pp = 1, key, caFile }): Promise<AdoptedLook> => {
        const target = { url: new URL(url).origin, key, caFile };
        const answer = await askEndpoint({ target, path: "/v1/models", signal: AbortSignal.timeout(Math.min(limitMs, askLimitMs)) });
        const list = modelListSchema.safeParse(jsonOf(answer));
        const served = list.success ? list.data.data.map(({ id }) => id) : [];
        const told = served.find((name) => Object.hasOwn(models, name)) ?? served[0];
        if (told !== undefined) lastModels.set(url, told);
        const model = told ?? lastModels.get(url);
        const place = `${gpus.length === 1 ? "GPU" : "GPUs"} ${gpus.join(", ")} of ${node}`;
        const notes = told === undefined ? [`The server at ${url}, which holds ${place}, ${silence(answer)}.`] : [];
        if (model === undefined) return { servers: [], notes };
        const shape = { tp: gpus.length / pp, pp };
        const placements = [{ node, gpus }];
        const id = engineId({ model, precision }, shape, placements);
        const access = { ...(key && { key }), ...(caFile !== undefined && { caFile }) };
        return { servers: [{ id, model, precision, gpu, ...shape, placements, url, access }], notes };
      }),
    );
    return { servers: looks.flatMap(({ servers }) => servers), notes: looks.flatMap(({ notes }) => notes) };
  };
}

/** Why an answer names no model, in words after the server's name. */
function silence(answer: EndpointAnswer): string {
  switch (answer.kind) {
    case "answered":
      return answer.status === 401 || answer.status === 403
        ? `wants a key (${answer.status}): name it in the connection`
        : `does not say what it serves (${answer.status})`;
    case "failed":
      return `cannot be reached${answer.code === "" ? "" : ` (${answer.code})`}`;
    case "no-access":
      return `was not asked: ${answer.error.message.replace(/\.$/, "")}`;
    case "late":
      return "does not answer in time";
  }
}
