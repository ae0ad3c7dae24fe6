import { z } from "zod";
import { timeLimit } from "@/server/clusters/timeLimit";
import type { EngineAccess } from "@/server/contracts/engineAccess";
import type { Finding } from "@/server/contracts/studio";
import { askEndpoint, type EndpointAnswer, jsonOf } from "./askEndpoint";
import { type EngineFacts, recogniseEngine } from "./engineFacts";
import { failed, ok, warn } from "./finding";
import { measureToken } from "./measureToken";
import { tooLate, unreached } from "./unreached";

export interface ProbeTarget extends EngineAccess {
  readonly name: string;
  readonly url: string;
  /** What it is to be asked for; left out: whatever it serves first. */
  readonly servedName?: string | undefined;
}

/** A model as an endpoint lists it. */
export interface ServedModel {
  readonly id: string;
  /** What was loaded, where that is told. */
  readonly root: string | null;
  /** An adapter of another model of the list names it. */
  readonly parent: string | null;
  readonly maxModelLen: number | null;
}

export interface EndpointProbe extends EngineFacts {
  readonly name: string;
  readonly url: string;
  readonly findings: readonly Finding[];
  readonly served: readonly ServedModel[];
  /** To the first token of one request; null where none was asked for or none came. */
  readonly ttftSeconds: number | null;
}

export interface ProbeOptions {
  readonly signal: AbortSignal;
  /** Whether one token may be generated, for which the engine has to work. */
  readonly generate?: boolean;
  /** For everything but the token. */
  readonly limitMs?: number;
}

const usualLimitMs = 2_500;

/** An engine that answers its health check takes no longer than this for one token, even when busy. */
const tokenLimitMs = 30_000;

const modelListSchema = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      root: z.string().nullish(),
      parent: z.string().nullish(),
      max_model_len: z.number().nullish(),
      owned_by: z.string().nullish(),
    }),
  ),
});

const nothingKnown: EngineFacts = { engine: null, absent: [], shape: null, precision: null };

/** What an endpoint is and whether it can be attached, each finding a line. Rejects only when `signal` fires. */
export async function probeEndpoint(target: ProbeTarget, options: ProbeOptions): Promise<EndpointProbe> {
  const { generate = false, limitMs = usualLimitMs } = options;
  const { name, url } = target;
  const time = timeLimit(options.signal, limitMs);
  const ask = async (path: string): Promise<EndpointAnswer> => {
    const answer = await askEndpoint({ target, path, signal: time });
    options.signal.throwIfAborted();
    return answer;
  };
  const ended = (findings: readonly Finding[]): EndpointProbe => ({ name, url, findings, ...nothingKnown, served: [], ttftSeconds: null });

  const listed = await ask("/v1/models");
  if (listed.kind === "late") return ended([tooLate(url)]);
  if (listed.kind === "failed") return ended([unreached(url, listed.code)]);
  if (listed.kind === "no-access")
    return ended([failed("key", listed.reason, "Set the variable, or put the file there, where studio and gateway run.")]);
  const [health, { findings: engineFindings, ...facts }] = await Promise.all([ask("/health"), recogniseEngine(ask)]);
  const list = modelListSchema.safeParse(jsonOf(listed));
  const models = list.success ? list.data.data : [];
  const served = models.map(({ id, root, parent, max_model_len }) => ({
    id,
    root: root ?? null,
    parent: parent ?? null,
    maxModelLen: max_model_len ?? null,
  }));
  const findings = [
    ok("reached", `${new URL(url).host} answers.`),
    ...secrecy(target),
    modelsFinding(target, listed, served),
    healthFinding(health),
    ...engineFindings,
  ];
  const asked = target.servedName ?? served[0]?.id;
  if (!generate || asked === undefined) return { name, url, findings, ...facts, served, ttftSeconds: null };
  const token = await measureToken(target, asked, timeLimit(options.signal, tokenLimitMs));
  options.signal.throwIfAborted();
  return { name, url, findings: [...findings, token.finding], ...facts, served, ttftSeconds: token.ttftSeconds };
}

/** How its certificate and its key travel. */
function secrecy({ url, key, caFile }: ProbeTarget): readonly Finding[] {
  const { protocol, hostname } = new URL(url);
  if (protocol === "https:")
    return [
      ok(
        "certificate",
        caFile === undefined
          ? "A public authority vouches for its certificate."
          : `The authority in ${caFile} vouches for its certificate.`,
      ),
    ];
  const here = hostname === "localhost" || hostname === "[::1]" || hostname.startsWith("127.");
  return key === undefined || here
    ? []
    : [warn("certificate", "Its key and all prompts travel unencrypted.", "Use https://, or keep this network to yourself.")];
}

function modelsFinding({ url, key, servedName }: ProbeTarget, answer: EndpointAnswer, served: readonly ServedModel[]): Finding {
  if (answer.kind !== "answered") return failed("models", "It does not list its models.", null);
  const { status, location } = answer;
  if (status === 401 || status === 403) {
    return key === undefined
      ? failed(
          "key",
          "It wants an API key.",
          "Put the key into a variable that begins with WEIR_ENGINE_, or a file in the folder of secrets, and name that.",
        )
      : failed("key", `It refuses the key (${status}).`, "Check that it is this engine's key, without quotes around it.");
  }
  if (location !== null) {
    const to = URL.canParse(location, url) ? new URL(location, url) : null;
    return failed("models", `It sends elsewhere${to === null ? "" : `, to ${to.origin}`}.`, "Paste the address that it sends to.");
  }
  if (status === 404)
    return failed("models", "There is no OpenAI API under this address: /v1/models is not found.", "Check the port and the path.");
  if (status !== 200) return failed("models", `It answers ${status} when asked for its models.`, "Look into the engine's log.");
  if (served.length === 0)
    return failed("models", "It lists no models.", "Check that this is an engine with the OpenAI API, and that its model is loaded.");
  const names = served.slice(0, 5).map(({ id }) => id);
  const all = served.length > names.length ? `${names.join(", ")} and ${served.length - names.length} more` : names.join(", ");
  if (servedName !== undefined && !served.some(({ id }) => id === servedName))
    return failed("models", `It does not serve ${servedName} but ${all}.`, "Choose one of those.");
  const length = served.find(({ id }) => id === (servedName ?? names[0]))?.maxModelLen ?? null;
  return ok("models", `It serves ${all}${length === null ? "" : `, up to ${length} tokens`}.`);
}

function healthFinding(answer: EndpointAnswer): Finding {
  if (answer.kind !== "answered") return warn("health", "/health does not answer in time.", null);
  const { status } = answer;
  if (status === 200) return ok("health", "It is healthy.");
  if (status === 404)
    return failed(
      "health",
      "There is no /health: once a request has failed there, the gateway could not tell when it is back.",
      "Attach the engine itself rather than a proxy in front of it.",
    );
  return failed(
    "health",
    status === 503 ? "It is still loading, or not well (/health answers 503)." : `/health answers ${status}.`,
    "Wait, or look into the engine's log.",
  );
}
