import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { connect } from "node:net";
import { delimiter, join } from "node:path";
import { onTestFinished } from "vitest";
import { condition } from "@/scripts/needs.mjs";
import { freePorts } from "@/server/testing/freePorts";
import { temporaryDirectory } from "./testGateway";

/** The server that WEIR_VALKEY_SERVER names, or the first on the PATH. */
const program = [
  process.env.WEIR_VALKEY_SERVER,
  ...["valkey-server", "redis-server"].flatMap((name) => (process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, name))),
].find((path) => path !== undefined && path !== "" && existsSync(path));

/** A server of Valkey or Redis. */
export const valkeyServer = condition("valkey-server or redis-server on the PATH or in WEIR_VALKEY_SERVER", program !== undefined);

export interface TestValkey {
  readonly url: string;
  /** Starts it again on its port, without what it held. */
  start(): Promise<void>;
  /** Kills it; nothing is saved. */
  kill(): Promise<void>;
  /** It keeps its connections and answers nothing until it is resumed. */
  freeze(): void;
  resume(): void;
}

/** A real Valkey on a free port, which holds nothing on disk and ends with the test. */
export async function startTestValkey(): Promise<TestValkey> {
  if (program === undefined) throw new Error("There is no server of Valkey.");
  const directory = await temporaryDirectory();
  const [port = 0] = await freePorts(1);
  let child: ChildProcess | null = null;
  const kill = async (): Promise<void> => {
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  };
  const start = async (): Promise<void> => {
    const flags = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", directory];
    child = spawn(program, flags, { stdio: "ignore" });
    while (!(await answers(port))) await new Promise((resolve) => setTimeout(resolve, 10));
  };
  onTestFinished(kill);
  await start();
  return {
    url: `redis://127.0.0.1:${port}/0`,
    start,
    kill,
    freeze: () => void child?.kill("SIGSTOP"),
    resume: () => void child?.kill("SIGCONT"),
  };
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
