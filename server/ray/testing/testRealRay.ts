import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { secretOrigins } from "@/server/contracts/engine/secretOrigins";
import { freePorts } from "@/server/testing/freePorts";
import { connectionSchema, type RayConnection } from "../connection";
import { models, smallArgs } from "./testRay";

const run = promisify(execFile);

const installLimitMs = 180_000;
const startLimitMs = 60_000;

/** A Serve application in place of an LLM: it answers like one, on a GPU that is only a number. */
const smallEngine = `
from fastapi import FastAPI, Request
from ray import serve

api = FastAPI()

@serve.deployment
@serve.ingress(api)
class Engine:
    def __init__(self, model):
        if model == "broken":
            raise RuntimeError("no such weights")
        self.model = model

    @api.get("/health")
    def health(self):
        return {}

    @api.get("/v1/models")
    def models(self):
        return {"object": "list", "data": [{"id": self.model, "object": "model"}]}

    @api.post("/v1/chat/completions")
    async def chat(self, request: Request):
        message = {"role": "assistant", "content": "one"}
        usage = {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return {"id": "1", "object": "chat.completion", "created": 1, "model": self.model, "choices": [choice], "usage": usage}

def build(args):
    options = {"num_cpus": 0, "num_gpus": float(args["gpus"]), "resources": {args["node"]: 0.001} if args["node"] else {}}
    return Engine.options(ray_actor_options=options).bind(args["model"])
`;

/** A token of 64 hexadecimal digits, in Ray's format; for a Ray that runs for the duration of a test. */
const ownToken = "5eed".repeat(16);

export interface RealRay {
  readonly version: string;
  /** Its node with GPUs, by its name in plans. */
  readonly node: string;
  readonly connection: RayConnection;
  /** For every application of the tests, so that nodes find the small engine. */
  readonly workingDir: string;
  /** Calls the dashboard, with the token. */
  call(path: string, put?: string): Promise<{ readonly status: number; readonly text: string }>;
  stop(): Promise<void>;
}

/**
 * A real Ray with two GPUs that are numbers: that of `RAY_ADDRESS` (its dashboard; `WEIR_ENGINE_RAY_TOKEN` if it requires a token),
 * otherwise one that is started from the virtual environment `WEIR_RAY_VENV`, or from one made here. A sentence if there can be none.
 */
export async function startRealRay(): Promise<RealRay | string> {
  const given = process.env.RAY_ADDRESS;
  if (given !== undefined) {
    const ray = await attach(given, process.env.WEIR_ENGINE_RAY_TOKEN, async () => undefined);
    const { applications } = JSON.parse((await ray.call("/api/serve/applications/")).text) as { applications: object };
    if (Object.keys(applications).length > 0) throw new Error("The Ray of RAY_ADDRESS has applications, which these tests would remove.");
    return ray;
  }
  const venv = await rayVenv();
  if (!existsSync(join(venv, "bin", "ray"))) return venv;
  const folder = mkdtempSync(join(tmpdir(), "weir-ray-"));
  const [port = 0, dashboard = 0, agent = 0, http = 0] = await freePorts(4);
  process.env.WEIR_ENGINE_RAY_TOKEN = ownToken;
  const variables: Partial<NodeJS.ProcessEnv> = {
    PATH: `${join(venv, "bin")}:${process.env.PATH}`,
    HOME: folder,
    RAY_AUTH_MODE: "token",
    RAY_AUTH_TOKEN: ownToken,
  };
  const words = [
    "start",
    "--head",
    "--block",
    "--disable-usage-stats",
    "--dashboard-host",
    "127.0.0.1",
    "--object-store-memory",
    "100000000",
  ];
  const ports = ["--port", `${port}`, "--dashboard-port", `${dashboard}`, "--dashboard-agent-listen-port", `${agent}`];
  // A separate session: Ray's processes leave their group but never their session.
  const head = spawn(
    join(venv, "bin", "ray"),
    [...words, ...ports, "--num-cpus", "2", "--num-gpus", "2", "--temp-dir", join(folder, "ray")],
    {
      env: variables as NodeJS.ProcessEnv,
      detached: true,
      stdio: "ignore",
    },
  );
  const end = async () => {
    await endSession(head);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    return await attach(`http://127.0.0.1:${dashboard}`, ownToken, end, { host: "127.0.0.1", port: http });
  } catch (error) {
    await end();
    throw error;
  }
}

/** The folder of a virtual environment with Ray, otherwise why there is none. */
async function rayVenv(): Promise<string> {
  const venv = process.env.WEIR_RAY_VENV ?? join(tmpdir(), "weir-ray-venv");
  if (existsSync(join(venv, "bin", "ray"))) return venv;
  if (process.env.WEIR_RAY_VENV !== undefined) return `WEIR_RAY_VENV is ${venv}, where there is no Ray`;
  try {
    const started = Date.now();
    await run("python3", ["-m", "venv", venv], { timeout: installLimitMs });
    await run(join(venv, "bin", "pip"), ["install", "--quiet", "--retries", "1", "ray[serve]"], {
      timeout: installLimitMs - (Date.now() - started),
    });
    return venv;
  } catch (error) {
    rmSync(venv, { recursive: true, force: true });
    return `Python's ray[serve] cannot be had (${error instanceof Error ? error.message.split("\n")[0] : "unknown"})`;
  }
}

interface NodeList {
  readonly data: {
    readonly result: { readonly result: readonly { readonly node_ip: string; readonly resources_total: { GPU?: number } }[] };
  };
}

async function attach(
  dashboard: string,
  token: string | undefined,
  stop: () => Promise<void>,
  http?: { host: string; port: number },
): Promise<RealRay> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  // Not with the product's own client; curl, since Node's fetch would be taken for a browser.
  const call: RealRay["call"] = async (path, put) => {
    const body = put === undefined ? [] : ["-X", "PUT", "-H", "content-type: application/json", "-d", put];
    return curl([...body, new URL(path, dashboard).href], headers);
  };
  const deadline = Date.now() + startLimitMs;
  let version = "";
  let node: string | undefined;
  while (node === undefined) {
    if (Date.now() > deadline) throw new Error(`${dashboard} did not come up with a node of two GPUs`);
    const [told, listed] = await Promise.all([call("/api/version"), call("/api/v0/nodes?detail=1")].map((one) => one.catch(() => null)));
    if (told?.status === 200 && listed?.status === 200) {
      version = (JSON.parse(told.text) as { ray_version: string }).ray_version;
      const { data } = JSON.parse(listed.text) as NodeList;
      node = data.result.result.find(({ resources_total }) => (resources_total.GPU ?? 0) >= 2)?.node_ip;
    }
    if (node === undefined) await sleep(200);
  }
  const uploaded = await upload(dashboard, headers);
  const connection = connectionSchema.parse({
    ...{ kind: "ray", dashboard, gpu: "l40s", importPath: "small_engine:build", args: smallArgs, runtimeEnv: { working_dir: uploaded } },
    models: { ...models, broken: { source: "nowhere" } },
    ...(token === undefined ? {} : { key: { environment: "WEIR_ENGINE_RAY_TOKEN" } }),
    ...(http === undefined ? {} : { http }),
  });
  const origins = mkdtempSync(join(tmpdir(), "weir-origins-"));
  process.env.WEIR_SECRET_ORIGINS = join(origins, "origins.json");
  if (connection.key !== undefined) secretOrigins.enter([{ key: connection.key, origin: new URL(dashboard).origin }]);
  const ended = async (): Promise<void> => {
    rmSync(origins, { recursive: true });
    await stop();
  };
  return { version, node, connection, workingDir: uploaded, call, stop: ended };
}

/** Uploads the small engine to where nodes fetch packages, as Ray's jobs do; returns its URI. */
async function upload(dashboard: string, headers: Readonly<Record<string, string>>): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "weir-ray-package-"));
  writeFileSync(join(folder, "small_engine.py"), smallEngine);
  execFileSync("python3", ["-m", "zipfile", "-c", "small.zip", "small_engine.py"], { cwd: folder });
  const name = `_ray_pkg_weir${Date.now().toString(16)}.zip`;
  const file = ["-X", "PUT", "-H", "content-type: application/octet-stream", "--data-binary", `@${join(folder, "small.zip")}`];
  const { status } = await curl([...file, new URL(`/api/packages/gcs/${name}`, dashboard).href], headers);
  rmSync(folder, { recursive: true });
  if (status !== 200) throw new Error(`Ray takes no package: ${status}`);
  return `gcs://${name}`;
}

async function curl(words: readonly string[], headers: Readonly<Record<string, string>>): Promise<{ status: number; text: string }> {
  const given = Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
  const { stdout } = await run("curl", ["-s", "-w", "\n%{http_code}", ...given, ...words], { timeout: 30_000, maxBuffer: 10_000_000 });
  const at = stdout.lastIndexOf("\n");
  return { status: Number(stdout.slice(at + 1)), text: stdout.slice(0, at) };
}

/** Ends every process of the session that a detached child began. */
async function endSession(head: ChildProcess): Promise<void> {
  const { pid } = head;
  if (pid === undefined) return;
  const left = (): readonly number[] =>
    execFileSync("ps", ["-eo", "pid=,sess="], { encoding: "utf8" })
      .split("\n")
      .map((line) => line.trim().split(/\s+/).map(Number))
      .flatMap(([one, session]) => (session === pid && one !== undefined ? [one] : []));
  for (const name of ["SIGTERM", "SIGKILL"] as const) {
    for (const one of left()) {
      try {
        process.kill(one, name);
      } catch {
        // It ended between the check and the signal.
      }
    }
    for (let waited = 0; waited < 5_000 && left().length > 0; waited += 200) await sleep(200);
  }
}
