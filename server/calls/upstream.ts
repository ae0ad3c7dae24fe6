import { Agent, type Dispatcher } from "undici";
import type { EngineAccess } from "@/server/contracts/engine/engineAccess";
import { engineConnector, withEngineKey } from "@/server/contracts/engine/engineConnection";
import { EngineAccessReader } from "@/server/contracts/engine/readEngineAccess";

/** A place where a model can be called. */
export interface Upstream {
  /** The same for as long as it is the same upstream. */
  readonly id: string;
  /** Where chat requests go. */
  readonly url: string;
  readonly dispatcher: Dispatcher;
  /** What the model is called there. */
  readonly servedName: string;
  /** Engine seconds in a second of the wall. */
  readonly timeScale: number;
  /** Id of the cluster's engine; null: it is not an engine. */
  readonly engine: string | null;
}

const CONNECT_LIMIT_MS = 5_000;

/** Connections to addresses, each with its key and authorities, opened when they are needed. */
export interface ConnectionPool {
  /** @param access as stored in documents; the key is read when a request is sent. */
  to(url: string, access: EngineAccess): Dispatcher;
  close(): Promise<void>;
}

/** @param silenceMs nothing may come for so long before an address counts as hung. */
export function createConnectionPool(silenceMs: number): ConnectionPool {
  const open = new Map<string, { readonly agent: Agent; readonly connection: Dispatcher }>();
  return {
    to(url, { key, caFile }) {
      const name = JSON.stringify([new URL(url).origin, key, caFile]);
      const known = open.get(name);
      if (known !== undefined) return known.connection;
      const access = new EngineAccessReader({ key, caFile });
      const limits = { headersTimeout: silenceMs, bodyTimeout: silenceMs };
      const agent = new Agent({ ...limits, connect: engineConnector(access, CONNECT_LIMIT_MS) });
      const connection = agent.compose(withEngineKey(access));
      open.set(name, { agent, connection });
      return connection;
    },
    async close() {
      await Promise.all([...open.values()].map(({ agent }) => agent.destroy()));
      open.clear();
    },
  };
}
