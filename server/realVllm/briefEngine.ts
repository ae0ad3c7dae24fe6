import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

export interface BriefEngine {
  readonly url: string;
  end(): Promise<void>;
}

/** Starts one of Weir's own engines on a free port for some questions. @throws Error with its reason where it does not start. */
export async function briefEngine([program = "", ...args]: readonly string[]): Promise<BriefEngine> {
  const child = spawn(program, [...args, "--host", "127.0.0.1", "--port", "0"], { stdio: ["ignore", "pipe", "pipe"] });
  const gone = once(child, "exit");
  let reason = "it says nothing";
  createInterface({ input: child.stderr }).on("line", (line) => {
    reason = line;
  });
  const ready = new Promise<string>((resolve) => {
    let url = "";
    createInterface({ input: child.stdout }).on("line", (line) => {
      url = /^listening on (\S+)$/.exec(line)?.[1] ?? url;
      if (line.startsWith("ready")) resolve(url);
    });
  });
  const url = await Promise.race([ready, gone.then(() => null)]);
  if (url === null) throw new Error(`The engine did not start: ${reason}`);
  return {
    url,
    async end() {
      child.kill("SIGTERM");
      await gone;
    },
  };
}
