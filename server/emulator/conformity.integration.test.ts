import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listen, shut } from "@/server/contracts/http/apiServer";
import { parsePromText } from "@/server/engines/promText";
import { bodyOf, type RecordedExchange, recordedVllm } from "@/server/engines/testing/recordedEngine";
import { eventsOf } from "@/server/lib/eventStream";
import { gpuCard } from "@/solver/hardware/gpus";
import { modelCard } from "@/solver/hardware/models";
import { replicaModel } from "@/solver/hardware/replicaShapes";
import { createEngine, type Engine } from "./emulatedEngine";
import { engineOn, isReady, until } from "./testEmulators";

const OTHER_API =
  "The gateway does not serve the path, so that none of its requests reaches an engine there; its events need a writer of their own.";

/** Recorded exchanges that an emulated engine does not answer as vLLM does, and why. */
const UNLIKE_VLLM: Readonly<Record<string, string>> = {
  detokenize: "An emulated token's id is a hash of its text, which cannot be undone: the path is not served.",
  response: OTHER_API,
  "response stream": OTHER_API,
  message: OTHER_API,
  "message stream": OTHER_API,
};

/** Recorded errors whose words and field differ, not their status and type, and why. */
const UNLIKE_VLLM_WORDS: Readonly<Record<string, string>> = {
  "bad JSON": "vLLM names the position and what Python's parser expects there.",
  "message without a role": "vLLM lists the fault once for each kind of message.",
};

/** Recorded streams whose events come in another order, and why. */
const UNLIKE_VLLM_ORDER: Readonly<Record<string, string>> = {
  "chat stream ended by a stop text": "The recorded answer stops at its first token; an emulated one begins with its tag.",
};

/** Metrics of vLLM that an emulated engine does not have, and why. */
const UNLIKE_VLLM_METRICS: readonly { readonly names: RegExp; readonly why: string }[] = [
  { names: /^(python_|process_)/, why: "They are of the Python process; all emulated engines are one process of another kind." },
  { names: /^http_/, why: "They are of the web framework; the gateway and the load driver measure requests themselves." },
];

const { exchanges, pages } = recordedVllm();

const SERVED = "arith-small";

/** The context of the recorded engine. */
const CONTEXT_TOKENS = 512;

/** An emulated engine whose prompts have, as the recorded model's, a token for each character. */
function emulated(): Engine {
  const [card, gpu] = [modelCard("gemma-2-2b"), gpuCard("l40s")];
  const fit = card && gpu ? replicaModel(card, gpu, { tp: 1, pp: 1 }) : undefined;
  if (!fit?.fits) throw new Error("The model should fit.");
  return createEngine({
    request: engineOn(0, { model: SERVED }),
    replicaModel: fit.replica,
    maxModelTokens: CONTEXT_TOKENS,
    timeScale: 200,
    loadMs: 1,
    outcomes: () => ({
      outcomes: { name: "recorded", promptIds: ["p"], inputTokens: [1], models: [] },
      row: (_, text) => ({ promptId: "p", inputTokens: text.length + 2, outputTokens: 6, answer: "55" }),
      judged: () => 80,
      label: () => 100,
    }),
  });
}

let engine: Engine;
let url = "";
beforeAll(async () => {
  engine = emulated();
  url = `http://127.0.0.1:${await listen(engine.server, 0)}`;
  await until(() => isReady(url));
});
afterAll(() => shut(engine.server));

const send = ({ request: { method, path, headers, body } }: RecordedExchange): Promise<Response> =>
  fetch(url + path, { method, headers, body, redirect: "manual" });

/** The structure of a JSON value: names of fields in their order, and types; of a list, each structure once. */
function structure(value: unknown): unknown {
  if (Array.isArray(value)) {
    const members = value.map(structure);
    return members.filter((one, at) => members.findIndex((other) => JSON.stringify(other) === JSON.stringify(one)) === at);
  }
  if (value === null) return "null";
  if (typeof value !== "object") return typeof value;
  const own = Object.entries(value);
  const isByTokenId = own.length > 0 && own.every(([name]) => /^\d+$/.test(name));
  if (isByTokenId) return ["by token id", structure(own.map(([, member]) => member))];
  return own.map(([name, member]) => [name, name === "top_logprobs" && isByToken(member) ? "by token" : structure(member)]);
}

/** The older endpoint's log probabilities: an object for each position, keyed by token, or nothing. */
const isByToken = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.every((one) => one === null || (typeof one === "object" && Object.values(one).every((member) => typeof member === "number")));

/** A message without the numbers in it, which depend on the lengths of prompts. */
const worded = (message: string): string => message.replaceAll(/\d+/g, "N");

function document(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The structures of a stream's events in their order, choice by choice; equal neighbours count once. */
function sequence(text: string): unknown {
  const ofChoice = new Map<number, string[]>();
  for (const { data } of eventsOf(text)) {
    const event = document(data) as { choices?: { index: number; finish_reason: string | null; delta?: object }[] };
    const [choice] = event.choices ?? [];
    // A piece without text has an empty delta. An emulated model's end is no token, so it has no log probability and no id.
    if (choice?.delta !== undefined && Object.keys(choice.delta).length === 0) choice.delta = { content: "" };
    if (choice?.finish_reason === "stop") Object.assign(choice, { logprobs: null, token_ids: null });
    const told = JSON.stringify([structure(event), choice?.finish_reason ?? null]);
    const known = ofChoice.get(choice?.index ?? -1) ?? [];
    if (known.at(-1) !== told) known.push(told);
    ofChoice.set(choice?.index ?? -1, known);
  }
  return [...ofChoice.entries()].sort(([left], [right]) => left - right);
}

const headerNames = (names: Iterable<string>): readonly string[] =>
  [...names].filter((name) => !["date", "server", "connection", "keep-alive", "transfer-encoding"].includes(name)).sort();

const compared = exchanges.filter(({ name }) => !(name in UNLIKE_VLLM));
const isJson = ({ response }: RecordedExchange): boolean => (response.headers["content-type"] ?? "").startsWith("application/json");
const isStream = ({ response }: RecordedExchange): boolean => (response.headers["content-type"] ?? "").startsWith("text/event-stream");

describe("an emulated engine answers as the recorded vLLM", () => {
  it.each(compared.map((exchange) => [exchange.name, exchange] as const))("%s: status and headers", async (_, exchange) => {
    const answer = await send(exchange);
    await answer.text();
    expect(answer.status).toBe(exchange.response.status);
    expect(headerNames(answer.headers.keys())).toEqual(headerNames(Object.keys(exchange.response.headers)));
    expect(answer.headers.get("content-type")).toBe(exchange.response.headers["content-type"] ?? null);
  });

  const errors = compared.filter((exchange) => exchange.response.status >= 400 && isJson(exchange) && bodyOf(exchange).includes('"error"'));
  it.each(errors.map((exchange) => [exchange.name, exchange] as const))("%s: the error", async (_, exchange) => {
    type Refusal = { readonly error: { readonly message: string } };
    const real = document(bodyOf(exchange)) as Refusal;
    const said = (await (await send(exchange)).json()) as Refusal;
    const sameWords = !(exchange.name in UNLIKE_VLLM_WORDS);
    const plain = ({ error }: Refusal) => (sameWords ? { ...error, message: worded(error.message) } : { ...error, message: "", param: "" });
    expect(plain(said)).toEqual(plain(real));
    expect(Object.keys(said.error)).toEqual(Object.keys(real.error));
  });

  const answers = compared.filter((exchange) => isJson(exchange) && !errors.includes(exchange));
  it.each(answers.map((exchange) => [exchange.name, exchange] as const))("%s: the fields of the answer", async (_, exchange) => {
    expect(structure(await (await send(exchange)).json())).toEqual(structure(document(bodyOf(exchange))));
  });

  const streams = compared.filter((exchange) => isStream(exchange) && !exchange.response.cut && !(exchange.name in UNLIKE_VLLM_ORDER));
  it.each(streams.map((exchange) => [exchange.name, exchange] as const))("%s: the events in their order", async (_, exchange) => {
    expect(sequence(await (await send(exchange)).text())).toEqual(sequence(bodyOf(exchange)));
  });
});

describe("an emulated engine's metrics", () => {
  /** Name, type and labels of every metric of a page; of buckets, the edges too. */
  function described(text: string): Readonly<Record<string, string>> {
    const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = "", type = ""]) => [name, type]));
    const metrics = parsePromText(text);
    return Object.fromEntries(
      [...types].map(([name, type]) => {
        const samples = metrics.byName.get(type === "histogram" ? `${name}_bucket` : name) ?? [];
        const labels = new Set(
          samples.flatMap(({ labels: own }) =>
            Object.entries(own).map(([label, value]) => (CLOSED_LABELS.has(label) ? `${label}=${value}` : label)),
          ),
        );
        return [name, `${type} {${[...labels].sort().join(", ")}}`];
      }),
    );
  }

  const CONFIGURATION = "vllm:cache_config_info";

  /** Labels whose values are vLLM's own words. */
  const CLOSED_LABELS: ReadonlySet<string> = new Set([
    "le",
    "reason",
    "finished_reason",
    "source",
    "sleep_state",
    "engine",
    "mode",
    "outcome",
    "request_type",
  ]);

  it("have the recorded names, types, labels and bucket edges, except those that are listed as left out", async () => {
    const real = described(pages[0]?.text ?? "");
    const own = described(await (await fetch(`${url}/metrics`)).text());
    const leftOut = (name: string): boolean => UNLIKE_VLLM_METRICS.some(({ names }) => names.test(name));
    const { [CONFIGURATION]: realConfiguration = "", ...wanted } = real;
    const { [CONFIGURATION]: configuration = "", ...made } = own;
    expect(made).toEqual(Object.fromEntries(Object.entries(wanted).filter(([name]) => !leftOut(name))));
    // Its labels are the settings of vLLM's caches, most of which an emulated engine has not.
    expect(realConfiguration.split(/[{},\s]+/)).toEqual(expect.arrayContaining(configuration.split(/[{},\s]+/)));

    // What is left out exists, or the reason is out of date.
    for (const { names } of UNLIKE_VLLM_METRICS) expect(Object.keys(real).some((name) => names.test(name))).toBe(true);
  });

  it("count every token at one step, and every gap between two tokens, as the recorded ones do", async () => {
    const own = await (await fetch(`${url}/metrics`)).text();
    for (const page of [own, ...pages.map(({ text }) => text)]) {
      const figure = (name: string): number => parsePromText(page).byName.get(`vllm:${name}`)?.[0]?.value ?? Number.NaN;
      const generated = figure("generation_tokens_total");
      expect(generated).toBeGreaterThan(0);
      expect(figure("iteration_tokens_total_sum")).toBe(figure("prompt_tokens_total") + generated);
      expect(figure("inter_token_latency_seconds_count")).toBe(generated - figure("time_to_first_token_seconds_count"));
    }
  });
});
