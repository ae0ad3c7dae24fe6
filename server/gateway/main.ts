import cluster from "node:cluster";
import { delimiter } from "node:path";
import { pino } from "pino";
import { allowedAddresses } from "@/server/contracts/engine/guardedConnector";
import type { GatewayKey } from "@/server/contracts/gateway/gatewayKeys";
import { mappingsInForce } from "@/server/engines/mappingsInForce";
import { isLoopback } from "@/server/lib/clientAddress";
import { ensurePrivateFolder } from "@/server/lib/privateFolder";
import { reasonOf } from "@/server/lib/reasonOf";
import { tlsFiles } from "@/server/lib/tlsServer";
import { version } from "../../package.json";
import { type Gateway, type GatewayOptions, PortTakenError, startGateway } from "./gateway";
import { defaultLimits, type GatewayLimits } from "./http/limits";
import { tracesFromEnvironment } from "./request/traces";
import { followParent } from "./restart/succession";
import { trustedStudio } from "./serving/studioOrders";

const log = pino({ name: "weir-gateway", level: process.env.WEIR_LOG_LEVEL ?? "info" });

function portFrom(name: string, fallback: number): number {
  const text = process.env[name];
  if (text === undefined || text === "") return fallback;
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new Error(`${name} is ${text}; it must be a port number from 0 to 65535.`);
}

/** A number above 0 of at most `most`; undefined if the variable is not set. */
function numberFrom(name: string, most: number): number | undefined {
  const text = process.env[name];
  if (text === undefined || text === "") return undefined;
  const value = Number(text);
  if (value > 0 && value <= most) return value;
  throw new Error(`${name} is ${text}; it must be a number above 0, at most ${most}.`);
}

/** The limits of stored responses; those that are not set have their defaults. */
function storedResponseLimits(): Partial<GatewayLimits> {
  const megabytes = numberFrom("WEIR_STORED_RESPONSES_MB", 65_536);
  const hours = numberFrom("WEIR_STORED_RESPONSES_HOURS", 480);
  return {
    ...(megabytes !== undefined && { storedResponseBytes: Math.ceil(megabytes * 1024 * 1024) }),
    ...(hours !== undefined && { storedResponseSeconds: hours * 3600 }),
  };
}

/** The parts of a variable that lists some, separated by commas. */
const listFrom = (name: string): readonly string[] =>
  (process.env[name] ?? "")
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");

/** The keys of WEIR_GATEWAY_KEYS, each as its name, ":" and its SHA-256; undefined if there are none. */
function startKeys(): readonly GatewayKey[] | undefined {
  const keys = listFrom("WEIR_GATEWAY_KEYS").map((part) => {
    const [, name, sha256] = /^(.+):([0-9a-f]{64})$/.exec(part) ?? [];
    if (name === undefined || sha256 === undefined)
      throw new Error(
        "WEIR_GATEWAY_KEYS must list keys as name:sha256, the SHA-256 with 64 small hexadecimal digits, separated by commas.",
      );
    return { name, sha256 };
  });
  return keys.length === 0 ? undefined : keys;
}

/** Gateways of one cluster share by its name. */
const sharingFrom = ({ WEIR_VALKEY_URL: url, WEIR_CLUSTER_ID: cluster }: NodeJS.ProcessEnv) =>
  url ? { url, scope: cluster || "gateways" } : null;

async function optionsFromEnvironment(): Promise<GatewayOptions> {
  const adminToken = process.env.WEIR_ADMIN_TOKEN;
  if (!adminToken)
    throw new Error("WEIR_ADMIN_TOKEN is not set, and without a token every program on this machine could change the configuration.");
  allowedAddresses();
  const studio = await trustedStudio(process.env.WEIR_STUDIO_PUBLIC_KEY ?? "", process.env.WEIR_CLUSTER_ID || null);
  if (studio === null) log.warn("WEIR_STUDIO_PUBLIC_KEY is none: everybody with the admin token may put plans into force");
  const { problem } = mappingsInForce();
  if (problem !== null) log.warn(problem);
  const stateDirectory = process.env.WEIR_STATE_DIR || ".weir";
  const repaired = ensurePrivateFolder(stateDirectory);
  if (repaired !== null) log.warn(repaired);
  const dataHost = process.env.WEIR_GATEWAY_HOST || "127.0.0.1";
  const tls = tlsFiles(process.env);
  if (tls === null && !isLoopback(dataHost))
    log.warn(`keys and prompts travel unencrypted over ${dataHost}: set WEIR_TLS_CERT_FILE and WEIR_TLS_KEY_FILE`);
  return {
    dataHost,
    dataPort: portFrom("WEIR_GATEWAY_PORT", 4610),
    adminPort: portFrom("WEIR_GATEWAY_ADMIN_PORT", 4611),
    stateDirectory,
    secretOriginsFile: process.env.WEIR_SECRET_ORIGINS || null,
    // Separated as in PATH.
    encoderFolders: (process.env.WEIR_ENCODER_FOLDERS ?? "").split(delimiter).filter((folder) => folder !== ""),
    studio,
    adminToken,
    tls,
    startKeys: startKeys(),
    hosts: new Set(listFrom("WEIR_GATEWAY_HOSTS").map((host) => host.toLowerCase())),
    log,
    limits: storedResponseLimits(),
    sharing: sharingFrom(process.env),
    traces: await tracesFromEnvironment({ log, version }),
  };
}

try {
  const options = await optionsFromEnvironment();
  const end = async (gateway: Gateway): Promise<void> => {
    await gateway.close();
    process.exit(0);
  };
  // Under a parent, which keeps the ports while processes take over from one another.
  const gateway = cluster.isWorker
    ? await followParent(
        (inherited) => startGateway({ ...options, inherited }),
        (left) => void end(left),
      )
    : await startGateway(options);
  let stopping: string | null = null;
  const stop = async (signal: string): Promise<void> => {
    // A second signal may shorten the drain.
    if (stopping !== null && stopping !== "SIGUSR2") return;
    stopping = signal;
    log.info({ signal }, "finishing what is in flight");
    const cut = await gateway.close(signal === "SIGUSR2" ? defaultLimits.requestSeconds : defaultLimits.drainSeconds);
    if (cut > 0) log.warn({ cut }, "requests were answered with an error at the end of the drain time");
    process.exit(0);
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  // No process waits for it to end: no request is cut that may still be answered.
  process.on("SIGUSR2", stop);
} catch (error) {
  // The studio reads the kind from the log.
  const kind = error instanceof PortTakenError ? ` [${error.kind}]` : "";
  process.stderr.write(`weir gateway${kind}: ${reasonOf(error)}\n`);
  process.exit(1);
}
