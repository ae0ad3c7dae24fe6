import type { Answer, Observation } from "@/server/clusters/connector/connector";
import type { HostObservation } from "@/server/clusters/connector/engineHost";
import type { Finding } from "@/server/contracts/studio";
import type { Endpoint } from "@/server/endpoints/connection";
import type { EndpointProbe } from "@/server/endpoints/probeEndpoint";
import { probeEndpoints } from "@/server/endpoints/probeEndpoints";
import { failed, ok, warn } from "@/server/engineClient/finding";
import { reasonOf } from "@/server/lib/reasonOf";
import { processFindings } from "@/server/processes/processFindings";
import { type CardCatalogue, cardOf } from "@/solver/hardware/catalogue";
import type { ClusterConnection } from "./connection";
import { createHost, type HostDeps } from "./createHost";
import { observationFindings } from "./observationFindings";

/** Time limit while a user waits at a page. */
const limitMs = 8_000;

/** The observation through a connection; null if there was none. */
export interface Preflight {
  readonly findings: readonly Finding[];
  readonly seen: HostObservation | null;
  readonly probes: readonly EndpointProbe[];
}

export interface PreflightOptions {
  readonly cards: CardCatalogue;
  /** Whether endpoints are tried one by one: their existence follows from the connection alone. */
  readonly probe: boolean;
}

/** Observes a connection once, without changing anything: what exists, and which named objects are missing. */
export async function preflight(connection: ClusterConnection, deps: HostDeps, { cards, probe }: PreflightOptions): Promise<Preflight> {
  const host = createHost(connection, deps);
  if (!host.ok) return { findings: [failed("connection", host.message, null)], seen: null, probes: [] };
  const signal = AbortSignal.timeout(4 * limitMs);
  const probes: EndpointProbe[] = [];
  const endpoints = probe && connection.kind === "endpoints" ? connection.endpoints : [];
  const [found] = await Promise.all([
    host.value.observe({ signal, limitMs }).catch((error: unknown): Answer<HostObservation> => ({ ok: false, message: notLooked(error) })),
    // Those that were tried in time are reported.
    probeEndpoints(endpoints, { signal, onProbe: (one) => probes.push(one) }).catch(() => undefined),
  ]);
  const here = connection.kind === "processes" ? await processFindings(connection, deps.environment) : [];
  const looked = connection.kind === "endpoints" ? endpointFindings(endpoints, probes) : observationFindings(found);
  const seen = found.ok ? found.value : null;
  return { findings: [...looked, ...here, ...cardFindings(connection, seen, cards)], seen, probes };
}

/** Missing cards and prices. */
function cardFindings(connection: ClusterConnection, seen: HostObservation | null, cards: CardCatalogue): readonly Finding[] {
  const missing = missingCards(connection, seen, cards).map(({ kind, sentence }) =>
    failed(kind === "gpu" ? "gpus" : "models", sentence, "Add it under Cards, or name the card of one like it."),
  );
  const types = seen === null ? [] : [...new Set(seen.nodes.map((node) => node.gpu ?? seen.gpu))];
  const unpriced = types.filter((type) => cardOf(cards.gpus, type)?.usdPerGpuHour === null);
  return [
    ...missing,
    ...unpriced.map((type) => warn("gpus", `There is no price of ${type}, so its hours count as free.`, "Give its price under Cards.")),
  ];
}

/** An endpoint that does not answer can still be attached: it belongs to the cluster when it is back. */
function endpointFindings(endpoints: readonly Endpoint[], probes: readonly EndpointProbe[]): readonly Finding[] {
  return endpoints.flatMap(({ name }): readonly Finding[] => {
    const probe = probes.find((one) => one.name === name);
    if (probe === undefined) return [warn("reached", `${name} was not tried in time.`, null)];
    const faults = probe.findings.filter(({ level }) => level !== "ok");
    if (faults.length === 0) return [ok("reached", `${name} answers: ${probe.served.map(({ id }) => id).join(", ")}.`)];
    return faults.map((fault) => ({ ...fault, level: "warn", sentence: `${name}: ${fault.sentence}` }));
  });
}

const notLooked = (error: unknown): string => `It cannot be looked at: ${reasonOf(error)}.`;

/** A card that a connection names and that does not exist. */
interface MissingCard {
  readonly kind: "model" | "gpu";
  readonly id: string;
  readonly sentence: string;
}

/** Missing cards of a connection and of observed GPUs, without duplicates. */
function missingCards(
  connection: ClusterConnection,
  seen: Pick<Observation, "gpu" | "nodes"> | null,
  cards: CardCatalogue,
): readonly MissingCard[] {
  const { models, gpus } = namedCards(connection);
  const found = seen === null ? [] : seen.nodes.map((node) => node.gpu ?? seen.gpu);
  const missingModels = models.filter((id) => cardOf(cards.models, id) === undefined);
  const missingGpus = [...gpus, ...found].filter((id) => cardOf(cards.gpus, id) === undefined);
  return [
    ...[...new Set(missingModels)].map((id) => ({ kind: "model" as const, id, sentence: `There is no card of a model "${id}".` })),
    ...[...new Set(missingGpus)].map((id) => ({ kind: "gpu" as const, id, sentence: `There is no card of a GPU "${id}".` })),
  ];
}

function namedCards(connection: ClusterConnection): { readonly models: readonly string[]; readonly gpus: readonly string[] } {
  switch (connection.kind) {
    case "endpoints":
      return { models: connection.endpoints.map(({ model }) => model), gpus: connection.endpoints.map(({ gpu }) => gpu) };
    case "processes":
      return { models: Object.keys(connection.models), gpus: connection.gpus === undefined ? [] : [connection.gpus.card] };
    case "kubernetes":
      return { models: Object.keys(connection.models), gpus: [...own(connection.gpu), ...Object.values(connection.gpuProducts)] };
    case "ray":
      return { models: Object.keys(connection.models), gpus: [...own(connection.gpu), ...Object.values(connection.accelerators)] };
  }
}

const own = (gpu: string | undefined): readonly string[] => (gpu === undefined ? [] : [gpu]);
