import type { ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { GatewayLimits } from "@/server/gateway/http/limits";
import { mixSeed } from "@/solver/numeric/random";
import { endChild, said, startBundle } from "../lib/childProcess";
import { Emulation } from "../lib/emulation";
import { mixModels, mixPlans, mixTimeScale } from "./mixPlans";

/** Hanging engines and slow clients are dropped within seconds, so that a short run sees it often. */
const limits: Partial<GatewayLimits> = {
  requestSeconds: 6,
  streamSilenceSeconds: 0.6,
  quietSeconds: 0.5,
  // No shorter, or a busy machine treats data that it has not read yet as slow.
  arrivalSeconds: 5,
  clientStallSeconds: 5,
  queuedPerModel: 40,
};

/** Time to break everything. */
export const cycleSeconds = 12.5;

const prompts = 200;
const mostTokens = 40;

/** Every process of the mix: the gateway, three sets of engines, the judge, and the studio's substitute. */
export class Parties {
  /** Lines that the gateway logged as errors. */
  readonly complaints: string[] = [];
  planSwitches = 0;
  gatewayUrl = "";
  adminUrl = "";
  mockUrl = "";
  readonly #directory = mkdtempSync(join(tmpdir(), "weir-fault-mix-"));
  readonly #children: ChildProcess[] = [];
  readonly #emulations: Emulation[] = [];
  #studio: ChildProcess | undefined;

  static async start(): Promise<Parties> {
    const parties = new Parties();
    try {
      await parties.#bringUp();
    } catch (error) {
      await parties.end();
      throw error;
    }
    return parties;
  }

  /** The prompt of a request, so that emulated engines know what to answer. */
  static prompt(index: number): string {
    return `[prompt p${index % prompts}] ${"Where does the water go? ".repeat(8)}`;
  }

  /** Breaks everything that can break and restores it, the judge in one of two ways in turn; takes `cycleSeconds`. */
  async breakAll(cycle: number): Promise<void> {
    const [, shaky, judge] = this.#emulations;
    if (shaky === undefined || judge === undefined) return;
    const [breakJudge, mendJudge] =
      cycle % 2 === 0 ? [() => judge.freeze(), () => judge.thaw()] : [() => judge.kill(), () => judge.revive()];
    await Promise.all([
      inTurn([0.3, () => shaky.freeze()], [5.5, () => shaky.thaw()], [1.7, () => shaky.kill()], [1, () => shaky.revive()]),
      // Longer than plans without a judge are active; then the gateway calls none for five seconds.
      inTurn([0.5, breakJudge], [3, mendJudge]),
      inTurn([9, () => this.#studio && endChild(this.#studio)], [1.5, () => this.#startStudio()]),
      after(cycleSeconds),
    ]);
  }

  /** Kills every process and removes the files they wrote. */
  async end(): Promise<void> {
    const studio = this.#studio === undefined ? [] : [this.#studio];
    await Promise.all([...[...this.#children, ...studio].map(endChild), ...this.#emulations.map((emulation) => emulation.end())]);
    rmSync(this.#directory, { recursive: true, force: true });
  }

  async #bringUp(): Promise<void> {
    const engines = { models: [mixModels.small, mixModels.large], outcomes: mixOutcomes, timeScale: mixTimeScale };
    // One after the other: ports are free only until another process takes them.
    for (const options of [engines, engines, { ...engines, models: [] }]) this.#emulations.push(await Emulation.start(options));
    const [calm, shaky, judge] = this.#emulations;
    const [faultySmall, faultyLarge] = [await this.#startServer("faultyEngine"), await this.#startServer("faultyEngine")];
    this.mockUrl = await this.#startServer("mockUpstream");
    const url = (emulation: Emulation | undefined, index: number): string => emulation?.engineUrls[index] ?? "";
    const plans = mixPlans({
      small: [url(calm, 0), url(shaky, 0), faultySmall],
      large: [url(calm, 1), url(shaky, 1), faultyLarge],
      steady: this.mockUrl,
      judge: judge?.judgeUrl ?? "",
    });
    writeFileSync(join(this.#directory, "plans.json"), JSON.stringify(plans));
    await this.#startGateway();
    this.#startStudio();
    while (!(await fetch(`${this.gatewayUrl}/health/ready`)).ok) await after(0.05);
  }

  async #startServer(bundle: string): Promise<string> {
    const child = startBundle(bundle);
    this.#children.push(child);
    const [url = ""] = await said(child, /^(http:\S+)$/m);
    return url;
  }

  async #startGateway(): Promise<void> {
    const gateway = startBundle("impatientGateway", { args: [this.#directory, JSON.stringify(limits)] });
    this.#children.push(gateway);
    const [dataUrl = "", adminUrl = ""] = await said(gateway, /"dataUrl":"([^"]+)","adminUrl":"([^"]+)"/);
    this.gatewayUrl = dataUrl;
    this.adminUrl = adminUrl;
    gateway.stdout?.on("data", (chunk: Buffer) => this.complaints.push(chunk.toString()));
    gateway.once("exit", (code, signal) => signal !== "SIGKILL" && this.complaints.push(`The gateway ended with ${code ?? signal}.`));
  }

  #startStudio(): void {
    const studio = startBundle("planSwitcher", { args: [this.adminUrl, join(this.#directory, "plans.json")] });
    studio.stdout?.on("data", (chunk: Buffer) => {
      this.planSwitches += chunk.toString().split("switched").length - 1;
    });
    studio.once("exit", (code) => code !== null && this.complaints.push(`What stands for the studio ended with ${code}.`));
    this.#studio = studio;
  }
}

/** Runs steps one after the other, each so many seconds after the previous one. */
async function inTurn(...steps: readonly (readonly [seconds: number, act: () => unknown])[]): Promise<void> {
  for (const [seconds, act] of steps) {
    await after(seconds);
    await act();
  }
}

const after = (seconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, seconds * 1000));

const drawn = (least: number, most: number, salt: string): number[] =>
  Array.from({ length: prompts }, (_, index) => least + (mixSeed(salt, index) % (most - least + 1)));

const mixOutcomes = {
  name: "mix",
  promptIds: Array.from({ length: prompts }, (_, index) => `p${index}`),
  inputTokens: drawn(40, 80, "in"),
  models: [mixModels.small, mixModels.large].map((model) => ({
    model,
    outputTokens: drawn(8, mostTokens, model),
    label: drawn(0, 100, model),
    judged: drawn(0, 100, `judged ${model}`),
  })),
};
