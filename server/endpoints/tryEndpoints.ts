import type { EndpointToTry, TriedEndpoint, TryEvent } from "@/server/contracts/studio";
import type { CardCatalogue } from "@/solver/hardware/catalogue";
import { addressFault } from "../engineClient/address";
import { describeEndpoint } from "./describeEndpoint";
import { parsePasted } from "./parsePasted";
import type { EndpointProbe } from "./probeEndpoint";
import { probeEndpoints } from "./probeEndpoints";

/** Pasted text, or endpoints that were read before. `generate`: whether one token may be generated. */
export type EndpointsToTry = { readonly text: string } | { readonly endpoints: readonly EndpointToTry[]; readonly generate: boolean };

export interface TryOptions {
  readonly cards: CardCatalogue;
  readonly signal: AbortSignal;
}

/**
 * Reads addresses and tries each: yields what was read, then every endpoint as soon as it is known. Ends with the signal, or when the last
 * is tried.
 */
export async function* tryEndpoints(request: EndpointsToTry, { cards, signal }: TryOptions): AsyncGenerator<TryEvent, void> {
  const read = "text" in request ? parsePasted(request.text) : given(request.endpoints);
  if (!read.ok) return yield { kind: "refused", message: read.message };
  const { endpoints, notes } = read;
  yield { kind: "read", endpoints, notes };

  const left = new AbortController();
  const news: EndpointProbe[] = [];
  let wake = (): void => undefined;
  const onProbe = (probe: EndpointProbe): void => {
    news.push(probe);
    wake();
  };
  const generate = "endpoints" in request && request.generate;
  let tried = 0;
  const probing = probeEndpoints(endpoints, { signal: AbortSignal.any([signal, left.signal]), generate, onProbe });
  // A reader that has stopped does not get the result.
  probing.catch(() => undefined);
  try {
    while (tried < endpoints.length) {
      const told = new Promise<void>((resolve) => {
        wake = resolve;
      });
      if (news.length === 0) await Promise.race([told, probing]);
      for (const probe of news.splice(0)) {
        tried += 1;
        const target = endpoints.find(({ name }) => name === probe.name);
        if (target !== undefined) yield { kind: "tried", endpoint: triedEndpoint(target, probe, cards) };
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    left.abort();
  }
}

type Given = { readonly ok: true; readonly endpoints: readonly EndpointToTry[]; readonly notes: readonly string[] } | Refused;
type Refused = { readonly ok: false; readonly message: string };

/** Endpoints sent back by a page, perhaps with keys or other names added. */
function given(endpoints: readonly EndpointToTry[]): Given {
  for (const { name, url } of endpoints) {
    const fault = addressFault(url);
    if (fault !== null) return { ok: false, message: `${name}: ${fault}` };
  }
  const twice = endpoints.find(({ name }, index) => endpoints.findIndex((one) => one.name === name) < index);
  return twice === undefined
    ? { ok: true, endpoints, notes: [] }
    : { ok: false, message: `Two endpoints are called ${twice.name}; names must differ.` };
}

/** The result of an endpoint's probe, and its attachable form. */
export function triedEndpoint(tried: EndpointToTry, probe: EndpointProbe, cards: CardCatalogue): TriedEndpoint {
  const { findings, served, engine } = probe;
  const { endpoint, adapters, guesses, questions } = describeEndpoint(tried, probe, { cards });
  // An endpoint that was not reached serves something: the operator need not state it before it is reached.
  const asked = findings.some(({ what, level }) => level === "failed" && what !== "token" && what !== "health") ? [] : questions;
  return { tried, findings, served: served.map(({ id }) => id), engine, draft: endpoint, adapters, guesses, questions: asked };
}
