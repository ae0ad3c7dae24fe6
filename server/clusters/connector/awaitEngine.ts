import type { Answer, StepOptions } from "./connector";
import type { EngineHost } from "./engineHost";
import { verifyEngine } from "./verifyEngine";
import { type Look, waitUntil } from "./waitUntil";

/** Weights of a large model load for minutes; a Kubernetes progress deadline of 600 s is often too short. */
export const defaultLoadLimitMs = 900_000;

export interface AwaitOptions extends StepOptions {
  readonly limitMs: number;
}

/** Waits until a started engine answers requests for its model; returns what was found, or why it never will. */
export const awaitEngine = (
  host: EngineHost,
  { id, model }: { readonly id: string; readonly model: string },
  options: AwaitOptions,
): Promise<Answer<string>> =>
  waitUntil(async (): Promise<Look> => {
    const found = await host.observe({ signal: options.signal });
    if (!found.ok) return { waiting: found.message };
    const engine = found.value.engines.find((one) => one.id === id);
    const why = (await host.why?.(id, { signal: options.signal })) ?? null;
    if (why !== null && "failed" in why) return why;
    if (engine === undefined) return { failed: `${id} is gone: it died while loading.` };
    const look = await verifyEngine(engine, model, options.signal);
    if (!("waiting" in look)) return look;
    if (why !== null && "waiting" in why) return why;
    const line = (await host.progress?.(id, { signal: options.signal })) ?? null;
    return line === null ? look : { waiting: `${look.waiting} Its log: ${line}` };
  }, options);
