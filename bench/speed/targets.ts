import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { benchCascade, benchPolicies, cascadeModel, fixedModel, mockedBy, startBenchGateway } from "../gateway/gatewayBench";
import { endChild, pinned, said, startBundle } from "../lib/childProcess";

/** A gateway that is measured. */
export interface Target {
  readonly name: string;
  /** A cascade of two, judged, or one model. */
  readonly kind: "fixed" | "cascade";
  readonly url: string;
  readonly pid: number;
  /** The model that its requests name. */
  readonly model: string;
  readonly headers?: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

interface Place {
  /** The address of the upstream of all models and the judge. */
  readonly upstream: string;
  /** The core that each runs on; undefined: any. */
  readonly core: number | undefined;
}

/** Weir's gateway over the upstream, under a fixed model or a cascade. */
export async function startWeir(kind: Target["kind"], { upstream, core }: Place): Promise<Target> {
  const policy = kind === "fixed" ? benchPolicies.fixed : benchCascade(["small", fixedModel]);
  if (policy === undefined) throw new Error("The benchmark has no fixed policy.");
  const { url, pid, close } = await startBenchGateway(policy, mockedBy(upstream), { core });
  return { name: "Weir", kind, url, pid, model: cascadeModel, close };
}

/** The bare proxy, which makes the same upstream calls. */
export async function startProxy(kind: Target["kind"], { upstream, core }: Place): Promise<Target> {
  const child = startBundle("bareProxy", { args: [upstream, kind], core });
  const [url = ""] = await said(child, /^(http:\S+)$/m);
  return { name: "bare proxy", kind, url, pid: child.pid ?? 0, model: cascadeModel, close: () => endChild(child) };
}

interface Other {
  readonly name: string;
  /** Names the file or folder that it is started from. */
  readonly variable: string;
  readonly commandOf: (path: string, port: number, upstream: string) => readonly [string, ...string[]];
  readonly headersOf?: (upstream: string) => Readonly<Record<string, string>>;
  readonly environment?: Readonly<Record<string, string>>;
}

const others: readonly Other[] = [
  {
    name: "Portkey 1.15.2",
    variable: "WEIR_BENCH_PORTKEY",
    commandOf: (path, port) => [process.execPath, join(path, "build", "start-server.js"), `--port=${port}`, "--headless"],
    headersOf: (upstream) => ({ "x-portkey-provider": "openai", "x-portkey-custom-host": `${upstream}/v1`, authorization: "Bearer none" }),
    // It calls no address of this machine otherwise.
    environment: { TRUSTED_CUSTOM_HOSTS: "127.0.0.1,localhost" },
  },
  {
    name: "LiteLLM 1.100.0",
    variable: "WEIR_BENCH_LITELLM",
    commandOf: (path, port, upstream) => [path, "--config", liteConfig(upstream), "--port", String(port), "--host", "127.0.0.1"],
    environment: { LITELLM_LOG: "ERROR", LITELLM_TELEMETRY: "False" },
  },
  {
    name: "sglang-router",
    variable: "WEIR_BENCH_SGLANG_ROUTER",
    commandOf: (path, port, upstream) => [
      ...([path, "-m", "sglang_router.launch_router", "--host", "127.0.0.1", "--port", String(port)] as const),
      ...["--worker-urls", upstream, "--policy", "round_robin", "--log-level", "error"],
    ],
  },
];

/** Kills a process and those that it started. */
function endGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // All of them have ended.
  }
}

function liteConfig(upstream: string): string {
  const file = join(mkdtempSync(join(tmpdir(), "weir-bench-")), "litellm.json");
  const parameters = { model: `openai/${fixedModel}`, api_base: `${upstream}/v1`, api_key: "none" };
  writeFileSync(file, JSON.stringify({ model_list: [{ model_name: fixedModel, litellm_params: parameters }] }));
  return file;
}

const startLimitMs = 90_000;

/** The gateways of others that are installed here, each with why it is left out where it is not. */
export async function startOthers({
  upstream,
  core,
}: Place): Promise<{ readonly targets: readonly Target[]; readonly left: readonly string[] }> {
  const targets: Target[] = [];
  const left: string[] = [];
  for (const { name, variable, commandOf, headersOf, environment = {} } of others) {
    const path = process.env[variable];
    if (path === undefined || !existsSync(path)) {
      left.push(`${name} is not installed: ${variable} does not name it.`);
      continue;
    }
    const port = await freePort();
    const [command, ...args] = pinned(commandOf(path, port, upstream), core);
    // In a group of its own, since a router may start processes that outlive it.
    const child = spawn(command, args, { env: { ...process.env, ...environment }, stdio: "ignore", detached: true });
    const url = `http://127.0.0.1:${port}`;
    const headers = headersOf?.(upstream) ?? {};
    const close = async (): Promise<void> => endGroup(child);
    if (await answers(url, headers)) targets.push({ name, kind: "fixed", url, pid: child.pid ?? 0, model: fixedModel, headers, close });
    else {
      left.push(`${name} did not answer within ${startLimitMs / 1000} s.`);
      await close();
    }
  }
  return { targets, left };
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(address !== null && typeof address === "object" ? address.port : 0));
    });
  });
}

/** Whether it answers a chat request in time. */
async function answers(url: string, headers: Readonly<Record<string, string>>): Promise<boolean> {
  const body = JSON.stringify({ model: fixedModel, messages: [{ role: "user", content: "Is it up?" }] });
  const init = { method: "POST", headers: { "content-type": "application/json", ...headers }, body };
  for (const deadlineMs = Date.now() + startLimitMs; Date.now() < deadlineMs; await new Promise((resolve) => setTimeout(resolve, 500))) {
    const status = await fetch(`${url}/v1/chat/completions`, init).then(
      async (answer) => {
        await answer.arrayBuffer();
        return answer.status;
      },
      () => 0,
    );
    if (status === 200) return true;
  }
  return false;
}
