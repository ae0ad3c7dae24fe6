import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import { createOutcomeBook } from "@/server/emulator/outcomeTable";
import { drawPrograms } from "@/solver/workflow/drawPrograms";
import { oraclePredictions } from "@/solver/workflow/oraclePredictions";
import { workflows } from "@/solver/workflow/templates";
import { generatedWorkload } from "@/solver/workload/generated";
import { emulatedPrograms, stageOf } from "./emulatedPrograms";
import { type ProgramLoadOptions, runProgramLoad } from "./programLoad";

interface Asked {
  readonly headers: IncomingHttpHeaders;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
}

const close: (() => void)[] = [];
afterEach(() => {
  for (const end of close.splice(0)) end();
});

const { outcomes } = generatedWorkload({ prompts: 20, ladder: ["qwen2.5-3b", "qwen2.5-7b"], seed: 1 });
const sample = drawPrograms({
  outcomes,
  prompts: Int32Array.from(outcomes.promptIds.keys()),
  mix: workflows.filter(({ name }) => name === "planner-coder-qa-coder" || name === "coder").map((workflow) => ({ workflow, share: 1 })),
  correlation: 0.5,
  arrivalSeconds: Float64Array.from({ length: 8 }, (_, program) => program * 0.02),
  seed: 1,
});
const outcome = createOutcomeBook(JSON.parse(JSON.stringify(emulatedPrograms("programs", sample))));
if (!outcome.ok) throw new Error(outcome.message);
const { book } = outcome;

/** Answers as an engine does that holds the sample; `model` serves a request by its number. */
async function gateway(model: (count: number) => string | null) {
  const asked: Asked[] = [];
  const server = createServer(async (request, response: ServerResponse) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    const { messages } = JSON.parse(text) as Asked;
    const by = model(asked.length);
    asked.push({ headers: request.headers, messages });
    const row = by === null ? null : book.row(by, messages.at(-1)?.content ?? "");
    if (by === null || row === null) response.writeHead(503).end("no engine");
    else {
      response.setHeader("x-weir-model", by);
      response.end(JSON.stringify({ usage: { prompt_tokens: row.inputTokens, completion_tokens: row.outputTokens } }));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  close.push(() => server.close());
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const load = (gatewayUrl: string, other: Partial<ProgramLoadOptions> = {}): ProgramLoadOptions => ({
  ...{ id: "run", gatewayUrl, model: "cascade/test", timeScale: 1, sample, ...other },
});

it("asks for each stage once those it reads are answered, by the row of the models that answered them", async () => {
  const { asked, url } = await gateway((count) => sample.models[count % 2] ?? "");
  const report = await runProgramLoad(load(url));
  expect(asked).toHaveLength(sample.program.length);
  expect(report).toMatchObject({ failures: [], unserved: 0 });
  for (const request of sample.program.keys()) {
    const first = sample.firstRequest[sample.program[request] ?? 0] ?? 0;
    const { reads } = stageOf(sample, request);
    const answeredBy = reads.map((stage) => report.model[first + stage] ?? -1);
    const own = asked.filter(({ messages }) => messages.at(-1)?.content.startsWith(`[prompt ${[request, ...answeredBy].join("-")}]`));
    expect(own).toHaveLength(1);
    const history = reads.reduce((sum, stage, at) => sum + (sample.outputTokens[answeredBy[at] ?? 0]?.[first + stage] ?? 0), 0);
    const row = book.row(sample.models[report.model[request] ?? 0] ?? "", own[0]?.messages.at(-1)?.content ?? "");
    expect(row?.inputTokens).toBe((sample.givenTokens[request] ?? 0) + history);
    expect(row?.outputTokens).toBe(sample.outputTokens[report.model[request] ?? 0]?.[request]);
    for (const stage of reads) {
      const earlier = first + stage;
      expect(report.readySeconds[request]).toBeGreaterThanOrEqual(
        (report.readySeconds[earlier] ?? 0) + (report.requestSeconds[earlier] ?? 0),
      );
    }
  }
  const written = Array.from(report.outputTokens).reduce((sum, tokens) => sum + tokens, 0);
  const expected = Array.from(report.model).reduce((sum, model, request) => sum + (sample.outputTokens[model]?.[request] ?? 0), 0);
  expect(written).toBe(expected);
});

it("names program, workflow, agent and the agents it reads, and says what it is told of lengths and confidence", async () => {
  const { asked, url } = await gateway(() => sample.models[0] ?? "");
  await runProgramLoad(load(url, { said: oraclePredictions(sample), textOf: (row) => `text ${row}` }));
  const planner = asked.find(({ headers }) => headers["x-weir-agent"] === "planner");
  expect(planner?.headers).toMatchObject({
    "x-session-id": expect.stringMatching(/^run-\d+$/),
    "x-weir-workflow": "planner-coder-qa-coder",
    "x-weir-program-tokens": expect.stringMatching(/^\d+$/),
    "x-weir-router-scores": expect.stringMatching(/^qwen2.5-3b=[\d.]+,qwen2.5-7b=[\d.]+$/),
  });
  expect(planner?.headers["x-weir-parents"]).toBeUndefined();
  const reviser = asked.find(({ headers }) => headers["x-weir-agent"] === "revising-coder");
  expect(reviser?.headers["x-weir-parents"]).toBe("planner,coder,qa");
  expect(planner?.messages.map(({ role }) => role)).toEqual(["system", "user"]);
  expect(planner?.messages.at(-1)?.content).toMatch(/^\[prompt \d+\] text \d+$/);
  expect(Math.max(...asked.map(({ messages }) => messages.length))).toBe(5);
});

it("ends a program at its first failure, and serves the others", async () => {
  let failed = false;
  const { asked, url } = await gateway(() => {
    const fails = !failed && asked.length > 2;
    failed ||= fails;
    return fails ? null : (sample.models[1] ?? "");
  });
  const { failures, unserved, endToEndSeconds, quality } = await runProgramLoad(load(url));
  expect(failures).toEqual([expect.stringContaining("503 no engine")]);
  expect(unserved).toBe(1);
  expect(Array.from(endToEndSeconds).filter((seconds) => seconds === Number.POSITIVE_INFINITY)).toHaveLength(1);
  expect(Array.from(quality).filter(Number.isNaN)).toHaveLength(1);
  expect(asked.length).toBeLessThanOrEqual(sample.program.length);
});
