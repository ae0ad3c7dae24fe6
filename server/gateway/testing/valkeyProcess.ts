import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { connect } from "node:net";
import { delimiter, join } from "node:path";

/** The server of Valkey or Redis that WEIR_VALKEY_SERVER names, or the first on the PATH; undefined: there is none. */
export const valkeyProgram = [
  process.env.WEIR_VALKEY_SERVER,
  ...["valkey-server", "redis-server"].flatMap((name) => (process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, name))),
].find((path) => path !== undefined && path !== "" && existsSync(path));

/** A real server of Valkey on loopback, which holds nothing on disk. */
export class ValkeyProcess {
  readonly #port: number;
  readonly #directory: string;
  #child: ChildProcess | null = null;

  /** @param directory its working directory. */
  constructor(port: number, directory: string) {
    this.#port = port;
    this.#directory = directory;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.#port}/0`;
  }

  /** Starts it, without what it held before. @throws if there is no server to start. */
  async start(): Promise<void> {
    if (valkeyProgram === undefined)
      throw new Error("Neither valkey-server nor redis-server is on the PATH, nor named in WEIR_VALKEY_SERVER.");
    const flags = ["--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", this.#directory];
    this.#child = spawn(valkeyProgram, ["--port", String(this.#port), ...flags], { stdio: "ignore" });
    while (!(await answers(this.#port))) await new Promise((resolve) => setTimeout(resolve, 10));
  }

  /** Kills it; nothing is saved. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  }

  /** It keeps its connections and answers nothing until it is resumed. */
  freeze(): void {
    this.#child?.kill("SIGSTOP");
  }

  resume(): void {
    this.#child?.kill("SIGCONT");
  }
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("error", () => resolve(false));
    socket.once("data", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("connect", () => socket.write("PING\r\n"));
  });
}
