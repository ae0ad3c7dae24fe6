import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";
import { workerFile } from "@/server/threads/workerFile";

/** A bundle in its own process, which is killed when the test ends, unless it has ended already. */
function startBundle(
  name: "gateway" | "gatewayParent" | "emulator",
  environment: Readonly<Record<string, string>>,
): { readonly child: ChildProcess; kill(): Promise<void> } {
  const child = spawn(process.execPath, [workerFile(name)], {
    env: { ...process.env, ...environment },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  };
  onTestFinished(kill);
  return { child, kill };
}

/** The bundled gateway in its own process, on free ports; it follows unsigned orders, unless `environment` names a studio. */
export const startGatewayProcess = (stateDirectory: string, environment: Readonly<Record<string, string>> = {}) =>
  startGatewayBundle("gateway", stateDirectory, environment);

/** The same under a parent, which restarts it on SIGHUP. */
export const startGatewayParent = (stateDirectory: string, environment: Readonly<Record<string, string>> = {}) =>
  startGatewayBundle("gatewayParent", stateDirectory, environment);

async function startGatewayBundle(
  name: "gateway" | "gatewayParent",
  stateDirectory: string,
  environment: Readonly<Record<string, string>>,
) {
  const token = "secret";
  const { child, kill } = startBundle(name, {
    ...{ WEIR_STATE_DIR: stateDirectory, WEIR_GATEWAY_PORT: "0", WEIR_GATEWAY_ADMIN_PORT: "0", WEIR_ADMIN_TOKEN: token },
    ...{ WEIR_STUDIO_PUBLIC_KEY: "none", ...environment },
  });
  if (child.stdout === null) throw new Error("The gateway says nothing.");
  for await (const line of createInterface(child.stdout)) {
    const { dataUrl, adminUrl } = JSON.parse(line) as { dataUrl?: string; adminUrl?: string };
    if (dataUrl === undefined || adminUrl === undefined) continue;
    child.stdout.resume();
    return { dataUrl, adminUrl, adminHeaders: { authorization: `Bearer ${token}` }, child, kill };
  }
  throw new Error("The gateway did not start.");
}

/**
 * The bundled emulator in its own process: two nodes of four L40S.
 * @param ports three, of which the engines count up from the last.
 */
export async function startEmulatorProcess(
  stateDirectory: string,
  { ports, timeScale }: { readonly ports: readonly number[]; readonly timeScale: number },
) {
  const [port = 0, dcgmPort = 0, enginePort = 0] = ports;
  const { child } = startBundle("emulator", {
    WEIR_STATE_DIR: stateDirectory,
    WEIR_EMULATOR_PORT: String(port),
    WEIR_DCGM_PORT: String(dcgmPort),
    WEIR_ENGINE_PORT_BASE: String(enginePort),
    WEIR_TIME_SCALE: String(timeScale),
    WEIR_ADMIN_TOKEN: "secret",
  });
  if (child.stdout !== null) await once(child.stdout, "data");
  child.stdout?.resume();
  const call = (method: string, path: string, body?: unknown): Promise<Response> =>
    fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { authorization: "Bearer secret", "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  return { call };
}
