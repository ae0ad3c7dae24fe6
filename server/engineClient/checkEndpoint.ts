import { z } from "zod";
import type { EngineAccess } from "@/server/contracts/engine/engineAccess";
import type { Finding } from "@/server/contracts/studio";
import { type EndpointAnswer, jsonOf } from "./askEndpoint";
import { failed, ok, warn } from "./finding";
import { tooLate, unreached, unsent } from "./unreached";

export interface ProbeTarget extends EngineAccess {
  readonly name: string;
  readonly url: string;
  /** What it is to be asked for; left out: whatever it serves first. */
  readonly servedName?: string | undefined;
}

/** A model as an endpoint lists it. */
export interface ServedModel {
  readonly id: string;
  /** The loaded weights, if reported. */
  readonly root: string | null;
  /** An adapter of another model of the list names it. */
  readonly parent: string | null;
  readonly maxModelLen: number | null;
  /** Whether its weights are in memory; null: not reported. */
  readonly loaded?: boolean | null;
}

export interface EndpointCheck {
  /** It lets one in and lists models: what else it is can be asked. */
  readonly listed: boolean;
  readonly findings: readonly Finding[];
  readonly served: readonly ServedModel[];
}

/** `/v1/models`, as far as engines agree on it. */
export const modelListSchema = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      root: z.string().nullish(),
      parent: z.string().nullish(),
      max_model_len: z.number().nullish(),
      // llama.cpp: tokens of one of its slots, and the state of a router's model.
      meta: z.object({ n_ctx: z.number().nullish() }).nullish().catch(null),
      status: z.object({ value: z.string() }).nullish().catch(null),
    }),
  ),
});

/** Whether an endpoint lets one in, lists its model and is healthy: short of a token, all it takes for the gateway to send requests there. */
export async function checkEndpoint(target: ProbeTarget, ask: (path: string) => Promise<EndpointAnswer>): Promise<EndpointCheck> {
  const { url } = target;
  const ended = (finding: Finding): EndpointCheck => ({ listed: false, findings: [finding], served: [] });
  const listed = await ask("/v1/models");
  if (listed.kind === "late") return ended(tooLate(url));
  if (listed.kind === "failed") return ended(unreached(url, listed.code));
  if (listed.kind === "no-access") return ended(unsent(listed.error));
  const list = modelListSchema.safeParse(jsonOf(listed));
  const models = list.success ? list.data.data : [];
  const served = models.map(({ id, root, parent, max_model_len, meta, status }) => ({
    id,
    root: root ?? null,
    parent: parent ?? null,
    maxModelLen: max_model_len ?? meta?.n_ctx ?? null,
    loaded: status ? status.value === "loaded" : null,
  }));
  const findings = [ok("reached", `${new URL(url).host} answers.`), ...secrecy(target), modelsFinding(target, listed, served)];
  // What keeps one out of the list has one cause: its other answers would only tell of it again in other words.
  if (served.length === 0) return { listed: false, findings, served };
  return { listed: true, findings: [...findings, healthFinding(await ask("/health"))], served };
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
          "Put the key into a file in the folder of secrets, or a variable that begins with WEIR_ENGINE_, and name that.",
        )
      : failed("key", `It refuses the key (${status}).`, "Check that it is this engine's key, without quotes around it.");
  }
  if (location !== null) {
    const to = URL.canParse(location, url) ? new URL(location, url) : null;
    return failed("models", `It sends elsewhere${to === null ? "" : `, to ${to.origin}`}.`, "Paste the address that it sends to.");
  }
  if (status === 404)
    return failed("models", "There is no OpenAI API under this address: /v1/models is not found.", "Check the port and the path.");
  if (status === 503)
    return isLoading(answer)
      ? failed("models", "llama.cpp is still loading its model.", "Wait until it is loaded, then try again.")
      : failed(
          "models",
          "It is still loading, or not well: it answers 503 when asked for its models.",
          "Wait, or look into the engine's log.",
        );
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

/** llama.cpp answers every path with this while it loads. */
const isLoading = ({ server, text }: Extract<EndpointAnswer, { readonly kind: "answered" }>): boolean =>
  server === "llama.cpp" && text.includes('"unavailable_error"');

/** The gateway uses `/health`, and if it does not exist the list of models. */
function healthFinding(answer: EndpointAnswer): Finding {
  if (answer.kind !== "answered") return warn("health", "/health does not answer in time.", null);
  const { status } = answer;
  if (status === 200) return ok("health", "It is healthy.");
  if (status === 404)
    return warn(
      "health",
      "There is no /health: after a request has failed there, the gateway sends again once it lists its model, which says less.",
      "If this is a proxy, attach the engine itself rather than the proxy in front of it.",
    );
  return failed(
    "health",
    status === 503 ? "It is still loading, or not well (/health answers 503)." : `/health answers ${status}.`,
    "Wait, or look into the engine's log.",
  );
}
