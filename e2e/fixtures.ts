import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test as plain } from "@playwright/test";
import { freePorts } from "../server/testing/freePorts";

const root = fileURLToPath(new URL("..", import.meta.url));

/** A running studio: launcher, emulator, gateway and Next server, with its own state folder. */
export interface RunningStudio {
  readonly signInLink: string;
  readonly url: string;
  readonly gatewayUrl: string;
  readonly emulatorUrl: string;
  readonly stateDir: string;
  /** Its environment, for commands that find it by its ports and its state. */
  readonly environment: Readonly<Record<string, string>>;
  readonly launcher: ChildProcess;
}

/** The cluster and clock of the tests. */
export interface StudioOptions {
  readonly studioEnvironment: Readonly<Record<string, string>>;
  /** The command that starts the studio: `npm run studio`, or `npm run real`, whose cluster runs vLLM. */
  readonly studioCommand: "studio" | "real";
}

/** Every test fails if the browser reports that a page broke its content security policy. */
const base = plain.extend<{ policyKept: undefined }>({
  policyKept: [
    async ({ context }, use) => {
      const violations: string[] = [];
      await context.exposeBinding("tellOfViolation", (_, violation: string) => void violations.push(violation));
      await context.addInitScript(() => {
        document.addEventListener("securitypolicyviolation", ({ documentURI, effectiveDirective, blockedURI, sample, sourceFile }) => {
          const tell = (window as unknown as { tellOfViolation?: (violation: string) => void }).tellOfViolation;
          tell?.([documentURI, effectiveDirective, blockedURI, sample, sourceFile].join(" "));
        });
      });
      await use(undefined);
      expect(violations).toEqual([]);
    },
    { auto: true },
  ],
});

/** Each test has its own studio, which it may break. */
export const test = base.extend<{ studio: RunningStudio }, StudioOptions>({
  studioEnvironment: [{}, { option: true, scope: "worker" }],
  studioCommand: ["studio", { option: true, scope: "worker" }],
  studio: [
    ({ studioEnvironment, studioCommand }, use) => withStudio({ environment: studioEnvironment, command: studioCommand }, use),
    { timeout: 240_000 },
  ],
});

/**
 * The tests of these files share one studio with the usual cluster. They add only what the others do not look at: they put no plan
 * into force, attach no cluster and end no process. Each signs in with its own link.
 */
export const sharedTest = base.extend<{ studio: RunningStudio }, { sharedStudio: RunningStudio }>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of the fixtures that this one needs from the pattern.
  sharedStudio: [({}, use) => withStudio({ environment: {}, command: "studio" }, use), { scope: "worker", timeout: 120_000 }],
  studio: async ({ sharedStudio }, use) => {
    const link = execFileSync(process.execPath, [join(root, "dist", "weir.mjs"), "sign-in"], {
      env: { ...process.env, ...sharedStudio.environment },
      encoding: "utf8",
    });
    const signInLink = /http\S+/.exec(link)?.[0] ?? "";
    await use({ ...sharedStudio, signInLink });
  },
});

/** Starts a studio with its own state folder and ports, passes it to the test, and stops it. */
async function withStudio(
  started: { readonly environment: StudioOptions["studioEnvironment"]; readonly command: StudioOptions["studioCommand"] },
  use: (studio: RunningStudio) => Promise<void>,
): Promise<void> {
  const stateDir = mkdtempSync(join(tmpdir(), "weir-e2e-"));
  const ports = await freePorts(6);
  const environment = {
    ...started.environment,
    WEIR_STATE_DIR: stateDir,
    WEIR_STUDIO_PORT: String(ports[0]),
    WEIR_GATEWAY_PORT: String(ports[1]),
    WEIR_GATEWAY_ADMIN_PORT: String(ports[2]),
    WEIR_EMULATOR_PORT: String(ports[3]),
    WEIR_DCGM_PORT: String(ports[4]),
    WEIR_ENGINE_PORT_BASE: String(ports[5]),
  };
  // Measuring vLLM takes minutes: its slow test does that.
  const flags = started.command === "real" ? ["--no-measure"] : [];
  const launcher = spawn(process.execPath, [join(root, "scripts", `${started.command}.mjs`), ...flags], {
    cwd: root,
    env: { ...process.env, ...environment },
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const signInLink = await readSignInLink(launcher);
    const [url = "", gatewayUrl = "", , emulatorUrl = ""] = ports.map((port) => `http://127.0.0.1:${port}`);
    await use({ signInLink, url, gatewayUrl, emulatorUrl, stateDir, environment, launcher });
  } finally {
    await end(launcher);
    rmSync(stateDir, { recursive: true, force: true });
  }
}

export { expect };

/** Process ids of the launcher's own children whose command line matches. */
export const childrenOf = ({ launcher }: RunningStudio, command: string): readonly number[] =>
  execFileSync("pgrep", ["-P", String(launcher.pid), "-f", command], { encoding: "utf8" })
    .trim()
    .split("\n")
    .map(Number);

/** @throws Error when there is no such process. */
export function signal(pid: number | undefined, name: NodeJS.Signals): void {
  if (pid === undefined) throw new Error("there is no such process");
  process.kill(pid, name);
}

/** Waits until the launcher prints the one-time link. */
function readSignInLink(launcher: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let printed = "";
    launcher.stdout?.on("data", (chunk: Buffer) => {
      printed += chunk.toString();
      const link = /Sign in\s+(http\S+)/.exec(printed)?.[1];
      if (link !== undefined) resolve(link);
    });
    launcher.once("exit", (code) => reject(new Error(`the launcher ended with exit code ${code} before it printed a sign-in link`)));
  });
}

/** Stops the launcher, which stops its children; never waits longer than the launcher's own limit for them. */
function end(launcher: ChildProcess): Promise<void> {
  if (launcher.exitCode !== null) return Promise.resolve();
  const gone = new Promise<void>((resolve) => launcher.once("exit", () => resolve()));
  launcher.kill("SIGTERM");
  const force = setTimeout(() => launcher.kill("SIGKILL"), 10_000);
  return gone.finally(() => clearTimeout(force));
}
