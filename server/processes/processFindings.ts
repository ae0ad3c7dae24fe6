import { existsSync } from "node:fs";
import { addonsFolder } from "@/server/addons/addonFolder";
import { createAddonKeeper } from "@/server/addons/addonKeeper";
import type { Finding } from "@/server/contracts/studio";
import { ok, warn } from "@/server/engineClient/finding";
import { freePort } from "@/server/lib/freePort";
import { engineEnvironment, type Variables } from "./engineEnvironment";
import type { ProcessConnection } from "./processConnection";
import { processTemplates } from "./processTemplates";
import { programAt } from "./programAt";

/**
 * Whether the requirements of engines are present on this host now: programs, variables and a free port. They may still appear, so missing
 * ones do not prevent attaching. Commands that attaching runs are named.
 */
export async function processFindings(
  { engine, templates, models, environment, ports, beside }: ProcessConnection,
  own: Variables,
): Promise<readonly Finding[]> {
  const variables = engineEnvironment(environment, own, []);
  const known: Readonly<Record<string, readonly string[]>> = { ...processTemplates(own), ...templates };
  const used = new Set(Object.values(models).map((model) => known[model.engine ?? engine]?.[0] ?? ""));
  const programs = [...used].map((program): Finding => {
    const found = programAt(program, own.PATH ?? "");
    return found === null
      ? warn("engines", `The program "${program}" was not found on this host.`, "Install it, or give its path in a template.")
      : ok("engines", `Engines are started with ${found}.`);
  });
  const names = Object.values(models).map((model) => model.engine ?? engine);
  const isAddonMissing = names.some((name) => name === "weir" && templates[name] === undefined) && realEngineState(own) !== "ready";
  const port = await freePort(ports, new Set());
  return [
    ...programs,
    ...beside.map((program) => warn("engines", `Attaching runs ${besideText(program)}`, null)),
    ...(isAddonMissing ? [warn("engines", "The add-on real-engine is not installed.", "Run `weir add real-engine`.")] : []),
    ...(variables.ok ? [] : [warn("key", variables.message, "Set it where the studio is started, or put the file there.")]),
    ...(port === null ? [warn("engines", `No port from ${ports.from} to ${ports.to} is free.`, "Give engines other ports.")] : []),
  ];
}

/**
 * Why engines cannot be processes of this host, in a sentence with the way out: it runs Windows, or has neither `/proc` nor the programs
 * with which processes are found. Null: they can be.
 */
export function processObstacle(
  own: Variables,
  { platform = process.platform, proc = "/proc/self/stat" }: { readonly platform?: NodeJS.Platform; readonly proc?: string } = {},
): string | null {
  if (platform === "win32")
    return "Weir cannot start processes on Windows yet. Start the engine by hand (`node dist/engine.mjs`, see the guide A real engine on this computer) and attach it.";
  if (existsSync(proc)) return null;
  const missing = ["ps", "lsof"].filter((program) => programAt(program, own.PATH ?? "") === null);
  return missing.length === 0
    ? null
    : `Engines cannot be processes of this computer, for want of ${missing.join(" and ")}: use Linux or macOS.`;
}

const realEngineState = (own: Variables) => createAddonKeeper(addonsFolder(own)).state("real-engine").kind;

/** A program beside the engines and its command, for an operator who is to allow it. */
function besideText({ name, command, variables = [] }: ProcessConnection["beside"][number]): string {
  const given = variables.length === 0 ? "" : `, with the variables ${variables.join(", ")}`;
  return `${name} on this host${given}: ${command.map((part) => (/^[\w./:@=-]+$/.test(part) ? part : JSON.stringify(part))).join(" ")}`;
}

/** The commands that attaching runs, for the audit; empty: none. */
export const besideTexts = ({ beside }: Pick<ProcessConnection, "beside">): readonly string[] => beside.map(besideText);
