import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { CardStore } from "@/server/cards/cardStore";
import type { SecretUse } from "@/server/contracts/engine/engineAccess";
import { accessRefusal } from "@/server/contracts/engine/readEngineAccess";
import { secretOrigins } from "@/server/contracts/engine/secretOrigins";
import { type GatewayConfig, gatewayStatusSchema } from "@/server/contracts/gateway/gatewayAdmin";
import type { GatewayPlace } from "@/server/contracts/gateway/gatewayPlace";
import type { ClusterDetail, Finding, JudgeTest, Outcome, TriedConnection, TriedEndpoint, TryEvent } from "@/server/contracts/studio";
import { withAdapterCards } from "@/server/endpoints/adapterCards";
import type { Endpoint } from "@/server/endpoints/connection";
import { triedEndpoint, tryEndpoints } from "@/server/endpoints/tryEndpoints";
import { addressFault } from "@/server/engineClient/address";
import { failed, ok } from "@/server/engineClient/finding";
import { clusterAttention } from "@/server/fleet/clusterAttention";
import { clusterDetail } from "@/server/fleet/clusterDetail";
import {
  type ClusterConnection,
  connectionUses,
  gatewayUses,
  judgeUses,
  keyAt,
  readConnection,
  sharedEngine,
  studioToken,
} from "@/server/fleet/connection";
import { connectionChanges } from "@/server/fleet/connectionChanges";
import { checkConnection, connectionText, readConnectionText } from "@/server/fleet/connectionText";
import type { HostDeps } from "@/server/fleet/createHost";
import type { DriftWatch } from "@/server/fleet/driftWatch";
import { type ConnectedCluster, embeddedClusterId, type Fleet } from "@/server/fleet/fleet";
import { arePortsFree } from "@/server/fleet/gatewayPorts";
import { observationFindings } from "@/server/fleet/observationFindings";
import { knownPrice, observedHardware } from "@/server/fleet/observedHardware";
import { type Preflight, preflight } from "@/server/fleet/preflight";
import type { JudgeMonitor } from "@/server/judges/judgeMonitor";
import { issueSentence } from "@/server/lib/issueSentence";
import { reasonOf } from "@/server/lib/reasonOf";
import { besideTexts } from "@/server/processes/processFindings";
import type { ClusterRow } from "@/server/store/clusterRepository";
import type { Store } from "@/server/store/store";
import type { UserCards } from "@/solver/hardware/cardSchema";
import { cardOf, catalogueOf } from "@/solver/hardware/catalogue";
import { type ClusterSpec, clusterSpecSchema } from "@/solver/plan/clusterSpec";
import type { Actor } from "../base/actor";
import { auditedRefusal } from "../base/auditedRefusal";
import type { AttachRequest, TryEndpointsRequest } from "../base/inputs";

export interface AttachParts {
  readonly store: Store;
  readonly cards: CardStore;
  readonly fleet: Fleet;
  readonly drifts: Pick<DriftWatch, "drift" | "gateway">;
  readonly judges: Omit<JudgeMonitor, "planned" | "close">;
  /** Dependencies of hosts, in addition to the cluster's id. */
  readonly hosts: Omit<HostDeps, "clusterId">;
}

/** Time limit of a gateway's answer while a user waits. */
const gatewayLimitMs = 3_000;

const logLimitMs = 8_000;

/** A working judge has finished its test by then. */
const judgeWaitMs = 3_000;

/** Connections and their clusters: tried without a trace, stored once they are validated whole. */
export function createAttachService(parts: AttachParts) {
  const { store, cards, fleet, drifts, judges, hosts } = parts;

  const look = (connection: ClusterConnection, clusterId: string, probe: boolean): Promise<Preflight> =>
    preflight(connection, { ...hosts, clusterId }, { cards: catalogueOf(adapted(cards.read().userCards, connection)), probe });

  /** Gives adapters that have no card one of their own. An unusable file of cards is left as it is, and reported where it is read. */
  const keepAdapterCards = (connection: ClusterConnection): void => {
    const { userCards } = cards.read();
    if (adapted(userCards, connection) !== userCards) cards.change((known) => adapted(known, connection));
  };

  const applying = (clusterId: string): boolean => store.applications.open().some((one) => one.clusterId === clusterId);

  /** A validated connection with its hardware, or the first fault. */
  async function checked(
    kept: unknown,
    { id, name, before }: { readonly id: string; readonly name: string; readonly before: ClusterSpec | null },
  ): Promise<Outcome<{ readonly connection: ClusterConnection; readonly spec: ClusterSpec }>> {
    const read = checkConnection(kept);
    if (!read.ok) return { ok: false, message: read.faults[0]?.sentence ?? "The connection cannot be used." };
    const { connection } = read;
    if (before !== null && before.kind !== "described" && before.kind !== connection.kind)
      return { ok: false, message: `${name} is of the kind ${before.kind}: attach another kind as a separate cluster.` };
    const shared = sharedEngine(
      connection,
      store.clusters.list().filter((row) => row.id !== id),
    );
    if (shared !== null) return { ok: false, message: shared };
    const { findings, seen } = await look(connection, id, false);
    const fault = findings.find(({ level }) => level === "failed");
    if (fault !== undefined) return { ok: false, message: [fault.sentence, fault.next ?? ""].join(" ").trim() };
    const { gpus } = cards.read().catalogue;
    const priceOf = (gpu: string): number => (before === null ? null : knownPrice(before, gpu)) ?? cardOf(gpus, gpu)?.usdPerGpuHour ?? 0;
    const hardware = seen === null ? null : observedHardware(seen, priceOf);
    if (hardware === null) return { ok: false, message: "There is no node with GPUs, so that nothing can be planned for it." };
    const spec = clusterSpecSchema.safeParse({ id, name, kind: connection.kind, ...hardware });
    if (!spec.success) return { ok: false, message: `What the cluster reports cannot be used. ${issueSentence(spec.error)}` };
    return { ok: true, connection, spec: spec.data };
  }

  const aboutCluster = (id: string) => ({ objectKind: "cluster", objectId: id, clusterId: id }) as const;

  /** A cluster with a stored connection, or why it cannot be changed. */
  function attached(clusterId: string): Outcome<{ readonly row: ClusterRow }> {
    const row = store.clusters.get(clusterId);
    if (row === null) return { ok: false, message: `There is no cluster ${clusterId}.` };
    if (row.id === embeddedClusterId) return { ok: false, message: "The embedded cluster runs beside the studio and has no connection." };
    if (row.connection === null) return { ok: false, message: `${row.spec.name} is only described: nothing is attached.` };
    return applying(clusterId)
      ? { ok: false, message: `A plan is being applied on ${row.spec.name}: wait until it ends, or abort it.` }
      : { ok: true, row };
  }

  /** Enters secrets that are used for the first time, by an operator's act. */
  function enterKeys(uses: readonly SecretUse[], actor: Actor): void {
    for (const { key, origin } of secretOrigins.enter(uses))
      store.audit.note(actor, "enter key", secretOrigins.nameOf(key), `for ${origin}`);
  }

  /** Enters the secrets of a connection and its gateway; in a sentence why one of them is not sent where it would have to be. */
  function secretRefusal(kept: unknown, gateway: GatewayPlace | null, actor: Actor): string | null {
    const read = checkConnection(kept);
    const uses = [...(read.ok ? connectionUses(read.connection) : []), ...gatewayUses(gateway)];
    // The studio's own token was made for its own gateways: for another one it is allowed in the file, never by the way.
    enterKeys(
      uses.filter(({ key }) => key !== studioToken),
      actor,
    );
    const refused = uses.flatMap((use) => secretOrigins.refusal(use) ?? [])[0];
    return refused === undefined ? null : `${refused.message}.`;
  }

  /** Why a gateway cannot be assigned to this cluster. */
  function gatewayRefusal(gateway: GatewayPlace | null): string | null {
    if (gateway === null) return null;
    if (gateway.runBy === "studio") return "The studio chooses this gateway's ports.";
    const taken = fleet.list().find((cluster) => new URL(cluster.gatewayAdminUrl).origin === new URL(gateway.adminUrl).origin);
    if (taken !== undefined) {
      const name = store.clusters.get(taken.id)?.spec.name ?? taken.id;
      return `The gateway at ${gateway.adminUrl} is ${name}'s: each cluster needs its own gateway.`;
    }
    return gateway.token === undefined ? null : accessRefusal({ key: gateway.token }, hosts.environment);
  }

  /**
   * Tests a judge that has just been attached and was not tested before, or failed its test. A hanging judge is not waited for: its result
   * is stored when it is known.
   */
  async function testedJudge(clusterId: string): Promise<void> {
    const known = judges.of(clusterId);
    if (known === null || known.judge === null || known.test?.fault === null) return;
    const tested = judges.measure(clusterId, { recent: true }).catch(() => undefined);
    let timer: NodeJS.Timeout | undefined;
    const waited = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, judgeWaitMs);
    });
    await Promise.race([tested, waited]);
    clearTimeout(timer);
  }

  return {
    /** The judge outside of a cluster's plans and its known times; null: no such cluster. */
    judge: judges.of,
    /** Calls a judge in the way the gateway would; nothing is attached. */
    tryJudge(judge: NonNullable<GatewayConfig["judge"]>, signal: AbortSignal, actor: Actor): Promise<JudgeTest> {
      enterKeys(judgeUses(judge), actor);
      return judges.try(judge, signal);
    },
    /** Lets a secret be sent to one more origin. */
    allowKey(use: SecretUse, actor: Actor): Outcome<object> {
      try {
        secretOrigins.allow([use]);
      } catch (problem) {
        return { ok: false, message: reasonOf(problem) };
      }
      store.audit.note(actor, "allow key", secretOrigins.nameOf(use.key), `for ${use.origin}`);
      return { ok: true };
    },
    /** Tests the judge of a cluster again. */
    measureJudge: (clusterId: string): Promise<Outcome<{ readonly test: JudgeTest }>> => judges.measure(clusterId),
    /** Sets the mean time of a judge call for plans; null: as measured. */
    enterJudgeTime: judges.enter,

    /** Absolute path of the folder with keys and certificate authorities; null: none was named when the studio was started. */
    secretsFolder(): string | null {
      const folder = hosts.environment.WEIR_SECRETS_DIR;
      return folder ? resolve(folder) : null;
    },

    /**
     * Reads pasted addresses, or takes endpoints unchanged, tries each, and reports each result as soon as it is known; ends by itself or
     * with the signal. Keys that come with endpoints are entered for them; those that pasted text names are not: it may be another's.
     */
    tryEndpoints(request: TryEndpointsRequest, signal: AbortSignal, actor: Actor): AsyncIterable<TryEvent> {
      if ("endpoints" in request)
        enterKeys(
          request.endpoints.flatMap(({ key, url }) => (addressFault(url) === null ? keyAt(key, url) : [])),
          actor,
        );
      return tryEndpoints(request, { cards: cards.read().catalogue, signal });
    },

    /** Reads a connection, in YAML or JSON, and tries it once; nothing is stored but the origins of its keys. */
    async tryConnection(text: string, actor: Actor): Promise<TriedConnection> {
      const read = readConnectionText(text);
      if (!read.ok)
        return { connection: null, text: null, findings: read.faults.map(({ sentence }) => failed("connection", sentence, null)) };
      const { connection } = read;
      enterKeys(connectionUses(connection), actor);
      const { findings } = await look(connection, randomUUID(), true);
      const usable = findings.every(({ level }) => level !== "failed");
      return { connection: usable ? connection : null, text: connectionText(connection), findings };
    },

    /**
     * If the name belongs to a cluster that is only described, for example one that was detached, that cluster is connected: its plans,
     * engines and ports are kept.
     */
    async attach(
      { name, connection: kept, gateway, judgeSecondsPerCall }: AttachRequest,
      actor: Actor,
    ): Promise<Outcome<{ readonly id: string }>> {
      const named = (): ClusterRow | null => store.clusters.list().find((row) => row.spec.name === name) ?? null;
      const before = named();
      const taken = { ok: false, message: `There is a cluster "${name}" already: give another name.` } as const;
      if (before !== null && before.spec.kind !== "described") return taken;
      const refusal = gatewayRefusal(gateway) ?? secretRefusal(kept, gateway, actor);
      if (refusal !== null) return { ok: false, message: refusal };
      const id = before?.id ?? randomUUID();
      const found = await checked(kept, { id, name, before: before?.spec ?? null });
      if (!found.ok) return found;
      // Clients know its previous ports.
      const had = before?.gateway?.runBy === "studio" && (await arePortsFree(before.gateway)) ? before.gateway : null;
      // Another user may have attached one during this check.
      const now = named();
      if (now?.id !== before?.id || (now !== null && now.spec.kind !== "described")) return taken;
      const at = new Date().toISOString();
      const { connection, spec } = found;
      keepAdapterCards(connection);
      const where = gateway === null ? "a gateway beside the studio" : `the gateway at ${gateway.runBy === "operator" ? gateway.url : ""}`;
      store.atomically(() => {
        if (before === null) store.clusters.insert(spec, at, { connection, gateway });
        else {
          store.clusters.respecify(spec);
          store.clusters.setConnection(id, connection);
          store.clusters.setGateway(id, gateway ?? had);
        }
        const history = before === null ? "" : "; plans and history under this name are its own";
        const detail = `${summaryOf(connection, spec)}, with ${where}${history}${commandsOf(connection)}`;
        store.audit.add({ at, actor, action: "attach cluster", subject: name, detail, ...aboutCluster(id) });
      });
      if (judgeSecondsPerCall !== undefined) judges.enter(id, judgeSecondsPerCall, actor);
      // A cluster whose gateway cannot be placed reports that itself.
      await Promise.all([fleet.connect(id), testedJudge(id)]);
      return { ok: true, id };
    },

    /** Refused while a plan is being applied there. */
    async change(clusterId: string, kept: unknown, actor: Actor): Promise<Outcome<object>> {
      const one = attached(clusterId);
      if (!one.ok) return one;
      const { spec } = one.row;
      const refusal = secretRefusal(kept, null, actor);
      if (refusal !== null) return { ok: false, message: refusal };
      const found = await checked(kept, { id: clusterId, name: spec.name, before: spec });
      if (!found.ok) return found;
      const still = attached(clusterId);
      if (!still.ok) return still;
      const before = readConnection(still.row.connection);
      const at = new Date().toISOString();
      const had = before.ok && before.value.kind === "processes" ? before.value.beside : [];
      const is = found.connection.kind === "processes" ? found.connection.beside : [];
      const commands = isDeepStrictEqual(had, is) ? "" : commandsOf(found.connection);
      const detail = `${connectionChanges(before.ok ? before.value : null, found.connection)}${commands}`;
      keepAdapterCards(found.connection);
      store.atomically(() => {
        store.clusters.setConnection(clusterId, found.connection);
        store.clusters.respecify(found.spec);
        store.audit.add({ at, actor, action: "change connection", subject: spec.name, detail, ...aboutCluster(clusterId) });
      });
      await Promise.all([fleet.connect(clusterId), testedJudge(clusterId)]);
      return { ok: true };
    },

    async testConnection(
      clusterId: string,
    ): Promise<Outcome<{ readonly findings: readonly Finding[]; readonly endpoints: readonly TriedEndpoint[] }>> {
      const row = store.clusters.get(clusterId);
      if (row === null || row.spec.kind === "described") return { ok: false, message: "There is no connection to be tested." };
      const cluster = fleet.get(clusterId);
      const catalogue = cards.read().catalogue;
      const gateway = cluster === null ? [] : [await gatewayFinding(cluster)];
      if (row.connection === null) {
        if (cluster === null) return { ok: false, message: "There is no connection to be tested." };
        const found = await cluster.host.observe({ limitMs: gatewayLimitMs });
        return { ok: true, findings: [...observationFindings(found), ...gateway], endpoints: [] };
      }
      const read = readConnection(row.connection);
      if (!read.ok) return { ok: true, findings: [failed("connection", read.message, "Change the connection.")], endpoints: [] };
      const { findings, probes } = await look(read.value, clusterId, true);
      const endpoints = read.value.kind === "endpoints" ? read.value.endpoints : [];
      const tried = endpoints.flatMap((endpoint) => {
        const probe = probes.find(({ name }) => name === endpoint.name);
        return probe === undefined ? [] : [asAttached(endpoint, triedEndpoint(endpoint, probe, catalogue))];
      });
      return { ok: true, findings: [...findings, ...gateway], endpoints: tried };
    },

    /** null: no such cluster, or it is only described. */
    detail(clusterId: string): ClusterDetail | null {
      const row = store.clusters.get(clusterId);
      if (row === null || row.spec.kind === "described") return null;
      const plan = row.runningPlanId === null ? null : store.plans.get(row.runningPlanId);
      const attention = clusterAttention(row, parts);
      return clusterDetail({ row, cluster: fleet.get(clusterId), plan, attention, drift: drifts.drift(clusterId) });
    },

    /**
     * Detaches a cluster whose name is repeated as a confirmation: its engines continue, and its plans, history and audit stay. Refused
     * while a plan is being applied there.
     */
    async detach(clusterId: string, name: string, actor: Actor): Promise<Outcome<object>> {
      const subject = store.clusters.get(clusterId)?.spec.name ?? clusterId;
      const attempt = { actor, action: "detach cluster", subject, ...aboutCluster(clusterId) };
      const one = auditedRefusal(store, attempt, attached(clusterId));
      if (!one.ok) return one;
      const { spec, runningPlanId } = one.row;
      if (name.trim() !== spec.name)
        return auditedRefusal(store, attempt, { ok: false, message: `That is not its name: type ${spec.name} to detach it.` });
      const at = new Date().toISOString();
      const inForce = runningPlanId === null ? "no plan was in force" : `plan ${runningPlanId.slice(0, 8)} was in force`;
      store.atomically(() => {
        store.clusters.setConnection(clusterId, null);
        store.clusters.setRunning(clusterId, null);
        store.clusters.respecify({ ...spec, kind: "described" });
        const detail = `${inForce}; its engines run on, its plans and history are kept`;
        store.audit.add({ at, actor, action: "detach cluster", subject: spec.name, detail, ...aboutCluster(clusterId) });
      });
      await fleet.disconnect(clusterId);
      return { ok: true };
    },

    async engineLog(clusterId: string, engineId: string): Promise<Outcome<{ readonly text: string }>> {
      const cluster = fleet.get(clusterId);
      if (cluster === null) return { ok: false, message: "The studio is not connected to this cluster." };
      if (cluster.host.log === undefined) {
        const whose =
          cluster.kind === "endpoints" ? "Weir does not start its engines" : "Engines of this kind log nowhere that can be read";
        return { ok: false, message: `${whose}: look where they run.` };
      }
      const read = await cluster.host.log(engineId, { limitMs: logLimitMs });
      return read.ok ? { ok: true, text: read.value } : read;
    },
  };
}

const adapted = (userCards: UserCards, connection: ClusterConnection): UserCards =>
  connection.kind === "endpoints" ? withAdapterCards(userCards, connection.endpoints) : userCards;

async function gatewayFinding({ gateway, gatewayAdminUrl }: ConnectedCluster): Promise<Finding> {
  const status = await gateway("/status", { schema: gatewayStatusSchema, limitMs: gatewayLimitMs });
  return status.ok
    ? ok("gateway", `The gateway at ${gatewayAdminUrl} answers.`)
    : failed("gateway", status.message, "Start it, and check its address and the token of its admin listener.");
}

/** Its fields were already confirmed or not: nothing is guessed again. */
const asAttached = (endpoint: Endpoint, tried: TriedEndpoint): TriedEndpoint => ({ ...tried, draft: endpoint, guesses: [], questions: [] });

/** Commands that the studio runs from now on. */
const commandsOf = (connection: ClusterConnection): string =>
  connection.kind === "processes"
    ? besideTexts(connection)
        .map((text) => `; runs ${text}`)
        .join("")
    : "";

function summaryOf(connection: ClusterConnection, { nodes }: ClusterSpec): string {
  const gpus = nodes.reduce((sum, node) => sum + node.gpus, 0);
  const hardware = `${nodes.length} node${nodes.length === 1 ? "" : "s"} with ${gpus} GPU${gpus === 1 ? "" : "s"}`;
  if (connection.kind !== "endpoints") return `${connection.kind}: ${hardware}`;
  const models = new Set(connection.endpoints.map(({ model }) => model));
  return `${connection.endpoints.length} endpoint${connection.endpoints.length === 1 ? "" : "s"} of ${[...models].join(", ")}, ${hardware}`;
}
