// What `npm run studio` and `npm run real` do: install what is missing, build what is stale, then run emulator, gateway and studio as
// children of this process. A child that dies is restarted; SIGTERM or SIGINT here stops them all.
import { createPublicKey, generateKeyPairSync, randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createGateways } from "./gateways.mjs";
import { choosePorts, enginePortBase, studioHost } from "./ports.mjs";
import {
  checkNode,
  checkWritable,
  closeToOthers,
  ensureBundled,
  ensureInstalled,
  ensureStudioBuilt,
  refuse,
  root,
  say,
  secretsFolder,
} from "./prepare.mjs";
import { createSupervisor } from "./supervisor.mjs";

/** The key with which the studio signs its orders to gateways, made here since gateways start first; the path of its public half. */
function studioKey(stateDir) {
  const [file, shared] = ["studio-key.pem", "studio-key.pub"].map((name) => join(stateDir, name));
  if (existsSync(file)) closeToOthers(file, 0o600);
  else {
    const pem = generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" });
    writeFileSync(file, pem, { mode: 0o600, flag: "wx" });
  }
  writeFileSync(shared, `ed25519:${createPublicKey(readFileSync(file)).export({ format: "jwk" }).x}\n`);
  return shared;
}

/** The secret shared by the three processes; readable by this user alone. */
function adminToken(file) {
  if (existsSync(file)) closeToOthers(file, 0o600);
  else writeFileSync(file, randomBytes(32).toString("base64url"), { mode: 0o600 });
  return readFileSync(file, "utf8").trim();
}

/** The folder of the state, made for this user alone. */
export function stateFolder() {
  checkNode();
  const stateDir = resolve(process.env.WEIR_STATE_DIR ?? join(root, ".weir"));
  checkWritable(stateDir);
  closeToOthers(stateDir, 0o700);
  return stateDir;
}

/**
 * Runs a studio until it is stopped.
 *
 * @param options.clusterLines what is said of the clusters.
 * @param options.endLine what Ctrl-C does.
 * @param options.beforeStart called once everything is built, before the first process starts.
 */
export async function launchStudio({ clusterLines, endLine, beforeStart = async () => undefined }) {
  const stateDir = stateFolder();
  const chosen = await choosePorts();
  if ("problem" in chosen) refuse(chosen.problem);
  ensureInstalled();
  await ensureBundled();
  await ensureStudioBuilt();
  await beforeStart(stateDir);

  const ports = chosen.ports;
  const url = (variable) => `http://127.0.0.1:${ports[variable]}`;
  const environment = {
    ...process.env,
    ...Object.fromEntries(Object.entries(ports).map(([variable, port]) => [variable, String(port)])),
    NODE_ENV: "production",
    NEXT_TELEMETRY_DISABLED: "1",
    NEXT_MANUAL_SIG_HANDLE: "1",
    WEIR_ROOT: root,
    WEIR_LAUNCHED: "1",
    WEIR_STATE_DIR: stateDir,
    WEIR_SECRETS_DIR: secretsFolder(stateDir),
    WEIR_SECRET_ORIGINS: process.env.WEIR_SECRET_ORIGINS ?? join(stateDir, "secret-origins.json"),
    WEIR_ENGINE_PORT_BASE: process.env.WEIR_ENGINE_PORT_BASE ?? String(enginePortBase),
    WEIR_ADMIN_TOKEN: adminToken(join(stateDir, "admin-token")),
    WEIR_STUDIO_PUBLIC_KEY: studioKey(stateDir),
  };

  let announced = false;
  let stopping = false;

  const supervisor = createSupervisor({
    onLine(part, line) {
      const isStudio = part.name === "studio";
      if (isStudio && gateways.take(line)) return;
      if (isStudio && line.startsWith("SIGN-IN ")) announce(line.slice("SIGN-IN ".length));
      else if (process.env.WEIR_VERBOSE) say(`${part.name}: ${line}`);
    },
    onBroken: () => void stop(1),
  });
  const gateways = createGateways({ supervisor, environment, stateDir });

  /** `address` is a one-time link, or the sign-in page where people sign in by OIDC. */
  function announce(address) {
    const isLink = address.includes("#token=");
    if (announced) {
      say(`The studio is back; signed-in browsers stay signed in.${isLink ? ` Another link: ${address}` : ""}`);
      return;
    }
    announced = true;
    process.stdout.write(
      [
        "",
        `  Weir studio   ${new URL(address).origin}`,
        `  Sign in       ${address}`,
        isLink
          ? "                (works once, for an hour; `npm run weir -- sign-in` makes another)"
          : "                (`npm run weir -- sign-in` makes a link that works without the provider)",
        `  Gateway       ${url("WEIR_GATEWAY_PORT")}/v1   (OpenAI-compatible)`,
        ...clusterLines.map((line, index) => `  ${index === 0 ? "Cluster" : "       "}       ${line}`),
        "",
        `  ${endLine}`,
        "",
      ].join("\n"),
    );
  }

  async function stop(exitCode) {
    if (stopping) return;
    stopping = true;
    // The gateways finish open requests while the engines still answer.
    await supervisor.stop("emulator");
    process.exit(exitCode);
  }

  process.once("SIGTERM", () => void stop(0));
  process.once("SIGINT", () => void stop(0));

  const parts = [
    { name: "emulator", args: [join(root, "dist", "emulator.mjs")], health: `${url("WEIR_EMULATOR_PORT")}/health` },
    {
      name: "gateway",
      args: [join(root, "dist", "gateway.mjs")],
      health: `${url("WEIR_GATEWAY_PORT")}/health`,
      environment: { WEIR_CLUSTER_ID: "embedded" },
      log: join(stateDir, "clusters", "embedded", "gateway.log"),
    },
    {
      name: "studio",
      args: [join(root, "dist", "studio.mjs")],
      health: `http://${studioHost()}:${ports.WEIR_STUDIO_PORT}/api/health`,
    },
  ];
  for (const part of parts) {
    if (stopping) break;
    const running = { ...part, environment: { ...environment, ...part.environment } };
    supervisor.start(running);
    await supervisor.untilHealthy(running);
  }
}
