import { setTimeout as sleep } from "node:timers/promises";
import { Pool } from "undici";
import { agentHeader, parentsHeader } from "@/server/contracts/gateway/gatewayWorkflows";
import type { ProgramOutcome } from "@/solver/cluster/programOutcome";
import { mean } from "@/solver/numeric/quantile";
import { programQuality } from "@/solver/workflow/programQuality";
import type { ProgramPredictions, ProgramSample } from "@/solver/workflow/programSample";
import { agentNames } from "@/solver/workflow/workflowDocuments";
import { programPrompt, stageOf, upstreamAgents } from "./emulatedPrograms";
import { fillerText, promptTag, promptText } from "./promptText";

/** What to replay, where and how fast. Seconds are engine seconds: wall seconds x `timeScale`. */
export interface ProgramLoadOptions {
  /** Sets the programs of this run apart from those of others at the same gateway. */
  readonly id: string;
  /** The gateway's data address. */
  readonly gatewayUrl: string;
  /** The virtual model, e.g. `cascade/default`. */
  readonly model: string;
  readonly timeScale: number;
  readonly sample: ProgramSample;
  /** Texts of the sample's prompts by row of the outcome table; if there is none, filler of its length is sent. */
  readonly textOf?: (row: number) => string | null;
  /** What clients say of their programs: confidences as router scores, and tokens yet to write as the mean over models, which they do not know. */
  readonly said?: Pick<ProgramPredictions, "confidence" | "remainingTokens">;
}

/** What clients saw. Requests that were never sent, or not answered, have NaN, and -1 for a model. */
export interface ProgramLoadReport
  extends Pick<ProgramOutcome, "endToEndSeconds" | "outputTokens" | "quality" | "model" | "readySeconds" | "unserved"> {
  /** Of each request, from being ready to its whole answer. */
  readonly requestSeconds: Float64Array;
  /** Mean over served programs of their latency over the tokens of their answers. */
  readonly meanSecondsPerToken: number;
  /** Of each program, how much later than its arrival it began: what the driver itself adds. */
  readonly lateSeconds: Float64Array;
  /** The errors that clients received instead of an answer. */
  readonly failures: readonly string[];
}

/** How long what a request and those after it write is said to be, of `inputTokens` that it has to read: without knowing which model will answer. */
export function saidTokens(
  { models }: ProgramSample,
  remainingTokens: ProgramPredictions["remainingTokens"],
  request: number,
  inputTokens: number,
): number | undefined {
  const known = models.flatMap((_, model) => remainingTokens?.(request, model, inputTokens) ?? []);
  return known.length === 0 ? undefined : Math.max(1, Math.round(mean(known)));
}

/**
 * Runs a sample's programs through a gateway over emulated engines that hold `emulatedPrograms` of it. Open loop in programs: one begins at
 * its arrival, whatever the number in flight; a stage is requested when the answers it reads exist. A program ends with its first failure.
 */
export async function runProgramLoad(options: ProgramLoadOptions): Promise<ProgramLoadReport> {
  const { sample, timeScale } = options;
  const { arrivalSeconds, firstRequest, program: programOf } = sample;
  const programs = arrivalSeconds.length;
  const endToEndSeconds = new Float64Array(programs).fill(Number.POSITIVE_INFINITY);
  const outputTokens = new Int32Array(programs);
  const lateSeconds = new Float64Array(programs);
  const model = new Int8Array(programOf.length).fill(-1);
  const readySeconds = new Float64Array(programOf.length).fill(Number.NaN);
  const requestSeconds = new Float64Array(programOf.length).fill(Number.NaN);
  const failures: string[] = [];
  const pool = new Pool(new URL(options.gatewayUrl).origin, { connections: null, headersTimeout: 0, bodyTimeout: 0 });
  const startedMs = performance.now();
  const nowSeconds = (): number => ((performance.now() - startedMs) / 1000) * timeScale;

  /** The index of the model that answered. */
  const ask = async (request: number, answeredBy: readonly number[]): Promise<number> => {
    readySeconds[request] = nowSeconds();
    const { statusCode, headers, body } = await pool.request({
      method: "POST",
      path: "/v1/chat/completions",
      headers: headersOf(options, request, answeredBy),
      body: bodyOf(options, request, answeredBy),
    });
    const text = await body.text();
    if (statusCode !== 200) throw new Error(`${statusCode} ${text}`);
    const { usage } = JSON.parse(text) as { readonly usage: { readonly completion_tokens: number } };
    const program = programOf[request] ?? 0;
    outputTokens[program] = (outputTokens[program] ?? 0) + usage.completion_tokens;
    requestSeconds[request] = nowSeconds() - (readySeconds[request] ?? 0);
    model[request] = sample.models.indexOf(String(headers["x-weir-model"]));
    return model[request] ?? -1;
  };

  const runProgram = async (program: number): Promise<void> => {
    lateSeconds[program] = nowSeconds() - (arrivalSeconds[program] ?? 0);
    const first = firstRequest[program] ?? 0;
    const answers: Promise<number>[] = [];
    for (let request = first; request < (firstRequest[program + 1] ?? 0); request += 1) {
      const read = stageOf(sample, request).reads.map(
        (stage) => answers[stage] ?? Promise.reject(new RangeError("A stage reads a later one")),
      );
      answers.push(Promise.all(read).then((answeredBy) => ask(request, answeredBy)));
    }
    // Stages that read a failed one fail with it: one word for all.
    const [failed] = (await Promise.allSettled(answers)).flatMap((answer) => (answer.status === "rejected" ? [String(answer.reason)] : []));
    if (failed !== undefined) failures.push(failed);
    else endToEndSeconds[program] = nowSeconds() - (arrivalSeconds[program] ?? 0);
  };

  const running: Promise<void>[] = [];
  for (let program = 0; program < programs; program += 1) {
    const waitMs = (((arrivalSeconds[program] ?? 0) - nowSeconds()) / timeScale) * 1000;
    if (waitMs > 0) await sleep(waitMs);
    running.push(runProgram(program));
  }
  await Promise.all(running);
  await pool.close();

  const served = Array.from(endToEndSeconds.keys()).filter((program) => endToEndSeconds[program] !== Number.POSITIVE_INFINITY);
  return {
    endToEndSeconds,
    outputTokens,
    quality: endToEndSeconds.map((seconds, program) =>
      seconds === Number.POSITIVE_INFINITY ? Number.NaN : programQuality(sample, program, model),
    ),
    model,
    readySeconds,
    unserved: programs - served.length,
    requestSeconds,
    meanSecondsPerToken: mean(served.map((program) => (endToEndSeconds[program] ?? 0) / (outputTokens[program] ?? 1))),
    lateSeconds,
    failures,
  };
}

/** A client's statements about a request, in addition to its body. */
function headersOf({ id, sample, said }: ProgramLoadOptions, request: number, answeredBy: readonly number[]): Record<string, string> {
  const program = sample.program[request] ?? 0;
  const inputTokens = readTokens(sample, request, answeredBy).reduce((sum, tokens) => sum + tokens, sample.givenTokens[request] ?? 0);
  const headers: Record<string, string> = {
    "content-type": "application/json",
    "x-session-id": `${id}-${program}`,
    "x-weir-workflow": sample.workflows[sample.workflow[program] ?? 0]?.name ?? "",
    [agentHeader]: stageOf(sample, request).role,
  };
  const name = agentOf(sample, request);
  if (name !== headers[agentHeader]) headers["x-weir-stage"] = name;
  const upstream = upstreamAgents(sample, request);
  if (upstream.length > 0) headers[parentsHeader] = upstream.join(",");
  const tokens = saidTokens(sample, said?.remainingTokens, request, inputTokens);
  if (tokens !== undefined) headers["x-weir-program-tokens"] = String(tokens);
  const scores = sample.models.flatMap((name, model) => {
    const confidence = said?.confidence?.(request, model);
    return confidence === undefined ? [] : [`${name}=${(100 * confidence).toFixed(3)}`];
  });
  if (scores.length > 0) headers["x-weir-router-scores"] = scores.join(",");
  return headers;
}

/** The name of a request's agent in its workflow, where several may play one role. */
function agentOf({ workflows, workflow, program: programOf, firstRequest }: ProgramSample, request: number): string {
  const program = programOf[request] ?? 0;
  const { stages = [] } = workflows[workflow[program] ?? 0] ?? {};
  return agentNames(stages)[request - (firstRequest[program] ?? 0)] ?? "";
}

/** Instructions, the answers it reads and the program's prompt, each about as long as in the sample. */
function bodyOf({ model, sample, textOf }: ProgramLoadOptions, request: number, answeredBy: readonly number[]): string {
  const { instructionTokens } = stageOf(sample, request);
  const program = sample.program[request] ?? 0;
  const name = programPrompt(request, answeredBy);
  const text = textOf?.(sample.prompt[program] ?? 0) ?? null;
  const prompt = text === null ? promptText(name, (sample.givenTokens[request] ?? 0) - instructionTokens) : promptTag(name) + text;
  const history = readTokens(sample, request, answeredBy).map(fillerText);
  return JSON.stringify({
    model,
    messages: [
      { role: "system", content: fillerText(instructionTokens) },
      ...history.map((content) => ({ role: "assistant", content })),
      { role: "user", content: prompt },
    ],
  });
}

/** Tokens of each answer that a request reads. */
function readTokens(sample: ProgramSample, request: number, answeredBy: readonly number[]): readonly number[] {
  const first = sample.firstRequest[sample.program[request] ?? 0] ?? 0;
  return stageOf(sample, request).reads.map((stage, at) => sample.outputTokens[answeredBy[at] ?? 0]?.[first + stage] ?? 0);
}
