import { delimiter } from "node:path";
import { pino } from "pino";
import { mappingsInForce } from "@/server/engines/mappingsInForce";
import { reasonOf } from "@/server/lib/reasonOf";
import { version } from "../../package.json";
import { type Gateway, PortTakenError, startGateway } from "./gateway";
import { defaultLimits } from "./http/limits";
import { trustedStudio } from "./lib/studioOrders";
import { tracesFromEnvironment } from "./request/traces";

const log = pino({ name: "weir-gateway", level: process.env.WEIR_LOG_LEVEL ?? "info" });

function portFrom(name: string, fallback: number): number {
  const text = process.env[name];
  if (text === undefined || text === "") return fallback;
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new Error(`${name} is ${text}; it must be a port number from 0 to 65535.`);
}

async function start(): Promise<Gateway> {
  const adminToken = process.env.WEIR_ADMIN_TOKEN || null;
  if (adminToken === null) log.warn("WEIR_ADMIN_TOKEN is not set: every program on this machine may change the configuration");
  const studio = await trustedStudio(process.env.WEIR_STUDIO_PUBLIC_KEY ?? "", process.env.WEIR_CLUSTER_ID || null);
  if (studio === null) log.warn("WEIR_STUDIO_PUBLIC_KEY is none: everybody with the admin token may put plans into force");
  const { problem } = mappingsInForce();
  if (problem !== null) log.warn(problem);
  return startGateway({
    dataPort: portFrom("WEIR_GATEWAY_PORT", 4610),
    adminPort: portFrom("WEIR_GATEWAY_ADMIN_PORT", 4611),
    stateDirectory: process.env.WEIR_STATE_DIR || ".weir",
    // Separated as in PATH.
    encoderFolders: (process.env.WEIR_ENCODER_FOLDERS ?? "").split(delimiter).filter((folder) => folder !== ""),
    studio,
    adminToken,
    log,
    traces: await tracesFromEnvironment({ log, version }),
  });
}

try {
  const gateway = await start();
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
