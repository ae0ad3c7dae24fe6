import type { ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EmulatedCluster, EmulatedOutcomes } from "@/server/contracts/engine/emulatorAdmin";
import { freePorts } from "@/server/testing/freePorts";
import { adminHeaders, benchToken } from "./adminHeaders";
import { endChild, said, startBundle } from "./childProcess";

interface EmulationOptions {
  /** Models of its engines. */
  readonly models: readonly string[];
  /** GPUs of each engine, parallel to the models; left out: one each. */
  readonly gpus?: readonly number[] | undefined;
  readonly outcomes: EmulatedOutcomes;
  readonly timeScale: number;
  /** Has engines deviate from the planner's model, as real ones do, each name in a different way; left out: they match the model. */
  readonly modelPerturbation?: string | undefined;
}

/** The hardware of its engines. */
export const emulatedGpu = "l40s";

/** An emulator as a separate process, whose engines and judge return on their ports when it is killed and restarted. */
export class Emulation {
  readonly #stateDirectory = mkdtempSync(join(tmpdir(), "weir-emulation-"));
  readonly #options: EmulationOptions;
  #environment: Readonly<Record<string, string>> = {};
  #process: ChildProcess | undefined;
  /** In the order of the models. */
  engineUrls: readonly string[] = [];
  judgeUrl = "";

  private constructor(options: EmulationOptions) {
    this.#options = options;
  }

  /** Resolves when every engine takes requests. */
  static async start(options: EmulationOptions): Promise<Emulation> {
    const emulation = new Emulation(options);
    try {
      await emulation.#bringUp();
    } catch (error) {
      await emulation.end();
      throw error;
    }
    return emulation;
  }

  /** Kills the process with all requests that it was answering. */
  async kill(): Promise<void> {
    if (this.#process !== undefined) await endChild(this.#process);
  }

  /** Restarts it; its engines load before they answer. */
  async revive(): Promise<void> {
    this.#process = startBundle("emulator", { environment: this.#environment });
    await said(this.#process, /(Emulated cluster)/);
  }

  /** Stops it like a lost host: connections stay open without traffic. */
  freeze(): void {
    this.#process?.kill("SIGSTOP");
  }

  thaw(): void {
    this.#process?.kill("SIGCONT");
  }

  async end(): Promise<void> {
    await this.kill();
    rmSync(this.#stateDirectory, { recursive: true, force: true });
  }

  async #bringUp(): Promise<void> {
    const { models, outcomes, timeScale, modelPerturbation } = this.#options;
    const gpus = this.#options.gpus ?? models.map(() => 1);
    const firstGpus = gpus.map((_, index) => gpus.slice(0, index).reduce((sum, count) => sum + count, 0));
    const total = gpus.reduce((sum, count) => sum + count, 0);
    const [adminPort = 0, dcgmPort = 0, enginePort = 0] = await freePorts(3);
    this.#environment = {
      WEIR_STATE_DIR: this.#stateDirectory,
      WEIR_EMULATOR_PORT: String(adminPort),
      WEIR_DCGM_PORT: String(dcgmPort),
      WEIR_ENGINE_PORT_BASE: String(enginePort),
      WEIR_ADMIN_TOKEN: benchToken,
      WEIR_TIME_SCALE: String(timeScale),
      WEIR_EMULATOR_NOISE: modelPerturbation === undefined ? "off" : "seeded",
      WEIR_EMBEDDED: JSON.stringify({ gpu: emulatedGpu, nodes: [{ name: "node1", gpus: Math.max(1, total) }] }),
    };
    await this.revive();
    const call = async (method: string, path: string, body?: unknown): Promise<Response> => {
      const answer = await fetch(`http://127.0.0.1:${adminPort}${path}`, {
        method,
        headers: adminHeaders,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      if (!answer.ok) throw new Error(`${method} ${path} of the emulator: ${answer.status} ${await answer.text()}`);
      return answer;
    };
    await call("PUT", "/outcomes", outcomes);
    // The deviation follows from an engine's id.
    const idOf = (index: number): string => `${modelPerturbation ?? "e"}${index}`;
    for (const [index, model] of models.entries()) {
      const tp = gpus[index] ?? 1;
      await call("POST", "/engines", {
        id: idOf(index),
        model,
        gpu: emulatedGpu,
        tp,
        pp: 1,
        placements: [{ node: "node1", gpus: Array.from({ length: tp }, (_, at) => (firstGpus[index] ?? 0) + at) }],
      });
    }
    const { engines, judge } = (await (await call("GET", "/cluster")).json()) as EmulatedCluster;
    this.engineUrls = models.map((_, index) => engines.find(({ id }) => id === idOf(index))?.url ?? "");
    this.judgeUrl = judge.url;
    for (const url of this.engineUrls) {
      while (!(await fetch(`${url}/health`)).ok) await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
