import { Agent, type Dispatcher } from "undici";
import type { EngineAccess } from "@/server/contracts/engine/engineAccess";
import { engineConnector, withEngineKey } from "@/server/contracts/engine/engineConnection";
import { guardedConnector } from "@/server/contracts/engine/guardedConnector";
import { EngineAccessReader } from "@/server/contracts/engine/readEngineAccess";
import { askEndpoint, type EndpointAnswer } from "@/server/engineClient/askEndpoint";

/** The engine that is measured: the root of its API, and how it lets one in. */
export interface MeasuredTarget extends EngineAccess {
  readonly url: string;
}

const CONNECT_TIMEOUT_MS = 5_000;
const ASK_TIMEOUT_MS = 10_000;

/** Connections for the load: as many as requests in flight, kept open, without limits on how long an answer takes. */
export function loadAgent(
  { key, caFile }: EngineAccess,
  connections: number,
): Dispatcher & { close(): Promise<void>; destroy(): Promise<void> } {
  const settings = { connections, pipelining: 1, keepAliveTimeout: 60_000, headersTimeout: 0, bodyTimeout: 0 };
  if (key === undefined && caFile === undefined)
    return new Agent({ ...settings, connect: guardedConnector({ timeoutMs: CONNECT_TIMEOUT_MS }) });
  const access = new EngineAccessReader({ key, caFile });
  return new Agent({ ...settings, connect: engineConnector(access, CONNECT_TIMEOUT_MS) }).compose(withEngineKey(access)) as Agent;
}

/** Asks the engine about itself. Never rejects. */
export const askTarget = (target: MeasuredTarget, path: string): Promise<EndpointAnswer> =>
  askEndpoint({ target, path, signal: AbortSignal.timeout(ASK_TIMEOUT_MS) });
