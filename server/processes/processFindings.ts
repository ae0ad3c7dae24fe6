import { addonsFolder } from "@/server/addons/addonFolder";
import { createAddonKeeper } from "@/server/addons/addonKeeper";
import type { Finding } from "@/server/contracts/studio";
import { ok, warn } from "@/server/engineClient/finding";
import { engineEnvironment, type Variables } from "./engineEnvironment";
import { freePort } from "./freePort";
import type { ProcessConnection } from "./processConnection";
import { processTemplates } from "./processTemplates";
import { programAt } from "./programAt";

/**
 * Whether the requirements of engines are present on this host now: programs, variables and a free port. They may still appear, so missing
 * ones do not prevent attaching.
 */
export async function processFindings(
  { engine, templates, models, environment, ports }: ProcessConnection,
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
    ...(isAddonMissing ? [warn("engines", "The add-on real-engine is not installed.", "Run `weir add real-engine`.")] : []),
    ...(variables.ok ? [] : [warn("key", variables.message, "Set it where the studio is started, or put the file there.")]),
    ...(port === null ? [warn("engines", `No port from ${ports.from} to ${ports.to} is free.`, "Give engines other ports.")] : []),
  ];
}

const realEngineState = (own: Variables) => createAddonKeeper(addonsFolder(own)).state("real-engine").kind;
