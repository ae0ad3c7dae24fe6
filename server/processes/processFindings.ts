import type { Finding } from "@/server/contracts/studio";
import { ok, warn } from "@/server/engineClient/finding";
import { commandTemplates } from "@/server/engines/commandLine";
import { engineEnvironment, type Variables } from "./engineEnvironment";
import { freePort } from "./freePort";
import type { ProcessConnection } from "./processConnection";
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
  const known: Readonly<Record<string, readonly string[]>> = { ...commandTemplates, ...templates };
  const used = new Set(Object.values(models).map((model) => known[model.engine ?? engine]?.[0] ?? ""));
  const programs = [...used].map((program): Finding => {
    const found = programAt(program, own.PATH ?? "");
    return found === null
      ? warn("engines", `The program "${program}" was not found on this host.`, "Install it, or give its path in a template.")
      : ok("engines", `Engines are started with ${found}.`);
  });
  const port = await freePort(ports, new Set());
  return [
    ...programs,
    ...(variables.ok ? [] : [warn("key", variables.message, "Set it where the studio is started, or put the file there.")]),
    ...(port === null ? [warn("engines", `No port from ${ports.from} to ${ports.to} is free.`, "Give engines other ports.")] : []),
  ];
}
