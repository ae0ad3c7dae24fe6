import { z } from "zod";
import { engineId } from "@/server/clusters/targetEngines";
import type { EngineOrder } from "@/server/contracts/engineOrder";
import type { ProcessConnection } from "./processConnection";

/** An engine that its operator started. */
export interface AdoptedServer extends EngineOrder {
  readonly url: string;
}

export interface AdoptedServerOptions {
  readonly node: string;
  readonly gpu: string;
  readonly limitMs: number;
}

/** A server that is asked for its models answers at once. */
const askLimitMs = 2_000;

const modelListSchema = z.object({ data: z.array(z.object({ id: z.string() })) });

/** The listed servers that answer now, each under the id that a plan gives an engine of what it serves on those GPUs. */
export async function adoptedServers(
  { adopt, models }: Pick<ProcessConnection, "adopt" | "models">,
  { node, gpu, limitMs }: AdoptedServerOptions,
): Promise<readonly AdoptedServer[]> {
  const found = await Promise.all(
    adopt.map(async ({ url, precision, gpus, pp = 1 }): Promise<readonly AdoptedServer[]> => {
      const served = await servedNames(url, Math.min(limitMs, askLimitMs));
      const model = served.find((name) => Object.hasOwn(models, name)) ?? served[0];
      if (model === undefined) return [];
      const shape = { tp: gpus.length / pp, pp };
      const placements = [{ node, gpus }];
      return [{ id: engineId({ model, precision }, shape, placements), model, precision, gpu, ...shape, placements, url }];
    }),
  );
  return found.flat();
}

/** What a server serves; nothing where it does not answer. */
async function servedNames(url: string, limitMs: number): Promise<readonly string[]> {
  try {
    const answer = await fetch(new URL("/v1/models", url), { signal: AbortSignal.timeout(limitMs) });
    return modelListSchema.parse(await answer.json()).data.map(({ id }) => id);
  } catch {
    return [];
  }
}
