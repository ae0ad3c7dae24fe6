import { hostname } from "node:os";
import { join } from "node:path";
import type { Answer, ObservedEngine, StepOptions } from "@/server/clusters/connector/connector";
import type { EngineHost, LookOptions } from "@/server/clusters/connector/engineHost";
import { type Look, waitUntil } from "@/server/clusters/connector/waitUntil";
import type { EngineOrder } from "@/server/contracts/engine/engineOrder";
import { freePort } from "@/server/lib/freePort";
import { reasonOf } from "@/server/lib/reasonOf";
import type { CardCatalogue } from "@/solver/hardware/catalogue";
import { createMask } from "../lib/secrets";
import { type AdoptedLook, type AdoptedServer, createAdoptedServers } from "./adoptedServers";
import { createBesidePrograms } from "./besidePrograms";
import { engineCommand, listenOn } from "./engineCommand";
import { engineEnvironment, secretsOf, type Variables } from "./engineEnvironment";
import { type EngineLife, endText, lifeOf, signalEngine } from "./engineLife";
import { newestLine, trimEngineLog } from "./engineLog";
import { type EngineRecord, engineRecordsIn } from "./engineRecords";
import { createEngineTexts } from "./engineTexts";
import { createHostGpus, type HostGpus } from "./hostGpus";
import { endsWithin, launchEngine } from "./launchEngine";
import { neighboursOf } from "./neighbours";
import type { ProcessConnection } from "./processConnection";
import { processTable } from "./processIdentity";
import { heldGpus, indicesOf, startRefusal } from "./startRefusal";

/** A command that cannot run at all ends in this time; a later failure is reported by the verification. */
const usualSettleMs = 3_000;

/** After it an engine is killed. Its requests were drained before, so this time is for freeing its GPUs. */
const usualGraceMs = 60_000;

/** The system ends a killed process within seconds. */
const killLimitMs = 15_000;

/** Processes are checked without a request to them. */
const lookEveryMs = 100;

/** Time limit of other programs during an observation of a host. */
const usualLookMs = 4_000;

export interface ProcessHostParts {
  /** Folder for records and logs of this cluster's engines only. */
  readonly folder: string;
  readonly gpuCards: () => CardCatalogue["gpus"];
  /** The studio's own variables, of which engines get few. */
  readonly environment: Variables;
  /** Name or path of nvidia-smi. */
  readonly nvidiaSmi?: string;
  readonly limits?: { readonly settleMs?: number; readonly graceMs?: number };
}

export interface ProcessHost extends EngineHost {
  /** How the main process of an engine that was started here ended, with the lines of its log that say why; null for one that runs or was never started. */
  why(engineId: string, options: LookOptions): Promise<Look | null>;
}

type LiveEngine = Exclude<EngineLife, { readonly state: "ended" }>;

/** This host: engines are its processes, which survive the studio and are recognised by the records of their start. */
export function createProcessHost(connection: ProcessConnection, parts: ProcessHostParts): ProcessHost {
  const { folder, environment, gpuCards, nvidiaSmi = "nvidia-smi" } = parts;
  const { settleMs = usualSettleMs, graceMs = usualGraceMs } = parts.limits ?? {};
  const node = connection.node ?? hostname();
  const records = engineRecordsIn(folder);
  const readGpus = createHostGpus({ command: nvidiaSmi, node, cards: gpuCards, given: connection.gpus });
  const mask = (text: string): string => createMask(secretsOf(connection.environment, environment))(text);

  const lifeIn = (record: EngineRecord): EngineLife | null => lifeOf(record, records, processTable);
  const lifeNamed = (engineId: string): EngineLife | null => {
    const record = records.read(engineId);
    return record === null ? null : lifeIn(record);
  };
  const standing = (): readonly LiveEngine[] =>
    records.all().flatMap((record) => {
      const life = lifeIn(record);
      return life === null || life.state === "ended" ? [] : [life];
    });
  const lookAtAdopted = createAdoptedServers(connection);
  const adopted = (gpus: HostGpus, limitMs: number): Promise<AdoptedLook> => lookAtAdopted({ node, gpu: gpus.card, limitMs });
  const neighbours = () => neighboursOf(folder);

  async function start(order: EngineOrder, { signal, report }: StepOptions): Promise<Answer<string>> {
    const gpus = await readGpus();
    if (!gpus.ok) return gpus;
    const { servers } = await adopted(gpus.value, usualLookMs);
    signal.throwIfAborted();
    const lives = standing();
    const same = lives.find(({ record }) => record.order.id === order.id);
    if (same?.state === "alive" && !same.record.stopping) return { ok: true, value: `was up already, as process ${same.pid}` };
    if (same !== undefined) return { ok: false, message: `${order.id} has not ended yet: stop it first.` };
    if (servers.some(({ id }) => id === order.id)) return { ok: true, value: "was up already, started by its operator" };
    const engines = lives.map(({ record }) => record.order);
    const refusal = startRefusal(order, { node, gpus: gpus.value, engines, adopted: connection.adopt, neighbours: neighbours() });
    if (refusal !== null) return { ok: false, message: refusal };

    const variables = engineEnvironment(connection.environment, environment, indicesOf(order));
    if (!variables.ok) return variables;
    const { ports } = connection;
    const port = await freePort(ports, new Set(lives.map(({ record }) => record.port)));
    if (port === null) return { ok: false, message: `No port from ${ports.from} to ${ports.to} is free.` };
    const command = engineCommand(order, connection, port);
    if (!command.ok) return command;
    signal.throwIfAborted();

    const log = join(folder, `${order.id}.log`);
    const startedAt = new Date().toISOString();
    const begun = { order, port, command: command.value.map(mask), log, startedAt };
    const record: EngineRecord = { ...begun, process: null, stopping: false, ended: false, exit: null };
    const launched = await launchEngine({ record, command: command.value, environment: variables.value, records, table: processTable });
    if (!launched.ok) return { ok: false, message: mask(launched.message) };
    report(`process ${launched.value.pid} has begun, logging to ${log}`);
    if (!(await endsWithin(launched.value, settleMs, signal))) {
      return { ok: true, value: `loading as process ${launched.value.pid}, logging to ${log}` };
    }
    const life = lifeNamed(order.id);
    const gone = life === null || life.state === "alive" ? `${order.id} ended at once.` : endText(life, mask);
    return { ok: false, message: gone };
  }

  async function stop(engineId: string, options: StepOptions): Promise<Answer<string>> {
    const first = lifeNamed(engineId);
    if (first === null || first.state === "ended") {
      records.remove(engineId);
      const gpus = await readGpus();
      const server = gpus.ok ? (await adopted(gpus.value, usualLookMs)).servers.find(({ id }) => id === engineId) : undefined;
      const left = server === undefined ? "was gone already" : `left as it is: its operator started the server at ${server.url}`;
      return { ok: true, value: left };
    }
    records.write({ ...first.record, stopping: true });
    signalEngine(first, "SIGTERM");
    const look = (name: "SIGKILL" | null) => async (): Promise<Look> => {
      const life = lifeNamed(engineId);
      if (life === null || life.state === "ended") return { holds: "its GPUs are free" };
      if (name !== null) signalEngine(life, name);
      return { waiting: name === null ? `it is ending, and is killed after ${graceMs / 1000} s` : "it was killed and has not gone yet" };
    };
    let gone = await waitUntil(look(null), { ...options, limitMs: graceMs, everyMs: lookEveryMs });
    if (!gone.ok) {
      gone = await waitUntil(look("SIGKILL"), { ...options, limitMs: killLimitMs, everyMs: lookEveryMs });
      if (!gone.ok) return { ok: false, message: `${engineId} cannot be killed: ${gone.message}.` };
      gone = { ok: true, value: `it did not end in ${graceMs / 1000} s and was killed; its GPUs are free` };
    }
    records.remove(engineId);
    return gone;
  }

  /** Two concurrent starts would use the same port. */
  let last: Promise<unknown> = Promise.resolve();
  function inTurn(act: () => Promise<Answer<string>>, signal: AbortSignal): Promise<Answer<string>> {
    const turn = last.then(() => {
      signal.throwIfAborted();
      return answerOf(act, signal);
    });
    last = turn.catch(() => undefined);
    return turn;
  }

  /** An error of the system, such as a full disk, is returned as a sentence too. */
  async function answerOf<Value>(act: () => Promise<Answer<Value>>, signal: AbortSignal | undefined): Promise<Answer<Value>> {
    try {
      return await act();
    } catch (error) {
      signal?.throwIfAborted();
      const reason = reasonOf(error);
      return { ok: false, message: mask(`Engines of ${node} cannot be looked after: ${reason}`) };
    }
  }

  const texts = createEngineTexts({
    ...{ connection, node, environment, records, mask, readGpus },
    engines: () => standing().map(({ record }) => record.order),
    neighbours,
  });

  const beside = createBesidePrograms(connection, { folder, environment, table: processTable });

  return {
    keep: beside.keep,
    release: beside.release,
    generate: texts.generate,
    actual: (engineId, options) => answerOf(() => texts.actual(engineId, options), options.signal),
    rehearse: (order, options) => answerOf(() => texts.rehearse(order, options), options.signal),
    log: (engineId, options) => answerOf(() => texts.log(engineId, options), options.signal),
    observe: ({ signal, limitMs = usualLookMs }) =>
      answerOf(async () => {
        const gpus = await readGpus(limitMs);
        if (!gpus.ok) return gpus;
        const lives = standing();
        for (const { record } of lives) trimEngineLog(record.log);
        const own = lives.map(observed);
        const { servers, notes: silent } = await adopted(gpus.value, limitMs);
        const engines = [...own, ...servers.filter(({ id }) => own.every((one) => one.id !== id)).map(taken)];
        const known = new Set(engines.flatMap(indicesOf));
        const ownOrders = lives.map(({ record }) => record.order);
        const held = heldGpus({ gpus: gpus.value, engines: ownOrders, adopted: connection.adopt, neighbours: neighbours() });
        const others = new Set(held.map(({ gpu }) => gpu).filter((gpu) => !known.has(gpu)));
        const use = { ...(others.size > 0 ? { othersGpus: others.size } : {}), ...(held.length > 0 ? { heldGpus: held } : {}) };
        const cores = connection.gpus?.processor ? { processor: { programs: connection.beside.length } } : {};
        const nodes = [{ name: node, gpus: gpus.value.count, ...cores, ...use }];
        const theirs = servers.map(
          ({ id, url }) => `${id} at ${url} was started by its operator: requests may go there, and Weir never ends it.`,
        );
        const faults = beside.faults();
        const notes = [...faults, ...silent, ...theirs];
        const real = { outcomes: null, timeScale: 1, deviates: null, dcgmUrls: connection.dcgmUrls, judge: connection.judge };
        return { ok: true, value: { gpu: gpus.value.card, nodes, engines, ...(notes.length === 0 ? {} : { notes }), faults, ...real } };
      }, signal),
    start: (order, options) => inTurn(() => start(order, options), options.signal),
    stop: (engineId, options) => inTurn(() => stop(engineId, options), options.signal),
    why: async (engineId, { signal }) => {
      const failed = await answerOf(async () => {
        const life = lifeNamed(engineId);
        return life === null || life.state === "alive" ? { ok: true, value: null } : { ok: false, message: endText(life, mask) };
      }, signal);
      return failed.ok ? null : { failed: failed.message };
    },
    async progress(engineId, { signal }) {
      const read = await answerOf(async (): Promise<Answer<string | null>> => {
        const record = records.read(engineId);
        return { ok: true, value: record === null ? null : newestLine(record.log, mask) };
      }, signal);
      return read.ok ? read.value : null;
    },
  };
}

function observed(life: LiveEngine): ObservedEngine {
  const { precision: _, ...order } = life.record.order;
  return { ...order, url: `http://${listenOn}:${life.record.port}`, stopping: life.state === "left" || life.record.stopping };
}

function taken({ precision: _, ...server }: AdoptedServer): ObservedEngine {
  return { ...server, stopping: false };
}
