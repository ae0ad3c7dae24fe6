import type { z } from "zod";
import { type Decision, decisionPageSchema, gatewayConfigSchema } from "@/server/contracts/gateway/gatewayAdmin";
import { capturePageSchema, captureSchema } from "@/server/contracts/gateway/gatewayControls";
import type { Outcome, PromptsOfGateway } from "@/server/contracts/studio";
import type { ControlledGateway } from "./gatewayActs";

/** Prompts of a gateway as lines of a file of prompts. */
export interface GatewayPrompts {
  /** Each without a line end. Throws an Error with one sentence if the gateway stops answering midway. */
  readonly lines: AsyncIterable<string>;
  /** Their origin, in words. */
  readonly name: string;
  /** Days within which they are deleted there; null: unknown. */
  readonly retentionDays: number | null;
}

/** A page may have some megabytes. */
const pageLimitMs = 30_000;

/**
 * The prompts that a gateway has stored: captured prompts, as chat lines (`id`, `category`, `atMs`, `messages` and the other fields of the
 * body at the top, `metadata` with key, objective and tokens), or decision records whose prompt is whole (`id`, `finishedAtMs`, `prompt`,
 * `key`, `objective`). Each names its cluster, so that what is of one key or user can be deleted later. Refused if there are none, with the setting to switch on.
 */
export async function gatewayPrompts(
  gateway: ControlledGateway | null,
  { clusterId, from }: PromptsOfGateway,
): Promise<Outcome<GatewayPrompts>> {
  if (gateway === null) return { ok: false, message: "This cluster is not connected: it has no gateway to ask." };
  return from === "captured" ? captured(gateway, clusterId) : recorded(gateway, clusterId);
}

async function captured(gateway: ControlledGateway, clusterId: string): Promise<Outcome<GatewayPrompts>> {
  const state = await gateway.admin("/capture", { schema: captureSchema, limitMs: pageLimitMs });
  if (!state.ok) return { ok: false, message: state.message };
  const files = state.value.value?.files;
  const first = await ask(gateway, "/captures", capturePageSchema);
  if (typeof first === "string") return { ok: false, message: first };
  if (first.lines.length === 0) {
    const begun = state.value.value?.running !== null;
    const message = begun
      ? "Nothing is captured yet: prompts are kept once requests of the chosen keys have been answered."
      : "Nothing is captured: start a capture of live traffic, which keeps prompts of the keys you choose, and come back when requests were served.";
    return { ok: false, message };
  }
  return {
    ok: true,
    name: "captured traffic",
    retentionDays: files?.leastRetentionDays ?? files?.retentionDays ?? null,
    lines: capturedLines(gateway, first, clusterId),
  };
}

async function* capturedLines(
  gateway: ControlledGateway,
  first: z.infer<typeof capturePageSchema>,
  clusterId: string,
): AsyncIterable<string> {
  // A line's first member of that name is the gateway's: quotes inside a text are escaped.
  const metadata = `"metadata":{"clusterId":${JSON.stringify(clusterId)},`;
  let page = first;
  for (;;) {
    for (const line of page.lines) yield line.replace('"metadata":{', () => metadata);
    if (page.next === null) return;
    page = orThrow(await ask(gateway, `/captures?after=${encodeURIComponent(page.next)}`, capturePageSchema));
  }
}

async function recorded(gateway: ControlledGateway, clusterId: string): Promise<Outcome<GatewayPrompts>> {
  const config = await ask(gateway, "/config", gatewayConfigSchema);
  if (typeof config === "string") return { ok: false, message: config };
  const kept: Decision[] = [];
  for (let after = 0; ; ) {
    const page = await ask(gateway, `/decisions?after=${after}`, decisionPageSchema);
    if (typeof page === "string") return { ok: false, message: page };
    kept.push(...page.decisions.filter(({ prompt }) => prompt !== undefined));
    const last = page.decisions.at(-1);
    if (last === undefined || last.sequence >= page.latest) break;
    after = last.sequence;
  }
  const whole = kept.filter(({ prompt = "", promptCharacters }) => prompt.length === promptCharacters);
  if (whole.length > 0) {
    const cut = kept.length - whole.length;
    const lines = whole.map(({ id, finishedAtMs, prompt, promptCharacters, key, objective }) =>
      JSON.stringify({ id, finishedAtMs, prompt, promptCharacters, key, objective, clusterId }),
    );
    return {
      ok: true,
      name: `decision records${cut === 0 ? "" : ` (${cut} with a cut prompt left out)`}`,
      retentionDays: null,
      lines: oneByOne(lines),
    };
  }
  const setting = config.settings?.recordedPromptCharacters;
  if (setting === undefined) {
    const message =
      "Decision records of this gateway keep no prompts: set recordedPromptCharacters in its settings, up to 2000, or capture live traffic.";
    return { ok: false, message };
  }
  const message =
    kept.length === 0
      ? "No record with a prompt is kept yet: prompts are recorded from now on."
      : `Every recorded prompt is cut: the settings keep the last ${setting} characters. Raise recordedPromptCharacters, up to 2000, or capture live traffic.`;
  return { ok: false, message };
}

async function* oneByOne(lines: readonly string[]): AsyncIterable<string> {
  yield* lines;
}

/** The gateway's answer, or in a sentence why there is none. */
async function ask<Schema extends z.ZodType>(
  { admin }: ControlledGateway,
  path: string,
  schema: Schema,
): Promise<z.infer<Schema> | string> {
  const answer = await admin(path, { schema, limitMs: pageLimitMs });
  if (!answer.ok) return answer.message;
  return answer.value.value ?? "The gateway says nothing.";
}

function orThrow<Value>(value: Value | string): Value {
  if (typeof value === "string") throw new Error(value);
  return value;
}
