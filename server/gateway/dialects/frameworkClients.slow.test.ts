import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MODEL, TestEmulators } from "@/server/emulator/testEmulators";
import { freePort } from "@/server/testing/freePorts";
import { condition, needs, program, skipWithout, variable } from "../../../scripts/needs.mjs";
import { nodeModulesWith, pythonWith } from "../testing/installedClients";
import { emulatedStages, LARGE } from "../testing/testEmulatedStages";
import { until } from "../testing/testGateway";
import { nodeClients, nodePackages, pythonClients, pythonPackages } from "./testing/frameworkScripts";

const run = promisify(execFile);
const runLimitMs = 300_000;

let emulators: readonly TestEmulators[];
beforeEach(async () => {
  emulators = [new TestEmulators(await freePort()), new TestEmulators(await freePort())];
});
afterEach(async () => {
  for (const one of emulators) await one.end();
});

/** What a client gave for what was asked of it, by client, model and question. */
type Cells = Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, unknown>>>>>>;

/** Runs a script of clients against two gateways, the second of which answers too slowly to be waited for. */
async function expectAllServed(
  ask: (args: readonly string[]) => Promise<string>,
  structured: (client: string, by: string) => object,
): Promise<void> {
  const [quick, slow] = emulators;
  if (quick === undefined || slow === undefined) throw new Error("There are two emulators");
  const { dataUrl } = await emulatedStages(quick, { limits: { storedResponseBytes: 1_000_000 } });
  const waiting = await emulatedStages(slow, { outputTokens: [4000, 4000], timeScale: 1 });
  const models = { [MODEL]: MODEL, "cascade/test": LARGE };
  const said = await ask([dataUrl, waiting.dataUrl, ...Object.keys(models)]);
  const cells = JSON.parse(said.trimEnd().split("\n").at(-1) ?? "") as Cells;
  const expected = (client: string, by: string) => {
    const text = expect.stringContaining(`[emulated answer short by ${by}]`);
    return {
      ...{ plain: text, "second turn": text, stream: text },
      tools: [["get_weather", { city: "text", days: 1 }]],
      structured: structured(client, by),
      error: { raised: expect.any(String), status: 404, message: expect.stringContaining('The model "none" is not served here') },
      abort: { raised: expect.stringMatching(/abort|time/i), status: expect.toBeOneOf([null, 408]), message: expect.any(String) },
    };
  };
  const clients = Object.keys(cells);
  expect(cells).toEqual(
    Object.fromEntries(
      clients.map((client) => [client, Object.fromEntries(Object.entries(models).map(([model, by]) => [model, expected(client, by)]))]),
    ),
  );
  // Those whose client has gone were ended, at engines too.
  await until(async () => (await waiting.decisions()).length === 2 * clients.length);
  expect((await waiting.decisions()).filter(({ status, aborted }) => status !== 499 || aborted !== "client-gone")).toEqual([]);
}

const formed = (by: string): object => ({ city: `[emulated answer short by ${by}]`, days: 1 });

describe("plain answers, second turns, streams, tools, JSON of a schema, errors and aborts, of a model and of a cascade,", () => {
  it("are as LangChain, LlamaIndex and LiteLLM for Python expect them", {
    timeout: 1_500_000,
    // These frameworks bring hundreds of megabytes along.
    ...needs(program("python3"), variable("WEIR_PYTHON_FRAMEWORKS")),
  }, async (context) => {
    const python = await pythonWith(pythonPackages);
    skipWithout(context, condition(`Python packages ${pythonPackages.join(", ")}`, python !== null));
    const ask = async (args: readonly string[]) =>
      (await run(python ?? "", ["-c", pythonClients, ...args], { timeout: runLimitMs })).stdout;
    // LlamaIndex has structures written as calls of a tool.
    await expectAllServed(ask, (client, by) => (client === "LlamaIndex" ? { city: "text", days: 1 } : formed(by)));
  });

  it("are as the AI SDK and LangChain for JavaScript expect them", {
    timeout: 1_500_000,
    ...needs(program("npm")),
  }, async (context) => {
    const folder = await nodeModulesWith(nodePackages);
    skipWithout(context, condition(`npm packages ${nodePackages.join(", ")}`, folder !== null));
    const script = join(folder ?? "", "clients.mjs");
    await writeFile(script, nodeClients);
    const ask = async (args: readonly string[]) => (await run(process.execPath, [script, ...args], { timeout: runLimitMs })).stdout;
    await expectAllServed(ask, (_, by) => formed(by));
  });
});
