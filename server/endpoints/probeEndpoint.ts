import type { Finding } from "@/server/contracts/studio";
import { timeLimit } from "@/server/lib/timeLimit";
import { askEndpoint, type EndpointAnswer } from "../engineClient/askEndpoint";
import { checkEndpoint, type ProbeTarget, type ServedModel } from "../engineClient/checkEndpoint";
import { measureToken } from "../engineClient/measureToken";
import { type EngineFacts, recogniseEngine } from "./engineFacts";

export interface EndpointProbe extends EngineFacts {
  readonly name: string;
  readonly url: string;
  readonly findings: readonly Finding[];
  readonly served: readonly ServedModel[];
  /** Time to the first token of one request; null if none was sent or no token came. */
  readonly ttftSeconds: number | null;
}

export interface ProbeOptions {
  readonly signal: AbortSignal;
  /** Whether one token may be generated, which causes work for the engine. */
  readonly generate?: boolean;
  /** Limit for everything except the token. */
  readonly limitMs?: number;
}

const usualLimitMs = 2_500;

/** An engine that answers its health check takes no longer than this for one token, even when busy. */
const tokenLimitMs = 30_000;

const nothingKnown: EngineFacts = { engine: null, absent: [], shape: null, precision: null, limits: null };

/** Identifies an endpoint and checks whether it can be attached, each finding a line. Rejects only if `signal` fires. */
export async function probeEndpoint(target: ProbeTarget, options: ProbeOptions): Promise<EndpointProbe> {
  const { generate = false, limitMs = usualLimitMs } = options;
  const { name, url } = target;
  const time = timeLimit(options.signal, limitMs);
  const ask = async (path: string): Promise<EndpointAnswer> => {
    const answer = await askEndpoint({ target, path, signal: time });
    options.signal.throwIfAborted();
    return answer;
  };
  const { listed, findings: checked, served } = await checkEndpoint(target, ask);
  if (!listed) return { name, url, findings: checked, ...nothingKnown, served, ttftSeconds: null };
  const own = served.filter(({ parent }) => parent === null);
  const chosen = target.servedName ?? (own.length === 1 ? own[0]?.id : undefined);
  const { findings: engineFindings, ...facts } = await recogniseEngine(ask, { served, asked: chosen });
  const findings = [...checked, ...engineFindings];
  const asked = chosen ?? served[0]?.id;
  if (!generate || asked === undefined) return { name, url, findings, ...facts, served, ttftSeconds: null };
  const token = await measureToken(target, asked, timeLimit(options.signal, tokenLimitMs));
  options.signal.throwIfAborted();
  return { name, url, findings: [...findings, token.finding], ...facts, served, ttftSeconds: token.ttftSeconds };
}
