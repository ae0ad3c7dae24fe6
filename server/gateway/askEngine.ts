import type { GatewaySettings } from "@/server/contracts/gatewayAdmin";
import { callEngine, type EngineCall } from "./engineCall";
import { engineBody, type ModelRequest } from "./modelRequest";
import { type Relay, type RelayOutcome, relayStream } from "./relayStream";
import type { Replica } from "./replica";
import type { ServedModel } from "./servedModel";

interface Engine {
  readonly replica: Replica;
  /** As this engine counts; null: none. */
  readonly priority: number | null;
  readonly signal: AbortSignal;
  /** Of a whole answer. */
  readonly mostBytes: number;
}

interface Streaming {
  readonly served: ServedModel;
  /** What the settings say; undefined where they say nothing. */
  readonly given: GatewaySettings["streaming"];
}

/** Whether a stage's answer goes to the client as it is written. Where nothing is ever judged, nothing is held back. */
export function streamsLive(asked: ModelRequest, stage: number, { served: { driver, models }, given = "buffer" }: Streaming): boolean {
  if (!asked.stream || driver.policy.judges(stage)) return false;
  return (asked.streaming ?? given) === "last" || !models.some((_, own) => driver.policy.judges(own));
}

/** Asks an engine: for a whole answer, or, `live`, for a stream that goes on to the client as it comes. */
export async function askEngine(asked: ModelRequest, engine: Engine, live: Omit<Relay, "call"> | null): Promise<RelayOutcome> {
  const { replica, priority, signal, mostBytes } = engine;
  const call: EngineCall = {
    pool: replica.pool,
    path: replica.basePath + asked.endpoint.path,
    headers: asked.upstreamHeaders,
    body: engineBody(asked, replica.servedName, { stream: live !== null, priority }),
    signal,
    mostBytes,
    watch: replica.quiet,
  };
  return live === null ? { kind: "not-begun", reply: await callEngine(call) } : relayStream({ call, ...live });
}
