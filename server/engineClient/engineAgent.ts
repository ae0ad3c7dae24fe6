import { Agent, type Dispatcher } from "undici";
import type { EngineAccess } from "@/server/contracts/engine/engineAccess";
import { engineConnector, withEngineKey } from "@/server/contracts/engine/engineConnection";
import { guardedConnector } from "@/server/contracts/engine/guardedConnector";
import { EngineAccessReader } from "@/server/contracts/engine/readEngineAccess";

const connectTimeoutMs = 2_000;

/** Connections are kept: a scrape a second from each target should not cost a handshake each. */
const kept = { connections: 2, keepAliveTimeout: 30_000 };

/** For targets that anybody may ask. */
const open = new Agent({ ...kept, connect: guardedConnector({ timeoutMs: connectTimeoutMs }) });

/** One for each way in, so that engines of one key and authority share it. */
const agents = new Map<string, Dispatcher>();

/** The dispatcher for requests to an engine: with the engine's key, and verification against its certificate authorities, if it has any. */
export function engineAgent({ key, caFile }: EngineAccess = {}): Dispatcher {
  if (key === undefined && caFile === undefined) return open;
  const name = JSON.stringify([key, caFile]);
  const known = agents.get(name);
  if (known !== undefined) return known;
  const access = new EngineAccessReader({ key, caFile });
  const agent = new Agent({ ...kept, connect: engineConnector(access, connectTimeoutMs) }).compose(withEngineKey(access));
  agents.set(name, agent);
  return agent;
}
